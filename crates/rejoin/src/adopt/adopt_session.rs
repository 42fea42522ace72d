//! Reads a session whole and writes what is new of it into its conversation.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rejoin_agents::{Definition, SessionStore, StoredSession, Wanted, WholeSession};
use rejoin_core::{
    Conversation, ConversationId, ConversationInfo, Message, Origin, PinBinding, PinState, Scope, SessionId,
    System, Turn, Witness,
};
use rejoin_engine::{Engine, TurnError};
use rejoin_index::ConversationFilter;
use rejoin_journal::{Loaded, Store, Writer, load, messages};

use super::draft::{Adopting, AdoptionDraft, PinnedAs, Texts};
use super::match_turns::Typed;
use super::{ids, in_use};
use crate::{Error, Rejoin};

/// An agent and its store, as they are here.
pub(super) struct AgentHere {
    pub(super) agent: Arc<dyn Definition>,
    pub(super) store: Box<dyn SessionStore>,
    /// Where the store is.
    pub(super) place: PathBuf,
    /// The program that would resume a session; `None` if none is installed that can.
    product: OnceCell<Option<String>>,
}

/// The conversations that sessions were used in.
pub(super) type UsersOfSessions = HashMap<SessionId, Vec<ConversationId>>;

/// What came of one session.
pub(super) enum Adoption {
    /// This is to be written, or was.
    Draft(Box<DraftedSession>),
    /// It is pinned as it stands, live or not: nothing can be new.
    Unchanged(ConversationId, bool),
    /// It is left as it is.
    Left(String),
}

/// What is to be written, and where.
pub(crate) struct DraftedSession {
    pub(super) id: ConversationId,
    pub(super) info: ConversationInfo,
    pub(super) is_new: bool,
    pub(super) what: AdoptionDraft,
    pub(super) warnings: Vec<String>,
}

impl AgentHere {
    pub(super) fn new(agent: Arc<dyn Definition>, store: Box<dyn SessionStore>, place: PathBuf) -> Self {
        Self { agent, store, place, product: OnceCell::new() }
    }

    fn product(&self, rejoin: &Rejoin) -> Option<&str> {
        let find = || {
            let found = rejoin.engine.find_agent(&*self.agent, &rejoin.setup(&self.agent.agent()))?;
            found.capabilities.resume.then(|| found.product())
        };
        self.product.get_or_init(find).as_deref()
    }
}

impl Rejoin {
    /// The conversations that sessions were used in, the newest first.
    pub(super) fn users_of_sessions(&self) -> Result<UsersOfSessions, Error> {
        let mut users = UsersOfSessions::new();
        for entry in self.index_untouched().list(&ConversationFilter::default())?.conversations {
            for session in entry.summary.sessions {
                users.entry(session).or_default().push(entry.id);
            }
        }
        Ok(users)
    }

    /// The conversation a session belongs to: the one it became, or one whose turns it took, begun here or not.
    pub(super) fn conversation_of(
        &self,
        session: &SessionId,
        users: &UsersOfSessions,
    ) -> Result<Option<ConversationId>, Error> {
        let own = ids::conversation(session);
        if self.is_there(own)? {
            return Ok(Some(own));
        }
        for id in users.get(session).into_iter().flatten() {
            let conversation = load(self.engine.store(), *id)?.conversation;
            let home = self.home_of(*id, &conversation)?;
            if conversation.pins.get(session).is_some_and(|pin| pin.home == home) {
                return Ok(Some(*id));
            }
        }
        Ok(None)
    }

    pub(super) fn is_there(&self, id: ConversationId) -> Result<bool, Error> {
        match self.known(id) {
            Ok(_) => Ok(true),
            Err(error) if error.exit_code() == crate::exit_code::NOT_FOUND => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The home that pins of a conversation name if they are made here.
    pub(super) fn home_of(&self, id: ConversationId, conversation: &Conversation) -> Result<String, Error> {
        Ok(match self.engine.origin(id, conversation)? {
            Origin::Here => self.engine.home_id().to_owned(),
            Origin::Elsewhere(said) => said.home,
        })
    }

    /// What adopting a session would write. `loaded` is its conversation as it stands; without it, it becomes one.
    pub(super) fn draft_adoption(
        &self,
        here: &AgentHere,
        stored: &StoredSession,
        loaded: Option<(ConversationId, &Loaded)>,
    ) -> Result<Adoption, Error> {
        let agent = &*here.agent;
        let session = agent.session_id(&stored.id).map_err(|error| Error::usage(error.to_string()))?;
        if let Some((id, loaded)) = loaded
            && let Some(format) = loaded.newer_format()
        {
            return Ok(Adoption::Left(format!(
                "conversation {} is written in format {format} by a newer rejoin; update rejoin to go on with it",
                id.short()
            )));
        }
        let info = match loaded {
            Some((id, loaded)) => loaded.conversation.info.clone().ok_or_else(|| {
                Error::usage(format!(
                    "conversation {} has lost its first record, which says where it lives; `rejoin fsck --repair` restores it",
                    id.short()
                ))
            })?,
            None => match info(stored) {
                Ok(info) => info,
                Err(why) => return Ok(Adoption::Left(why.to_owned())),
            },
        };
        let none = Conversation::default();
        let (id, conversation) =
            loaded.map_or((ids::conversation(&session), &none), |(id, loaded)| (id, &loaded.conversation));
        // Before it is read: what comes meanwhile is noticed by the next turn.
        let dir = pinned_dir(conversation, &session).unwrap_or(&info.dir).to_owned();
        let look = agent.look(&here.place, Path::new(&dir), &session, Wanted { damage: true, total: true });
        if is_as_pinned(conversation, &session, look.witness.as_ref()) {
            return Ok(Adoption::Unchanged(id, is_live(conversation, &session)));
        }
        // What a turn would not resume any more is no witness of what was said in it since, either.
        if let Some(damage) = look.damage.filter(|_| conversation.pins.get(&session).is_some()) {
            return Ok(Adoption::Left(damage.words().to_owned()));
        }
        if is_shorter(conversation, &session, look.witness.as_ref()) {
            return Ok(Adoption::Left("it is shorter than it was after its last turn here".to_owned()));
        }
        let mut warnings = Vec::new();
        if let Some(user) = in_use::user(agent, &here.place, &session) {
            warnings.push(format!(
                "session {} of {} is open in process {}: what is said there from now on is not adopted yet",
                session.short(),
                agent.agent(),
                user.pid
            ));
        }
        let whole = match read_whole(here, stored)? {
            Ok(whole) => whole,
            Err(why) => return Ok(Adoption::Left(why)),
        };
        let not_understood: usize = whole.not_understood.iter().map(|(_, count)| count).sum();
        if not_understood > 0 {
            let records = if not_understood == 1 { "1 record" } else { &format!("{not_understood} records") };
            warnings.push(format!(
                "{records} of session {} were not understood and stay with the agent",
                session.short()
            ));
        }
        let home = match loaded {
            Some((id, loaded)) => self.home_of(id, &loaded.conversation)?,
            None => self.engine.home_id().to_owned(),
        };
        let product = here.product(self);
        let pinned = product.zip(look.witness).map(|(product, witness)| PinnedAs {
            binding: PinBinding {
                scope: info.scope,
                dir,
                store: here.place.to_string_lossy().into_owned(),
                product: product.to_owned(),
                home,
            },
            witness,
            total: look.total,
        });
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let adopting = Adopting {
            session: &session,
            whole: &whole,
            id,
            info: &info,
            conversation,
            is_new: loaded.is_none(),
            pinned,
            now: i64::try_from(now).unwrap_or(i64::MAX),
        };
        let texts = JournalTexts { store: self.engine.store(), id };
        Ok(match adopting.draft(&texts)? {
            Ok(what) => Adoption::Draft(Box::new(DraftedSession {
                id,
                info,
                is_new: loaded.is_none(),
                what,
                warnings,
            })),
            Err(why) => Adoption::Left(why.to_owned()),
        })
    }

    /// Writes a draft; on the disk when it returns.
    pub(crate) fn write_adoption(&self, draft: &DraftedSession, writer: Writer) -> Result<(), Error> {
        let store = self.engine.store();
        if draft.what.records.is_empty() {
            return Ok(());
        }
        if draft.is_new {
            self.engine.origins().note(draft.id, &Origin::Here)?;
            store.create(draft.id, &draft.info, &draft.what.records, writer)?;
            return Ok(());
        }
        let mut journal = store.appender(draft.id, writer)?;
        journal.append(&draft.what.records)?;
        Ok(journal.sync()?)
    }
}

/// Whether a session stands as its conversation pins it, and whether that pin is live; nothing is read for it.
pub(super) fn unchanged(
    here: &AgentHere,
    stored: &StoredSession,
    conversation: &Conversation,
) -> Option<bool> {
    let session = here.agent.session_id(&stored.id).ok()?;
    let dir = pinned_dir(conversation, &session).or(conversation.info.as_ref().map(|info| &*info.dir))?;
    let wanted = Wanted { damage: false, total: false };
    let look = here.agent.look(&here.place, Path::new(dir), &session, wanted);
    is_as_pinned(conversation, &session, look.witness.as_ref()).then(|| is_live(conversation, &session))
}

/// Whether the stored session looks as it did when it was pinned.
fn is_as_pinned(conversation: &Conversation, session: &SessionId, now: Option<&Witness>) -> bool {
    let pin = conversation.pins.get(session).filter(|pin| pin.state != PinState::Tentative);
    pin.and_then(|pin| pin.witness.as_ref()).is_some_and(|before| now == Some(before))
}

/// Whether something of the stored session is gone since it was pinned.
fn is_shorter(conversation: &Conversation, session: &SessionId, now: Option<&Witness>) -> bool {
    let before = conversation.pins.get(session).and_then(|pin| pin.witness.as_ref());
    before.zip(now).is_some_and(|(before, now)| now.path == before.path && now.size < before.size)
}

/// The directory a session is pinned in: its conversation may have moved on, or its turns been sent elsewhere.
fn pinned_dir<'a>(conversation: &'a Conversation, session: &SessionId) -> Option<&'a str> {
    conversation.pins.get(session).map(|pin| &*pin.dir)
}

pub(super) fn is_live(conversation: &Conversation, session: &SessionId) -> bool {
    conversation.pins.get(session).is_some_and(|pin| pin.state == PinState::Live)
}

/// What the conversation of a session is: it lives where the session was used last.
fn info(stored: &StoredSession) -> Result<ConversationInfo, &'static str> {
    let Some(dir) = &stored.dir else {
        return Err(
            "its store does not say in which directory it was used: go on with it in the agent itself there",
        );
    };
    // It may be gone.
    let real = Path::new(dir).canonicalize().unwrap_or_else(|_| PathBuf::from(dir));
    let project = rejoin_engine::project_of(&real);
    match (project.to_str(), real.to_str()) {
        (Some(project), Some(dir)) => Ok(ConversationInfo {
            schema: System::SCHEMA,
            project: project.to_owned(),
            dir: dir.to_owned(),
            scope: Scope::Shared,
        }),
        _ => Err("the path of its directory is not valid UTF-8, which a journal cannot keep"),
    }
}

/// All of a session, or why it is left as it is.
fn read_whole(here: &AgentHere, stored: &StoredSession) -> Result<Result<WholeSession, String>, Error> {
    let whole = match here.store.read_whole(stored) {
        Ok(whole) => whole,
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            return Ok(Err(error.to_string()));
        }
        Err(cause) => {
            let (agent, file) = (here.agent.agent(), stored.file.display());
            let what =
                format!("cannot read session {} of {agent} in {file}, so nothing was adopted", stored.id);
            return Err(TurnError::System { what, cause }.into());
        }
    };
    Ok(if whole.is_subagent {
        Err("it was begun by another session, and belongs to that one".to_owned())
    } else if whole.id != stored.id {
        Err(format!("its file says that it is session {:.64}", whole.id))
    } else if whole.turns.is_empty() {
        Err("nothing was said in it".to_owned())
    } else {
        Ok(whole)
    })
}

/// What stands in a conversation, read from its journal.
struct JournalTexts<'a> {
    store: &'a dyn Store,
    id: ConversationId,
}

impl Texts for JournalTexts<'_> {
    fn typed(&self, turn: &Turn) -> Result<Typed, Error> {
        if turn.revision > 0 {
            return Ok(Typed::Anything);
        }
        let mut prompt = turn.clone();
        prompt.records.truncate(1);
        let read = messages(self.store, self.id, &prompt, usize::MAX)?.messages;
        Ok(read.first().map_or(Typed::Anything, |prompt| Typed::Words {
            text: prompt.text(),
            with_files: prompt.attachments().next().is_some(),
        }))
    }

    fn messages(&self, turn: &Turn) -> Result<Vec<Message>, Error> {
        Ok(messages(self.store, self.id, turn, usize::MAX)?.messages)
    }
}

/// Keeps turns away from a conversation while a session is adopted into it.
pub(super) fn hold(engine: &Engine, id: ConversationId) -> Result<rejoin_engine::Hold, Error> {
    Ok(engine.hold(id, "adopting a session")?)
}
