//! The programs embedded in rejoin itself speak one protocol; this is its driver.

use rejoin_core::{Agent, Event, FailureClass, Outcome, Question, QuestionOption, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::{ended_saying, json_line};
use crate::failures::{Failures, last_line};
use crate::loose::{Number, Text};
use crate::one_shot::{Lines, OneShot};
use crate::turn_state::{Phase, Turn};
use crate::{Answer, Driver, Exit, Refusal, Step, TurnRequest};

/// What a program says when it does not know a session, with [`NO_SESSION_CODE`].
const NO_SESSION: &str = ": no session";
const NO_SESSION_CODE: i32 = 3;

/// Reads what a program embedded in rejoin prints: one JSON object a line.
pub(crate) struct EmbeddedLines {
    agent: Agent,
    words: Words,
    /// Questions that wait for an answer: the program wants it in words.
    asked: Vec<Question>,
}

/// Makes the line of a turn.
pub(crate) type Words = Box<dyn Fn(&TurnRequest<'_>) -> Value + Send>;

/// A driver that sends what `words` makes of a turn as the first line.
pub(crate) fn driver(agent: Agent, words: Words) -> Box<dyn Driver> {
    OneShot::driver(agent.clone(), true, EmbeddedLines { agent, words, asked: Vec::new() })
}

/// One line of the program; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
pub(crate) struct Wire<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    model: Text<'a>,
    message: Text<'a>,
    text: Text<'a>,
    name: Text<'a>,
    input: Value,
    cached: Number,
    output: Text<'a>,
    error: bool,
    choices: Vec<String>,
    ok: bool,
    interrupted: bool,
    class: Option<FailureClass>,
}

impl Lines for EmbeddedLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "the agent";
    const FAILURES: Failures = Failures::PLAIN;

    fn begin(&mut self, request: &TurnRequest<'_>, turn: &mut Turn) -> Result<(), Refusal> {
        turn.open = true;
        turn.push(Step::Write(json_line(&(self.words)(request))));
        Ok(())
    }

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        turn.reach(Phase::Begun);
        match wire.kind.as_str() {
            "session" => {
                let version = Some(env!("CARGO_PKG_VERSION").into());
                turn.name(wire.id.as_str(), wire.model.into_filled(), version);
            }
            "stored" => turn.say_stored(),
            "delta" => {
                turn.current_of(wire.message.as_str());
                turn.stream_text(wire.text.into_string());
            }
            "message" => {
                turn.current_of(wire.message.as_str());
                turn.finish_text(wire.text.into_string(), wire.model.into_filled());
            }
            "thinking" => {
                let message = turn.current_of(wire.message.as_str()).id;
                turn.emit(Event::Thinking { message, text: wire.text.into_string() });
            }
            "tool" => {
                turn.current_of(wire.message.as_str());
                turn.call(wire.id.into_string(), wire.name.into_string(), wire.input);
            }
            "tool_result" => turn.result(wire.id.into_string(), wire.output.into_string(), wire.error),
            "question" => {
                let question = Question {
                    id: wire.id.into_string(),
                    text: wire.text.into_string(),
                    options: wire.choices.into_iter().enumerate().map(option).collect(),
                    tool: wire.name.into_filled(),
                    ..Question::default()
                };
                self.asked.push(question.clone());
                turn.emit(Event::Question(question));
            }
            "question_withdrawn" => turn.emit(Event::QuestionWithdrawn { question: wire.id.into_string() }),
            "retry" => turn.warn("retry", wire.text.into_string()),
            "warning" => turn.warn(wire.name.as_str(), wire.text.into_string()),
            "compaction" => turn.emit(Event::Compaction { text: wire.text.into_string() }),
            "usage" => {
                let input = wire.input.as_u64().unwrap_or(0);
                let output = wire.output.as_str().parse().unwrap_or(0);
                let usage = Usage { input, cached: wire.cached.count(), output };
                turn.emit(Event::Usage { usage, cost: None });
            }
            "end" if wire.interrupted => turn.end(Outcome::Cancelled),
            "end" if wire.ok => turn.end(Outcome::Completed),
            "end" => {
                let class = wire.class.unwrap_or(FailureClass::Other);
                turn.end(Outcome::failed(class, wire.message.into_string()));
            }
            _ => return false,
        }
        true
    }

    fn rejection<'a>(&self, exit: &Exit<'a>) -> Option<&'a str> {
        let refused = exit.code == Some(NO_SESSION_CODE) && exit.stderr.contains(NO_SESSION);
        last_line(exit.stderr).filter(|_| refused)
    }

    fn unsaid(&mut self, exit: &Exit<'_>, turn: &Turn) -> Outcome {
        let silent = turn.phase == Phase::Silent;
        let class = if silent { FailureClass::Launch } else { FailureClass::NoResult };
        let who = format!("the {} agent", self.agent);
        Outcome::failed(class, ended_saying(&who, exit, last_line(exit.stderr)))
    }

    fn answer(&mut self, question: &str, answer: Answer, turn: &mut Turn) {
        let asked = self.asked.extract_if(.., |asked| asked.id == question).last().unwrap_or_default();
        let text = answer.words(&asked);
        let line = json!({ "type": "answer", "id": question, "text": text });
        turn.push(Step::Write(json_line(&line)));
    }

    fn interrupt(&mut self, turn: &mut Turn) {
        turn.push(Step::Write(json_line(&json!({ "type": "interrupt" }))));
    }
}

fn option((at, label): (usize, String)) -> QuestionOption {
    QuestionOption { id: (at + 1).to_string(), label, ..QuestionOption::default() }
}
