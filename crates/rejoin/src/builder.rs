//! A turn, described step by step.

use std::path::PathBuf;
use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::{Agent, ConversationId, Event, Permissions, Scope, TurnId};
use rejoin_engine::{
    CancelWatch, Canceller, DryRun, Engine, OpenQuestion, Order, TurnHandle, TurnOutcome, Watcher,
};

use crate::resolve::{Purpose, Resolve};
use crate::why::explain;
use crate::{Error, Handover, Rejoin, TurnRequest, WantedConversation, WantedMessage, WantedPlace, Why};

/// Describes one turn; [`run`](TurnBuilder::run) carries it out, [`start`](TurnBuilder::start) begins it.
/// What contradicts itself is an error when it is run, never silently one of the two.
pub struct TurnBuilder<'a> {
    rejoin: &'a Rejoin,
    pub(crate) request: TurnRequest,
    /// What was said that excludes something said before.
    contradiction: Option<String>,
    on_question: Option<Answerer<'a>>,
    /// Whoever is asked before a history goes to another vendor.
    pub(crate) on_handover: Option<Box<crate::handover::Asked<'a>>>,
    pub(crate) cancel: Option<CancelWatch>,
}

/// Whoever answers the agent's questions.
type Answerer<'a> = Box<dyn FnMut(&OpenQuestion<'_>) -> Answer + 'a>;

impl<'a> TurnBuilder<'a> {
    pub(crate) fn new(rejoin: &'a Rejoin, request: TurnRequest) -> Self {
        Self { rejoin, request, contradiction: None, on_question: None, on_handover: None, cancel: None }
    }

    /// What is wanted so far, as plain data.
    pub fn request(&self) -> &TurnRequest {
        &self.request
    }

    fn want(mut self, conversation: WantedConversation) -> Self {
        if let Some(one) = &self.request.conversation {
            self.contradiction.get_or_insert(format!(
                "{one} and {conversation} exclude each other: only one conversation can be continued"
            ));
        }
        self.request.conversation.get_or_insert(conversation);
        self
    }

    fn put_at(mut self, place: WantedPlace) -> Self {
        if let Some(one) = &self.request.place {
            self.contradiction.get_or_insert(format!(
                "{one} and {place} exclude each other: a turn has one place in its conversation"
            ));
        }
        self.request.place.get_or_insert(place);
        self
    }

    /// Where the turn will be kept.
    pub fn rejoin(&self) -> &'a Rejoin {
        self.rejoin
    }

    /// The id the turn will have: for whoever must note it before anything is run.
    pub fn id(&self) -> TurnId {
        self.request.turn
    }

    /// The id the conversation will have if the turn begins a new one.
    pub fn new_conversation(&self) -> ConversationId {
        self.request.new_conversation
    }

    /// Who does it. Without it: the conversation's last agent, else the configured one, else the
    /// first that is installed.
    pub fn agent(mut self, agent: Agent) -> Self {
        self.request.agent = Some(agent);
        self
    }

    /// Who goes on, one after the other, where the limit of an agent is reached (a quota, not a mere request to slow
    /// down) before it said or did anything: with the same prompt, as a turn of the same conversation. The history goes
    /// along as with any agent that takes over; to another vendor only if that is allowed: see
    /// [`on_handover`](TurnBuilder::on_handover). Whatever the next agent may do is no more than this one might; one that
    /// cannot be kept to that is passed over. [`run`](TurnBuilder::run) does this; a turn that is
    /// [started](TurnBuilder::start) ends at its limit, and [`Rejoin::instead_of_limited`] describes the next.
    pub fn fallback(mut self, agents: impl IntoIterator<Item = Agent>) -> Self {
        self.request.fallback = agents.into_iter().collect();
        self
    }

    /// The same as configured (`fallback` in the configuration).
    pub fn fallback_as_configured(self) -> Self {
        let agents: Vec<Agent> = self.rejoin.config.fallback.iter().map(Agent::named).collect();
        self.fallback(agents)
    }

    /// Goes on with another agent also if this one had begun to work: what it did may be done twice.
    pub fn fallback_after_work(mut self) -> Self {
        self.request.fallback_after_work = true;
        self
    }

    /// Is asked before a history goes to another vendor because a limit was reached, once per pair of vendors: the
    /// answer is remembered. Without it, nobody is there to be asked, and the turn ends at its limit. Also before it goes
    /// back after the limit: without it, whoever stands in goes on.
    pub fn on_handover(mut self, ask: impl FnMut(&Handover) -> bool + 'a) -> Self {
        self.on_handover = Some(Box::new(ask));
        self
    }

    /// Continue the newest conversation of the project; with none there, a warning and a new one.
    pub fn continue_latest(self) -> Self {
        self.want(WantedConversation::Latest)
    }

    /// Continue the conversation of this name, or begin it.
    pub fn conversation(self, name: impl Into<String>) -> Self {
        self.want(WantedConversation::Named(name.into()))
    }

    /// Continue a conversation by its id, a unique prefix, its name, or the agent's own session id.
    pub fn resume(self, reference: impl Into<String>) -> Self {
        self.want(WantedConversation::Reference(reference.into()))
    }

    /// Continue this conversation.
    pub fn in_conversation(self, id: ConversationId) -> Self {
        self.want(WantedConversation::Id(id))
    }

    /// Branch from the turn of this message (its id, or in the user's terms a unique prefix of it, a turn's
    /// number, a branch, `@~1`) instead of the head.
    pub fn checkpoint(self, message: impl Into<WantedMessage>) -> Self {
        self.put_at(WantedPlace::After(message.into()))
    }

    /// Run beside the turn of this message, with another prompt: a branch that begins before it.
    pub fn instead_of(self, message: impl Into<WantedMessage>) -> Self {
        self.put_at(WantedPlace::InsteadOf(message.into()))
    }

    /// Run the turn of this message (else the head's) again, with its own prompt: a failed or cut one
    /// goes on as a child, so that its session can be resumed; a completed one gets a sibling.
    pub fn retry(self, message: Option<WantedMessage>) -> Self {
        self.put_at(WantedPlace::Again(message))
    }

    /// The user's words.
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.request.prompt = prompt.into();
        self
    }

    /// Sends a file along with this turn: an image, a PDF or a text, as far as the agent takes them.
    /// It is read when the turn is run; the journal keeps its name, type, size and hash, not its bytes.
    pub fn attach(mut self, file: impl Into<PathBuf>) -> Self {
        self.request.attach.push(file.into());
        self
    }

    /// The agent keeps its sessions in this directory, which must exist, from this turn of the
    /// conversation on; an empty path goes back to the agent's own place. Refused for agents that
    /// could not move them without their login.
    pub fn session_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.request.session_dir = Some(dir.into());
        self
    }

    /// Run there instead of in the conversation's own directory.
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.request.cwd = Some(dir.into());
        self
    }

    /// A new session of the agent that is told the history.
    pub fn fresh(mut self) -> Self {
        self.request.fresh = true;
        self
    }

    /// Nothing is recorded, neither by us nor by the agent.
    pub fn ephemeral(mut self) -> Self {
        self.request.ephemeral = true;
        self
    }

    /// The model, in the agent's own terms.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.request.model = Some(model.into());
        self
    }

    /// What the agent may do, from this turn on.
    pub fn permissions(mut self, level: Permissions) -> Self {
        self.request.permissions = Some(level);
        self
    }

    /// Which turns agents should know; only when a conversation begins.
    pub fn scope(mut self, scope: Scope) -> Self {
        self.request.scope = Some(scope);
        self
    }

    /// Replaces the agent's system prompt for this turn.
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.system_prompt = Some(text.into());
        self
    }

    /// Is added to the agent's system prompt for this turn.
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.request.append_system_prompt = Some(text.into());
        self
    }

    /// Arguments for the agent; those about permissions and sessions are refused.
    pub fn extra_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.request.extra_args.extend(args.into_iter().map(Into::into));
        self
    }

    /// A variable of the agent's environment for this turn. It also decides where the agent and its sessions are
    /// looked for, so one that moves them costs the session (`store_changed`). Nothing of it is recorded.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.request.env.insert(name.into(), value.into());
        self
    }

    /// A limit for the whole turn.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.request.limits.turn = Some(limit);
        self
    }

    /// A limit for silence while no tool runs; zero means none.
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.request.limits.idle = (!limit.is_zero()).then_some(limit);
        self
    }

    /// How long an agent that did nothing yet may be told nothing but to try again later, until that counts as a limit;
    /// zero means for ever.
    pub fn limit_after(mut self, limit: Duration) -> Self {
        self.request.limits.limit_after = Some(limit);
        self
    }

    /// A limit for an answer to a question of the agent, which is then told that nobody is there; zero means none.
    pub fn answer_timeout(mut self, limit: Duration) -> Self {
        self.request.limits.answer = (!limit.is_zero()).then_some(limit);
        self
    }

    /// How long to wait for a conversation that is in use.
    pub fn wait(mut self, limit: Duration) -> Self {
        self.request.wait = Some(limit);
        self
    }

    /// Answers questions of the agent. Without it, it is told that nobody is there.
    pub fn on_question(mut self, answer: impl FnMut(&OpenQuestion<'_>) -> Answer + 'a) -> Self {
        self.on_question = Some(Box::new(answer));
        self
    }

    /// Somebody answers the agent's questions by the handle; without it, it is told that nobody is there.
    pub fn interactive(mut self) -> Self {
        self.request.interactive = true;
        self
    }

    /// A handle that stops the turn from another thread or a signal handler.
    pub fn canceller(&mut self) -> Result<Canceller, Error> {
        let (canceller, watch) = CancelWatch::pair()?;
        self.cancel = Some(watch);
        Ok(canceller)
    }

    /// What would be done; nothing is run or written.
    pub fn dry_run(mut self) -> Result<DryRun, Error> {
        let (order, engine) = self.order(Purpose::LookUntouched)?;
        Ok(engine.dry_run(order)?)
    }

    /// Whether the turn would resume: each guard with its two values. Needs a conversation, no prompt; nothing is run,
    /// and no journal is written.
    ///
    /// ```no_run
    /// # use rejoin::{Agent, Rejoin};
    /// # fn main() -> Result<(), rejoin::Error> {
    /// let why = Rejoin::open()?.project(".").continue_latest().agent(Agent::Claude).why()?;
    /// if !why.plan.resumes() {
    ///     for check in why.checks.iter().filter(|check| !check.ok) {
    ///         println!("{:?}: was {}, now {}", check.guard, check.was, check.now);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn why(mut self) -> Result<Why, Error> {
        let (order, engine) = self.order(Purpose::Look)?;
        Ok(explain(&engine, order)?)
    }

    /// Carries out the turn; `on_event` sees everything that happens. Where a [fallback](TurnBuilder::fallback) goes on,
    /// the outcome is that of its turn; it begins with an `init` of its own, and only the last turn tells its `result`.
    pub fn run(mut self, mut on_event: impl FnMut(&Event)) -> Result<TurnOutcome, Error> {
        if self.request.fallback.is_empty() {
            self.run_once(&mut on_event)
        } else {
            self.run_with_fallback(&mut on_event)
        }
    }

    /// Carries out one turn.
    pub(crate) fn run_once(&mut self, mut on_event: &mut dyn FnMut(&Event)) -> Result<TurnOutcome, Error> {
        let (order, cancel) = self.prepare_run()?;
        let watcher = Watcher {
            on_event: &mut on_event,
            on_question: self
                .on_question
                .as_mut()
                .map(|answer| &mut **answer as &mut dyn FnMut(&OpenQuestion<'_>) -> Answer),
            cancel,
        };
        Ok(self.rejoin.engine.run(order, watcher)?)
    }

    /// Begins the turn: what can be refused is refused before this returns. It goes on by itself, on
    /// threads of its own; questions of the agent come as events and are answered by the handle, if the
    /// request is [interactive](TurnBuilder::interactive).
    pub fn start(mut self) -> Result<TurnHandle, Error> {
        let (order, cancel) = self.prepare_run()?;
        Ok(self.rejoin.engine.start(order, cancel)?)
    }

    fn prepare_run(&mut self) -> Result<(Order, CancelWatch), Error> {
        let cancel = match self.cancel.take() {
            Some(cancel) => cancel,
            None => CancelWatch::pair()?.1,
        };
        self.cancel = Some(cancel);
        let (order, _) = self.order(Purpose::Run)?;
        let cancel = self.cancel.take().ok_or_else(|| Error::usage("the turn has no cancel handle"))?;
        self.rejoin.engine.make_home()?;
        Ok((order, cancel))
    }

    fn order(&mut self, purpose: Purpose) -> Result<(Order, Engine), Error> {
        if let Some(text) = &self.contradiction {
            return Err(Error::usage(text.as_str()));
        }
        let ask = self.on_handover.as_mut().filter(|_| purpose == Purpose::Run);
        Resolve { rejoin: self.rejoin, request: &self.request, purpose, cancel: self.cancel.as_ref() }
            .order(ask.map(|ask| &mut **ask as &mut crate::handover::Asked<'_>))
    }
}
