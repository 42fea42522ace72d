//! What is to be written when a session is adopted, decided from the session and the conversation as they stand.

use std::collections::{HashMap, HashSet};

use rejoin_agents::{StoredOutcome, WholeSession};
use rejoin_core::{
    Conversation, ConversationId, ConversationInfo, Envelope, Mark, Message, MessageId, Pin, PinBinding,
    PinState, Record, SessionId, System, Tree, Turn, TurnId, TurnState, Usage, Witness,
};

use super::ids::Ids;
use super::match_turns::{Matched, Typed, match_turns, must_be_held};
use super::turn_records::{DraftStep, RecordMaker, steps};
use crate::Error;

/// A session that is to be adopted, and where.
pub(super) struct Adopting<'a> {
    pub(super) session: &'a SessionId,
    pub(super) whole: &'a WholeSession,
    pub(super) id: ConversationId,
    pub(super) info: &'a ConversationInfo,
    /// As it stands; empty for a new one.
    pub(super) conversation: &'a Conversation,
    pub(super) is_new: bool,
    /// How the session is pinned; `None` where it cannot be resumed from here.
    pub(super) pinned: Option<PinnedAs>,
    /// In milliseconds since 1970.
    pub(super) now: i64,
}

/// What a pin of an adopted session says besides what it holds.
#[derive(Clone, Debug)]
pub(super) struct PinnedAs {
    pub(super) binding: PinBinding,
    /// How it looked before it was read.
    pub(super) witness: Witness,
    pub(super) total: Option<Usage>,
}

/// Reads what stands in the conversation.
pub(super) trait Texts {
    /// What the user typed in a turn.
    fn typed(&self, turn: &Turn) -> Result<Typed, Error>;
    /// All that was said in it.
    fn messages(&self, turn: &Turn) -> Result<Vec<Message>, Error>;
}

/// What is to be written.
#[derive(Default)]
pub(super) struct AdoptionDraft {
    pub(super) records: Vec<Record>,
    /// Turns that come.
    pub(super) new: usize,
    /// Turns that were open and have grown.
    pub(super) grown: usize,
    /// The turn the session stands at.
    pub(super) at: Option<TurnId>,
    /// The next turn of the conversation goes on from there, or from what follows it.
    pub(super) head_holds: bool,
    /// The conversation as it will stand.
    pub(super) after: Conversation,
}

impl Adopting<'_> {
    /// What is to be written, or why that cannot be told.
    pub(super) fn draft(&self, texts: &dyn Texts) -> Result<Result<AdoptionDraft, &'static str>, Error> {
        let mut ids = Ids::of(self.session);
        let turn_ids: Vec<TurnId> = self.whole.turns.iter().map(|turn| ids.turn(&turn.id)).collect();
        let matched =
            match_turns(self.conversation, self.session, self.whole, &turn_ids, |turn| texts.typed(turn))?;
        let matched = match matched {
            Ok(matched) => matched,
            Err(why) => return Ok(Err(why)),
        };
        let mut work = Work {
            of: self,
            make: RecordMaker {
                conversation: self.id,
                session: self.session,
                dir: &self.info.dir,
                now: self.now,
            },
            ids,
            draft: AdoptionDraft { after: self.conversation.clone(), ..AdoptionDraft::default() },
            end: HashMap::new(),
        };
        if self.is_new {
            let first = work.make.system(None, "", self.began(), &System::Conversation(self.info.clone()));
            work.put(vec![first]);
        }
        let at = work.put_turns(&matched, &turn_ids, texts)?;
        work.put_head(self.whole.head.and_then(|head| at.get(head).copied()));
        work.put_pin(&at);
        Ok(Ok(work.draft))
    }

    fn began(&self) -> Option<i64> {
        self.whole.turns.first().and_then(|turn| turn.started_ms)
    }

    /// When the session was last used.
    fn used(&self) -> Option<i64> {
        self.whole.turns.iter().filter_map(|turn| turn.ended_ms.or(turn.started_ms)).max()
    }
}

/// A draft in the making.
struct Work<'a> {
    of: &'a Adopting<'a>,
    make: RecordMaker<'a>,
    ids: Ids<'a>,
    draft: AdoptionDraft,
    /// The last message of turns that were added.
    end: HashMap<TurnId, MessageId>,
}

impl Work<'_> {
    /// Adds records, and takes them in as whoever reads the journal will.
    fn put(&mut self, records: Vec<Record>) {
        for record in &records {
            let json = serde_json::to_string(record).unwrap_or_default();
            if let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&json) {
                self.draft.after.apply(&envelope, u64::MAX);
            }
        }
        self.draft.records.extend(records);
    }

    /// Adds what is new of the session's turns; says where each stands.
    fn put_turns(
        &mut self,
        matched: &Matched,
        turn_ids: &[TurnId],
        texts: &dyn Texts,
    ) -> Result<Vec<TurnId>, Error> {
        let whole = self.of.whole;
        let parents: HashSet<usize> = whole.turns.iter().filter_map(|turn| turn.parent).collect();
        let last = whole.turns.len().checked_sub(1);
        let current = current_path(whole);
        let mut at: Vec<TurnId> = Vec::with_capacity(whole.turns.len());
        let held: HashSet<TurnId> = matched.at.iter().flatten().copied().collect();
        for (number, (turn, own)) in whole.turns.iter().zip(turn_ids).enumerate() {
            // What nothing follows may still run.
            let may_run = !parents.contains(&number) && (whole.head == Some(number) || last == Some(number));
            let id = matched.at.get(number).copied().flatten();
            at.push(id.unwrap_or(*own));
            let drafts = steps(turn, id.unwrap_or(*own), &mut self.ids);
            match id {
                Some(id) if matched.adopted.contains(&id) => {
                    self.put_rest(number, id, drafts, may_run, texts)?;
                }
                // What rejoin sent it has recorded.
                Some(_) => {}
                None => {
                    let parent = turn.parent.and_then(|parent| at.get(parent).copied());
                    let parent = match parent {
                        Some(parent) if current.contains(&number) => Some(self.go_on_behind(parent, &held)),
                        parent => parent,
                    };
                    self.put_turn(number, *own, parent, drafts, may_run);
                }
            }
        }
        Ok(at)
    }

    /// What a turn hangs on that goes on from another one: the head, if since then only others took turns there. It
    /// came after those, whatever of them the session knows.
    fn go_on_behind(&self, parent: TurnId, held: &HashSet<TurnId>) -> TurnId {
        let tree = &self.of.conversation.tree;
        let Some(tip) = tree.head().map(|turn| turn.id) else { return parent };
        let (path, _) = tree.path(Some(tip));
        let Some(place) = path.iter().position(|turn| turn.id == parent) else { return parent };
        // One that was taken back in the agent is no longer held.
        let is_its = |turn: &&Turn| held.contains(&turn.id) || must_be_held(turn, self.of.session);
        if path[place + 1..].iter().any(is_its) { parent } else { tip }
    }

    fn put_turn(
        &mut self,
        number: usize,
        id: TurnId,
        parent: Option<TurnId>,
        drafts: Vec<DraftStep>,
        may_run: bool,
    ) {
        let turn = &self.of.whole.turns[number];
        let hang_on = parent.map(|parent| self.end_of(parent));
        let mut records = self.make.begin(turn, id, hang_on);
        let mut end = id;
        for draft in drafts {
            match draft {
                DraftStep::Message(message) => {
                    let parent = std::mem::replace(&mut end, message.id);
                    records.extend(self.make.message(turn, message, parent, 0));
                }
                DraftStep::Compaction { id: record, summary } => {
                    records.push(self.make.compaction(turn, id, record, summary));
                }
            }
        }
        records.extend(self.make.end(turn, id, may_run));
        self.end.insert(id, end);
        self.draft.new += 1;
        self.put(records);
    }

    /// What came to a turn since it was adopted.
    fn put_rest(
        &mut self,
        number: usize,
        id: TurnId,
        drafts: Vec<DraftStep>,
        may_run: bool,
        texts: &dyn Texts,
    ) -> Result<(), Error> {
        let turn = &self.of.whole.turns[number];
        let Some(known) = self.of.conversation.tree.turn(id) else { return Ok(()) };
        let (has_ended, mut end) = (known.receipt.is_some(), known.end);
        let has = |message: MessageId| self.of.conversation.tree.turn(message).is_some();
        let is_longer = drafts.iter().any(|draft| match draft {
            DraftStep::Message(message) => !has(message.id),
            DraftStep::Compaction { .. } => false,
        });
        if has_ended && !is_longer {
            return Ok(());
        }
        let before = texts.messages(known)?;
        let mut records = Vec::new();
        // A compaction that stands before a message that is known was written with it.
        let mut past = false;
        for draft in drafts {
            match draft {
                DraftStep::Message(message) if has(message.id) => {
                    let known = before.iter().find(|before| before.id == message.id);
                    let said = known.map_or(0, |known| known.text().len());
                    let message = known.map_or_else(|| None, |known| message.rest(known));
                    if let Some(message) = message {
                        let parent = message.id;
                        records.extend(self.make.message(turn, message, parent, said));
                    }
                }
                DraftStep::Message(message) => {
                    past = true;
                    let parent = std::mem::replace(&mut end, message.id);
                    records.extend(self.make.message(turn, message, parent, 0));
                }
                DraftStep::Compaction { id: record, summary } if past => {
                    records.push(self.make.compaction(turn, id, record, summary));
                }
                DraftStep::Compaction { .. } => {}
            }
        }
        let grew = !records.is_empty();
        if grew {
            records.extend(self.give_up_who_heard_less(id));
        }
        let ended = self.make.end(turn, id, may_run);
        if let Some(ended) = ended.filter(|_| grew || !has_ended) {
            records.push(ended);
        }
        self.draft.grown += usize::from(!records.is_empty());
        self.end.insert(id, end);
        self.put(records);
        Ok(())
    }

    /// Sessions that were told of a turn before it grew know less of it than they would be believed to.
    fn give_up_who_heard_less(&self, turn: TurnId) -> Vec<Record> {
        let conversation = self.of.conversation;
        let tree = &conversation.tree;
        let (path, _) = tree.path(tree.head().map(|head| head.id));
        let heard = |pin: &&Pin| {
            let slice = Tree::slice(&path, pin.scope, pin.session.agent());
            let told =
                slice.after(0).position(|told| told == turn).is_some_and(|at| at < pin.exposed.turns());
            // Where it fits this path no more, nothing tells what it was told.
            let fits = slice.starts_with(&pin.exposed);
            !matches!(pin.state, PinState::Retired { .. }) && (told || !fits)
        };
        let others = conversation.pins.iter().filter(|pin| pin.session != *self.of.session);
        let why = "a turn it was told of went on".to_owned();
        others
            .filter(heard)
            .map(|pin| Pin { state: PinState::Retired { why: why.clone() }, ..pin.clone() })
            .map(|pin| self.make.system(None, "", self.last_time(), &System::Pin(Box::new(pin))))
            .collect()
    }

    /// The message that whatever goes on from a turn hangs on.
    fn end_of(&self, turn: TurnId) -> MessageId {
        let known = || self.of.conversation.tree.turn(turn).map(|turn| turn.end);
        self.end.get(&turn).copied().or_else(known).unwrap_or(turn)
    }

    /// The head goes along with the session where it stood on its path; elsewhere it stays.
    fn put_head(&mut self, at: Option<TurnId>) {
        self.draft.at = at;
        let before = self.of.conversation.tree.head().map(|turn| turn.id);
        let on_path = |head: TurnId, tip: TurnId, after: &Conversation| {
            after.tree.path(Some(tip)).0.iter().any(|turn| turn.id == head)
        };
        let follows = at.is_some_and(|tip| before.is_none_or(|head| on_path(head, tip, &self.draft.after)));
        let goes = follows && (self.draft.new > 0 || self.of.is_new);
        let to = if goes { at } else { before };
        let now = self.draft.after.tree.head().map(|turn| turn.id);
        if to != now {
            let branch = self.of.conversation.tree.current_branch().filter(|_| !goes).map(str::to_owned);
            let to = to.map(|turn| self.end_of(turn));
            let record = self.make.system(None, "", self.last_time(), &System::Head { to, branch });
            self.put(vec![record]);
        }
        let head = self.draft.after.tree.head().map(|turn| turn.id);
        self.draft.head_holds = at.zip(head).is_some_and(|(tip, head)| on_path(tip, head, &self.draft.after));
    }

    /// The pin says what the session holds now.
    fn put_pin(&mut self, at: &[TurnId]) {
        let Some(pinned) = self.of.pinned.clone() else { return };
        let before = self.of.conversation.pins.get(self.of.session);
        let (tree, scope) = (&self.draft.after.tree, self.of.info.scope);
        let (path, _) = tree.path(self.draft.at);
        let slice = Tree::slice(&path, scope, self.of.session.agent());
        let current = current_path(self.of.whole);
        let holds: HashMap<TurnId, bool> = current
            .iter()
            .filter_map(|number| {
                let answered = self.of.whole.turns.get(*number)?.outcome == StoredOutcome::Completed;
                Some((*at.get(*number)?, answered))
            })
            .collect();
        // What it was told of otherwise, in a catch-up or a replay, and in which wording.
        let fits = |mark: &Mark| if slice.starts_with(mark) { mark.turns() } else { 0 };
        let told = before.map_or(0, |pin| fits(&pin.seen));
        let worded = before.map_or(0, |pin| fits(&pin.seen).max(fits(&pin.exposed)));
        let (seen, exposed) = marks(&slice, &path, |place, turn| Held {
            surely: match holds.get(&turn.id) {
                Some(answered) => Some(*answered && turn.state() == TurnState::Completed),
                None => (place < told && !must_be_held(turn, self.of.session)).then_some(true),
            },
            // Beyond that it can only be the first one: what was said anew was said here alone.
            revision: if place < worded { turn.revision } else { 0 },
        });
        let grew = self.draft.new + self.draft.grown > 0;
        let state = match before {
            Some(pin) if !grew || matches!(pin.state, PinState::Retired { .. }) => pin.state.clone(),
            _ => PinState::Live,
        };
        let PinBinding { scope, dir, store, product, home } = pinned.binding;
        let pin = Pin {
            session: self.of.session.clone(),
            scope,
            dir,
            store,
            product,
            home,
            state,
            seen,
            exposed,
            witness: Some(pinned.witness),
            at_least: None,
            lossy: before.is_some_and(|pin| pin.lossy),
            total: pinned.total.or_else(|| before.and_then(|pin| pin.total)),
            failing: before.and_then(|pin| pin.failing).filter(|_| !grew),
        };
        if before != Some(&pin) {
            let record = self.make.system(None, "", self.last_time(), &System::Pin(Box::new(pin)));
            self.put(vec![record]);
        }
    }

    /// When the conversation was last used: adopting it is no use of it.
    fn last_time(&self) -> Option<i64> {
        let begun = |turn: &Turn| turn.started.parse().ok().map(jiff::Timestamp::as_millisecond);
        self.draft.after.tree.turns().iter().filter_map(begun).chain(self.of.used()).max()
    }
}

/// The turns that the agent would remember, by their places.
fn current_path(whole: &WholeSession) -> HashSet<usize> {
    let mut path = HashSet::new();
    let mut next = whole.head;
    while let Some(at) = next.filter(|at| path.insert(*at)) {
        next = whole.turns.get(at).and_then(|turn| turn.parent);
    }
    path
}

/// What a session holds of a turn.
struct Held {
    /// Whether it was answered there; `None` if nothing tells that it is in it.
    surely: Option<bool>,
    /// In which wording it would be in it.
    revision: u32,
}

/// How far a session surely holds a slice, and how far it may. A mark with another wording than the conversation has
/// now is no beginning of its slice: such a session is not resumed.
fn marks(slice: &rejoin_core::Slice, path: &[&Turn], held: impl Fn(usize, &Turn) -> Held) -> (Mark, Mark) {
    let by_id: HashMap<TurnId, &Turn> = path.iter().map(|turn| (turn.id, *turn)).collect();
    let (mut mark, mut seen, mut sure) = (Mark::EMPTY, Mark::EMPTY, true);
    for (place, id) in slice.after(0).enumerate() {
        let Some(turn) = by_id.get(&id) else { break };
        let Held { surely, revision } = held(place, turn);
        mark = mark.push(turn.id, revision);
        match surely {
            Some(true) if sure => seen = mark,
            Some(_) => {}
            None => sure = false,
        }
    }
    (seen, mark)
}
