//! Which turns of a session stand in a conversation already: those that were adopted before, by their ids, and those
//! that rejoin sent, by what was typed.

use std::collections::{HashMap, HashSet};

use rejoin_agents::{StoredOutcome, StoredTurn, WholeSession};
use rejoin_core::compose::message_of;
use rejoin_core::{Conversation, Decision, Receipt, SessionId, Turn, TurnId, TurnState};

use crate::Error;

/// The turns of a session and where they stand.
pub(super) struct Matched {
    /// Of each turn of the session, in its order: the turn here.
    pub(super) at: Vec<Option<TurnId>>,
    /// Those that were adopted before, and not sent by rejoin.
    pub(super) adopted: HashSet<TurnId>,
}

/// Why a session is left as it is.
pub(super) const LOST: &str = "its turns that rejoin sent are not found in it as they were sent: which of its turns are new cannot be told";

/// What the user typed in a turn, as far as it can be compared.
pub(super) enum Typed {
    /// This; with files, which an agent may have told of in the prompt.
    Words { text: String, with_files: bool },
    /// It was edited since.
    Anything,
}

/// A turn that rejoin sent, or may have sent, in the session.
struct Sent {
    id: TurnId,
    typed: Typed,
    completed: bool,
    taken: bool,
}

/// Finds the turns of a session in a conversation; `ids` are those they have where they were adopted. An error says
/// why nothing is sure.
pub(super) fn match_turns(
    conversation: &Conversation,
    session: &SessionId,
    whole: &WholeSession,
    ids: &[TurnId],
    mut typed: impl FnMut(&Turn) -> Result<Typed, Error>,
) -> Result<Result<Matched, &'static str>, Error> {
    let tree = &conversation.tree;
    let mut sent = Vec::new();
    for turn in tree.turns().iter().filter(|turn| was_sent(turn, session)) {
        let completed = turn.state() == TurnState::Completed;
        sent.push(Sent { id: turn.id, typed: typed(turn)?, completed, taken: false });
    }
    let mut matched = Matched { at: Vec::with_capacity(whole.turns.len()), adopted: HashSet::new() };
    let mut held: HashSet<TurnId> = HashSet::new();
    for (turn, id) in whole.turns.iter().zip(ids) {
        let known = tree.turn(*id).map(|known| known.id);
        matched.adopted.extend(known);
        let parent = match turn.parent {
            None => Some(None),
            Some(parent) => matched.at.get(parent).copied().flatten().map(Some),
        };
        let found = known.or_else(|| find_sent(conversation, &mut sent, &held, turn, parent?));
        held.extend(found);
        matched.at.push(found);
    }
    Ok(if is_sure(conversation, session, &held) { Ok(matched) } else { Err(LOST) })
}

/// Whether rejoin sent a turn in a session, or may have: of one that was killed nothing tells which it was.
fn was_sent(turn: &Turn, session: &SessionId) -> bool {
    match &turn.receipt {
        Some(Receipt { plan: Decision::Adopted { .. }, .. }) => false,
        Some(receipt) => {
            let is_it = |id: &Option<String>| id.as_deref() == Some(session.as_str());
            receipt.agent == *session.agent() && (is_it(&receipt.session) || is_it(&receipt.asked))
        }
        None => turn.agent.as_ref().is_none_or(|agent| agent == session.agent()),
    }
}

/// Whether a session surely holds a turn: what it is not found in is not this session any more.
pub(super) fn must_be_held(turn: &Turn, session: &SessionId) -> bool {
    let of_it = |receipt: &&Receipt| {
        receipt.agent == *session.agent() && receipt.session.as_deref() == Some(session.as_str())
    };
    turn.state() == TurnState::Completed && turn.receipt.as_ref().is_some_and(|receipt| of_it(&receipt))
}

/// The turn that rejoin sent and the agent stored like this, below the turn that stands for its parent. What was
/// answered in the session and not here was asked there again: its answer must not be taken for known.
fn find_sent(
    conversation: &Conversation,
    sent: &mut [Sent],
    held: &HashSet<TurnId>,
    turn: &StoredTurn,
    parent: Option<TurnId>,
) -> Option<TurnId> {
    let words = normal(message_of(&turn.prompt));
    let completed = turn.outcome == StoredOutcome::Completed;
    let says = |sent: &Sent| match &sent.typed {
        Typed::Words { text, with_files: true } => words.contains(normal(text).as_str()),
        Typed::Words { text, with_files: false } => normal(text) == words,
        Typed::Anything => sent.completed,
    };
    let mut best: Option<(usize, (bool, bool, bool))> = None;
    for (at, candidate) in sent.iter().enumerate() {
        if candidate.taken || (completed && !candidate.completed) || !says(candidate) {
            continue;
        }
        let (nearest, below) = stands_below(conversation, candidate.id, parent, held);
        if !below {
            continue;
        }
        let exact = matches!(candidate.typed, Typed::Words { .. });
        let fits = (nearest, exact, candidate.completed == completed);
        if best.is_none_or(|(_, before)| fits > before) {
            best = Some((at, fits));
        }
    }
    let found = &mut sent[best?.0];
    found.taken = true;
    Some(found.id)
}

/// Whether a turn hangs below another, or stands on whatever path for none; and whether nothing that the session
/// holds stands between.
fn stands_below(
    conversation: &Conversation,
    turn: TurnId,
    parent: Option<TurnId>,
    held: &HashSet<TurnId>,
) -> (bool, bool) {
    let (path, _) = conversation.tree.path(Some(turn));
    let mut nearest = true;
    for above in path.iter().rev().skip(1) {
        if Some(above.id) == parent {
            return (nearest, true);
        }
        nearest &= !held.contains(&above.id);
    }
    (nearest, parent.is_none())
}

/// Whether what rejoin sent is found as it was sent: nothing the session surely held is missing before what it holds,
/// unless it was told of it again.
fn is_sure(conversation: &Conversation, session: &SessionId, held: &HashSet<TurnId>) -> bool {
    let tree = &conversation.tree;
    let missing = |turn: &Turn| must_be_held(turn, session) && !held.contains(&turn.id);
    if held.is_empty() {
        return !tree.turns().iter().any(missing);
    }
    let told = |turn: &Turn| match turn.receipt.as_ref().map(|receipt| &receipt.plan) {
        Some(Decision::Resume { catch_up, .. }) => *catch_up,
        Some(Decision::Fresh { replayed, .. }) => *replayed,
        Some(Decision::Adopted { .. }) | None => 0,
    };
    let by_id: HashMap<TurnId, &Turn> = tree.turns().iter().map(|turn| (turn.id, turn)).collect();
    held.iter().filter_map(|id| by_id.get(id)).all(|turn| {
        let (mut lacks, mut next, mut steps) = (0, turn.parent, 0);
        while let Some(above) = next.and_then(|id| by_id.get(&id)).filter(|above| !held.contains(&above.id)) {
            lacks += usize::from(missing(above));
            steps += 1;
            next = above.parent.filter(|_| steps <= by_id.len());
        }
        lacks <= told(turn)
    })
}

/// A text as agents keep it. White space at its ends and the kind of its line ends do not count, nor what is put in
/// so that an agent does not act on a slash or an `@`.
fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\u{200b}', "").replace("\\@", "@").trim().to_owned()
}
