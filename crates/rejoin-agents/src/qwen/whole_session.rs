//! A session of Qwen Code with all that was said and done in it (0.5.2 to 0.24.4).

use std::collections::HashMap;
use std::io;

use rejoin_core::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::counted;
use super::typed_prompt::{is_of_the_user, typed};
use crate::loose::{Flag, List, Number, Object, Text, Texts};
use crate::stored_sessions::{
    Draft, Entry, RecordTree, Records, Sign, StoredAnswer, StoredSession, StoredStep, UnknownKinds,
    WholeSession, believable_dir, milliseconds, named_branch, read_records, shortened_output, stored_turns,
};

/// Reads it.
pub(super) fn read(session: &StoredSession) -> io::Result<WholeSession> {
    let mut records = QwenRecords::default();
    let lines = read_records(&session.file, &mut records)?;
    let is_subagent = records.tree.is_empty() && !records.side.is_empty();
    let tree = if is_subagent { records.side } else { records.tree };
    // What it remembers leads up from the last line.
    let head = tree.records().len().checked_sub(1);
    let (turns, head) = stored_turns(&tree, head, records.usage);
    Ok(WholeSession {
        id: session.id.clone(),
        title: records.names.title.or_else(|| session.title.clone()),
        forked_from: records.forked_from.filter(|from| *from != session.id),
        is_subagent,
        turns,
        head,
        not_understood: records.unknown.with_lines(lines),
    })
}

#[derive(Default)]
struct QwenRecords {
    tree: RecordTree<Entry>,
    /// Of a sub-agent. They count if there are no others: then the file is its own.
    side: RecordTree<Entry>,
    /// What was typed and which files it named, by the record that tells it: the prompt below it holds the contents
    /// of these files, too.
    expanded: HashMap<String, (String, Vec<String>)>,
    requests: usize,
    usage: HashMap<usize, Usage>,
    names: Draft,
    forked_from: Option<String>,
    unknown: UnknownKinds,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    subtype: Text<'a>,
    uuid: Text<'a>,
    parent_uuid: Text<'a>,
    timestamp: Text<'a>,
    cwd: Text<'a>,
    git_branch: Text<'a>,
    provenance: Text<'a>,
    is_sidechain: Flag,
    model: Text<'a>,
    message: Object<Message<'a>>,
    usage_metadata: Object<Tokens>,
    tool_call_result: Object<Called<'a>>,
    system_payload: Object<Payload<'a>>,
    forked_from: Object<ForkedFrom<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    parts: List<Part<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Part<'a> {
    text: Text<'a>,
    thought: Flag,
    function_call: Object<FunctionCall<'a>>,
    function_response: Object<FunctionResponse<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct FunctionCall<'a> {
    id: Text<'a>,
    name: Text<'a>,
    args: Value,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct FunctionResponse<'a> {
    id: Text<'a>,
    response: Value,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Called<'a> {
    call_id: Text<'a>,
    status: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    #[serde(rename = "promptTokenCount")]
    prompt: Number,
    #[serde(rename = "candidatesTokenCount")]
    answer: Number,
    #[serde(rename = "cachedContentTokenCount")]
    cached: Number,
    #[serde(rename = "totalTokenCount")]
    total: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct Payload<'a> {
    user_text: Text<'a>,
    files_read: Texts<'a>,
    custom_title: Text<'a>,
    ui_event: Object<UiEvent<'a>>,
    info: Object<Compressed>,
    compressed_history: List<Message<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct UiEvent<'a> {
    #[serde(rename = "event.name")]
    name: Text<'a>,
    /// Newer versions, and older ones.
    error_message: Text<'a>,
    error: Text<'a>,
    subagent_name: Text<'a>,
    prompt_id: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Compressed {
    compression_status: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct ForkedFrom<'a> {
    session_id: Text<'a>,
}

impl Records for QwenRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>) -> bool {
        if record.kind.filled().is_none() {
            return false;
        }
        if record.uuid.filled().is_none() {
            self.unknown.add(record.kind.as_str());
            return true;
        }
        let is_side = record.is_sidechain.is_set();
        if is_side && !self.tree.is_empty() {
            return true;
        }
        if let Some(from) = record.forked_from.0.as_ref().and_then(|from| from.session_id.filled())
            && self.forked_from.is_none()
        {
            self.forked_from = Some(from.to_owned());
        }
        let id = record.uuid.as_str().to_owned();
        let parent = record.parent_uuid.filled().map(str::to_owned);
        let entry = self.entry(record);
        let tree = if is_side { &mut self.side } else { &mut self.tree };
        tree.add(&id, parent.as_deref(), entry);
        true
    }
}

impl QwenRecords {
    fn entry(&mut self, record: Record<'_>) -> Entry {
        let mut entry = Entry {
            id: record.uuid.as_str().to_owned(),
            dir: believable_dir(record.cwd.get()).map(str::to_owned),
            branch: named_branch(record.git_branch.get()).map(str::to_owned),
            time_ms: milliseconds(record.timestamp.as_str()),
            ..Entry::default()
        };
        match (record.kind.as_str(), record.subtype.as_str()) {
            ("user", subtype) if is_of_the_user(subtype, &record.provenance) => {
                let parts = record.message.0.unwrap_or_default().parts.0;
                let text = typed(parts.iter().map(|part| part.text.as_str()));
                let expanded = self.expanded.remove(record.parent_uuid.as_str());
                entry.prompt = match &expanded {
                    Some((typed, _)) => Some(typed.as_str()),
                    None => text,
                }
                // What comes from its input ends in empty lines.
                .map(|prompt| prompt.trim().to_owned())
                .filter(|prompt| !prompt.is_empty());
                entry.attached = expanded.map(|(_, files)| files).unwrap_or_default();
            }
            ("user", _) => {}
            ("assistant", _) => self.by_the_agent(&mut entry, record),
            ("tool_result", _) => by_a_tool(&mut entry, record),
            ("system", subtype) => {
                let payload = record.system_payload.0.unwrap_or_default();
                self.by_the_program(&mut entry, subtype, payload);
            }
            (kind, _) => self.unknown.add(kind),
        }
        entry
    }

    fn by_the_agent(&mut self, entry: &mut Entry, record: Record<'_>) {
        let used = record.usage_metadata.0.map(|tokens| {
            counted(tokens.prompt.count(), tokens.cached.count(), tokens.answer.count(), tokens.total.count())
        });
        // An answer that was interrupted is kept without what it used.
        let was_interrupted = used.is_none();
        entry.message = Some(self.requests);
        self.usage.extend(used.map(|used| (self.requests, used)));
        self.requests += 1;
        entry.model = record.model.into_filled();
        let mut answer = StoredAnswer {
            id: entry.id.clone(),
            model: entry.model.clone(),
            time_ms: entry.time_ms,
            ..StoredAnswer::default()
        };
        let mut calls = Vec::new();
        for part in record.message.0.unwrap_or_default().parts.0 {
            let told = if part.thought.is_set() { &mut answer.thought } else { &mut answer.text };
            told.push_str(part.text.as_str());
            calls.extend(part.function_call.0.map(|call| StoredStep::Call {
                id: call.id.into_string(),
                name: call.name.into_string(),
                input: call.args,
            }));
        }
        entry.sign = if !calls.is_empty() {
            Sign::GoesOn
        } else if was_interrupted {
            Sign::Interrupted
        } else {
            Sign::Answered
        };
        if !answer.text.is_empty() || !answer.thought.is_empty() {
            entry.steps.push(StoredStep::Answer(answer));
        }
        entry.steps.append(&mut calls);
    }

    fn by_the_program(&mut self, entry: &mut Entry, subtype: &str, payload: Payload<'_>) {
        const SIDE_REQUEST: &str = "managed-auto-memory";
        match subtype {
            "at_command" => {
                if let Some(typed) = payload.user_text.into_filled() {
                    let files = payload.files_read.0.into_iter().filter_map(Text::into_filled).collect();
                    self.expanded.insert(entry.id.clone(), (typed, files));
                }
            }
            "custom_title" => self.names.titled(payload.custom_title.get()),
            "chat_compression" => {
                const DONE: f64 = 1.0;
                let status = payload.info.0.unwrap_or_default().compression_status.0;
                if status.is_none_or(|status| (status - DONE).abs() < f64::EPSILON) {
                    let first = payload.compressed_history.0.into_iter().next().unwrap_or_default();
                    let summary =
                        typed(first.parts.0.iter().map(|part| part.text.as_str())).unwrap_or_default();
                    entry.steps.push(StoredStep::Compaction { summary: summary.to_owned() });
                }
            }
            "ui_telemetry" => {
                let event = payload.ui_event.0.unwrap_or_default();
                let is_beside = event.subagent_name.filled().is_some()
                    || event.prompt_id.as_str().starts_with(SIDE_REQUEST);
                if event.name.as_str() == "qwen-code.api_error" && !is_beside {
                    let why = event.error_message.into_filled().or(event.error.into_filled());
                    entry.sign = Sign::Failed(why.unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}

fn by_a_tool(entry: &mut Entry, record: Record<'_>) {
    let called = record.tool_call_result.0.unwrap_or_default();
    let failed = matches!(called.status.as_str(), "error" | "cancelled");
    for part in record.message.0.unwrap_or_default().parts.0 {
        let Some(response) = part.function_response.0 else { continue };
        let call = response.id.filled().unwrap_or(called.call_id.as_str()).to_owned();
        entry.steps.push(StoredStep::Result {
            call,
            output: shortened_output(output(&response.response)),
            failed,
        });
    }
    entry.sign = Sign::GoesOn;
}

/// What a tool gave back stands under one of two names.
fn output(response: &Value) -> String {
    let told = ["output", "error"].iter().find_map(|name| response.get(name)?.as_str());
    match (told, response) {
        (Some(told), _) => told.to_owned(),
        (None, Value::Null) => String::new(),
        (None, Value::String(text)) => text.clone(),
        (None, _) => response.to_string(),
    }
}
