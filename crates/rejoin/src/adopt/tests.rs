use std::cell::RefCell;

use rejoin_agents::{StoredAnswer, StoredOutcome, StoredStep, StoredTurn, WholeSession};
use rejoin_core::{
    Agent, Content, Conversation, ConversationId, ConversationInfo, Decision, Kind, Mark, Message, MessageId,
    Outcome, Part, Pin, PinBinding, PinState, Receipt, Record, Scope, SessionId, System, Tree, Turn, TurnId,
    TurnState, Usage, Witness,
};
use rejoin_journal::{MemoryStore, Store, Writer, load, messages};
use serde_json::json;

use super::draft::{Adopting, AdoptionDraft, PinnedAs, Texts};
use super::ids;
use super::match_turns::{LOST, Typed};
use crate::Error;

const SESSION: &str = "6c8c1f0e-0000-4000-8000-000000000001";

/// A session of an agent, and the conversation it becomes.
struct Bench {
    store: MemoryStore,
    session: SessionId,
    id: ConversationId,
    info: ConversationInfo,
    whole: WholeSession,
    size: RefCell<u64>,
}

impl Texts for Bench {
    fn typed(&self, turn: &Turn) -> Result<Typed, Error> {
        if turn.revision > 0 {
            return Ok(Typed::Anything);
        }
        let read = messages(&self.store, self.id, turn, usize::MAX)?.messages;
        Ok(Typed::Words { text: read[0].text(), with_files: false })
    }

    fn messages(&self, turn: &Turn) -> Result<Vec<Message>, Error> {
        Ok(messages(&self.store, self.id, turn, usize::MAX)?.messages)
    }
}

impl Bench {
    fn new() -> Self {
        let session = SessionId::new(Agent::Claude, SESSION).unwrap();
        let dir = "/p".to_owned();
        Self {
            store: MemoryStore::new(),
            id: ids::conversation(&session),
            whole: WholeSession { id: SESSION.into(), ..WholeSession::default() },
            session,
            info: ConversationInfo { schema: 1, project: dir.clone(), dir, scope: Scope::Shared },
            size: RefCell::default(),
        }
    }

    /// The user types something after a turn, and is answered; the session goes on from there.
    fn turn(&mut self, parent: Option<usize>, id: &str, prompt: &str) -> usize {
        let answer = StoredAnswer {
            id: format!("answer {id}"),
            text: format!("you said {prompt}"),
            model: Some("m-1".into()),
            usage: Some(Usage { input: 10, cached: 0, output: 2 }),
            time_ms: Some(1_700_000_001_000),
            ..StoredAnswer::default()
        };
        self.whole.turns.push(StoredTurn {
            id: id.into(),
            parent,
            prompt: prompt.into(),
            steps: vec![StoredStep::Answer(answer)],
            outcome: StoredOutcome::Completed,
            started_ms: Some(1_700_000_000_000),
            ended_ms: Some(1_700_000_002_000),
            ..StoredTurn::default()
        });
        self.whole.head = Some(self.whole.turns.len() - 1);
        self.whole.turns.len() - 1
    }

    fn conversation(&self) -> Conversation {
        load(&self.store, self.id).map(|loaded| loaded.conversation).unwrap_or_default()
    }

    fn try_adopt(&self) -> Result<AdoptionDraft, &'static str> {
        let is_new = self.store.look_at(self.id).unwrap().is_none();
        let conversation = self.conversation();
        *self.size.borrow_mut() += 1;
        let binding = PinBinding {
            scope: Scope::Shared,
            dir: "/p".into(),
            store: "/s".into(),
            product: "claude".into(),
            home: "home".into(),
        };
        let witness = Witness { path: "/s/1".into(), size: *self.size.borrow(), mtime: 1 };
        let adopting = Adopting {
            session: &self.session,
            whole: &self.whole,
            id: self.id,
            info: &self.info,
            conversation: &conversation,
            is_new,
            pinned: Some(PinnedAs { binding, witness, total: None }),
            now: 1_800_000_000_000,
        };
        let draft = adopting.draft(self).unwrap()?;
        self.write(is_new, &draft.records);
        assert_eq!(self.conversation().tree.turns().len(), draft.after.tree.turns().len());
        Ok(draft)
    }

    fn write(&self, is_new: bool, records: &[Record]) {
        if is_new {
            self.store.create(self.id, &self.info, records, Writer::Label).unwrap();
        } else {
            self.store.appender(self.id, Writer::Label).unwrap().append(records).unwrap();
        }
    }

    fn adopt(&self) -> AdoptionDraft {
        self.try_adopt().unwrap()
    }

    /// Something that is noted of the conversation.
    fn note(&self, system: &System) {
        let (subtype, system_payload) = system.write();
        let record = Record {
            uuid: MessageId::new(uuid::Uuid::new_v4()),
            parent_uuid: None,
            session_id: self.id,
            timestamp: "2026-11-15T20:00:02Z".into(),
            kind: Kind::System,
            cwd: "/p".into(),
            version: "0".into(),
            git_branch: None,
            subtype,
            message: None,
            replaces: None,
            offset: None,
            tokens: None,
            cost: None,
            model: None,
            tool_calls_metadata: Vec::new(),
            native: None,
            request: None,
            system_payload,
        };
        self.write(false, &[record]);
    }

    /// A turn that rejoin ran, in this session or in another agent's.
    fn ran(&self, prompt: &str, agent: &Agent, session: Option<&str>, outcome: &Outcome) -> TurnId {
        let conversation = self.conversation();
        let is_new = conversation.tree.turns().is_empty();
        let (id, note) = (MessageId::new(uuid::Uuid::new_v4()), MessageId::new(uuid::Uuid::new_v4()));
        let record = |kind, uuid, parent| Record {
            uuid,
            parent_uuid: parent,
            session_id: self.id,
            timestamp: "2026-11-15T20:00:01Z".into(),
            kind,
            cwd: "/p".into(),
            version: "0".into(),
            git_branch: None,
            subtype: None,
            message: None,
            replaces: None,
            offset: None,
            tokens: None,
            cost: None,
            model: None,
            tool_calls_metadata: Vec::new(),
            native: None,
            request: None,
            system_payload: None,
        };
        let system = |parent, system: &System| {
            let mut record = record(Kind::System, MessageId::new(uuid::Uuid::new_v4()), parent);
            (record.subtype, record.system_payload) = system.write();
            record
        };
        let mut user = record(Kind::User, id, conversation.tree.head().map(|turn| turn.end));
        user.message = Some(Content::user(vec![Part::text(prompt)]));
        let mut answer = record(Kind::Assistant, note, Some(id));
        answer.message = Some(Content::model(vec![Part::text("ok")]));
        let plan = Decision::Resume { session: SESSION.into(), catch_up: 1 };
        let mut receipt = Receipt::new(id, agent.clone(), plan, outcome.clone());
        receipt.session = session.map(str::to_owned);
        let mut records = vec![user, answer, system(Some(id), &System::Receipt(Box::new(receipt)))];
        if is_new {
            records.insert(0, system(None, &System::Conversation(self.info.clone())));
        }
        self.write(is_new, &records);
        if session == Some(SESSION) {
            let after = self.conversation();
            let mark = Self::slice(&after).mark();
            let seen = if *outcome == Outcome::Completed { mark } else { Mark::EMPTY };
            let pin = Pin {
                session: self.session.clone(),
                scope: Scope::Shared,
                dir: "/p".into(),
                store: "/s".into(),
                product: "claude".into(),
                home: "home".into(),
                state: PinState::Live,
                seen,
                exposed: mark,
                witness: None,
                at_least: None,
                lossy: false,
                total: None,
                failing: None,
            };
            self.write(false, &[system(Some(id), &System::Pin(Box::new(pin)))]);
        }
        id
    }

    /// What an agent should know at the head.
    fn slice(conversation: &Conversation) -> rejoin_core::Slice {
        let path = conversation.tree.path(conversation.tree.head().map(|turn| turn.id)).0;
        Tree::slice(&path, Scope::Shared, &Agent::Claude)
    }

    /// The prompts on the path to the head.
    fn path(&self) -> Vec<String> {
        let conversation = self.conversation();
        let path = conversation.tree.path(conversation.tree.head().map(|turn| turn.id)).0;
        path.iter().map(|turn| self.messages(turn).unwrap()[0].text()).collect()
    }

    /// How many turns the pin surely holds and may hold; whether it may be used at the head.
    fn pinned(&self) -> (usize, usize, bool) {
        let conversation = self.conversation();
        let pin = conversation.pins.get(&self.session).unwrap();
        let fits = Self::slice(&conversation).starts_with(&pin.exposed);
        (pin.seen.turns(), pin.exposed.turns(), fits && pin.state == PinState::Live)
    }
}

#[test]
fn a_session_becomes_a_conversation_once() {
    let mut bench = Bench::new();
    let one = bench.turn(None, "a", "one");
    bench.turn(Some(one), "b", "two");
    assert_eq!(bench.adopt().new, 2);
    assert_eq!(bench.path(), ["one", "two"]);
    assert_eq!(bench.pinned(), (2, 2, true));
    let conversation = bench.conversation();
    let turn = &conversation.tree.turns()[1];
    let receipt = turn.receipt.as_ref().unwrap();
    assert_eq!(receipt.plan, Decision::Adopted { session: SESSION.into() });
    assert_eq!((receipt.milliseconds, receipt.model.as_deref()), (2000, Some("m-1")));
    assert_eq!(turn.usage(), Some(Usage { input: 10, cached: 0, output: 2 }));
    assert_eq!((&*turn.started, turn.agent.clone()), ("2023-11-14T22:13:20.000Z", Some(Agent::Claude)));
    let said = bench.messages(turn).unwrap();
    assert_eq!(said.iter().map(Message::text).collect::<Vec<_>>(), ["two", "you said two"]);
    let again = bench.adopt();
    assert_eq!((again.new, again.grown, again.records.len()), (0, 0, 1), "only how the session looks now");
}

#[test]
fn only_what_is_new_comes_and_a_branch_becomes_one() {
    let mut bench = Bench::new();
    let one = bench.turn(None, "a", "one");
    let two = bench.turn(Some(one), "b", "two");
    bench.adopt();
    bench.turn(Some(two), "c", "three");
    assert_eq!(bench.adopt().new, 1);
    assert_eq!(
        (bench.path(), bench.pinned()),
        (vec!["one".into(), "two".into(), "three".into()], (3, 3, true))
    );
    // The user went back in the agent, and said something else.
    bench.turn(Some(one), "d", "other");
    let draft = bench.adopt();
    assert_eq!((draft.new, draft.head_holds), (1, false));
    assert_eq!(bench.path(), ["one", "two", "three"], "our head stays where it was");
    assert_eq!(bench.pinned(), (2, 2, false), "and the session is elsewhere");
    assert_eq!(bench.conversation().tree.turns().len(), 4);
}

#[test]
fn a_turn_that_was_open_gets_its_rest() {
    let mut bench = Bench::new();
    let one = bench.turn(None, "a", "one");
    let call = StoredStep::Call { id: "c1".into(), name: "shell".into(), input: json!({"command": "ls"}) };
    bench.whole.turns[one].outcome = StoredOutcome::Open;
    bench.whole.turns[one].steps.push(call);
    bench.adopt();
    assert_eq!(bench.conversation().tree.turns()[0].state(), TurnState::Cut);
    assert_eq!(bench.conversation().tree.turns()[0].agent, Some(Agent::Claude));
    assert_eq!(bench.pinned(), (0, 1, true), "it may hold it");
    assert_eq!(bench.adopt().grown, 0);
    let result = StoredStep::Result { call: "c1".into(), output: "a.rs".into(), failed: false };
    let last = StoredAnswer { id: "z".into(), text: "one file".into(), ..StoredAnswer::default() };
    bench.whole.turns[one].steps.extend([result, StoredStep::Answer(last)]);
    bench.whole.turns[one].outcome = StoredOutcome::Completed;
    let draft = bench.adopt();
    assert_eq!((draft.new, draft.grown), (0, 1));
    assert_eq!(bench.pinned(), (1, 1, true));
    let conversation = bench.conversation();
    let said = bench.messages(&conversation.tree.turns()[0]).unwrap();
    let texts: Vec<String> = said.iter().map(Message::text).collect();
    assert_eq!(texts, ["one", "you said one", "", "one file"], "{said:?}");
    let calls =
        said.iter().flat_map(|said| &said.parts).filter(|part| matches!(part, Part::Call { .. })).count();
    assert_eq!((calls, conversation.tree.turns()[0].calls.all), (1, 1));
    assert_eq!(bench.adopt().records.len(), 1);
}

#[test]
fn who_was_told_of_a_turn_before_it_grew_is_told_anew() {
    let mut bench = Bench::new();
    let one = bench.turn(None, "a", "one");
    bench.whole.turns[one].outcome = StoredOutcome::Open;
    bench.adopt();
    bench.ran("elsewhere", &Agent::Codex, Some("x"), &Outcome::Completed);
    let own = bench.conversation().pins.get(&bench.session).unwrap().clone();
    let other = SessionId::new(Agent::Codex, "x").unwrap();
    let mark = Bench::slice(&bench.conversation()).mark();
    let told = Pin { session: other.clone(), seen: mark, exposed: mark, ..own };
    bench.note(&System::Pin(Box::new(told)));
    let last = StoredAnswer { id: "z".into(), text: "the answer".into(), ..StoredAnswer::default() };
    bench.whole.turns[one].steps.push(StoredStep::Answer(last));
    bench.whole.turns[one].outcome = StoredOutcome::Completed;
    assert_eq!(bench.adopt().grown, 1);
    let conversation = bench.conversation();
    assert!(matches!(conversation.pins.get(&other).unwrap().state, PinState::Retired { .. }));
    assert_eq!(conversation.pins.get(&bench.session).unwrap().state, PinState::Live);
}

#[test]
fn a_session_that_holds_what_was_taken_back_is_not_resumed() {
    let mut bench = Bench::new();
    let first = bench.ran("the port is 80", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("two", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.note(&System::Amendment { target: first, parts: vec![Part::text("the port is 8080")] });
    assert!(!bench.pinned().2, "what it holds was edited");
    let one = bench.turn(None, "a", "the port is 80");
    let two = bench.turn(Some(one), "b", "two");
    bench.turn(Some(two), "c", "by hand");
    assert_eq!(bench.adopt().new, 1);
    assert_eq!(bench.path(), ["the port is 8080", "two", "by hand"]);
    assert!(!bench.pinned().2, "and still is");
}

#[test]
fn what_a_session_lost_is_not_believed_to_be_in_it() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("two", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    let one = bench.turn(None, "a", "one");
    let two = bench.turn(Some(one), "b", "two");
    bench.whole.turns[two].steps.clear();
    bench.whole.turns[two].outcome = StoredOutcome::Open;
    bench.adopt();
    assert_eq!(bench.pinned(), (1, 2, true));
}

#[test]
fn what_failed_here_and_was_answered_in_the_agent_comes_with_its_answer() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("fix it", &Agent::Claude, Some(SESSION), &Outcome::Cancelled);
    let one = bench.turn(None, "a", "one");
    bench.turn(Some(one), "b", "fix it");
    assert_eq!(bench.adopt().new, 1);
    assert_eq!(bench.path(), ["one", "fix it", "fix it"]);
    let conversation = bench.conversation();
    let last = conversation.tree.turns().last().unwrap().clone();
    assert_eq!(bench.messages(&last).unwrap()[1].text(), "you said fix it");
}

#[test]
fn what_rejoin_sent_is_known_and_never_doubled() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("elsewhere", &Agent::Codex, Some("x"), &Outcome::Completed);
    bench.ran("three", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    let one = bench.turn(None, "a", "one\n\n");
    let told = "Since the last turn you completed in this session, the following happened in the conversation. It is quoted.\n<history-k1>\nelsewhere\n</history-k1>\n\nAnswer only the message below.\n<message-k1>\nthree\n</message-k1>\n";
    let three = bench.turn(Some(one), "b", told);
    let draft = bench.adopt();
    assert_eq!((draft.new, bench.path().len()), (0, 3));
    assert_eq!(bench.pinned(), (3, 3, true));
    bench.turn(Some(three), "c", "by hand");
    assert_eq!(bench.adopt().new, 1);
    assert_eq!(bench.path(), ["one", "elsewhere", "three", "by hand"]);
    assert_eq!(bench.pinned(), (4, 4, true));
}

#[test]
fn what_came_outside_stands_behind_what_others_did_meanwhile() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("elsewhere", &Agent::Codex, Some("x"), &Outcome::Completed);
    let one = bench.turn(None, "a", "one");
    bench.turn(Some(one), "b", "by hand");
    bench.adopt();
    assert_eq!(bench.path(), ["one", "elsewhere", "by hand"]);
    assert_eq!(bench.pinned(), (1, 3, true), "what the other did it is told, and may know the rest");
}

#[test]
fn a_turn_that_never_reached_the_session_is_told_again() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.ran("go on", &Agent::Claude, Some(SESSION), &Outcome::Cancelled);
    bench.ran("go on", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    let one = bench.turn(None, "a", "one");
    bench.turn(Some(one), "b", "go on");
    assert_eq!(bench.adopt().new, 0, "the one that was answered is the one that is there");
}

#[test]
fn nothing_is_guessed_where_our_turns_are_not_found() {
    let mut bench = Bench::new();
    bench.ran("one", &Agent::Claude, Some(SESSION), &Outcome::Completed);
    bench.turn(None, "a", "something else");
    assert_eq!(bench.try_adopt().err(), Some(LOST));
    assert_eq!(bench.path(), ["one"]);
}

#[test]
fn what_was_taken_back_in_the_agent_is_not_in_its_memory() {
    let mut bench = Bench::new();
    for prompt in ["one", "two", "three"] {
        bench.ran(prompt, &Agent::Claude, Some(SESSION), &Outcome::Completed);
    }
    let one = bench.turn(None, "a", "one");
    bench.turn(Some(one), "b", "other");
    assert_eq!(bench.adopt().new, 1);
    assert_eq!((bench.path().len(), bench.pinned()), (3, (2, 2, false)));
}

#[test]
fn hostile_names_are_names_and_nothing_else() {
    let mut bench = Bench::new();
    let one = bench.turn(None, "a", "--dangerous \u{1b}[2J");
    let two = bench.turn(Some(one), "a", "the same id again");
    bench.whole.turns[two].started_ms = Some(i64::MAX);
    bench.whole.turns[two].attached = vec!["../../etc/passwd".into()];
    let long = "x".repeat(6 << 20);
    let longer = "x".repeat(18 << 20);
    bench.whole.turns[two].steps = vec![
        StoredStep::Answer(StoredAnswer { text: long.clone(), ..StoredAnswer::default() }),
        StoredStep::Call { id: "\0".into(), name: longer.clone(), input: json!(longer) },
        StoredStep::Result { call: "never called".into(), output: "x".into(), failed: true },
        StoredStep::Compaction { summary: long.clone() },
    ];
    bench.turn(Some(two), "\0", "three");
    assert_eq!(bench.adopt().new, 3);
    assert_eq!(bench.adopt().new, 0);
    let conversation = bench.conversation();
    let turn = &conversation.tree.turns()[1];
    let said = bench.messages(turn).unwrap();
    assert_eq!(said[1].text().len(), long.len(), "no word of an answer is lost");
    assert!(said[0].text().contains("[attachment ../../etc/passwd: not kept here]"));
    assert_eq!(bench.path().len(), 3);
    let problems = load(&bench.store, bench.id).unwrap().problems;
    assert!(problems.noted.is_empty(), "{problems:?}");
}

#[test]
fn a_session_without_a_head_is_kept_and_not_resumed() {
    let mut bench = Bench::new();
    bench.turn(None, "a", "one");
    bench.whole.head = None;
    bench.adopt();
    let conversation = bench.conversation();
    assert_eq!(conversation.tree.turns().len(), 1);
    assert_eq!(bench.pinned().1, 0);
}
