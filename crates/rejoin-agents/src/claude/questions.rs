//! Questions in the middle of a turn (2.1.197): leave to use a tool, and the tool that asks the user.

use std::collections::VecDeque;

use rejoin_core::{Event, OptionKind, Question, QuestionOption};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::driver::json_line;
use crate::stream_json::{Asked, Asking, ControlRequest};
use crate::{Answer, Step};

/// The tool with which Claude asks the user something.
const ASK: &str = "AskUserQuestion";
const NOBODY: &str =
    "Nobody is there to answer. Go on without it if you can; else stop and say what you need.";
const REFUSED: &str = "The user does not allow this.";
/// The options of a question for leave.
const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// What was asked and not yet answered.
#[derive(Default)]
pub(super) struct Questions {
    open: Vec<Open>,
}

struct Open {
    /// Claude's id of the request, and the question that is open: a request may hold several.
    request: String,
    question: Question,
    input: Value,
    /// If the tool that asks is asking: the question's text as Claude wants it back, what is still
    /// to be put, and the answers so far.
    asked: Option<String>,
    left: VecDeque<(Question, String)>,
    answers: Map<String, Value>,
}

impl Questions {
    /// A request of Claude: a question for the user, or something only it can want.
    pub(super) fn ask(&mut self, id: &str, request: ControlRequest<'_>, out: &mut Vec<Step>) {
        if request.subtype.as_str() != "can_use_tool" {
            let error = format!("rejoin does not answer {:?}", request.subtype.as_str());
            let response = json!({ "subtype": "error", "request_id": id, "error": error });
            out.push(respond(&response));
            return;
        }
        let tool = request.tool_name.as_str();
        let call = request.tool_use_id.filled();
        let mut left = if tool == ASK { asked(id, call, &request.input) } else { VecDeque::new() };
        let (question, asked) = match left.pop_front() {
            Some((question, asked)) => (question, Some(asked)),
            None => (leave(id, call, tool, &request.input), None),
        };
        self.open.push(Open {
            request: id.to_owned(),
            question: question.clone(),
            input: request.input,
            asked,
            left,
            answers: Map::new(),
        });
        out.push(Step::Emit(Event::Question(question)));
    }

    /// Claude no longer wants to know.
    pub(super) fn withdraw(&mut self, request: &str, out: &mut Vec<Step>) {
        for open in self.open.extract_if(.., |open| open.request == request) {
            out.push(Step::Emit(Event::QuestionWithdrawn { question: open.question.id }));
        }
    }

    /// An answer, if the question is still open.
    pub(super) fn answer(&mut self, question: &str, answer: Answer, out: &mut Vec<Step>) {
        let Some(at) = self.open.iter().position(|open| open.question.id == question) else {
            return;
        };
        let mut open = self.open.swap_remove(at);
        let reply = match (answer, open.asked.take()) {
            (Answer::Declined, _) => json!({ "behavior": "deny", "message": NOBODY }),
            // Leave is given by the one option that gives it, and by no words.
            (Answer::Chosen(ids), None) if ids == [ALLOW] => {
                json!({ "behavior": "allow", "updatedInput": open.input })
            }
            (Answer::Chosen(_), None) => json!({ "behavior": "deny", "message": REFUSED }),
            (Answer::Text(text), None) => {
                let text = if text.trim().is_empty() { REFUSED.to_owned() } else { text };
                json!({ "behavior": "deny", "message": text })
            }
            (answer, Some(asked)) => {
                // Claude wants the labels; several are put together as its own window does.
                let words = answer.words(&open.question).unwrap_or_default();
                open.answers.insert(asked, Value::String(words));
                if let Some((next, asked)) = open.left.pop_front() {
                    open.question = next.clone();
                    open.asked = Some(asked);
                    self.open.push(open);
                    out.push(Step::Emit(Event::Question(next)));
                    return;
                }
                let mut input = open.input;
                input["answers"] = Value::Object(open.answers);
                json!({ "behavior": "allow", "updatedInput": input })
            }
        };
        out.push(respond(&json!({ "subtype": "success", "request_id": open.request, "response": reply })));
    }
}

fn respond(response: &Value) -> Step {
    Step::Write(json_line(&json!({ "type": "control_response", "response": response })))
}

/// May it use this tool?
fn leave(id: &str, call: Option<&str>, tool: &str, input: &Value) -> Question {
    let option = |label: &str, description: &str, kind| QuestionOption {
        id: label.to_owned(),
        label: label.to_owned(),
        description: description.to_owned(),
        kind,
    };
    Question {
        id: id.to_owned(),
        text: format!("Claude wants to use {tool}: {}", gist(input)),
        options: vec![
            option(ALLOW, "this once", OptionKind::AllowOnce),
            option(DENY, "Claude goes on without it", OptionKind::RejectOnce),
        ],
        tool: Some(tool.to_owned()),
        call: call.map(str::to_owned),
        ..Question::default()
    }
}

/// What a call is about, in one line.
fn gist(input: &Value) -> String {
    const LONGEST: usize = 400;
    let telling = ["command", "file_path", "notebook_path", "url", "query", "pattern", "path", "description"];
    let text = telling.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    let text = text.map_or_else(|| input.to_string(), str::to_owned);
    if text.len() <= LONGEST {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(LONGEST)])
}

/// The questions of the asking tool, each with its text as Claude wants it back.
fn asked(id: &str, call: Option<&str>, input: &Value) -> VecDeque<(Question, String)> {
    let asking = Asking::deserialize(input).unwrap_or_default();
    let questions = asking.questions.0;
    let request = (questions.len() > 1).then_some(id);
    let questions = questions.into_iter().enumerate().map(|(at, asked)| {
        let id = if at == 0 { id.to_owned() } else { format!("{id}#{}", at + 1) };
        let (question, key) = question(id, asked);
        let (call, request) = (call.map(str::to_owned), request.map(str::to_owned));
        (Question { call, request, ..question }, key)
    });
    questions.collect()
}

/// Its window always offers to answer in other words, too.
fn question(id: String, asked: Asked<'_>) -> (Question, String) {
    let options = asked.options.0.into_iter().enumerate().map(|(at, offered)| QuestionOption {
        id: (at + 1).to_string(),
        label: offered.label.into_string(),
        description: offered.description.into_string(),
        kind: OptionKind::Answer,
    });
    let key = asked.question.into_string();
    let question = Question {
        id,
        text: key.clone(),
        options: options.collect(),
        multiple: asked.multi_select.is_set(),
        free_text: true,
        ..Question::default()
    };
    (question, key)
}
