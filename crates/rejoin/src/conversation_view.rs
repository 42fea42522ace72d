//! One conversation, opened for reading: what was said and done in it.

use std::path::Path;

use rejoin_core::{
    AskedQuestion, Conversation, ConversationId, ConversationInfo, Message, Origin, ToolCall, Turn,
    not_counted, tool_calls,
};
use rejoin_journal::{Cursor, LeaseName, Loaded, Problem, load, load_before, messages, questions};

use crate::find_message::find_message;
use crate::{Error, Rejoin};

/// One conversation, opened for reading. It shows what stood in the journal then; open it again to see more.
///
/// ```no_run
/// # use std::path::Path;
/// # use rejoin::{Message, Rejoin};
/// # fn main() -> Result<(), rejoin::Error> {
/// let rejoin = Rejoin::open()?;
/// let view = rejoin.view(Path::new("."), "@")?;
/// for turn in view.path() {
///     let said = view.messages(turn, 4096)?;
///     let prompt = said.first().map(Message::text).unwrap_or_default();
///     println!("{} ({}): {prompt}", turn.id.short(), view.turn_status(turn)?.name());
/// }
/// # Ok(())
/// # }
/// ```
pub struct ConversationView<'a> {
    pub(crate) rejoin: &'a Rejoin,
    pub(crate) id: ConversationId,
    pub(crate) conversation: Conversation,
    problems: Vec<String>,
    /// How far its journal went when it was opened.
    pub(crate) end: u64,
    /// No turn was running in what was read.
    pub(crate) settled: bool,
    /// Edits are refused if it went on since.
    pub(crate) strict: bool,
    /// The former path of the project it was looked for in, if it was found under that.
    former: Option<String>,
}

impl Rejoin {
    /// The ids of the conversations of the project a directory is in, newest first; or of all, in no
    /// order, those included whose journal is empty.
    pub fn ids(&self, dir: Option<&Path>) -> Result<Vec<ConversationId>, Error> {
        let Some(dir) = dir else { return Ok(self.engine.store().ids()?) };
        let project = rejoin_engine::project_of(dir).to_string_lossy().into_owned();
        Ok(self.engine.store().list(Some(&project))?.into_iter().map(|listed| listed.id).collect())
    }

    /// How many turns a conversation has, on all branches.
    pub fn turns(&self, id: ConversationId) -> Result<usize, Error> {
        Ok(load(self.engine.store(), id)?.conversation.tree.turns().len())
    }

    pub(crate) fn is_running(&self, id: ConversationId) -> bool {
        matches!(self.engine.leases().holder(&LeaseName::conversation(id)), Ok(Some(_)))
    }

    /// Opens a conversation by id, unique prefix, name, `@`, or an agent's session id.
    pub fn view(&self, dir: &Path, reference: &str) -> Result<ConversationView<'_>, Error> {
        let project = rejoin_engine::project_of(dir).to_string_lossy().into_owned();
        let mut view = self.open_conversation(self.resolve(&mut self.index(), &project, reference)?)?;
        view.former = self.was_here(view.id, &view.conversation, &project)?.map(|from| from.path);
        Ok(view)
    }

    /// Opens a conversation by its id.
    pub fn open_conversation(&self, id: ConversationId) -> Result<ConversationView<'_>, Error> {
        let loaded = load(self.engine.store(), id)?;
        let problems =
            loaded.problems.noted.iter().filter(|noted| !matches!(noted.problem, Problem::Torn { .. }));
        let problems = problems.map(ToString::to_string).chain(loaded.conversation.passed_over()).collect();
        let Loaded { conversation, end, .. } = loaded;
        Ok(ConversationView {
            rejoin: self,
            id,
            conversation,
            problems,
            end,
            settled: false,
            strict: false,
            former: None,
        })
    }
}

impl ConversationView<'_> {
    /// Its id.
    pub fn id(&self) -> ConversationId {
        self.id
    }

    /// Its name, else the beginning of the first thing the user said.
    pub fn title(&self) -> Result<String, Error> {
        if let Some(name) = &self.conversation.name {
            return Ok(name.clone());
        }
        let Some(first) = self.conversation.tree.turns().first() else { return Ok(String::new()) };
        Ok(self.messages(first, 4096)?.first().map(Message::text).unwrap_or_default())
    }

    /// What it is.
    pub fn info(&self) -> Option<&ConversationInfo> {
        self.conversation.info.as_ref()
    }

    /// All that was folded from its journal.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Where it came from, and what was said about it here.
    pub fn origin(&self) -> Result<Origin, Error> {
        Ok(self.rejoin.engine.origin(self.id, &self.conversation)?)
    }

    /// What of its settings does not count because it was not said here, in a sentence.
    pub fn not_counted(&self) -> Result<Option<String>, Error> {
        Ok(not_counted(&self.conversation, &self.origin()?, None))
    }

    /// The path the project had to which it belongs by now; with its next turn here, it says so.
    pub fn former_project(&self) -> Option<&str> {
        self.former.as_deref()
    }

    /// A turn is running now.
    pub fn is_running(&self) -> bool {
        self.rejoin.is_running(self.id)
    }

    /// The turns on the path to the head, oldest first.
    pub fn path(&self) -> Vec<&Turn> {
        self.conversation.tree.path(self.conversation.tree.head().map(|turn| turn.id)).0
    }

    /// The turns on the path to the turn of a message, oldest first.
    pub fn path_to(&self, message: &str) -> Result<Vec<&Turn>, Error> {
        let message = find_message(&self.conversation, message)?.message;
        let tree = &self.conversation.tree;
        Ok(tree.path(tree.turn(message).map(|turn| turn.id)).0)
    }

    /// What was said in a turn; long texts are cut at `limit` bytes, visibly.
    pub fn messages(&self, turn: &Turn, limit: usize) -> Result<Vec<Message>, Error> {
        Ok(messages(self.rejoin.engine.store(), self.id, turn, limit)?.messages)
    }

    /// The same conversation as it stands now, without the turn that is running, if one is, and whether one
    /// was left out. What that turn says is not whole yet: half a secret looks like none.
    pub fn settled(&self) -> Result<(Self, bool), Error> {
        // Looked at before it is read: a turn that ends in between is read with its end.
        let running = self.is_running();
        let store = self.rejoin.engine.store();
        let Loaded { mut conversation, mut end, .. } = load(store, self.id)?;
        let last = conversation.tree.turns().last().filter(|turn| turn.receipt.is_none());
        let begun = last.and_then(|turn| turn.records.first().copied());
        let unsettled = begun.filter(|_| running || self.is_running());
        if let Some(begun) = unsettled {
            Loaded { conversation, end, .. } = load_before(store, self.id, begun)?;
        }
        let problems = self.problems.clone();
        let view = Self {
            rejoin: self.rejoin,
            id: self.id,
            conversation,
            problems,
            end,
            settled: true,
            strict: self.strict,
            former: self.former.clone(),
        };
        Ok((view, unsettled.is_some()))
    }

    /// The calls of tools in a turn, from its messages: what each was about, what became of it, when
    /// and how long.
    pub fn tool_calls(&self, turn: &Turn, messages: &[Message]) -> Vec<ToolCall> {
        let running = turn.receipt.is_none() && self.is_running();
        tool_calls(messages, running)
    }

    /// What the agent asked in a turn, and what became of it.
    pub fn questions(&self, turn: &Turn) -> Result<Vec<AskedQuestion>, Error> {
        // Most turns have none, and then nothing need be read.
        if turn.questions.is_empty() {
            return Ok(Vec::new());
        }
        let still_runs = turn.receipt.is_none() && self.is_running();
        Ok(questions(self.rejoin.engine.store(), self.id, turn, still_runs)?)
    }

    /// The journal, byte for byte.
    pub fn raw(&self) -> Result<Box<dyn std::io::Read + Send>, Error> {
        Ok(self.rejoin.engine.store().files()?.raw(self.id)?)
    }

    /// Behind what is shown: a watch that begins here tells what comes.
    pub fn cursor(&self) -> Result<Cursor, Error> {
        Ok(self.rejoin.engine.store().cursor(self.id, self.end)?)
    }

    /// What is wrong with its journal, if anything.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}
