//! The agent embedded in rejoin itself: no model, no network, real sessions.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{
    Agent, Choice, Event, FailureClass, InvalidSessionId, MessageId, Outcome, Question, SessionId, Usage,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::{diagnostic, ended_early, json_line};
use crate::loose::{Number, Text};
use crate::session_id::lower_case_uuid;
use crate::{
    Answer, Capabilities, Definition, Driver, Exit, Found, IdSource, Launch, Line, ProbeAnswer, Refusal,
    Request, Step, truncated,
};

/// What the program says when it does not know a session, with [`NO_SESSION_CODE`].
const NO_SESSION: &str = "demo: no session";
const NO_SESSION_CODE: i32 = 3;

/// The demo agent. There are two of them, so that handing work over can be tried without any other.
pub(crate) struct Demo {
    name: &'static str,
    title: &'static str,
}

/// The one.
pub(crate) static DEMO: Demo = Demo { name: "demo", title: "Demo agent" };
/// The other.
pub(crate) static DEMO2: Demo = Demo { name: "demo2", title: "Second demo agent" };

impl Definition for Demo {
    fn agent(&self) -> Agent {
        Agent::named(self.name)
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn command(&self) -> &'static str {
        "rejoin"
    }

    fn embedded(&self) -> Option<&'static str> {
        Some("__demo-agent")
    }

    fn install_hint(&self) -> &'static str {
        "it is part of rejoin"
    }

    fn probes(&self) -> &'static [&'static [&'static str]] {
        &[]
    }

    fn learn(&self, _answers: &[ProbeAnswer]) -> Capabilities {
        Capabilities {
            product: "rejoin demo".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            resume: true,
            fork: false,
            ephemeral: true,
            choose_id: true,
            ask: true,
            flags: BTreeSet::new(),
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let named = env("REJOIN_DEMO_STORE").filter(|dir| !dir.is_empty());
        let home = || env("REJOIN_HOME").map(|home| Path::new(&home).join(format!("{}-agent", self.name)));
        named.map(PathBuf::from).or_else(home)
    }

    fn foreign_env(&self) -> &'static [&'static str] {
        &[]
    }

    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        lower_case_uuid(self.agent(), text)
    }

    fn choose_session(&self, _capabilities: &Capabilities, fresh: uuid::Uuid) -> Option<SessionId> {
        self.session_id(&fresh.to_string()).ok()
    }

    fn takes_instructions(&self, _capabilities: &Capabilities) -> bool {
        true
    }

    fn launch(&self, request: Request<'_>) -> Result<Launch, Refusal> {
        if let Some(extra) = request.extra_args.first() {
            return Err(Refusal::Unsupported(format!(
                "the demo agent takes no arguments of its own: {extra:?}"
            )));
        }
        let Some(store) = request.store else {
            let text = "the demo agent has no place for its sessions: set REJOIN_HOME or REJOIN_DEMO_STORE";
            return Err(Refusal::Unsupported(text.into()));
        };
        let mut args: Vec<OsString> = Vec::new();
        let resumed = request.composed.session();
        match (resumed, request.new_session) {
            (Some(session), _) => args.extend(["--resume".into(), session.as_str().into()]),
            (None, Some(session)) => args.extend(["--session-id".into(), session.as_str().into()]),
            (None, None) => {}
        }
        args.extend(["--store".into(), store.into()]);
        if request.ephemeral {
            args.push("--no-store".into());
        }
        if let Some(model) = request.model {
            args.push(format!("--model={model}").into());
        }
        args.push(format!("--permissions={}", request.permissions.name()).into());

        let instructions: Vec<&str> =
            [request.system_prompt, request.append_system_prompt].into_iter().flatten().collect();
        let mut prompt = json!({ "type": "prompt", "text": request.composed.prompt() });
        if !instructions.is_empty() {
            prompt["instructions"] = instructions.join("\n\n").into();
        }
        let driver = DemoDriver {
            agent: self.agent(),
            prompt,
            resumed: resumed.is_some(),
            ids: request.ids,
            current: None,
            phase: Phase::Silent,
            interrupted: false,
        };
        Ok(Launch::new(args, Box::new(driver)))
    }

    fn find_session(&self, store: &Path, _dir: &Path, session: &SessionId) -> Found {
        let file = store.join(format!("{session}.jsonl"));
        match file.try_exists() {
            Ok(true) => Found::At(file),
            Ok(false) => Found::Nowhere,
            Err(_) => Found::CannotTell,
        }
    }
}

struct DemoDriver {
    agent: Agent,
    prompt: Value,
    resumed: bool,
    ids: IdSource,
    current: Option<Current>,
    phase: Phase,
    interrupted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Silent,
    Begun,
    Over,
}

/// The message that is being written.
struct Current {
    native: String,
    id: MessageId,
    /// Bytes of text in finished blocks, and streamed since.
    finished: usize,
    streamed: usize,
}

/// One line of the program; which fields are filled depends on its type.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Wire<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    #[serde(default)]
    id: Text<'a>,
    #[serde(default)]
    model: Text<'a>,
    #[serde(default)]
    message: Text<'a>,
    #[serde(default)]
    text: Text<'a>,
    #[serde(default)]
    name: Text<'a>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    cached: Number,
    #[serde(default)]
    output: Text<'a>,
    #[serde(default)]
    error: bool,
    #[serde(default)]
    choices: Vec<String>,
    #[serde(default)]
    ok: bool,
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    class: Option<FailureClass>,
}

impl DemoDriver {
    fn message(&mut self, native: &str) -> &mut Current {
        let known = self.current.take().filter(|current| current.native == native);
        let ids = &mut self.ids;
        self.current.insert(known.unwrap_or_else(|| Current {
            native: native.to_owned(),
            id: ids(),
            finished: 0,
            streamed: 0,
        }))
    }

    fn end(&mut self, outcome: Outcome, out: &mut Vec<Step>) {
        self.phase = Phase::Over;
        out.push(Step::CloseStdin);
        out.push(Step::Ended(outcome));
    }

    fn event(&mut self, wire: Wire<'_>, out: &mut Vec<Step>) -> bool {
        match wire.kind.as_str() {
            "session" => out.push(Step::Emit(Event::Session {
                agent: self.agent.clone(),
                session: wire.id.into_string(),
                model: wire.model.into_filled(),
                agent_version: Some(env!("CARGO_PKG_VERSION").into()),
            })),
            "stored" => out.push(Step::Stored),
            "delta" => {
                let current = self.message(wire.message.as_str());
                let text = wire.text.into_string();
                let offset = current.finished + current.streamed;
                current.streamed += text.len();
                out.push(Step::Emit(Event::TextDelta { message: current.id, offset, text }));
            }
            "message" => {
                let current = self.message(wire.message.as_str());
                let text = wire.text.into_string();
                let offset = current.finished;
                current.finished += text.len();
                current.streamed = 0;
                out.push(Step::Emit(Event::Message {
                    message: current.id,
                    offset,
                    text,
                    model: wire.model.into_filled(),
                    native: wire.message.into_filled(),
                }));
            }
            "thinking" => {
                let message = self.message(wire.message.as_str()).id;
                out.push(Step::Emit(Event::Thinking { message, text: wire.text.into_string() }));
            }
            "tool" => {
                let message = self.message(wire.message.as_str()).id;
                out.push(Step::Emit(Event::ToolUse {
                    message,
                    id: wire.id.into_string(),
                    name: wire.name.into_string(),
                    input: wire.input,
                    parent: None,
                }));
            }
            "tool_result" => {
                out.push(Step::Emit(Event::ToolResult {
                    message: (self.ids)(),
                    id: wire.id.into_string(),
                    output: wire.output.into_string(),
                    error: wire.error,
                    parent: None,
                }));
            }
            "question" => out.push(Step::Emit(Event::Question(Question {
                id: wire.id.into_string(),
                text: wire.text.into_string(),
                choices: wire
                    .choices
                    .into_iter()
                    .map(|label| Choice { label, description: String::new() })
                    .collect(),
                tool: wire.name.into_filled(),
            }))),
            "compaction" => out.push(Step::Emit(Event::Compaction { text: wire.text.into_string() })),
            "usage" => {
                let usage = Usage {
                    input: wire.input.as_u64().unwrap_or(0),
                    cached: wire.cached.count(),
                    output: wire.output.as_str().parse().unwrap_or(0),
                };
                out.push(Step::Emit(Event::Usage { usage, cost: None }));
            }
            "end" if wire.interrupted => self.end(Outcome::Cancelled, out),
            "end" if wire.ok => self.end(Outcome::Completed, out),
            "end" => {
                let class = wire.class.unwrap_or(FailureClass::Other);
                self.end(Outcome::failed(class, wire.message.into_string()), out);
            }
            _ => return false,
        }
        true
    }
}

impl Driver for DemoDriver {
    fn start(&mut self, out: &mut Vec<Step>) {
        out.push(Step::Write(json_line(&self.prompt)));
        self.prompt = Value::Null;
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        self.phase = Phase::Begun;
        let text = truncated::text(line);
        let known = serde_json::from_str(&text).is_ok_and(|wire| self.event(wire, out));
        if !known {
            out.push(diagnostic(line));
        }
    }

    fn on_exit(&mut self, exit: &Exit<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        let silent = self.phase == Phase::Silent;
        self.phase = Phase::Over;
        let words = exit.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let refused = self.resumed && silent && exit.code == Some(NO_SESSION_CODE);
        out.push(if refused && exit.stderr.contains(NO_SESSION) {
            Step::Rejected(words.to_owned())
        } else if self.interrupted {
            Step::Ended(Outcome::Cancelled)
        } else {
            let class = if silent { FailureClass::Launch } else { FailureClass::NoResult };
            Step::Ended(Outcome::failed(class, ended_early("the demo agent", exit)))
        });
    }

    fn answer(&mut self, question: &str, answer: Answer, out: &mut Vec<Step>) {
        let text = match answer {
            Answer::Text(text) => Value::String(text),
            Answer::Declined => Value::Null,
        };
        out.push(Step::Write(json_line(&json!({ "type": "answer", "id": question, "text": text }))));
    }

    fn interrupt(&mut self, out: &mut Vec<Step>) {
        if self.phase != Phase::Over && !self.interrupted {
            self.interrupted = true;
            out.push(Step::Write(json_line(&json!({ "type": "interrupt" }))));
        }
    }
}
