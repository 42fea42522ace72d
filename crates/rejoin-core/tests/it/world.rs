//! A conversation made the way the engine makes one: every record is serialised, parsed as an
//! envelope and folded, and what an agent must be told is read back from those lines.

use std::collections::HashMap;

use rejoin_core::compose::{Composed, Told, Wording, compose, message_of};
use rejoin_core::plan::{Runtime, Situation, Stored, Wish, plan};
use rejoin_core::{
    Agent, AnsweredBy, Content, Conversation, ConversationId, ConversationInfo, Decision, Envelope,
    FailureClass, Intent, Kind, LaunchEnd, Mark, Message, MessageId, Outcome, Part, Pin, PinBinding, PinLife,
    Plan, Question, Reason, Receipt, Record, Scope, SessionId, Slice, System, Tree, TurnId, TurnState,
};
use uuid::Uuid;

pub(crate) const DIR: &str = "/src/app";
pub(crate) const HOME: &str = "home-1";

pub(crate) fn gemini() -> Agent {
    Agent::named("gemini")
}

pub(crate) struct World {
    pub(crate) journal: Vec<String>,
    pub(crate) conversation: Conversation,
    pub(crate) scope: Scope,
    pub(crate) dir: String,
    pub(crate) home: String,
    pub(crate) wish: Wish,
    pub(crate) instructions: Option<&'static str>,
    pub(crate) runtimes: HashMap<Agent, Runtime>,
    pub(crate) stores: HashMap<String, Stored>,
    ids: u128,
    sessions: usize,
}

/// A turn under way: what the engine holds between the intent and the receipt.
pub(crate) struct Running {
    pub(crate) agent: Agent,
    pub(crate) turn: TurnId,
    pub(crate) sent: Sent,
    /// What the session's pin goes through.
    life: PinLife,
    /// The agent showed that the session is stored.
    stored: bool,
    /// The slice with this turn at its end.
    mark: Mark,
    last: MessageId,
}

impl Running {
    /// The session's pin, as soon as its id is known.
    pub(crate) fn pin(&self) -> Option<&Pin> {
        self.life.intended()
    }
}

/// What a plan came to: both halves.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) plan: Plan,
    pub(crate) composed: Composed,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::scoped(Scope::Shared)
    }

    pub(crate) fn scoped(scope: Scope) -> Self {
        let mut world = World {
            journal: Vec::new(),
            conversation: Conversation::default(),
            scope,
            dir: DIR.into(),
            home: HOME.into(),
            wish: Wish::Auto,
            instructions: None,
            runtimes: HashMap::new(),
            stores: HashMap::new(),
            ids: 0,
            sessions: 0,
        };
        let info =
            ConversationInfo { schema: System::SCHEMA, project: "/src".into(), dir: DIR.into(), scope };
        world.system(None, &System::Conversation(info));
        world
    }

    // -- what stands in the journal ------------------------------------------------------------

    pub(crate) fn id(&mut self) -> MessageId {
        self.ids += 1;
        MessageId::new(Uuid::from_u128(self.ids << 96 | self.ids))
    }

    pub(crate) fn write(&mut self, record: &Record) {
        self.write_line(serde_json::to_string(record).unwrap());
    }

    pub(crate) fn write_line(&mut self, line: String) {
        let envelope: Envelope<'_> = serde_json::from_str(&line).unwrap();
        self.conversation.apply(&envelope, self.journal.len() as u64);
        self.journal.push(line);
    }

    pub(crate) fn say(
        &mut self,
        kind: Kind,
        id: MessageId,
        parent: Option<MessageId>,
        parts: Vec<Part>,
    ) -> MessageId {
        let content = if kind == Kind::Assistant { Content::model(parts) } else { Content::user(parts) };
        self.write(&Record { message: Some(content), ..record(kind, id, parent) });
        id
    }

    pub(crate) fn system(&mut self, turn: Option<TurnId>, system: &System) {
        let (subtype, system_payload) = system.write();
        assert!(subtype.is_some() && system_payload.is_some(), "{system:?} cannot be written");
        let id = self.id();
        self.write(&Record { subtype, system_payload, ..record(Kind::System, id, turn) });
    }

    pub(crate) fn edit(&mut self, target: MessageId, text: &str) {
        self.system(None, &System::Amendment { target, parts: vec![Part::text(text)] });
    }

    pub(crate) fn rewind(&mut self, to: Option<MessageId>) {
        self.system(None, &System::Head { to, branch: None });
    }

    /// Where a retry begins: a completed turn gets a sibling, a failed or cut one a child.
    pub(crate) fn retry(&mut self, turn: TurnId) {
        let turn = self.conversation.tree.turn(turn).unwrap();
        let to = if turn.state() == TurnState::Completed { turn.parent } else { Some(turn.id) };
        self.rewind(to);
    }

    pub(crate) fn head(&self) -> Option<TurnId> {
        self.conversation.tree.head().map(|turn| turn.id)
    }

    pub(crate) fn path(&self) -> Vec<TurnId> {
        self.conversation.tree.path(self.head()).0.iter().map(|turn| turn.id).collect()
    }

    pub(crate) fn slice(&self, agent: &Agent) -> Slice {
        Tree::slice(&self.conversation.tree.path(self.head()).0, self.scope, agent)
    }

    pub(crate) fn pins(&self, agent: &Agent) -> Vec<Pin> {
        self.conversation.pins.iter().filter(|pin| pin.session.agent() == agent).cloned().collect()
    }

    /// The texts of turns, read back from the lines the tree points to.
    pub(crate) fn told(&self, turns: &[TurnId]) -> Vec<Told> {
        turns.iter().map(|&turn| self.read(turn)).collect()
    }

    fn read(&self, turn: TurnId) -> Told {
        let turn = self.conversation.tree.turn(turn).unwrap();
        let mut messages: Vec<Message> = Vec::new();
        for &place in &turn.records {
            let line = &self.journal[usize::try_from(place).unwrap()];
            let record: Record = serde_json::from_str(line).unwrap();
            if record.kind == Kind::System {
                let envelope: Envelope<'_> = serde_json::from_str(line).unwrap();
                if let Some(System::Amendment { target, parts }) = envelope.system() {
                    messages.iter_mut().find(|message| message.id == target).unwrap().parts = parts;
                }
                continue;
            }
            let at = messages.iter().position(|message| message.id == record.uuid).unwrap_or_else(|| {
                messages.push(Message::new(record.uuid, record.kind));
                messages.len() - 1
            });
            messages[at].merge(record.message.map(|content| content.parts).unwrap_or_default(), None);
        }
        Told {
            id: turn.id,
            agent: turn.agent.clone(),
            state: turn.state(),
            messages,
            shortened: false,
            unread: 0,
        }
    }

    // -- the way of one turn -------------------------------------------------------------------

    pub(crate) fn runtime(&self, agent: &Agent) -> Runtime {
        self.runtimes.get(agent).cloned().unwrap_or_else(|| Runtime {
            product: format!("{agent} ({agent})"),
            can_resume: true,
            store: format!("/home/me/.{agent}"),
        })
    }

    pub(crate) fn plan(&self, agent: &Agent) -> Plan {
        let situation = Situation {
            slice: &self.slice(agent),
            first_turn: self.path().is_empty(),
            pins: &self.pins(agent),
            scope: self.scope,
            dir: &self.dir,
            home: &self.home,
            runtime: &self.runtime(agent),
            wish: self.wish,
        };
        plan(&situation, |pin| self.stores.get(pin.session.as_str()).copied().unwrap_or(Stored::Stored))
    }

    /// What would be sent now, with nothing written.
    pub(crate) fn next(&self, agent: &Agent, prompt: &str) -> Sent {
        self.carry_out(self.plan(agent), &self.slice(agent), prompt)
    }

    /// What is sent after the agent refused a session.
    pub(crate) fn rejected(&self, agent: &Agent, session: &str, prompt: &str) -> Sent {
        let why = Reason::SessionRejected { session: session.into(), why: "No conversation found".into() };
        self.carry_out(Plan::fresh(why, &self.slice(agent)), &self.slice(agent), prompt)
    }

    fn carry_out(&self, plan: Plan, slice: &Slice, prompt: &str) -> Sent {
        let told = self.told(&plan.told());
        let after_cut = match &plan {
            Plan::Resume { catch_up, .. } => {
                let cut = |turn: &Told| turn.state == TurnState::Cut;
                catch_up.iter().zip(&told).any(|(missed, turn)| missed.maybe_known && cut(turn))
            }
            Plan::Fresh { .. } => false,
        };
        let last = plan.last_held(slice).and_then(|turn| self.conversation.tree.turn(turn));
        let wording = Wording {
            told,
            unread: HashMap::new(),
            prompt,
            instructions: self.instructions,
            after_cut,
            after_question: last.is_some_and(|turn| turn.answered),
            budget: 256 * 1024,
        };
        let composed = compose(plan.clone(), &wording, keys());
        assert_eq!(message_of(composed.prompt()), prompt, "{}", composed.prompt());
        Sent { plan, composed }
    }

    /// The user's words, on disk; nothing else yet.
    pub(crate) fn ask(&mut self, prompt: &str) -> TurnId {
        let parent = self.conversation.tree.head().map(|turn| turn.end);
        let id = self.id();
        self.say(Kind::User, id, parent, vec![Part::text(prompt)])
    }

    /// Everything up to and with the intent.
    pub(crate) fn begin(&mut self, agent: &Agent, prompt: &str) -> Running {
        let sent = self.next(agent, prompt);
        let slice = self.slice(agent);
        let turn = self.ask(prompt);
        let mark = slice.mark().push(turn, 0);
        let life = self.life(agent, &sent, mark);
        let running = Running { agent: agent.clone(), turn, sent, life, stored: false, mark, last: turn };
        self.intend(&running, 1);
        running
    }

    /// The agent asks something, and gets that answer or none.
    pub(crate) fn question(&mut self, running: &Running, tool: Option<&str>, answer: Option<&str>) {
        let question = Question {
            id: "q1".into(),
            text: "Which?".into(),
            tool: tool.map(str::to_owned),
            ..Question::default()
        };
        let answered = question.answered(AnsweredBy::User, answer);
        self.system(Some(running.turn), &System::Question(Box::new(question)));
        self.system(Some(running.turn), &System::QuestionAnswered(answered));
    }

    /// The agent refused the session: it is given up, and a second run is announced.
    pub(crate) fn fall_back(&mut self, running: &mut Running, prompt: &str) {
        let words = "No conversation found";
        let pin = running.life.refused(words).unwrap();
        let session = pin.session.as_str().to_owned();
        self.system(Some(running.turn), &System::Pin(Box::new(pin)));
        // The slice before this turn: what the first run was planned on.
        let parent = self.conversation.tree.turn(running.turn).unwrap().parent;
        let slice = Tree::slice(&self.conversation.tree.path(parent).0, self.scope, &running.agent);
        let why = Reason::SessionRejected { session, why: words.into() };
        running.sent = self.carry_out(Plan::fresh(why, &slice), &slice, prompt);
        running.life = self.life(&running.agent, &running.sent, running.mark);
        running.stored = false;
        self.intend(running, 2);
    }

    /// What the pin of a launch begins with.
    fn life(&mut self, agent: &Agent, sent: &Sent, mark: Mark) -> PinLife {
        let runtime = self.runtime(agent);
        let binding = PinBinding {
            scope: self.scope,
            dir: self.dir.clone(),
            store: runtime.store,
            product: runtime.product,
            home: self.home.clone(),
        };
        if let Some(pin) = sent.composed.pin() {
            return PinLife::resumes(binding, pin, None, mark, false);
        }
        // Claude lets us choose the id beforehand; the others tell theirs when they start.
        let chosen = (*agent == Agent::Claude).then(|| self.new_session(agent));
        PinLife::begins(binding, chosen, mark, false)
    }

    fn intend(&mut self, running: &Running, run: u32) {
        let intent = Intent {
            agent: running.agent.clone(),
            run,
            number: 0,
            plan: running.sent.composed.decision().clone(),
            model: None,
            session_dir: None,
            bytes: running.sent.composed.prompt().len(),
            stands_in: None,
            pin: running.life.intended().cloned(),
        };
        self.system(Some(running.turn), &System::Intent(Box::new(intent)));
    }

    fn new_session(&mut self, agent: &Agent) -> SessionId {
        self.sessions += 1;
        SessionId::new(agent.clone(), &format!("{agent}-{}", self.sessions)).unwrap()
    }

    /// The agent named its session; nothing is stored yet.
    pub(crate) fn session_seen(&mut self, running: &mut Running) {
        let session = match running.pin() {
            Some(pin) => pin.session.clone(),
            None => self.new_session(&running.agent),
        };
        let written = running.life.named(&session).cloned();
        self.put_pin(running.turn, written);
    }

    /// The agent said something: its session is stored.
    pub(crate) fn answer(&mut self, running: &mut Running, text: &str) -> MessageId {
        self.answer_parts(running, Kind::Assistant, vec![Part::text(text)])
    }

    pub(crate) fn answer_parts(&mut self, running: &mut Running, kind: Kind, parts: Vec<Part>) -> MessageId {
        if running.pin().is_none() {
            self.session_seen(running);
        }
        running.stored = true;
        let written = running.life.stored().cloned();
        self.put_pin(running.turn, written);
        let id = self.id();
        running.last = self.say(kind, id, Some(running.last), parts);
        id
    }

    fn put_pin(&mut self, turn: TurnId, pin: Option<Pin>) {
        if let Some(pin) = pin {
            self.system(Some(turn), &System::Pin(Box::new(pin)));
        }
    }

    /// The turn ended in a way rejoin lived to see.
    pub(crate) fn end(&mut self, running: Running, outcome: Outcome) -> TurnId {
        let session = running.pin().map(|pin| pin.session.clone());
        let Running { agent, turn, sent, life, stored, .. } = running;
        let settled = life.settled(LaunchEnd {
            session: session.as_ref(),
            stored: stored || outcome == Outcome::Completed,
            outcome: &outcome,
            total_told: None,
            total_stored: None,
            witness: None,
        });
        self.put_pin(turn, settled.map(|(pin, _)| pin));
        let mut receipt = Receipt::new(turn, agent, sent.composed.decision().clone(), outcome);
        (receipt.runs, receipt.milliseconds, receipt.exit_code) = (1, 1, Some(0));
        receipt.asked = sent.composed.session().map(ToString::to_string);
        receipt.session = session.map(|session| session.to_string());
        receipt.bytes = sent.composed.prompt().len();
        self.system(Some(turn), &System::Receipt(Box::new(receipt)));
        turn
    }

    // -- whole turns ---------------------------------------------------------------------------

    pub(crate) fn ok(&mut self, agent: &Agent, prompt: &str, answer: &str) -> TurnId {
        let mut running = self.begin(agent, prompt);
        self.session_seen(&mut running);
        self.answer(&mut running, answer);
        self.end(running, Outcome::Completed)
    }

    pub(crate) fn failed(&mut self, agent: &Agent, prompt: &str, class: FailureClass) -> TurnId {
        let mut running = self.begin(agent, prompt);
        self.session_seen(&mut running);
        self.end(running, Outcome::failed(class, "it went wrong"))
    }

    /// Ctrl-C after the first words of the answer.
    pub(crate) fn cancelled(&mut self, agent: &Agent, prompt: &str, answer: &str) -> TurnId {
        let mut running = self.begin(agent, prompt);
        self.session_seen(&mut running);
        self.answer(&mut running, answer);
        self.end(running, Outcome::Cancelled)
    }
}

impl Sent {
    #[track_caller]
    pub(crate) fn resumes(&self, session: &str) -> &Self {
        let found = self.composed.session().map(SessionId::as_str);
        assert_eq!(found, Some(session), "plan: {:?}", self.plan);
        assert!(self.composed.decision().resumes());
        self
    }

    #[track_caller]
    pub(crate) fn starts_fresh(&self, reason: &str) -> &Self {
        assert_eq!(self.composed.session(), None, "plan: {:?}", self.plan);
        match self.composed.decision() {
            Decision::Fresh { why, .. } => assert_eq!(why.name(), reason),
            Decision::Adopted { .. } => panic!("nothing was decided"),
            Decision::Resume { .. } => panic!("{:?}", self.plan),
        }
        self
    }

    #[track_caller]
    pub(crate) fn says(&self, texts: &[&str]) -> &Self {
        let mut from = 0;
        for text in texts {
            match self.composed.prompt()[from..].find(text) {
                Some(at) => from += at + text.len(),
                None => panic!("{text:?} is not (or not in order) in:\n{}", self.composed.prompt()),
            }
        }
        self
    }

    #[track_caller]
    pub(crate) fn never_says(&self, texts: &[&str]) -> &Self {
        for text in texts {
            let prompt = self.composed.prompt();
            assert!(!prompt.contains(text), "{text:?} should not be in:\n{prompt}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn is_verbatim(&self, prompt: &str) -> &Self {
        assert_eq!(self.composed.prompt(), prompt);
        self
    }

    /// The turns told to a resumed session, and whether it may know them.
    #[track_caller]
    pub(crate) fn catches_up_on(&self, turns: &[(TurnId, bool)]) -> &Self {
        let Plan::Resume { catch_up, .. } = &self.plan else { panic!("fresh: {:?}", self.plan) };
        let found: Vec<_> = catch_up.iter().map(|missed| (missed.turn, missed.maybe_known)).collect();
        assert_eq!(found, turns);
        self
    }
}

pub(crate) fn record(kind: Kind, uuid: MessageId, parent_uuid: Option<MessageId>) -> Record {
    Record {
        uuid,
        parent_uuid,
        session_id: ConversationId::new(Uuid::from_u128(0xC0)),
        timestamp: "2026-01-01T00:00:00Z".into(),
        kind,
        cwd: DIR.into(),
        version: "0.1.0".into(),
        git_branch: None,
        subtype: None,
        message: None,
        replaces: None,
        offset: None,
        cost: None,
        tokens: None,
        model: None,
        tool_calls_metadata: Vec::new(),
        native: None,
        request: None,
        system_payload: None,
    }
}

/// Keys that are the same in every run.
pub(crate) fn keys() -> impl FnMut() -> String {
    let mut count = 0_u64;
    move || {
        count += 1;
        format!("k{count:015}")
    }
}
