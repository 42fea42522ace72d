use serde::{Deserialize, Serialize};

/// How a turn ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent said it was done.
    Completed,
    /// The agent (or its model) failed.
    Failed {
        /// What kind of failure.
        class: FailureClass,
        /// The agent's words.
        #[serde(rename = "error")]
        message: String,
    },
    /// One of our limits ran out.
    Timeout {
        /// Which limit, in words.
        #[serde(rename = "error")]
        message: String,
    },
    /// The user stopped it.
    Cancelled,
}

impl Outcome {
    /// A failure in the agent's words.
    pub fn failed(class: FailureClass, message: impl Into<String>) -> Self {
        Self::Failed { class, message: message.into() }
    }

    /// The stable word for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed { .. } => "failed",
            Outcome::Timeout { .. } => "timeout",
            Outcome::Cancelled => "cancelled",
        }
    }
}

/// Kinds of failure that make a difference to what happens next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Not logged in, key refused.
    Login,
    /// A limit was reached: out of money or allowance.
    Quota,
    /// Asked to slow down.
    RateLimit,
    /// The model's service failed.
    Server,
    /// The service could not be reached, or the stream broke.
    Network,
    /// The session no longer fits the model's context.
    ContextOverflow,
    /// The stored history itself is refused by the model.
    InvalidHistory,
    /// The request was refused for another reason.
    InvalidRequest,
    /// The agent's own limit of steps.
    StepLimit,
    /// Somebody else is using the session.
    Busy,
    /// The agent ended without saying how the turn ended.
    NoResult,
    /// The agent could not be started, or ended before it began.
    Launch,
    /// The agent is not set up for this: a directory it does not trust, leave it could not get, an
    /// argument it does not know. No session is to blame.
    Setup,
    /// rejoin's own supervisor of the agent was killed, and the agent with it: the system may have run out
    /// of memory. No session is to blame.
    Supervisor,
    /// rejoin itself failed before or while it ran the agent: no session is to blame.
    Internal,
    /// An older or newer agent said something we have no word for.
    #[serde(other)]
    Other,
}

impl FailureClass {
    /// The stored session is the cause: resuming it again would fail for ever.
    pub const fn poisons(self) -> bool {
        matches!(self, Self::ContextOverflow | Self::InvalidHistory)
    }

    /// In words, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Login => "not logged in",
            Self::Quota => "limit reached",
            Self::RateLimit => "rate limited",
            Self::Server => "the model's service failed",
            Self::Network => "the model could not be reached",
            Self::ContextOverflow => "the context is full",
            Self::InvalidHistory => "the model refused the stored history",
            Self::InvalidRequest => "the model refused the request",
            Self::StepLimit => "the agent's step limit was reached",
            Self::Busy => "the session is in use",
            Self::NoResult => "the agent ended without a result",
            Self::Launch => "the agent could not be started",
            Self::Setup => "the agent is not set up for this",
            Self::Supervisor => "the agent's supervisor was killed",
            Self::Internal => "rejoin itself failed",
            Self::Other => "the agent failed",
        }
    }

    /// Two equal ones in a row on one session retire it. Failures of the world around it
    /// (login, quota, rate limit, server, network, busy, set-up, supervisor, rejoin itself) never count.
    pub const fn lasting(self) -> bool {
        matches!(self, Self::InvalidRequest | Self::NoResult | Self::Launch | Self::Other)
    }
}
