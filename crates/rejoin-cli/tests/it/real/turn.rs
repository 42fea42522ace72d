//! A turn that ran: what rejoin printed, what the model was sent, what the journal says.

use rejoin_testkit::{Outcome, Request};
use serde_json::Value;

use super::stage::Stage;
use super::who::Who;

pub(super) struct Turn {
    pub(super) code: Option<i32>,
    pub(super) events: Vec<Value>,
    pub(super) stderr: String,
    /// What the model was asked meanwhile.
    pub(super) calls: Vec<Request>,
}

impl Turn {
    /// Takes in the event stream of a run, and makes sure that the journal tells the same.
    #[track_caller]
    pub(super) fn read(stage: &Stage, calls_before: usize, outcome: &Outcome) -> Self {
        let events = outcome.json_lines();
        assert_eq!(events.len(), outcome.stdout.lines().count(), "not only events: {}", outcome.stdout);
        let calls = stage.lab.model().calls().split_off(calls_before);
        let turn = Self { code: outcome.code(), events, stderr: outcome.stderr.clone(), calls };
        if !turn.events.is_empty() {
            turn.assert_well_formed();
            turn.assert_recorded(stage);
        }
        turn
    }

    /// The stream begins with `init` and ends with its only `result`.
    #[track_caller]
    fn assert_well_formed(&self) {
        assert_eq!(self.events[0]["type"], "init", "{self}");
        let results = self.events_of("result").len();
        assert_eq!((results, self.last()["type"].as_str()), (1, Some("result")), "{self}");
    }

    /// The receipt on disk is the one that was printed.
    #[track_caller]
    fn assert_recorded(&self, stage: &Stage) {
        let Some(conversation) = self.last()["conversation"].as_str() else { return };
        let shown = stage.ask(["show", "--json", conversation]);
        let turns = shown["turns"].as_array().expect("turns");
        let this = turns.iter().find(|turn| turn["id"] == self.last()["turn"]).expect("this turn");
        let mut printed = self.last().clone();
        for field in ["type", "text"] {
            printed.as_object_mut().expect("an object").remove(field);
        }
        assert_eq!(this["receipt"], printed);
    }

    fn last(&self) -> &Value {
        self.events.last().unwrap_or(&Value::Null)
    }

    /// The receipt, with the answer in `text`.
    #[track_caller]
    pub(super) fn receipt(&self) -> &Value {
        assert_eq!(self.last()["type"], "result", "{self}");
        self.last()
    }

    pub(super) fn events_of(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|event| event["type"] == kind).collect()
    }

    #[track_caller]
    pub(super) fn answer(&self) -> &str {
        self.receipt()["text"].as_str().expect("a text")
    }

    /// The agent's own id of its session.
    #[track_caller]
    pub(super) fn session(&self) -> String {
        self.receipt()["session"].as_str().unwrap_or_else(|| panic!("no session: {self}")).to_owned()
    }

    #[track_caller]
    pub(super) fn conversation(&self) -> String {
        self.receipt()["conversation"].as_str().expect("a conversation").to_owned()
    }

    /// The words of all warnings with this code.
    pub(super) fn warnings(&self, code: &str) -> Vec<&str> {
        let warnings = self.events_of("warning").into_iter().filter(|warning| warning["code"] == code);
        warnings.filter_map(|warning| warning["text"].as_str()).collect()
    }

    /// It was done.
    #[track_caller]
    pub(super) fn done(self) -> Self {
        assert_eq!((self.code, self.receipt()["outcome"].as_str()), (Some(0), Some("completed")), "{self}");
        self
    }

    /// The agent failed, for a reason of this class.
    #[track_caller]
    pub(super) fn failed(self, class: &str) -> Self {
        let receipt = self.receipt();
        let told = (self.code, receipt["outcome"].as_str(), receipt["class"].as_str());
        assert_eq!(told, (Some(1), Some("failed"), Some(class)), "{self}");
        self
    }

    /// It ended in another way.
    #[track_caller]
    pub(super) fn ended(self, code: i32, outcome: &str) -> Self {
        assert_eq!((self.code, self.receipt()["outcome"].as_str()), (Some(code), Some(outcome)), "{self}");
        self
    }

    /// The model was sent these marks in `messages` messages of the user, and the answer says so.
    #[track_caller]
    pub(super) fn remembered<const N: usize>(self, messages: usize, marks: [&str; N]) -> Self {
        let marks = marks.map(|mark| format!("MARK-{mark}"));
        let expected = format!("SEEN n={messages} marks={}", marks.join(","));
        let answer = self.answer();
        let said =
            answer.strip_prefix(&expected).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        assert!(said, "expected {expected}, got {answer}\n{self}");
        let last = self.calls.last().unwrap_or_else(|| panic!("the model was not asked: {self}"));
        assert_eq!(last.marks, marks, "{self}");
        self
    }

    /// The agent's own session went on: asked for by its real id, confirmed, told so many missed turns.
    #[track_caller]
    pub(super) fn resumed(self, session: &str, catch_up: usize) -> Self {
        let receipt = self.receipt();
        assert_eq!(receipt["plan"]["decision"], "resume", "{self}");
        for id in [&receipt["plan"]["session"], &receipt["asked"], &receipt["session"]] {
            assert_eq!(id, session, "{self}");
        }
        assert_eq!((&receipt["plan"]["catch_up"], &receipt["runs"]), (&catch_up.into(), &1.into()), "{self}");
        self
    }

    /// Nothing but the prompt was sent, to the byte, and the agent handed it on as it does.
    #[track_caller]
    pub(super) fn verbatim(self, prompt: &str) -> Self {
        assert_eq!(self.receipt()["bytes"], prompt.len(), "{self}");
        let agent = self.receipt()["agent"].as_str();
        let who = Who::ALL.into_iter().find(|who| agent == Some(who.name())).expect("an agent");
        assert_eq!(self.prompt_sent(), who.handed_on(prompt), "{self}");
        self
    }

    /// A new session was told the history, for this reason.
    #[track_caller]
    pub(super) fn fresh(self, reason: &str, replayed: usize) -> Self {
        let plan = &self.receipt()["plan"];
        let told = (plan["decision"].as_str(), plan["reason"].as_str(), plan["replayed"].as_u64());
        assert_eq!(told, (Some("fresh"), Some(reason), Some(replayed as u64)), "{self}");
        self
    }

    /// The last thing the model was told by the user, as the agent handed it on.
    #[track_caller]
    pub(super) fn prompt_sent(&self) -> String {
        prompt_of(self.calls.first().unwrap_or_else(|| panic!("the model was not asked: {self}")))
    }
}

/// How the texts begin that agents put into a message of the user.
const ADDED: [&str; 2] = ["<system-reminder>", "<session_context>"];

/// The newest message of the user in a request, without what the agent itself adds.
fn prompt_of(request: &Request) -> String {
    let (messages, content) = match request.protocol {
        Some("responses") => ("input", "content"),
        Some("gemini") => ("contents", "parts"),
        _ => ("messages", "content"),
    };
    let all = request.body[messages].as_array().expect("messages");
    let newest = all.iter().rfind(|message| message["role"] == "user").expect("a message of the user");
    let blocks = match &newest[content] {
        Value::String(text) => return text.clone(),
        blocks => blocks.as_array().expect("blocks"),
    };
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.filter(|text| !ADDED.iter().any(|opening| text.starts_with(opening))).collect()
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "exit code {:?}", self.code)?;
        for event in &self.events {
            let line = event.to_string();
            writeln!(f, "  {}", line.chars().take(2000).collect::<String>())?;
        }
        for call in &self.calls {
            writeln!(f, "  call: {} {:?} -> {}", call.path, call.marks, call.verdict)?;
        }
        write!(f, "stderr: {}", self.stderr)
    }
}
