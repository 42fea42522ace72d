//! A run as it is shown.

use std::ops::ControlFlow;
use std::time::Duration;

use rejoin::{
    ConversationId, ConversationView, Decision, Message, QuestionState, Receipt, Rejoin, Turn, TurnId,
    TurnStatus,
};
use rejoin_core::{Intent, Kind, System};
use rejoin_journal::{LeaseName, Waker};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::problem::{Problem, ProblemBody};
use crate::queue::{Ephemeral, Phase, RunEnd, RunLook};

/// So much of a prompt is shown in lists.
const CUT: usize = 200;

/// How a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunStatus {
    /// It waits for its turn.
    Queued,
    /// An agent is at it.
    Running,
    /// An agent is at it and has asked something.
    Waiting,
    /// The agent said it was done.
    Completed,
    /// It failed, or could not begin.
    Failed,
    /// One of the limits ran out.
    Timeout,
    /// Somebody stopped it, or took it out of the queue.
    Cancelled,
    /// Whoever ran it was killed in the middle of it.
    Interrupted,
}

impl RunStatus {
    /// Nothing will become of it any more.
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }

    pub(crate) fn of(look: &RunLook) -> Self {
        match &look.phase {
            Phase::Waiting => Self::Queued,
            Phase::Begun if look.asks => Self::Waiting,
            Phase::Begun => Self::Running,
            Phase::Ended { status, .. } => (*status).into(),
        }
    }
}

impl From<RunEnd> for RunStatus {
    fn from(end: RunEnd) -> Self {
        match end {
            RunEnd::Completed => Self::Completed,
            RunEnd::Failed => Self::Failed,
            RunEnd::Timeout => Self::Timeout,
            RunEnd::Cancelled => Self::Cancelled,
            RunEnd::Interrupted => Self::Interrupted,
        }
    }
}

impl From<TurnStatus> for RunStatus {
    fn from(status: TurnStatus) -> Self {
        match status {
            TurnStatus::Running => Self::Running,
            TurnStatus::Waiting => Self::Waiting,
            TurnStatus::Completed => Self::Completed,
            TurnStatus::Timeout => Self::Timeout,
            TurnStatus::Cancelled => Self::Cancelled,
            TurnStatus::Interrupted => Self::Interrupted,
            _ => Self::Failed,
        }
    }
}

/// Who is at a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Runner {
    /// This daemon.
    Here,
    /// Another process: a terminal.
    Elsewhere,
}

impl Runner {
    /// Who holds a conversation: a flow of this daemon does so without its queue.
    fn of(rejoin: &Rejoin, conversation: ConversationId) -> Self {
        let holder = rejoin.leases().holder(&LeaseName::conversation(conversation));
        match holder {
            Ok(Some(owner)) if owner.pid == std::process::id() => Self::Here,
            _ => Self::Elsewhere,
        }
    }
}

/// A run. It is a turn, and has its id.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownRun {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) run: TurnId,
    /// The same.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) turn: TurnId,
    /// Its conversation; none if it is ephemeral.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) conversation: Option<ConversationId>,
    /// The root of its project.
    pub(crate) project: Option<String>,
    /// Who does it, as far as that is known.
    pub(crate) agent: Option<String>,
    /// How it stands.
    pub(crate) status: RunStatus,
    /// The user's words; their beginning in lists.
    pub(crate) prompt: String,
    /// Whether the agent's session was resumed, and if not, why: a `Decision`. Generators that cannot express that one
    /// would leave out all of this.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<Decision>,
    /// The name of why a fresh session was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// Whether the agent's own session went on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_resumed: Option<bool>,
    /// What was done: a `Receipt`.
    #[schema(value_type = Option<Object>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) receipt: Option<Receipt>,
    /// What the agent asked that nobody answered yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<rejoin::Question>,
    /// Its place among those that wait in its conversation, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<usize>,
    /// Why it could not begin, or was lost.
    #[schema(value_type = Option<ProblemBody>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Value>,
    /// Somebody is said to be there to answer the agent's questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interactive: Option<bool>,
    /// When it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<String>,
    /// When its turn began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    /// Who is at it, while somebody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runner: Option<Runner>,
    /// The answer of an ephemeral run, which no journal has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The queue of the conversation is paused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) queue_paused: bool,
}

impl ShownRun {
    fn new(run: TurnId, status: RunStatus) -> Self {
        Self {
            run,
            turn: run,
            conversation: None,
            project: None,
            agent: None,
            status,
            prompt: String::new(),
            plan: None,
            reason: None,
            session_resumed: None,
            receipt: None,
            questions: Vec::new(),
            position: None,
            problem: None,
            interactive: None,
            created: None,
            begun: None,
            ended: None,
            runner: None,
            text: None,
            queue_paused: false,
        }
    }

    /// As a list shows it: no journal is read.
    pub(crate) fn listed(look: RunLook) -> Self {
        let status = RunStatus::of(&look);
        let begun = matches!(look.phase, Phase::Begun);
        let request = &look.asked.request;
        let mut shown = Self::new(request.turn, status);
        shown.conversation = Some(look.conversation);
        shown.project = Some(look.asked.project.clone());
        let agent = look.agent.as_ref().or(request.agent.as_ref());
        shown.agent = agent.map(|agent| agent.as_str().to_owned());
        shown.prompt = request.prompt[..request.prompt.floor_char_boundary(CUT)].to_owned();
        shown.interactive = Some(request.interactive);
        shown.position = look.position;
        shown.created = Some(look.asked.time.clone());
        shown.begun = look.begun;
        shown.runner = begun.then_some(if look.here { Runner::Here } else { Runner::Elsewhere });
        shown.queue_paused = look.paused && status == RunStatus::Queued;
        shown.decided(look.plan);
        if let Phase::Ended { problem, time, .. } = look.phase {
            (shown.problem, shown.ended) = (problem, Some(time));
        }
        shown
    }

    fn decided(&mut self, plan: Option<Decision>) {
        self.session_resumed = plan.as_ref().map(Decision::resumes);
        self.reason = match &plan {
            Some(Decision::Fresh { why, .. }) => Some(why.name()),
            _ => None,
        };
        self.plan = plan;
    }

    /// With what its journal tells.
    fn read(mut self, view: &ConversationView<'_>, rejoin: &Rejoin, turn: &Turn) -> Result<Self, Problem> {
        self.prompt = prompt_of(rejoin, view.id(), turn);
        if let Some(agent) = &turn.agent {
            self.agent = Some(agent.as_str().to_owned());
        }
        let questions = view.questions(turn)?.into_iter();
        let open = questions.filter(|asked| asked.state == QuestionState::Open);
        self.questions = open.map(|asked| asked.question).collect();
        if let Some(receipt) = &turn.receipt {
            self.decided(Some(receipt.plan.clone()));
            self.receipt = Some(receipt.clone());
        } else if let Some(intent) = intent_of(rejoin, view.id(), turn) {
            self.agent = Some(intent.agent.as_str().to_owned());
            self.decided(Some(intent.plan));
        }
        Ok(self)
    }

    /// A run of this daemon, with everything there is to tell.
    pub(crate) fn whole(rejoin: &Rejoin, look: RunLook) -> Result<Self, Problem> {
        let (conversation, run) = (look.conversation, look.asked.run());
        let (begun, prompt) = (look.begun.is_some(), look.asked.request.prompt.clone());
        let mut shown = Self::listed(look);
        shown.prompt = prompt;
        if !begun {
            return Ok(shown);
        }
        // A conversation can be removed when its runs are over.
        let Ok(view) = rejoin.open_conversation(conversation) else { return Ok(shown) };
        match view.conversation().tree.turn(run) {
            Some(turn) => shown.read(&view, rejoin, turn),
            None => Ok(shown),
        }
    }

    /// A turn of any process, as a list shows it.
    pub(crate) fn cut(mut self) -> Self {
        self.prompt.truncate(self.prompt.floor_char_boundary(CUT));
        (self.receipt, self.questions) = (None, Vec::new());
        self
    }

    /// A turn of any process.
    pub(crate) fn of_turn(
        rejoin: &Rejoin,
        view: &ConversationView<'_>,
        turn: &Turn,
    ) -> Result<Self, Problem> {
        let status = RunStatus::from(view.turn_status(turn)?);
        let mut shown = Self::new(turn.id, status);
        shown.conversation = Some(view.id());
        shown.project = view.info().map(|info| info.project.clone());
        shown.begun = Some(turn.started.clone());
        shown.runner = (!status.is_final()).then(|| Runner::of(rejoin, view.id()));
        shown.read(view, rejoin, turn)
    }

    /// An ephemeral run.
    pub(crate) fn of_ephemeral(run: TurnId, known: Ephemeral, asks: bool) -> Self {
        let running = if asks { RunStatus::Waiting } else { RunStatus::Running };
        let status = known.end.as_ref().map_or(running, |end| end.status.into());
        let mut shown = Self::new(run, status);
        shown.project = Some(known.project);
        shown.prompt = known.prompt;
        shown.interactive = Some(known.interactive);
        shown.begun = Some(known.begun);
        shown.runner = known.end.is_none().then_some(Runner::Here);
        if let Some(end) = known.end {
            shown.agent = end.receipt.as_ref().map(|receipt| receipt.agent.as_str().to_owned());
            shown.decided(end.receipt.as_ref().map(|receipt| receipt.plan.clone()));
            shown.receipt = end.receipt;
            shown.text = Some(end.text);
            shown.problem = end.problem.and_then(|problem| serde_json::to_value(problem.body()).ok());
            shown.ended = Some(end.time);
        }
        shown
    }
}

/// What was intended stands at the beginning of a turn, behind its prompt and what was noticed before.
const BEGINNING: usize = 32;

/// What was about to be done in a turn that has no receipt: after a refusal to resume, the second intent.
fn intent_of(rejoin: &Rejoin, conversation: ConversationId, turn: &Turn) -> Option<Intent> {
    let first = turn.records.first().copied()?;
    let (mut last, mut seen) = (None, 0);
    let read = rejoin.store().tail(conversation, first, Duration::ZERO, &Waker::new(), &mut |entry| {
        let Ok(envelope) = &entry.content else { return ControlFlow::Continue(()) };
        if envelope.parent_uuid == Some(turn.id)
            && envelope.subtype.as_deref() == Some("intent")
            && let Ok(record) = serde_json::from_str(entry.json)
            && let Some(System::Intent(intent)) = System::of(&record)
        {
            last = Some(*intent);
        }
        seen += 1;
        if seen < BEGINNING { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    if let Err(error) = read {
        tracing::debug!(%conversation, %error, "the intent of a turn cannot be read");
    }
    last
}

/// What the user said: the first record of a turn.
fn prompt_of(rejoin: &Rejoin, conversation: ConversationId, turn: &Turn) -> String {
    let mut prompt = String::new();
    let place = turn.records.first().copied();
    let read = rejoin.store().fetch(conversation, place.as_slice(), &mut |_, raw| {
        let record = raw.and_then(|raw| raw.record());
        let said = record.ok().filter(|record| record.kind == Kind::User).and_then(|record| record.message);
        if let Some(said) = said {
            let mut message = Message::new(turn.id, Kind::User);
            message.merge(said.parts, None);
            prompt = message.text();
        }
    });
    if let Err(error) = read {
        tracing::debug!(%conversation, %error, "a prompt cannot be read");
    }
    prompt
}
