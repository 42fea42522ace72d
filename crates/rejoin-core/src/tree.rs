use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::{
    Agent, CallStatus, Decision, Envelope, Kind, MessageId, Outcome, Receipt, Scope, Slice, StandIn, TurnId,
    Usage,
};

/// One prompt and all that the agent did about it, as the tree knows it: ids, sizes and where the
/// records stand. The texts stay on disk until somebody wants them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    /// Its user message.
    pub id: TurnId,
    /// The turn before it.
    pub parent: Option<TurnId>,
    /// Who did it.
    pub agent: Option<Agent>,
    /// How often it was amended.
    pub revision: u32,
    /// What was done; `None` while it runs, and for ever if rejoin was killed.
    pub receipt: Option<Receipt>,
    /// What rejoin was about to launch for it; `None` if its agent took it without rejoin, or was not launched yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// Its last message: where the next turn hangs on.
    pub end: MessageId,
    /// When it began, for display.
    pub started: String,
    /// Bytes of what was said, as stored.
    pub bytes: usize,
    /// Tokens as counted while it ran; its receipt, if there is one, has the last word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
    /// Calls of tools that ended in it, those of subagents left out.
    #[serde(default)]
    pub calls: Calls,
    /// A question of its agent was answered, or declined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// Questions of its agent that wait for an answer, by the agent's ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_questions: Vec<String>,
    /// Where the records about questions of its agent stand in the journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<u64>,
    /// Where its records stand in the journal.
    #[serde(skip)]
    pub records: Vec<u64>,
}

/// What an intent tells of its turn, for as long as there is no receipt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The agent does it because the limit of another one was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_in: Option<Box<StandIn>>,
}

/// Calls of tools, counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Calls {
    /// All that ended.
    pub all: u64,
    /// Those that gave back a failure.
    pub errors: u64,
    /// Those that were cut short.
    pub cancelled: u64,
}

impl std::ops::AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.errors += other.errors;
        self.cancelled += other.cancelled;
    }
}

impl Calls {
    fn count(&mut self, status: CallStatus) {
        self.all += 1;
        self.errors += u64::from(status == CallStatus::Error);
        self.cancelled += u64::from(status == CallStatus::Cancelled);
    }
}

/// How a turn stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(rename_all = "snake_case"))]
pub enum TurnState {
    /// The agent said it was done.
    Completed,
    /// It failed.
    Failed,
    /// It was stopped, or rejoin was.
    Cut,
}

impl Turn {
    /// How it stands. A turn without a receipt is cut (ask the lease whether it still runs).
    pub fn state(&self) -> TurnState {
        match self.receipt.as_ref().map(|receipt| &receipt.outcome) {
            Some(Outcome::Completed) => TurnState::Completed,
            Some(Outcome::Failed { .. }) => TurnState::Failed,
            Some(Outcome::Timeout { .. } | Outcome::Cancelled) | None => TurnState::Cut,
        }
    }
}

impl Turn {
    /// Takes in one more record of its messages.
    fn take(&mut self, envelope: &Envelope<'_>, bytes: usize, place: u64) {
        self.bytes += bytes;
        self.records.push(place);
        self.tokens = envelope.usage().or(self.tokens);
        envelope.call_statuses().for_each(|status| self.calls.count(status));
    }

    /// Who does it, and in whose stead, as its receipt says or, without one, its intent. `None` if rejoin launched nobody
    /// for it: the agent took it in its own session, or it was cut before.
    pub fn launched(&self) -> Option<(&Agent, Option<&StandIn>)> {
        match &self.receipt {
            Some(receipt) if matches!(receipt.plan, Decision::Adopted { .. }) => None,
            Some(receipt) => Some((&receipt.agent, receipt.stands_in.as_ref())),
            None => Some((self.agent.as_ref()?, self.launch.as_ref()?.stands_in.as_deref())),
        }
    }

    /// Its tokens: what the receipt says, else what was counted until it was cut.
    pub fn usage(&self) -> Option<Usage> {
        self.receipt.as_ref().and_then(|receipt| receipt.usage).or(self.tokens)
    }
}

/// Something that does not fit: reported, never stitched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// A message names a parent that is not there.
    MissingParent(MessageId),
    /// The walk came back to a turn it had already passed.
    Cycle(TurnId),
}

/// A turn got a new wording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// The turn.
    pub turn: TurnId,
    /// When, for display.
    pub at: String,
}

/// All turns of a conversation and how they hang together.
///
/// It can be stored and read back as a whole, except for what there is most of, messages and
/// places: [`Tree::messages`] and [`Tree::refill`] carry those.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tree {
    turns: Vec<Turn>,
    /// Which turn a message belongs to.
    #[serde(skip)]
    index: HashMap<MessageId, usize>,
    head: Option<usize>,
    /// Where the named branches end.
    branches: BTreeMap<String, usize>,
    /// The named branch the head is on: it grows with the next turn.
    current: Option<String>,
    /// Edited turns and when, in the order of the file.
    edits: Vec<Edit>,
    /// Messages that hang on nothing, and what hangs on them: on no path, reported once.
    adrift: HashSet<MessageId>,
    orphans: Vec<MessageId>,
    /// Those that did not come later.
    reported: HashSet<MessageId>,
    /// Turns whose prompt stands there again, each with how many of its records are still to come
    /// again: a journal can be glued to a copy of itself.
    copied: BTreeMap<usize, usize>,
    /// Edits, moves of the head and what is about questions: each counts once.
    noted: BTreeSet<MessageId>,
}

impl Tree {
    /// Adds a message record. Order is the order of the file.
    pub(crate) fn add(&mut self, envelope: &Envelope<'_>, place: u64) {
        let bytes = envelope.message.map_or(0, |message| message.get().len());
        if let Some(&at) = self.index.get(&envelope.uuid) {
            let turn = &mut self.turns[at];
            if envelope.kind == Kind::User {
                // A prompt is written in one record; the others of its turn follow.
                let others = turn.records.len().saturating_sub(1 + turn.revision as usize);
                self.copied.insert(at, others);
                return;
            }
            if let Some(left) = self.copied.get_mut(&at).filter(|left| **left > 0) {
                *left -= 1;
                return;
            }
            turn.take(envelope, bytes, place);
            return;
        }
        let parent = envelope.parent_uuid.and_then(|parent| self.index.get(&parent).copied());
        if let (None, Some(missing)) = (parent, envelope.parent_uuid)
            && !self.adrift.contains(&missing)
        {
            self.report(missing);
        }
        if envelope.kind == Kind::User {
            // A turn whose parent comes later is whole again.
            self.reported.remove(&envelope.uuid);
            self.index.insert(envelope.uuid, self.turns.len());
            self.grow_branch(parent);
            self.turns.push(Turn {
                id: envelope.uuid,
                parent: parent.map(|at| self.turns[at].id).or(envelope.parent_uuid),
                agent: None,
                revision: 0,
                receipt: None,
                launch: None,
                end: envelope.uuid,
                started: envelope.timestamp.clone().into_owned(),
                bytes,
                tokens: None,
                calls: Calls::default(),
                answered: false,
                open_questions: Vec::new(),
                questions: Vec::new(),
                records: vec![place],
            });
        } else if let Some(at) = parent {
            self.index.insert(envelope.uuid, at);
            let turn = &mut self.turns[at];
            turn.end = envelope.uuid;
            turn.take(envelope, bytes, place);
        } else {
            self.adrift.insert(envelope.uuid);
        }
    }

    /// The head goes to the turn that is about to be added. A named branch goes with it if the
    /// turn hangs on the head, and stays behind if it hangs elsewhere.
    fn grow_branch(&mut self, parent: Option<usize>) {
        let at = self.turns.len();
        if parent != self.head {
            self.current = None;
        }
        self.head = Some(at);
        if let Some(name) = &self.current {
            self.branches.insert(name.clone(), at);
        }
    }

    fn report(&mut self, missing: MessageId) {
        if self.reported.insert(missing) {
            self.orphans.push(missing);
        }
    }

    /// A message of a kind this version does not know: what hangs on it still belongs together.
    pub(crate) fn pass_over(&mut self, envelope: &Envelope<'_>) {
        let parent = envelope.parent_uuid.and_then(|parent| self.index.get(&parent).copied());
        if let Some(at) = parent {
            self.index.entry(envelope.uuid).or_insert(at);
        }
    }

    /// Whether an edit, a move of the head or something about a question, by its record's id, is read for the
    /// first time.
    pub(crate) fn is_first(&mut self, record: MessageId) -> bool {
        self.noted.insert(record)
    }

    pub(crate) fn amend(&mut self, target: MessageId, place: u64, at: &str) {
        if let Some(turn) = self.turn_mut(target) {
            turn.revision += 1;
            turn.records.push(place);
            let edit = Edit { turn: turn.id, at: at.to_owned() };
            self.edits.push(edit);
        }
    }

    pub(crate) fn move_head(&mut self, to: Option<MessageId>, branch: Option<String>) {
        let at = match to {
            None => None,
            Some(message) => match self.index.get(&message) {
                Some(&at) => Some(at),
                None => return self.report(message),
            },
        };
        self.head = at;
        if let (Some(name), Some(at)) = (&branch, at) {
            self.branches.insert(name.clone(), at);
        }
        self.current = branch;
    }

    pub(crate) fn turn_mut(&mut self, message: MessageId) -> Option<&mut Turn> {
        self.index.get(&message).map(|&at| &mut self.turns[at])
    }

    /// The turn a message belongs to.
    pub fn turn(&self, message: MessageId) -> Option<&Turn> {
        self.index.get(&message).map(|&at| &self.turns[at])
    }

    /// All turns, in the order they began.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn the next one hangs on.
    pub fn head(&self) -> Option<&Turn> {
        self.head.map(|at| &self.turns[at])
    }

    /// Every message and the number of the turn it belongs to, in no order.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = (MessageId, usize)> {
        self.index.iter().map(|(message, at)| (*message, *at))
    }

    /// Puts messages and places back into a tree that was stored without them; false if they are
    /// not of this tree.
    pub fn refill(&mut self, messages: HashMap<MessageId, usize>, places: Vec<Vec<u64>>) -> bool {
        let fits = places.len() == self.turns.len()
            && self.turns.iter().all(|turn| messages.contains_key(&turn.id))
            && messages
                .values()
                .chain(&self.head)
                .chain(self.branches.values())
                .all(|&at| at < self.turns.len());
        for (turn, places) in self.turns.iter_mut().zip(places) {
            turn.records = places;
        }
        self.index = messages;
        fits
    }

    /// The named branches and the turn each ends with.
    pub fn branches(&self) -> impl Iterator<Item = (&str, &Turn)> {
        self.branches.iter().map(|(name, &at)| (name.as_str(), &self.turns[at]))
    }

    /// The named branch the head is on.
    pub fn current_branch(&self) -> Option<&str> {
        self.current.as_deref()
    }

    /// Edits of turns, in the order they were made.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Messages whose id begins with `prefix` (dashes do not count), each once.
    pub fn messages_with_prefix(&self, prefix: &str) -> Vec<MessageId> {
        let wanted: String = prefix.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
        let fits = |id: &&MessageId| id.uuid().simple().to_string().starts_with(&wanted);
        let mut found: Vec<MessageId> = self.index.keys().filter(fits).copied().collect();
        found.sort_unstable();
        found
    }

    /// The turns from the root to `to`, oldest first, and what broke the walk.
    pub fn path(&self, to: Option<TurnId>) -> (Vec<&Turn>, Option<Gap>) {
        let mut path = Vec::new();
        let mut passed = HashSet::new();
        let mut next = to;
        let mut gap = None;
        while let Some(id) = next {
            let Some(turn) = self.turn(id) else {
                gap = Some(Gap::MissingParent(id));
                break;
            };
            if !passed.insert(turn.id) {
                gap = Some(Gap::Cycle(turn.id));
                break;
            }
            path.push(turn);
            next = turn.parent;
        }
        path.reverse();
        (path, gap)
    }

    /// What `agent` should know of a path. A prompt that reached nobody (rejoin was killed before
    /// its intent was written) is everybody's: nothing the user said is ever lost.
    pub fn slice(path: &[&Turn], scope: Scope, agent: &Agent) -> Slice {
        let its = |turn: &Turn| turn.agent.as_ref().is_none_or(|who| who == agent);
        let known = |turn: &&&Turn| scope == Scope::Shared || its(turn);
        Slice::new(path.iter().filter(known).map(|turn| (turn.id, turn.revision)).collect())
    }

    /// Messages that were named, as a parent or as the head, but are not there.
    pub fn orphans(&self) -> Vec<MessageId> {
        self.orphans.iter().filter(|missing| self.reported.contains(missing)).copied().collect()
    }
}
