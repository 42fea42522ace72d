//! The agent whose prompt is its script, and the place it runs in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rejoin_agents::{
    Answer, Capabilities, Definition, Driver, Exit, Found, IdSource, Launch, Line, ProbeAnswer, Refusal,
    Request, Step,
};
use rejoin_core::plan::Wish;
use rejoin_core::{
    Agent, Choice, ConversationId, Event, FailureClass, InvalidSessionId, MessageId, Outcome, Question,
    Receipt, Scope, SessionId, Stream, System,
};
use rejoin_journal::{Home, MemoryStore, Store};
use serde_json::json;
use uuid::Uuid;

use super::pumped::eventually;
use crate::{
    AgentSetup, Base, CancelWatch, Canceller, Engine, Helper, Limits, OpenQuestion, Order, Target, TurnError,
    TurnOutcome, Watcher,
};

/// An agent that runs its prompt in a shell.
pub(super) struct Scripted;

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
    fn probes(&self) -> &'static [&'static [&'static str]] {
        &[]
    }
    fn learn(&self, _: &[ProbeAnswer]) -> Capabilities {
        Capabilities { product: "scripted".into(), ephemeral: true, ask: true, ..Capabilities::default() }
    }
    fn store(&self, _: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        None
    }
    fn foreign_env(&self) -> &'static [&'static str] {
        &[]
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
    fn launch(&self, request: Request<'_>) -> Result<Launch, Refusal> {
        let script = request.composed.prompt();
        let driver = ScriptDriver::with(request.ids);
        let mut launch = Launch::new(vec!["-c".into(), script.into()], Box::new(driver));
        if script.contains("UNWRITABLE") {
            launch.scratch = Some("/dev/null/scratch".into());
        }
        Ok(launch)
    }
    fn find_session(&self, _: &Path, _: &Path, _: &SessionId) -> Found {
        Found::CannotTell
    }
}

/// Reads one word a line, with what belongs to it.
pub(super) struct ScriptDriver {
    ids: IdSource,
    message: Option<(MessageId, usize)>,
    over: bool,
}

impl ScriptDriver {
    pub(super) fn new() -> Self {
        Self::with(Box::new(|| MessageId::new(Uuid::new_v4())))
    }

    fn with(ids: IdSource) -> Self {
        Self { ids, message: None, over: false }
    }
}

impl Driver for ScriptDriver {
    fn start(&mut self, _: &mut Vec<Step>) {}

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
                choices: vec![Choice { id: "1".into(), label: "tea".into(), ..Choice::default() }],
                ..Question::default()
            }),
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
            Answer::Text(text) => text,
            Answer::Declined => "declined".into(),
        };
        out.push(Step::Write(format!("{words}\n").into_bytes()));
    }
}

/// A place for turns.
pub(super) struct Place {
    pub(super) store: Arc<dyn Store>,
    pub(super) limits: Limits,
    pub(super) helper: Helper,
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
        Self { store, limits, helper: Helper::Thread, dir, id, cancel: Mutex::new(None) }
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
        let home = Home::open(self.path().join("home")).unwrap();
        let engine = Engine { home, store: Arc::clone(&self.store), helper: self.helper.clone() };
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

    fn order(&self, script: &str) -> Order {
        let dir = self.path().to_path_buf();
        Order {
            id: MessageId::new(Uuid::new_v4()),
            agent: &Scripted,
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
            session_dir: None,
            cwd: None,
            wish: Wish::default(),
            model: None,
            permissions: None,
            here: dir.clone(),
            narrowing: |_| Ok(None),
            system_prompt: None,
            append_system_prompt: None,
            extra_args: Vec::new(),
            limits: self.limits.clone(),
            wait: None,
            lease: None,
            beginning: None,
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
