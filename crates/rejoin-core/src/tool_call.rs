use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Message, Part};

/// Nobody reads more of what a tool was called with in a list.
const LONGEST_DESCRIPTION: usize = 200;

/// What became of a call of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// It gave something back.
    Success,
    /// It gave back a failure.
    Error,
    /// The turn ended before it gave anything back.
    Cancelled,
}

/// An entry of `toolCallsMetadata`: what is to be shown of a call besides its arguments and output.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(from = "RawNote")]
pub struct CallNote {
    /// The agent's id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// What became of it, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CallStatus>,
    /// When it began, for display.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub timestamp: String,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
    /// What it was called with, in a few words; as read of a call in a subagent, in one line, however long.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The call of a subagent it was made in: not part of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// As it may stand in a journal: what a subagent does is noted as the event that told of it.
#[derive(Deserialize)]
struct RawNote {
    #[serde(rename = "type", default)]
    event: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    status: Option<CallStatus>,
    #[serde(default)]
    timestamp: String,
    #[serde(default)]
    milliseconds: Option<u64>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    error: bool,
}

impl From<RawNote> for CallNote {
    fn from(raw: RawNote) -> Self {
        let RawNote { id, name, timestamp, milliseconds, parent, .. } = raw;
        let status = raw.status.or_else(|| (raw.event == "tool_result").then(|| came_back(raw.error)));
        let description =
            if raw.event == "tool_use" { first_line(&call_words(&raw.input)) } else { raw.description };
        CallNote { id, name, status, timestamp, milliseconds, description, parent }
    }
}

/// The status of a call that came back.
fn came_back(error: bool) -> CallStatus {
    if error { CallStatus::Error } else { CallStatus::Success }
}

impl CallNote {
    /// What to note of a call when it begins.
    pub fn begun(id: &str, name: &str, input: &Value, timestamp: String) -> Self {
        let (id, name, description) = (id.to_owned(), name.to_owned(), call_description(input));
        Self { id, name, timestamp, description, ..Self::default() }
    }

    /// The same when it came back, or when the turn ended.
    #[must_use]
    pub fn ended(self, status: CallStatus, milliseconds: u64) -> Self {
        Self { status: Some(status), milliseconds: Some(milliseconds), ..self }
    }

    /// Reads the field of a record, as far as it can be read.
    pub fn read_all(json: &str) -> Vec<CallNote> {
        let notes: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
        notes.into_iter().filter_map(|note| serde_json::from_str(note.get()).ok()).collect()
    }

    /// The call on one line: `shell sleep 30`.
    pub fn line(&self) -> String {
        format!("{} {}", self.name, self.description).trim_end().to_owned()
    }
}

/// A call of a tool, with what is known of it, and those a subagent made in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToolCall {
    /// The call.
    #[serde(flatten)]
    pub call: CallNote,
    /// What a subagent did in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<CallNote>,
}

/// The calls of tools in the messages of a turn, in the order they were made. Those that did not
/// come back are cancelled, unless the turn is still `running`.
pub fn tool_calls(messages: &[Message], running: bool) -> Vec<ToolCall> {
    let mut calls: Vec<ToolCall> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for message in messages {
        for part in &message.parts {
            match part {
                Part::Call { function_call: call } => {
                    known.insert(&call.id, calls.len());
                    let call = CallNote::begun(&call.id, &call.name, &call.args, String::new());
                    calls.push(ToolCall { call, inside: Vec::new() });
                }
                Part::Response { function_response: response } => {
                    if let Some(&at) = known.get(response.id.as_str()) {
                        calls[at].call.status = Some(came_back(response.response.error));
                    }
                }
                _ => {}
            }
        }
        for note in &message.tool_calls {
            let outer = note.parent.as_deref().unwrap_or(&note.id);
            let Some(&at) = known.get(outer) else { continue };
            let ToolCall { call, inside } = &mut calls[at];
            if note.parent.is_none() {
                call.status = note.status.or(call.status);
                call.milliseconds = note.milliseconds.or(call.milliseconds);
                call.timestamp.clone_from(&note.timestamp);
            } else if let Some(begun) = inside.iter_mut().rfind(|begun| begun.id == note.id) {
                begun.status = note.status.or(begun.status);
            } else {
                inside.push(CallNote { description: cut(&note.description).to_owned(), ..note.clone() });
            }
        }
    }
    if !running {
        let open = calls.iter_mut().flat_map(|call| std::iter::once(&mut call.call).chain(&mut call.inside));
        open.for_each(|call| call.status = call.status.or(Some(CallStatus::Cancelled)));
    }
    calls
}

/// What a tool is called with, in a few words: what it is about, where that can be told.
pub fn call_words(input: &Value) -> String {
    let about = ["command", "file_path", "path", "pattern", "query", "url"];
    match about.iter().find_map(|field| input.get(field)?.as_str()) {
        Some(words) => words.to_owned(),
        None if input.is_null() => String::new(),
        None => input.to_string(),
    }
}

/// The same as one short line.
pub fn call_description(input: &Value) -> String {
    cut(&first_line(&call_words(input))).to_owned()
}

fn first_line(words: &str) -> String {
    words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_DESCRIPTION)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::{Kind, MessageId};

    fn message(parts: Vec<Part>, notes: &[Value]) -> Message {
        let mut message = Message::new(MessageId::new(Uuid::nil()), Kind::Assistant);
        message.parts = parts;
        message.tool_calls = notes.iter().map(|note| serde_json::from_value(note.clone()).unwrap()).collect();
        message
    }

    #[test]
    fn calls_are_told_with_what_became_of_them() {
        let call = |id: &str, args| Part::call(id, "shell", args);
        let messages = [
            message(
                vec![call("1", json!({"command": "ls"})), call("2", json!({"command": "sleep 30"}))],
                &[],
            ),
            message(
                vec![Part::response("1", "", "no such file", true)],
                &[
                    json!({"id": "1", "name": "shell", "status": "error", "timestamp": "t", "milliseconds": 7}),
                ],
            ),
        ];
        let told = tool_calls(&messages, false);
        let lines: Vec<_> = told.iter().map(|call| (call.call.line(), call.call.status)).collect();
        assert_eq!(
            lines,
            [
                ("shell ls".to_owned(), Some(CallStatus::Error)),
                ("shell sleep 30".to_owned(), Some(CallStatus::Cancelled)),
            ]
        );
        assert_eq!((told[0].call.milliseconds, &*told[0].call.timestamp), (Some(7), "t"));
        assert_eq!(tool_calls(&messages, true)[1].call.status, None, "it may still come back");
    }

    #[test]
    fn what_a_subagent_does_stays_inside_of_its_call() {
        let notes = [
            json!({"type": "tool_use", "parent": "1", "id": "9", "name": "Read", "input": {"path": "a.rs"}}),
            json!({"type": "tool_result", "parent": "1", "id": "9", "output": "x", "error": true}),
            json!({"type": "tool_use", "parent": "gone", "id": "8", "name": "Read", "input": null}),
            json!({"hologram": 1}),
        ];
        let told = tool_calls(&[message(vec![Part::call("1", "Task", json!({}))], &notes)], false);
        assert_eq!(told.len(), 1);
        let inside: Vec<_> = told[0].inside.iter().map(|call| (call.line(), call.status)).collect();
        assert_eq!(inside, [("Read a.rs".to_owned(), Some(CallStatus::Error))]);
    }

    #[test]
    fn a_description_is_one_short_line() {
        let note = CallNote::begun(
            "1",
            "shell",
            &json!({"command": format!("\n {}\nmore", "é".repeat(999))}),
            String::new(),
        );
        assert!(note.description.starts_with('é') && note.description.len() <= LONGEST_DESCRIPTION);
        // Of a call in a subagent it is cut when it is told, not when it is read: what is taken out of it must
        // have been whole.
        let long = "x".repeat(999);
        let inside = [json!({"type": "tool_use", "parent": "1", "id": "9", "input": {"path": long}})];
        let message = message(vec![Part::call("1", "Task", json!({}))], &inside);
        assert_eq!(message.tool_calls[0].description, long);
        assert_eq!(tool_calls(&[message], false)[0].inside[0].description, long[..LONGEST_DESCRIPTION]);
    }
}
