//! What a live conversation keeps between its turns, and how that changes. Reading what a person types and drawing
//! are left to whoever shows it.

use std::path::{Path, PathBuf};

use rejoin_core::{Agent, ConversationId, MessageId, Scope};
use serde::{Deserialize, Serialize};

use crate::{ConversationView, Error, Rejoin, TurnBuilder, TurnOptions, WantedMessage, Why};

/// Stands for what will be said when it is asked whether anything can be.
const SOMETHING: &str = "?";
/// The exit code of what is not there.
const NOT_FOUND: i32 = 4;

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

impl ChatState {
    /// Finds the conversation, and refuses what the first turn would refuse. Nothing is run or written.
    pub fn begin(rejoin: &Rejoin, dir: &Path, start: ChatStart) -> Result<Self, Error> {
        let ChatStart { conversation: wanted, checkpoint, scope, options } = start;
        let find = |reference: &str| rejoin.view(dir, reference).map(|view| Some(view.id()));
        let (found, name) = match &wanted {
            ChatConversation::New => (Ok(None), None),
            ChatConversation::Latest => (find("@"), None),
            ChatConversation::Named(name) => (find(name), Some(name.clone())),
            ChatConversation::Reference(text) => (find(text), None),
            ChatConversation::Id(id) => (rejoin.known(*id).map(Some), None),
        };
        let may_begin = matches!(wanted, ChatConversation::Latest | ChatConversation::Named(_));
        let conversation = match found {
            Err(error) if error.exit_code() == NOT_FOUND && may_begin => None,
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
        if let Some(message) = &self.checkpoint {
            turn = turn.checkpoint(message.clone());
        }
        if let Some(scope) = self.scope {
            turn = turn.scope(scope);
        }
        self.options.apply(turn)
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
        let mut chosen = self.clone();
        chosen.options.agent = Some(agent);
        chosen.agent = chosen.turn(rejoin, SOMETHING).dry_run()?.agent;
        *self = chosen;
        Ok(())
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
