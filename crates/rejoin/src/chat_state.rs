//! What a live conversation keeps between its turns, and how that changes. Reading what a person types and drawing
//! are left to whoever shows it.

use std::path::{Path, PathBuf};

use rejoin_core::{Agent, ConversationId, MessageId, Permissions, Scope};
use serde::{Deserialize, Serialize};

use crate::adopt::before_turn::Adopt;
use crate::resolve::existing_dir;
use crate::{ConversationView, Error, Rejoin, TurnBuilder, TurnOptions, WantedMessage, Why, exit_code};

/// Stands for what will be said when it is asked whether anything can be.
const SOMETHING: &str = "?";

/// Which conversation a chat goes on with.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatConversation {
    /// A new one.
    #[default]
    New,
    /// The newest of the project; with none there, a new one.
    Latest,
    /// The one of this name, begun if there is none.
    Named(String),
    /// By id, unique prefix, name, `@`, or the agent's own session id.
    Reference(String),
    /// This one.
    Id(ConversationId),
}

/// What a chat begins with.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatStart {
    /// Which conversation.
    pub conversation: ChatConversation,
    /// The first turn branches from the turn of this message.
    pub checkpoint: Option<WantedMessage>,
    /// Which turns agents are told about, where a conversation begins.
    pub scope: Option<Scope>,
    /// How its turns are carried out.
    pub options: TurnOptions,
}

/// A conversation that is going on turn by turn, or about to begin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChatState {
    dir: PathBuf,
    /// The conversation, once there is one.
    conversation: Option<ConversationId>,
    /// The name it gets when it begins.
    name: Option<String>,
    checkpoint: Option<WantedMessage>,
    scope: Option<Scope>,
    options: TurnOptions,
    agent: Agent,
    nothing_to_continue: bool,
}

/// The conversation that a session of an agent becomes, where a text names one.
fn adopted(
    rejoin: &Rejoin,
    dir: &Path,
    text: &str,
    not_found: Error,
    place: (Option<&WantedMessage>, Option<Scope>),
    options: &mut TurnOptions,
) -> Result<Option<ConversationId>, Error> {
    if not_found.exit_code() != exit_code::NOT_FOUND {
        return Err(not_found);
    }
    let dir = existing_dir(dir)?;
    let refuse_first = || {
        let first = first_turn(rejoin.project(&dir).prompt(SOMETHING).resume(text), place);
        options.apply(first).dry_run().map(drop)
    };
    let named = rejoin.session_for_turn(&dir, text, Adopt::Write, refuse_first)?;
    let Some(named) = named else { return Err(not_found) };
    options.agent.get_or_insert_with(|| named.session.agent().clone());
    Ok(Some(named.conversation))
}

/// A turn with what is only said of the first one: where it goes on from, and what agents are told about.
fn first_turn<'a>(
    mut turn: TurnBuilder<'a>,
    (checkpoint, scope): (Option<&WantedMessage>, Option<Scope>),
) -> TurnBuilder<'a> {
    if let Some(message) = checkpoint {
        turn = turn.checkpoint(message.clone());
    }
    if let Some(scope) = scope {
        turn = turn.scope(scope);
    }
    turn
}

impl ChatState {
    /// Finds the conversation, and refuses what the first turn would refuse. Nothing is run, and nothing written but a
    /// session of an agent that is named: it is adopted.
    pub fn begin(rejoin: &Rejoin, dir: &Path, start: ChatStart) -> Result<Self, Error> {
        let ChatStart { conversation: wanted, checkpoint, scope, mut options } = start;
        let find = |reference: &str| rejoin.view(dir, reference).map(|view| Some(view.id()));
        let (found, name) = match &wanted {
            ChatConversation::New => (Ok(None), None),
            ChatConversation::Latest => (find("@"), None),
            ChatConversation::Named(name) => (find(name), Some(name.clone())),
            ChatConversation::Reference(text) => (
                find(text).or_else(|error| {
                    adopted(rejoin, dir, text, error, (checkpoint.as_ref(), scope), &mut options)
                }),
                None,
            ),
            ChatConversation::Id(id) => (rejoin.known(*id).map(Some), None),
        };
        let may_begin = matches!(wanted, ChatConversation::Latest | ChatConversation::Named(_));
        let conversation = match found {
            Err(error) if error.exit_code() == exit_code::NOT_FOUND && may_begin => None,
            found => found?,
        };
        let mut state = Self {
            dir: dir.to_owned(),
            nothing_to_continue: wanted == ChatConversation::Latest && conversation.is_none(),
            name: name.filter(|_| conversation.is_none()),
            conversation,
            checkpoint,
            scope,
            options,
            // Until it is asked, just below.
            agent: Agent::Demo,
        };
        state.agent = state.turn(rejoin, SOMETHING).dry_run()?.agent;
        Ok(state)
    }

    /// The conversation, once it has begun.
    pub fn conversation(&self) -> Option<ConversationId> {
        self.conversation
    }

    /// The newest conversation was asked for, and there was none: a new one begins.
    pub fn nothing_to_continue(&self) -> bool {
        self.nothing_to_continue
    }

    /// Who would do the next turn.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Where it was begun: files are looked for from there.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The message after which the next turn goes on, if not the head.
    pub fn checkpoint(&self) -> Option<&WantedMessage> {
        self.checkpoint.as_ref()
    }

    /// How the next turn is carried out.
    pub fn options(&self) -> &TurnOptions {
        &self.options
    }

    /// The conversation, opened, once it has begun.
    pub fn view<'a>(&self, rejoin: &'a Rejoin) -> Result<Option<ConversationView<'a>>, Error> {
        self.conversation.map(|id| rejoin.open_conversation(id)).transpose()
    }

    /// The next turn, with these words.
    pub fn turn<'a>(&self, rejoin: &'a Rejoin, prompt: impl Into<String>) -> TurnBuilder<'a> {
        let mut turn = rejoin.project(&self.dir).prompt(prompt);
        if let Some(name) = &self.name {
            turn = turn.conversation(name);
        }
        if let Some(id) = self.conversation {
            turn = turn.in_conversation(id);
        }
        self.options.apply(first_turn(turn, (self.checkpoint.as_ref(), self.scope)))
    }

    /// A turn of the conversation again: of this message, else the head's. `None` if nothing was said yet.
    pub fn retry<'a>(&self, rejoin: &'a Rejoin, message: Option<WantedMessage>) -> Option<TurnBuilder<'a>> {
        let turn = rejoin.project(&self.dir).in_conversation(self.conversation?);
        Some(self.options.apply(turn.retry(message)))
    }

    /// Other words in place of a prompt, on a branch. `None` if nothing was said yet.
    pub fn instead_of<'a>(
        &self,
        rejoin: &'a Rejoin,
        message: MessageId,
        prompt: impl Into<String>,
    ) -> Option<TurnBuilder<'a>> {
        let turn = rejoin.project(&self.dir).in_conversation(self.conversation?);
        Some(self.options.apply(turn.instead_of(message).prompt(prompt)))
    }

    /// A turn began in this conversation: however it ends, the chat goes on there, and what was meant for one turn
    /// was used.
    pub fn turn_began(&mut self, conversation: ConversationId) {
        self.conversation = Some(conversation);
        self.nothing_to_continue = false;
        self.name = None;
        self.checkpoint = None;
        self.scope = None;
        self.options.fresh = false;
        self.options.attach.clear();
    }

    /// A turn of this agent ended: it does the next one, too, unless another one is named.
    pub fn turn_ended(&mut self, agent: Agent) {
        self.agent = agent;
    }

    /// The head was moved: the next turn goes on there.
    pub fn head_moved(&mut self) {
        self.checkpoint = None;
    }

    /// Another agent does the next turns; what the next turn would refuse is refused now, and nothing changes.
    pub fn choose_agent(&mut self, rejoin: &Rejoin, agent: Agent) -> Result<(), Error> {
        self.try_options(rejoin, |options| options.agent = Some(agent))
    }

    /// What the agent may do from the next turn on; what the next turn would refuse is refused now, and nothing
    /// changes.
    pub fn choose_permissions(&mut self, rejoin: &Rejoin, level: Permissions) -> Result<(), Error> {
        self.try_options(rejoin, |options| options.permissions = Some(level))
    }

    /// A file goes along with the next turn; what that turn would refuse is refused now, and nothing changes.
    pub fn attach(&mut self, rejoin: &Rejoin, file: impl Into<PathBuf>) -> Result<(), Error> {
        let file = file.into();
        self.try_options(rejoin, |options| options.attach.push(file))
    }

    /// No file goes along with the next turn.
    pub fn detach_all(&mut self) {
        self.options.attach.clear();
    }

    /// Changes how turns are carried out, if the next turn would take it.
    fn try_options(&mut self, rejoin: &Rejoin, change: impl FnOnce(&mut TurnOptions)) -> Result<(), Error> {
        let mut changed = self.clone();
        change(&mut changed.options);
        changed.agent = changed.turn(rejoin, SOMETHING).dry_run()?.agent;
        *self = changed;
        Ok(())
    }

    /// Another conversation of the same directory: a new one with the same agent, model and permissions, or one that
    /// goes on with its own. What is meant for one turn is not taken along.
    pub fn another(&self, rejoin: &Rejoin, conversation: ChatConversation) -> Result<Self, Error> {
        let is_new = conversation == ChatConversation::New;
        let mut options = self.options.clone();
        options.fresh = false;
        options.attach.clear();
        if is_new {
            options.agent = Some(self.agent.clone());
        } else {
            (options.agent, options.model, options.permissions) = (None, None, None);
        }
        let start = ChatStart { conversation, options, ..ChatStart::default() };
        Self::begin(rejoin, &self.dir, start)
    }

    /// Who would do the next turn does it, and those after it, whoever else takes turns in the conversation meanwhile.
    pub fn keep_agent(&mut self) {
        self.options.agent = Some(self.agent.clone());
    }

    /// The next turns ask for this model.
    pub fn choose_model(&mut self, model: impl Into<String>) {
        self.options.model = Some(model.into());
    }

    /// The next turn begins a new session of the agent, told the history.
    pub fn begin_fresh_session(&mut self) {
        self.options.fresh = true;
    }

    /// What the next turn would do, and who would do it. `None` if nothing was said yet.
    pub fn outlook(&mut self, rejoin: &Rejoin) -> Result<Option<Why>, Error> {
        let Some(id) = self.conversation else { return Ok(None) };
        let why = self.options.apply(rejoin.project(&self.dir).in_conversation(id)).why()?;
        self.agent = why.agent.clone();
        Ok(Some(why))
    }
}
