//! The agent whose prompt is its script, and the place it runs in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rejoin_agents::{
    Answer, Capabilities, Definition, Driver, Exit, Found, IdSource, Line, Media, ProbeAnswer, Process,
    ProcessRequest, Refusal, Settles, Step, TurnRequest,
};
use rejoin_core::plan::Wish;
use rejoin_core::{
    Agent, ConversationId, Event, FailureClass, InvalidSessionId, MessageId, Outcome, Question,
    QuestionOption, Receipt, Scope, SessionId, Stream, System, Usage,
};
use rejoin_journal::{Home, Leases, MemoryLeases, MemoryStore, Store};
use serde_json::json;
use uuid::Uuid;

use super::pumped::eventually;
use crate::{
    AgentSetup, Base, CancelWatch, Canceller, Engine, Helper, Limits, OpenQuestion, Order, Target, TurnError,
    TurnHandle, TurnOutcome, Watcher,
};

/// An agent that runs its prompt in a shell.
#[derive(Clone, Default)]
pub(super) struct Scripted {
    /// Where it keeps its sessions, a file each; without it nothing is kept, and nothing resumed.
    pub(super) sessions: Option<PathBuf>,
    /// When its store shows a turn; with the end of its process if nothing is said.
    pub(super) settles: Option<Settles>,
}

impl Definition for Scripted {
    fn agent(&self) -> Agent {
        Agent::named("scripted")
    }
    fn title(&self) -> &'static str {
        "Scripted agent"
    }
    fn command(&self) -> &'static str {
        "sh"
    }
    fn install_hint(&self) -> &'static str {
        ""
    }
    fn probes(&self) -> Vec<Vec<&str>> {
        Vec::new()
    }
    fn learn(&self, _: &[ProbeAnswer]) -> Capabilities {
        let resume = self.sessions.is_some();
        Capabilities {
            product: "scripted".into(),
            ephemeral: true,
            ask: true,
            resume,
            ..Capabilities::default()
        }
    }
    fn store(&self, _: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        self.sessions.clone()
    }
    fn takes(&self, media: Media) -> bool {
        media == Media::Text
    }
    /// So that its prompt is always a script.
    fn takes_messages(&self) -> bool {
        self.sessions.is_some()
    }
    fn foreign_env(&self) -> Vec<&str> {
        Vec::new()
    }
    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        SessionId::new(self.agent(), text)
    }
    fn choose_session(&self, _: &Capabilities, _: Uuid) -> Option<SessionId> {
        None
    }
    fn takes_instructions(&self, _: &Capabilities) -> bool {
        false
    }
    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        let script = request.turn.composed.prompt();
        let driver = ScriptDriver { settles: self.settles, ..ScriptDriver::with(request.turn.ids.clone()) };
        let mut launch = Process::new(vec!["-c".into(), script.into()], Box::new(driver));
        launch.copies = !request.turn.attachments.is_empty();
        launch.env.push(("COPIES".into(), request.turn.copies.to_string_lossy().into_owned()));
        if script.contains("UNWRITABLE") {
            launch.scratch = Some("/dev/null/scratch".into());
        }
        Ok(launch)
    }
    fn find_session(&self, store: &Path, _: &Path, session: &SessionId) -> Found {
        let file = store.join(session.as_str());
        match &self.sessions {
            None => Found::CannotTell,
            Some(_) if file.exists() => Found::At(file),
            Some(_) => Found::Nowhere,
        }
    }
}

/// Reads one word a line, with what belongs to it.
pub(super) struct ScriptDriver {
    ids: IdSource,
    message: Option<(MessageId, usize)>,
    over: bool,
    settles: Option<Settles>,
}

impl ScriptDriver {
    pub(super) fn new() -> Self {
        Self::with(Arc::new(|| MessageId::new(Uuid::new_v4())))
    }

    fn with(ids: IdSource) -> Self {
        Self { ids, message: None, over: false, settles: None }
    }
}

impl Driver for ScriptDriver {
    fn begin_turn(&mut self, _: &TurnRequest<'_>, _: &mut Vec<Step>) -> Result<(), Refusal> {
        Ok(())
    }

    fn settles(&self) -> Settles {
        self.settles.unwrap_or(Settles::AtExit)
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.over {
            return;
        }
        let text = String::from_utf8_lossy(line.bytes).into_owned();
        let (word, rest) = text.split_once(' ').unwrap_or((text.as_str(), ""));
        let rest = rest.to_owned();
        let ids = &mut self.ids;
        let (message, written) = self.message.get_or_insert_with(|| (ids(), 0));
        let message = *message;
        out.push(Step::Emit(match word {
            "say" => {
                let offset = *written;
                *written += rest.len();
                Event::TextDelta { message, offset, text: rest }
            }
            "call" => {
                let input = json!({ "about": rest });
                Event::ToolUse { message, id: rest, name: "tool".into(), input, parent: None }
            }
            "inside" => {
                let parent = Some("of nobody".into());
                Event::ToolUse { message, id: rest, name: "tool".into(), input: json!({}), parent }
            }
            "result" => {
                let message = ids();
                Event::ToolResult { message, id: rest.clone(), output: rest, error: false, parent: None }
            }
            "warn" => Event::Warning { code: "test".into(), text: rest },
            "retry" => Event::Warning { code: "retry".into(), text: rest },
            "ask" => Event::Question(Question {
                id: rest,
                text: "Tea or coffee?".into(),
                options: vec![QuestionOption {
                    id: "1".into(),
                    label: "tea".into(),
                    ..QuestionOption::default()
                }],
                ..Question::default()
            }),
            "whole" => {
                let offset = *written;
                *written += rest.len();
                Event::Message {
                    message,
                    offset,
                    text: rest,
                    model: Some("m".into()),
                    native: Some("n".into()),
                }
            }
            "think" => Event::Thinking { message, text: rest },
            "usage" => {
                let usage = Usage { input: rest.parse().unwrap(), ..Usage::default() };
                Event::Usage { usage, cost: Some(0.5) }
            }
            "session" => {
                let agent = Agent::named("scripted");
                Event::Session { agent, session: rest, model: None, agent_version: Some("1".into()) }
            }
            "back" => Event::QuestionWithdrawn { question: rest },
            "quiet" => return,
            // A line that takes its time.
            "await" => {
                eventually("what is awaited", || Path::new(&rest).exists());
                Event::Diagnostic { stream: Stream::Stdout, text: rest }
            }
            "end" => {
                self.over = true;
                out.push(Step::Ended(Outcome::Completed));
                return;
            }
            _ => Event::Diagnostic { stream: Stream::Stdout, text },
        }));
    }

    fn on_exit(&mut self, _: &Exit<'_>, out: &mut Vec<Step>) {
        if !self.over {
            out.push(Step::Ended(Outcome::failed(FailureClass::NoResult, "no end")));
        }
    }

    fn answer(&mut self, _: &str, answer: Answer, out: &mut Vec<Step>) {
        let words = match answer {
            Answer::Chosen(ids) => ids.join(","),
            Answer::Text(text) => text,
            Answer::Declined => "declined".into(),
        };
        out.push(Step::Write(format!("{words}\n").into_bytes()));
    }
}

/// A place for turns.
pub(super) struct Place {
    pub(super) store: Arc<dyn Store>,
    pub(super) leases: Arc<dyn Leases>,
    pub(super) limits: Limits,
    pub(super) helper: Helper,
    pub(super) agent: Scripted,
    dir: tempfile::TempDir,
    pub(super) id: ConversationId,
    cancel: Mutex<Option<CancelWatch>>,
}

/// What a turn came to.
pub(super) struct Ran {
    pub(super) result: Result<TurnOutcome, TurnError>,
    pub(super) events: Vec<Event>,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::on(Arc::new(MemoryStore::new()))
    }

    pub(super) fn on(store: Arc<dyn Store>) -> Self {
        // No test waits for these; they end what a broken engine would wait for.
        let limits = Limits { turn: Some(Duration::from_mins(5)), idle: None, ..Limits::default() };
        let id = ConversationId::new(Uuid::new_v4());
        let dir = tempfile::tempdir().unwrap();
        Self {
            store,
            leases: Arc::new(MemoryLeases::new()),
            limits,
            helper: Helper::Thread,
            agent: Scripted::default(),
            dir,
            id,
            cancel: Mutex::new(None),
        }
    }

    /// The agent keeps sessions from now on.
    pub(super) fn keeping_sessions(mut self) -> Self {
        let sessions = self.path().join("sessions");
        std::fs::create_dir(&sessions).unwrap();
        self.agent.sessions = Some(sessions);
        self
    }

    /// Another turn in the conversation that is there.
    pub(super) fn next(&self, script: &str) -> Order {
        Order { target: Target::Existing(self.id), ..self.order(script) }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Stops the next turn from elsewhere.
    pub(super) fn canceller(&self) -> Canceller {
        let (canceller, watch) = CancelWatch::pair().unwrap();
        *self.cancel.lock().unwrap() = Some(watch);
        canceller
    }

    /// An engine of its own on this place.
    pub(super) fn engine(&self) -> Engine {
        let home = Home::open(self.path().join("home")).unwrap();
        Engine::on(home, Arc::clone(&self.store), Arc::clone(&self.leases), self.helper.clone())
    }

    /// Starts a script as a turn of that engine, with somebody who answers.
    pub(super) fn start(&self, engine: &Engine, script: &str) -> TurnHandle {
        let order = Order { interactive: true, ..self.order(script) };
        engine.start(order, CancelWatch::pair().unwrap().1).unwrap()
    }

    /// The same, in another conversation.
    pub(super) fn start_another(&self, engine: &Engine, script: &str) -> TurnHandle {
        let id = ConversationId::new(Uuid::new_v4());
        let Order { target: Target::New { project, dir, scope, name, .. }, .. } = self.order(script) else {
            panic!("a new conversation")
        };
        let target = Target::New { id, project, dir, scope, name };
        engine.start(Order { target, ..self.order(script) }, CancelWatch::pair().unwrap().1).unwrap()
    }

    /// Runs a script as the first turn.
    pub(super) fn run(&self, script: &str) -> Ran {
        self.watch(script, |_| {}, None)
    }

    /// Runs a script; `each` sees every event as the watcher does.
    pub(super) fn watch(
        &self,
        script: &str,
        mut each: impl FnMut(&Event),
        mut on_question: Option<&mut dyn FnMut(&OpenQuestion<'_>) -> Answer>,
    ) -> Ran {
        let engine = self.engine();
        let cancel = self.cancel.lock().unwrap().take().unwrap_or_else(|| CancelWatch::pair().unwrap().1);
        let mut events = Vec::new();
        let mut on_event = |event: &Event| {
            each(event);
            events.push(event.clone());
        };
        let on_question =
            on_question.as_mut().map(|answer| &mut **answer as &mut dyn FnMut(&OpenQuestion<'_>) -> Answer);
        let watcher = Watcher { on_event: &mut on_event, on_question, cancel };
        let result = engine.run(self.order(script), watcher);
        Ran { result, events }
    }

    pub(super) fn order(&self, script: &str) -> Order {
        let dir = self.path().to_path_buf();
        Order {
            id: MessageId::new(Uuid::new_v4()),
            agent: Arc::new(self.agent.clone()),
            setup: AgentSetup::default(),
            target: Target::New {
                id: self.id,
                project: dir.clone(),
                dir: dir.clone(),
                scope: Scope::Shared,
                name: None,
            },
            base: Base::Head,
            prompt: script.to_owned(),
            attachments: Vec::new(),
            kept_attachments: Vec::new(),
            session_dir: None,
            cwd: None,
            wish: Wish::default(),
            model: None,
            permissions: None,
            ceiling: None,
            here: dir.clone(),
            narrowing: |_| Ok(None),
            interactive: false,
            system_prompt: None,
            append_system_prompt: None,
            extra_args: Vec::new(),
            limits: self.limits.clone(),
            wait: None,
            request: None,
            loaded: None,
            lease: None,
            beginning: None,
            stands_in: None,
            notices: Vec::new(),
        }
    }

    /// The lines of the journal as they stand.
    pub(super) fn journal(&self) -> String {
        let mut text = String::new();
        if let Ok(mut raw) = self.store.files().and_then(|files| files.raw(self.id)) {
            raw.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// What rejoin noted.
    pub(super) fn notes(&self) -> Vec<System> {
        let mut notes = Vec::new();
        let _ = self.store.read(self.id, 0, &mut |entry| notes.extend(entry.content.unwrap().system()));
        notes
    }

    /// The receipt, read back.
    pub(super) fn receipt(&self) -> Option<Receipt> {
        self.notes().into_iter().find_map(|note| match note {
            System::Receipt(receipt) => Some(*receipt),
            _ => None,
        })
    }
}

impl Ran {
    #[track_caller]
    pub(super) fn outcome(&self) -> &Outcome {
        self.result.as_ref().unwrap().outcome()
    }

    #[track_caller]
    pub(super) fn completed(&self) -> &Self {
        assert_eq!(*self.outcome(), Outcome::Completed);
        self
    }
}
