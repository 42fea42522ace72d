//! The programs embedded in rejoin itself speak one protocol; this is its driver.

use rejoin_core::{Agent, Choice, Event, FailureClass, MessageId, Outcome, Question, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::{ended_early, json_line, read_line};
use crate::loose::{Number, Text};
use crate::{Answer, Driver, Exit, IdSource, Line, Refusal, Step, TurnRequest};

/// What a program says when it does not know a session, with [`NO_SESSION_CODE`].
const NO_SESSION: &str = ": no session";
const NO_SESSION_CODE: i32 = 3;

/// Reads what a program embedded in rejoin prints: one JSON object a line.
pub(crate) struct EmbeddedDriver {
    agent: Agent,
    words: Words,
    resumed: bool,
    ids: IdSource,
    /// Questions that wait for an answer: the program wants it in words.
    asked: Vec<Question>,
    current: Option<Current>,
    phase: Phase,
    interrupted: bool,
}

/// Makes the line of a turn.
pub(crate) type Words = Box<dyn Fn(&TurnRequest<'_>) -> Value + Send>;

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

impl EmbeddedDriver {
    /// A driver that sends what `words` makes of a turn as the first line.
    pub(crate) fn new(agent: Agent, turn: &TurnRequest<'_>, words: Words) -> Self {
        Self {
            agent,
            words,
            resumed: turn.composed.session().is_some(),
            ids: turn.ids.clone(),
            asked: Vec::new(),
            current: None,
            phase: Phase::Silent,
            interrupted: false,
        }
    }

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
            "question" => {
                let question = Question {
                    id: wire.id.into_string(),
                    text: wire.text.into_string(),
                    choices: wire.choices.into_iter().enumerate().map(choice).collect(),
                    tool: wire.name.into_filled(),
                    call: None,
                };
                self.asked.push(question.clone());
                out.push(Step::Emit(Event::Question(question)));
            }
            "question_withdrawn" => {
                out.push(Step::Emit(Event::QuestionWithdrawn { question: wire.id.into_string() }));
            }
            "retry" => {
                out.push(Step::Emit(Event::Warning { code: "retry".into(), text: wire.text.into_string() }));
            }
            "warning" => {
                let (code, text) = (wire.name.into_string(), wire.text.into_string());
                out.push(Step::Emit(Event::Warning { code, text }));
            }
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

fn choice((at, label): (usize, String)) -> Choice {
    Choice { id: (at + 1).to_string(), label, ..Choice::default() }
}

impl Driver for EmbeddedDriver {
    fn begin_turn(&mut self, turn: &TurnRequest<'_>, out: &mut Vec<Step>) -> Result<(), Refusal> {
        out.push(Step::Write(json_line(&(self.words)(turn))));
        Ok(())
    }

    fn on_line(&mut self, line: Line<'_>, out: &mut Vec<Step>) {
        if self.phase == Phase::Over {
            return;
        }
        self.phase = Phase::Begun;
        read_line(line, out, |text, out| Some(self.event(serde_json::from_str(text).ok()?, out)));
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
            Step::Ended(Outcome::failed(class, ended_early(&format!("the {} agent", self.agent), exit)))
        });
    }

    fn answer(&mut self, question: &str, answer: Answer, out: &mut Vec<Step>) {
        let asked = self.asked.extract_if(.., |asked| asked.id == question).last().unwrap_or_default();
        let text = answer.words(&asked);
        out.push(Step::Write(json_line(&json!({ "type": "answer", "id": question, "text": text }))));
    }

    fn interrupt(&mut self, out: &mut Vec<Step>) {
        if self.phase != Phase::Over && !self.interrupted {
            self.interrupted = true;
            out.push(Step::Write(json_line(&json!({ "type": "interrupt" }))));
        }
    }
}
