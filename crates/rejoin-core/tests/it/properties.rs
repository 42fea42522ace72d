//! The rule of resuming against a model of the world: agents with sessions that really hold what
//! they were sent, and a user who edits, rewinds, retries, switches and pulls the plug.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rejoin_core::plan::{Stored, Wish};
use rejoin_core::{
    Agent, Conversation, Envelope, FailureClass, MessageId, Outcome, PinState, Plan, Scope, System, TurnId,
};

use crate::world::{Running, World, gemini};

/// How a turn ends, in the order in which things can go wrong.
#[derive(Clone, Copy, Debug)]
enum End {
    KilledBeforeIntent,
    KilledBeforeSpawn,
    KilledBeforeSession,
    KilledBeforeStored,
    KilledLate,
    Failed(FailureClass),
    Cancelled,
    Ok,
}

#[derive(Clone, Debug)]
enum Op {
    Turn { agent: usize, end: End },
    FreshTurn { agent: usize, end: End },
    Retry { turn: usize, end: End },
    Edit { message: usize },
    Rewind { turn: usize },
    RewindToTheBeginning,
    LoseSession { session: usize },
}

/// What one session went through. Turns stand with the revision they had.
#[derive(Default)]
struct Session {
    /// It ended a turn well that told it these: it holds them.
    surely: Vec<(TurnId, u32)>,
    /// It was really sent these.
    may_hold: BTreeSet<(TurnId, u32)>,
    /// An intent said it would be sent these.
    announced: BTreeSet<(TurnId, u32)>,
    /// Turns it completed.
    completed: BTreeSet<TurnId>,
    stored: bool,
    retired: bool,
}

/// A turn as the model knows it, without asking the fold.
struct Taken {
    parent: Option<TurnId>,
    agent: Option<Agent>,
    revision: u32,
}

struct Model {
    world: World,
    turns: BTreeMap<TurnId, Taken>,
    head: Option<TurnId>,
    agents: [Agent; 3],
    sessions: BTreeMap<String, Session>,
    /// Every message, its turn and its present wording.
    messages: Vec<(MessageId, TurnId, String)>,
    words: u32,
}

impl Model {
    fn new(scope: Scope) -> Self {
        let agents = [Agent::Claude, Agent::Codex, gemini()];
        Model {
            world: World::scoped(scope),
            turns: BTreeMap::new(),
            head: None,
            agents,
            sessions: BTreeMap::new(),
            messages: Vec::new(),
            words: 0,
        }
    }

    /// A text that is found nowhere else.
    fn words(&mut self) -> String {
        self.words += 1;
        format!("«{}»", self.words)
    }

    /// Nobody can look into Gemini's store.
    fn blind(agent: &Agent) -> bool {
        *agent == gemini()
    }

    fn put_store(&mut self) {
        for pin in &self.world.conversation.pins {
            let id = pin.session.as_str();
            let stored = match self.sessions.get(id) {
                _ if Self::blind(pin.session.agent()) => Stored::CannotTell,
                Some(session) if session.stored => Stored::Stored,
                _ => Stored::Missing,
            };
            self.world.stores.insert(id.to_owned(), stored);
        }
    }

    fn slice(&self, agent: &Agent) -> Vec<(TurnId, u32)> {
        let mut slice: Vec<TurnId> = Vec::new();
        let mut next = self.head;
        while let Some(id) = next {
            let turn = &self.turns[&id];
            let its = turn.agent.is_none() || turn.agent.as_ref() == Some(agent);
            if its || self.world.scope == Scope::Shared {
                slice.push(id);
            }
            next = turn.parent;
        }
        self.with_revisions(slice.into_iter().rev())
    }

    fn with_revisions(&self, turns: impl IntoIterator<Item = TurnId>) -> Vec<(TurnId, u32)> {
        turns.into_iter().map(|turn| (turn, self.turns[&turn].revision)).collect()
    }

    fn took(&mut self, turn: TurnId, agent: Option<Agent>, prompt: String) {
        self.turns.insert(turn, Taken { parent: self.head, agent, revision: 0 });
        self.head = Some(turn);
        self.messages.push((turn, turn, prompt));
    }

    // -- what happens --------------------------------------------------------------------------

    fn run(&mut self, op: &Op) {
        let turns: Vec<TurnId> = self.turns.keys().copied().collect();
        match *op {
            Op::Turn { agent, end } => self.turn(&self.agents[agent].clone(), end),
            Op::FreshTurn { agent, end } => {
                let agent = self.agents[agent].clone();
                self.retire_on_this_path(&agent);
                self.world.wish = Wish::Fresh;
                self.turn(&agent, end);
                self.world.wish = Wish::Auto;
            }
            Op::Retry { turn, end } if !turns.is_empty() => {
                let turn = turns[turn % turns.len()];
                let agent = self.turns[&turn].agent.clone();
                self.world.retry(turn);
                let completed = self.sessions.values().any(|session| session.completed.contains(&turn));
                self.head = if completed { self.turns[&turn].parent } else { Some(turn) };
                self.turn(&agent.unwrap_or(Agent::Claude), end);
            }
            Op::Edit { message } if !self.messages.is_empty() => {
                let words = self.words();
                let count = self.messages.len();
                let (id, turn, text) = &mut self.messages[message % count];
                text.clone_from(&words);
                self.turns.get_mut(turn).unwrap().revision += 1;
                self.world.edit(*id, &words);
            }
            Op::Rewind { turn } if !turns.is_empty() => {
                self.head = Some(turns[turn % turns.len()]);
                self.world.rewind(self.head);
            }
            Op::RewindToTheBeginning => {
                self.head = None;
                self.world.rewind(None);
            }
            Op::LoseSession { session } if !self.sessions.is_empty() => {
                let count = self.sessions.len();
                self.sessions.values_mut().nth(session % count).unwrap().stored = false;
            }
            Op::Retry { .. } | Op::Edit { .. } | Op::Rewind { .. } | Op::LoseSession { .. } => {}
        }
        self.put_store();
    }

    /// `--fresh-session`.
    fn retire_on_this_path(&mut self, agent: &Agent) {
        let slice = self.world.slice(agent);
        for pin in self.world.pins(agent) {
            if slice.starts_with(&pin.exposed) {
                self.sessions.get_mut(pin.session.as_str()).unwrap().retired = true;
                self.world.system(None, &System::Pin(Box::new(pin.retired_by_the_user())));
            }
        }
    }

    fn turn(&mut self, agent: &Agent, end: End) {
        let prompt = self.words();
        if matches!(end, End::KilledBeforeIntent) {
            let turn = self.world.ask(&prompt);
            self.took(turn, None, prompt);
            return;
        }
        let mut slice = self.slice(agent);
        let mut running = self.world.begin(agent, &prompt);
        self.took(running.turn, Some(agent.clone()), prompt.clone());
        slice.push((running.turn, 0));
        self.announce(&running, &slice);
        if matches!(end, End::KilledBeforeSpawn) {
            return;
        }

        if let Some(asked) = running.sent.composed.session()
            && !self.sessions[asked.as_str()].stored
        {
            // Only a blind store lets it come to this: the agent refuses, a fresh run follows.
            assert!(Self::blind(agent), "{asked} was resumed although it is gone");
            self.sessions.get_mut(asked.as_str()).unwrap().retired = true;
            self.world.fall_back(&mut running, &prompt);
            self.announce(&running, &slice);
        }
        if matches!(end, End::KilledBeforeSession) {
            self.send(&running, &slice, false);
            return;
        }
        self.world.session_seen(&mut running);
        self.announce(&running, &slice);
        let stored = !matches!(end, End::KilledBeforeStored);
        self.send(&running, &slice, stored);
        if !stored {
            return;
        }
        let answer = self.words();
        let id = self.world.answer(&mut running, &answer);
        self.messages.push((id, running.turn, answer));
        let session = running.pin().unwrap().session.as_str().to_owned();
        let outcome = match end {
            End::Ok => Outcome::Completed,
            End::Failed(class) => Outcome::failed(class, "no"),
            End::Cancelled => Outcome::Cancelled,
            _ => return, // killed late: no receipt
        };
        let turn = self.world.end(running, outcome);
        let retired = self
            .world
            .pins(agent)
            .iter()
            .any(|pin| pin.session.as_str() == session && matches!(pin.state, PinState::Retired { .. }));
        let session = self.sessions.get_mut(&session).unwrap();
        session.retired |= retired;
        if matches!(end, End::Ok) {
            session.surely = slice;
            session.completed.insert(turn);
        }
    }

    fn announce(&mut self, running: &Running, slice: &[(TurnId, u32)]) {
        if let Some(pin) = running.pin() {
            let session = self.sessions.entry(pin.session.as_str().to_owned()).or_default();
            session.announced.extend(slice);
        }
    }

    /// The prompt really went out; what it told, the session may hold from now on.
    fn send(&mut self, running: &Running, slice: &[(TurnId, u32)], stored: bool) {
        let told = self.with_revisions(running.sent.plan.told());
        if let Some(pin) = running.pin() {
            let session = self.sessions.get_mut(pin.session.as_str()).unwrap();
            session.may_hold.extend(told);
            session.may_hold.extend(slice.last());
            session.stored |= stored;
        }
    }

    // -- what must be true ---------------------------------------------------------------------

    fn check(&self) {
        for agent in &self.agents {
            self.check_plan(agent, &self.world.plan(agent));
            self.check_words(agent);
        }
        let path = self.world.path();
        let mut known: BTreeSet<TurnId> = BTreeSet::new();
        self.agents.iter().for_each(|agent| known.extend(self.world.slice(agent).after(0)));
        assert!(path.iter().all(|turn| known.contains(turn)), "a turn is in nobody's slice");
    }

    fn check_plan(&self, agent: &Agent, plan: &Plan) {
        let slice = self.slice(agent);
        let turns: Vec<TurnId> = slice.iter().map(|(turn, _)| *turn).collect();
        let Plan::Resume { pin, catch_up } = plan else {
            assert_eq!(plan.told(), turns, "a fresh session is told the whole slice");
            return;
        };
        let session = &self.sessions[pin.session.as_str()];
        assert_eq!(pin.session.agent(), agent);
        assert!(!session.retired, "a retired session was resumed");
        assert!(session.stored || Self::blind(agent), "a lost session was resumed");

        let path: BTreeSet<_> = slice.iter().copied().collect();
        let astray: Vec<_> = session.may_hold.difference(&path).collect();
        assert!(astray.is_empty(), "{} may hold {astray:?}, which is not in its slice", pin.session);

        let told = self.with_revisions(plan.told());
        let whole: Vec<_> = session.surely.iter().chain(&told).copied().collect();
        assert_eq!(whole, slice, "what it surely holds and what it is told are the slice");

        for missed in catch_up {
            let turn = self.with_revisions([missed.turn])[0];
            assert_eq!(missed.maybe_known, session.announced.contains(&turn), "announced or not");
            assert!(missed.maybe_known || !session.may_hold.contains(&turn), "it may know that turn");
        }
    }

    /// The prompt holds the present wording of what is told, and of nothing else.
    fn check_words(&self, agent: &Agent) {
        let sent = self.world.next(agent, "«prompt»");
        let told: BTreeSet<TurnId> = sent.plan.told().into_iter().collect();
        let expected = self.messages.iter().filter(|(_, turn, _)| told.contains(turn));
        let mut expected: Vec<&str> = expected.map(|(_, _, text)| text.as_str()).collect();
        expected.push("«prompt»");
        let found = words(sent.composed.prompt());
        let sorted = |words: &[&str]| words.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        assert_eq!(found.len(), expected.len(), "nothing is said twice");
        assert_eq!(sorted(&found), sorted(&expected), "the prompt says what the plan says");
        assert!(!sent.composed.lossy());
    }

    fn check_replay(&self) {
        let mut replayed = Conversation::default();
        for (place, line) in self.world.journal.iter().enumerate() {
            let envelope: Envelope<'_> = serde_json::from_str(line).unwrap();
            replayed.apply(&envelope, place as u64);
        }
        assert_eq!(picture(&replayed), picture(&self.world.conversation));
        assert_eq!(replayed.unknown, 0);
        assert_eq!(replayed.tree.orphans(), []);
    }
}

fn words(text: &str) -> Vec<&str> {
    let starts = text.match_indices('«').map(|(at, _)| at);
    starts.map(|at| &text[at..at + text[at..].find('»').unwrap() + '»'.len_utf8()]).collect()
}

/// Everything that can be told of a conversation, in a fixed order.
fn picture(conversation: &Conversation) -> String {
    let head = conversation.tree.head().map(|turn| turn.id);
    format!("{:#?}\n{head:?}\n{:#?}", conversation.tree.turns(), conversation.pins)
}

fn end() -> impl Strategy<Value = End> {
    use FailureClass::{ContextOverflow, InvalidRequest, Server};
    prop_oneof![
        6 => Just(End::Ok),
        1 => Just(End::KilledBeforeIntent),
        1 => Just(End::KilledBeforeSpawn),
        1 => Just(End::KilledBeforeSession),
        1 => Just(End::KilledBeforeStored),
        1 => Just(End::KilledLate),
        1 => Just(End::Cancelled),
        2 => prop_oneof![4 => Just(Server), 1 => Just(InvalidRequest), 1 => Just(ContextOverflow)]
            .prop_map(End::Failed),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (0..3_usize, end()).prop_map(|(agent, end)| Op::Turn { agent, end }),
        1 => (0..3_usize, end()).prop_map(|(agent, end)| Op::FreshTurn { agent, end }),
        2 => (0..64_usize, end()).prop_map(|(turn, end)| Op::Retry { turn, end }),
        2 => (0..64_usize).prop_map(|message| Op::Edit { message }),
        3 => (0..64_usize).prop_map(|turn| Op::Rewind { turn }),
        1 => Just(Op::RewindToTheBeginning),
        2 => (0..64_usize).prop_map(|session| Op::LoseSession { session }),
    ]
}

fn live(scope: Scope, ops: &[Op]) -> Model {
    let mut model = Model::new(scope);
    for op in ops {
        model.run(op);
        model.check();
    }
    model.check_replay();
    model
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_session_is_resumed_that_may_hold_anything_else_than_the_shared_history(
        ops in prop::collection::vec(op(), 1..32)
    ) {
        live(Scope::Shared, &ops);
    }

    #[test]
    fn no_session_is_resumed_that_may_hold_anything_else_than_its_own_history(
        ops in prop::collection::vec(op(), 1..32)
    ) {
        live(Scope::Own, &ops);
    }
}

#[test]
fn the_model_does_resume_catch_up_and_fall_back() {
    // The properties would also hold if nothing were ever resumed.
    let turn = |agent| Op::Turn { agent, end: End::Ok };
    let cut = Op::Turn { agent: 0, end: End::Cancelled };
    let model = live(Scope::Shared, &[turn(0), turn(1), turn(0), cut, turn(0), turn(2)]);
    assert_eq!(model.sessions.len(), 3, "each agent kept its one session");
    let model = live(Scope::Shared, &[turn(2), Op::LoseSession { session: 0 }, turn(2), turn(2)]);
    assert_eq!(model.sessions.len(), 2, "the refused session was replaced once");
}
