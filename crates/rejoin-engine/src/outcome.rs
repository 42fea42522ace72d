use rejoin_core::{Outcome, Permissions, Receipt, SessionId, Usage};

/// What a turn came to.
#[derive(Clone, Debug)]
pub struct TurnOutcome {
    pub(crate) text: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) receipt: Receipt,
    pub(crate) diagnostics: Vec<String>,
    pub(crate) active: bool,
    pub(crate) permissions: Permissions,
}

impl TurnOutcome {
    /// The answer: the text of the agent's last message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The agent's own session, if it named one.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session.as_ref()
    }

    /// Tokens, where the agent tells.
    pub fn usage(&self) -> Option<Usage> {
        self.receipt.usage
    }

    /// US dollars, where the agent tells.
    pub fn cost(&self) -> Option<f64> {
        self.receipt.cost
    }

    /// What was done.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// How it ended.
    pub fn outcome(&self) -> &Outcome {
        &self.receipt.outcome
    }

    /// The agent said or did something.
    pub fn was_active(&self) -> bool {
        self.active
    }

    /// The level it ran at.
    pub fn permissions(&self) -> Permissions {
        self.permissions
    }

    /// Lines of the agent that were not events, the first few of them.
    pub fn diagnostics(&self) -> &[String] {
        &self.diagnostics
    }
}
