use std::path::PathBuf;

use rejoin_testkit::Outcome;
use serde_json::Value;

use super::Bench;

/// What came of a call. What is about turns needs a stream of events on its stdout.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) outcome: Outcome,
    home: PathBuf,
}

impl Said {
    pub(super) fn new(bench: &Bench, outcome: Outcome) -> Self {
        Self { outcome, home: bench.home() }
    }

    #[track_caller]
    pub(super) fn has_code(self, code: i32) -> Self {
        let Outcome { stdout, stderr, timed_out, status } = &self.outcome;
        assert!(!timed_out, "it hung\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
        let cut: String = stdout.chars().take(4000).collect();
        assert_eq!(status.code(), Some(code), "exit code\n--- stdout\n{cut}\n--- stderr\n{stderr}");
        self
    }

    pub(crate) fn stdout(&self) -> &str {
        &self.outcome.stdout
    }

    pub(crate) fn stderr(&self) -> &str {
        &self.outcome.stderr
    }

    /// Stderr has all of these words.
    #[track_caller]
    pub(crate) fn tells(&self, words: &[&str]) -> &Self {
        for word in words {
            assert!(self.stderr().contains(word), "{word:?} is not told:\n{}", self.stderr());
        }
        self
    }

    /// All of stdout, one value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.stdout()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout()))
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        self.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The closing line.
    #[track_caller]
    pub(crate) fn result(&self) -> Value {
        let last = self.stdout().lines().last().unwrap_or_else(|| panic!("nothing: {}", self.stderr()));
        let last: Value = serde_json::from_str(last).unwrap();
        assert_eq!(last["type"], "result", "{last}");
        last
    }

    #[track_caller]
    pub(crate) fn text(&self, field: &str) -> String {
        self.result()[field].as_str().unwrap_or_else(|| panic!("no {field}: {}", self.result())).to_owned()
    }

    /// The agent's own session.
    #[track_caller]
    pub(crate) fn session(&self) -> String {
        self.text("session")
    }

    /// The conversation's id.
    #[track_caller]
    pub(crate) fn conversation(&self) -> String {
        self.text("conversation")
    }

    /// The turn's id.
    #[track_caller]
    pub(crate) fn turn(&self) -> String {
        self.text("turn")
    }

    /// The first half of a decision: that very session goes on, told so many turns it missed.
    #[track_caller]
    pub(crate) fn resumed(&self, session: &str, catch_up: usize) -> &Self {
        let result = self.result();
        assert_eq!(result["plan"]["decision"], "resume", "{result}");
        assert_eq!(result["plan"]["session"], session, "{result}");
        assert_eq!(result["plan"]["catch_up"], catch_up, "{result}");
        assert_eq!((&result["asked"], &result["session"]), (&session.into(), &session.into()), "{result}");
        self
    }

    /// Or: a new session, for this reason, told so many turns.
    #[track_caller]
    pub(crate) fn fresh(&self, reason: &str, replayed: usize) -> &Self {
        let result = self.result();
        assert_eq!(result["plan"]["decision"], "fresh", "{result}");
        assert_eq!(result["plan"]["reason"], reason, "{result}");
        assert_eq!(result["plan"]["replayed"], replayed, "{result}");
        self
    }

    /// The other half: what the agent says it knows.
    #[track_caller]
    pub(crate) fn knows(&self, marks: &[&str]) -> &Self {
        let text = self.text("text");
        let seen = text.lines().last().unwrap_or_default();
        let known = seen.split("marks=").nth(1).unwrap_or_else(|| panic!("no marks in {text:?}"));
        let expected: Vec<String> = marks.iter().map(|mark| format!("MARK-{mark}")).collect();
        assert_eq!(known, expected.join(","), "{text}");
        self
    }

    /// What was sent to the agent, as it stands in the agent's own store.
    #[track_caller]
    pub(crate) fn sent(&self) -> String {
        let (agent, session) = (self.text("agent"), self.session());
        let file = self.home.join(format!("{agent}-agent/{session}.jsonl"));
        let stored = std::fs::read_to_string(&file).unwrap();
        let mut records = stored.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let last = records.rfind(|record| record["type"] == "user").unwrap();
        last["text"].as_str().unwrap().to_owned()
    }

    /// The user's words and nothing else were sent.
    #[track_caller]
    pub(crate) fn sent_only(&self, prompt: &str) -> &Self {
        assert_eq!(self.sent(), prompt);
        assert_eq!(self.result()["bytes"], prompt.len());
        self
    }

    /// What was sent has all of these words.
    #[track_caller]
    pub(crate) fn sent_with(&self, words: &[&str]) -> &Self {
        let sent = self.sent();
        for word in words {
            assert!(sent.contains(word), "{word:?} was not sent:\n{sent}");
        }
        self
    }

    /// A warning with this code was given, in the stream and in the receipt.
    #[track_caller]
    pub(crate) fn warned(&self, code: &str) -> String {
        let warnings = self.events_of("warning");
        let warning = warnings.iter().find(|warning| warning["code"] == code);
        let warning = warning.unwrap_or_else(|| panic!("no warning {code:?}: {warnings:?}"));
        let text = warning["text"].as_str().unwrap().to_owned();
        let kept = self.result()["warnings"].clone();
        let kept = kept.as_array().unwrap_or_else(|| panic!("{code:?} is not in the receipt"));
        assert!(kept.contains(&text.as_str().into()), "{code:?} is not in the receipt: {kept:?}");
        text
    }

    /// No warning at all.
    #[track_caller]
    pub(crate) fn calm(&self) -> &Self {
        assert_eq!(self.events_of("warning"), Vec::<Value>::new());
        self
    }

    /// How the turn ended, and for a failure its class.
    #[track_caller]
    pub(crate) fn came_to(&self, outcome: &str, class: Option<&str>) -> &Self {
        let result = self.result();
        assert_eq!(result["outcome"], outcome, "{result}");
        assert_eq!(result["class"].as_str(), class, "{result}");
        self
    }
}
