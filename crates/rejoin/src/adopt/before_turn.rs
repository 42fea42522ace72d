//! What is adopted before a turn: the session it is to resume, and what went on outside of rejoin in sessions of its
//! conversation.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rejoin_agents::Wanted;
use rejoin_core::{Agent, Conversation, ConversationId, Pin, PinState, SessionId, Tree, TurnId};
use rejoin_engine::Engine;
use rejoin_journal::{Loaded, MemoryStore, Store, Writer, load};

use super::adopt_session::{Adoption, DraftedSession};
use super::adopt_sessions::taken_apart;
use super::find_session::FoundSession;
use super::in_use;
use crate::{Error, Rejoin};

/// A session that a turn is to go on with.
pub(crate) struct NamedSession {
    pub(crate) session: SessionId,
    pub(crate) conversation: ConversationId,
    /// What must be in the conversation first, and is not written.
    pub(crate) draft: Option<DraftedSession>,
    /// What the user should know.
    pub(crate) notices: Vec<(String, String)>,
}

/// What is done about what is new.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Adopt {
    /// It is written.
    Write,
    /// It is only told.
    Tell,
    /// Nothing may be written, and the turn cannot do without.
    Refuse,
}

impl Rejoin {
    /// The session that a text means, adopted; `None` if the text means none. Before anything is written, it is asked
    /// what will be refused anyway.
    pub(crate) fn session_for_turn(
        &self,
        here: &Path,
        text: &str,
        how: Adopt,
        refuse_first: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<NamedSession>, Error> {
        let Some(found) = self.find_session(here, text)? else { return Ok(None) };
        let (session, label) = (found.id()?, found.label());
        let FoundSession { agent, stored, store } = found;
        if how == Adopt::Write
            && let Some(user) = in_use::user(&*agent, &store.place, &session)
        {
            return Err(in_use::busy(&*agent, &session, user).into());
        }
        let known = self.conversation_of(&session, &self.users_of_sessions()?)?;
        let (name, (here, _)) = (agent.agent(), taken_apart(agent, store));
        if how == Adopt::Refuse {
            let Some(conversation) = known else {
                return Err(Error::usage(format!(
                    "session {label} is no conversation yet, and an ephemeral turn records nothing: `rejoin adopt {name}:{session}` first"
                )));
            };
            return Ok(Some(NamedSession { session, conversation, draft: None, notices: Vec::new() }));
        }
        if how == Adopt::Write {
            refuse_first()?;
            self.make_home()?;
        }
        match self.look_and_adopt(&here, &stored, known, how == Adopt::Tell)? {
            // Its conversation goes on all the same; whether by this session is decided like every turn's.
            Adoption::Left(why) => match known {
                Some(conversation) => {
                    let text = format!("session {label} is left as it is: {why}");
                    let notices = vec![("not_adopted".to_owned(), text)];
                    Ok(Some(NamedSession { session, conversation, draft: None, notices }))
                }
                None => Err(Error::usage(format!("session {label} cannot be gone on with: {why}"))),
            },
            Adoption::Unchanged(conversation, _) => {
                Ok(Some(NamedSession { session, conversation, draft: None, notices: Vec::new() }))
            }
            Adoption::Draft(draft) => Ok(Some(NamedSession {
                notices: notices(&draft, &session, how),
                session,
                conversation: draft.id,
                draft: (how == Adopt::Tell).then_some(*draft),
            })),
        }
    }

    /// The sessions of a conversation that somebody used since its last turn, as far as the next one may build on
    /// them: of each agent the one that stands on the path to the head.
    pub(crate) fn used_outside(
        &self,
        id: ConversationId,
        conversation: &Conversation,
    ) -> Result<Vec<Pin>, Error> {
        let tree = &conversation.tree;
        let (path, _) = tree.path(tree.head().map(|turn| turn.id));
        let mut home = None;
        let (mut agents, mut used): (HashSet<&Agent>, Vec<Pin>) = (HashSet::new(), Vec::new());
        for pin in conversation.pins.iter().rev() {
            let Some(before) = pin.witness.as_ref().filter(|_| pin.state == PinState::Live) else { continue };
            let agent = pin.session.agent();
            if agents.contains(agent) || !Tree::slice(&path, pin.scope, agent).starts_with(&pin.exposed) {
                continue;
            }
            let home = match &home {
                Some(home) => home,
                None => home.insert(self.home_of(id, conversation)?),
            };
            let Some(definition) = rejoin_agents::find(agent).filter(|_| pin.home == *home) else { continue };
            agents.insert(agent);
            let wanted = Wanted { damage: false, total: false };
            let now =
                definition.look(Path::new(&pin.store), Path::new(&pin.dir), &pin.session, wanted).witness;
            // One that got shorter is damaged, and said to be.
            let is_sound = |now: &rejoin_core::Witness| now.path != before.path || now.size >= before.size;
            if now.is_some_and(|now| now != *before && is_sound(&now)) {
                used.push(pin.clone());
            }
        }
        used.reverse();
        Ok(used)
    }

    /// What went on in a session of a conversation, to be written or told; `None` if it cannot be read whole.
    pub(crate) fn draft_for_turn(
        &self,
        pin: &Pin,
        (id, loaded): (ConversationId, &Loaded),
        here: &Path,
    ) -> Result<Option<DraftedSession>, Error> {
        let Some((here, stored)) = self.session_of_pin(pin, here) else { return Ok(None) };
        match self.draft_adoption(&here, &stored, Some((id, loaded)))? {
            Adoption::Draft(draft) => Ok(Some(*draft)),
            Adoption::Unchanged(..) | Adoption::Left(_) => Ok(None),
        }
    }
}

/// What the user is told of what is adopted.
pub(crate) fn notices(draft: &DraftedSession, session: &SessionId, how: Adopt) -> Vec<(String, String)> {
    let turns = |count: usize| if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") };
    let (what, agent, short) = (&draft.what, session.agent(), session.short());
    let conversation = draft.id.short();
    let is = if how == Adopt::Tell { "would be" } else { "is" };
    let are = |count: usize| match (how, count) {
        (Adopt::Tell, _) => "would be adopted first",
        (_, 1) => "is adopted",
        _ => "are adopted",
    };
    let text = match (draft.is_new, what.new, what.grown) {
        (true, new, _) => Some(format!(
            "session {short} of {agent} {is} conversation {conversation} now: {} adopted",
            turns(new)
        )),
        (false, 0, 0) => None,
        (false, 0, grown) => Some(format!(
            "session {short} of {agent} went on outside rejoin: what came to {} {}",
            turns(grown),
            are(1)
        )),
        (false, new, _) => Some(format!(
            "session {short} of {agent} went on outside rejoin: {} of it {}",
            turns(new),
            are(new)
        )),
    };
    let warnings = draft.warnings.iter().map(|text| ("session".to_owned(), text.clone()));
    text.map(|text| ("adopted".to_owned(), text)).into_iter().chain(warnings).collect()
}

/// The turn a session stands at, where the path to the head does not lead through it.
pub(crate) fn beside_the_head(conversation: &Conversation, session: &SessionId) -> Option<TurnId> {
    let tree = &conversation.tree;
    let pin = conversation.pins.get(session)?;
    let slice = |turn: Option<TurnId>| Tree::slice(&tree.path(turn).0, pin.scope, session.agent());
    if slice(tree.head().map(|turn| turn.id)).starts_with(&pin.exposed) {
        return None;
    }
    let stands_at = |turn: &&rejoin_core::Turn| slice(Some(turn.id)).mark() == pin.exposed;
    tree.turns().iter().rev().find(stands_at).map(|turn| turn.id)
}

/// An engine on which a conversation stands as it would with a draft. It is looked at, and no turn is run on it.
pub(crate) fn with_draft(engine: &Engine, draft: &DraftedSession) -> Result<Engine, Error> {
    let (id, info, records) = (draft.id, &draft.info, &draft.what.records);
    let store = MemoryStore::new();
    if draft.is_new {
        store.create(id, info, records, Writer::Label)?;
    } else {
        let mut bytes = engine.store().files()?.raw(id)?;
        store.adopt(id, info, &mut bytes, &mut |_| Ok(()))?;
        store.appender(id, Writer::Label)?.append(records)?;
    }
    Ok(engine.on_drafts(Arc::new(store)))
}

/// A conversation as it stands there.
pub(crate) fn load_on(engine: &Engine, id: ConversationId) -> Result<Loaded, Error> {
    Ok(load(engine.store(), id)?)
}
