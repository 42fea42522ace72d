//! A session of Codex with all that was said and done in it (0.65.0 to 0.166.0).
//!
//! Prompts and answers are told by the timeline (events, from 0.166 on items), calls of tools by what is sent to the
//! model: that holds the prompts, too, but among words nobody typed.

use std::collections::HashMap;
use std::io;

use serde_json::Value;

use super::segments::Segment;
use super::sessions::{typed, typed_in};
use super::stored_records::{
    Payload, StoredItem, StoredRecord, has_failed, is_known_event, is_known_item, is_known_response,
};
use super::timeline::{Place, Timeline};
use super::tool_outputs::tool_output;
use crate::loose::Texts;
use crate::stored_sessions::{
    Draft, StoredOutcome, StoredSession, StoredStep, WholeSession, each_line, milliseconds, record_in,
    shortened_output,
};

/// Reads the segments of a session, each of which stands behind the one before it.
pub(super) fn read(session: &StoredSession, segments: &[Segment]) -> io::Result<WholeSession> {
    let whole = WholeSession { id: session.id.clone(), ..WholeSession::default() };
    let mut reading = Reading { whole, ..Reading::default() };
    let mut places: HashMap<(usize, u64), Place> =
        segments.iter().filter_map(|segment| Some((segment.base?, Place::default()))).collect();
    for (at, segment) in segments.iter().enumerate() {
        let place = segment.base.and_then(|base| places.get(&base)).cloned().unwrap_or_default();
        reading.begin(segment, place);
        each_line(&segment.path, segment.until, &mut |line, end| {
            reading.take_line(line);
            if let Some(place) = places.get_mut(&(at, end)) {
                place.clone_from(&reading.timeline.place);
            }
            true
        })?;
        reading.end(segment.is_current);
    }
    if !reading.has_begun {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    whole: WholeSession,
    timeline: Timeline,
    has_meta: bool,
    has_begun: bool,
}

impl Reading {
    fn begin(&mut self, segment: &Segment, place: Place) {
        self.timeline.begin(segment, place);
        self.has_meta = false;
    }

    fn end(&mut self, is_current: bool) {
        self.timeline.end_task();
        if is_current {
            self.whole.head = self.timeline.place.tip;
        }
    }

    fn finish(self) -> WholeSession {
        let (turns, not_understood) = self.timeline.finish();
        WholeSession { turns, not_understood, ..self.whole }
    }

    fn take_line(&mut self, line: Option<&[u8]>) {
        let Some(line) = line else { return self.timeline.unknown.add("a line that is too long") };
        let is_torn = line.last() != Some(&b'\n');
        match record_in::<StoredRecord<'_>>(line) {
            Some(record) if record.payload.0.is_some() => self.take(record),
            // It may be in the middle of being written.
            _ if is_torn || line.trim_ascii().is_empty() => {}
            Some(record) => {
                self.timeline.unknown.add(record.kind.filled().unwrap_or("a record without a type"));
            }
            None => self.timeline.unknown.add("a line that is no record"),
        }
    }

    fn take(&mut self, record: StoredRecord<'_>) {
        let Some(payload) = record.payload.0 else { return };
        let time = milliseconds(record.timestamp.as_str()).or(self.timeline.time);
        self.timeline.time = time;
        self.has_begun |= record.kind.as_str() == "session_meta";
        match record.kind.as_str() {
            "session_meta" => self.meta(payload),
            "turn_context" => self.context(&payload),
            "event_msg" => self.event(payload),
            "response_item" => self.response(payload),
            "compacted" => {
                let summary = payload.message.into_string();
                self.timeline.flush_thought();
                self.timeline.step(StoredStep::Compaction { summary });
            }
            "world_state" | "token_usage_record" => {}
            kind => self.timeline.unknown.add(kind),
        }
        if let Some(turn) = self.timeline.typed_last() {
            turn.ended_ms = time.or(turn.ended_ms);
        }
    }

    fn meta(&mut self, payload: Payload<'_>) {
        let mut told = Draft::default();
        told.used_in(payload.cwd.get());
        told.used_on(payload.git.0.and_then(|git| git.branch.into_filled()).as_deref());
        self.timeline.place.dir = told.dir.or(self.timeline.place.dir.take());
        self.timeline.place.branch = told.branch;
        // A fork of 0.123 holds the first record of the other session, too.
        if !self.has_meta && payload.id.as_str() == self.whole.id {
            self.whole.is_subagent |=
                payload.source.0.is_some() || payload.thread_source.as_str() == "subagent";
            self.whole.forked_from = self.whole.forked_from.take().or(payload.forked_from_id.into_filled());
        }
        self.has_meta = true;
    }

    fn context(&mut self, payload: &Payload<'_>) {
        let mut told = Draft::default();
        told.used_in(payload.cwd.get());
        self.timeline.place.dir = told.dir.or(self.timeline.place.dir.take());
        if let Some(model) = payload.model.filled() {
            self.timeline.place.model = Some(model.to_owned());
        }
        // Up to 0.65 it stands behind the prompt.
        let dir = self.timeline.place.dir.clone();
        if let Some(turn) = self.timeline.typed_last() {
            turn.dir = dir;
        }
    }

    fn event(&mut self, payload: Payload<'_>) {
        match payload.kind.as_str() {
            "task_started" | "turn_started" => {
                self.timeline.end_task();
                self.timeline.task.id = payload.turn_id.into_filled();
            }
            "task_complete" | "turn_complete" => self.completed(&payload),
            "turn_aborted" => self.timeline.over(&StoredOutcome::Interrupted),
            "user_message" if self.is_told(false) => {
                let images = payload.images.0.len();
                let attached = payload.local_images.0.iter().map(|path| file_name(path.as_str()));
                let attached = attached.chain((0..images).map(|_| "image".to_owned())).collect();
                self.timeline.prompt(typed(payload.message.as_str()).to_owned(), attached, None);
            }
            "agent_message" if self.is_told(false) => {
                self.timeline.answer(payload.message.into_string(), String::new());
            }
            "agent_reasoning" if self.is_told(false) => self.timeline.think(payload.text.as_str(), ""),
            "item_completed" => {
                let turn = payload.turn_id.into_filled();
                self.item(payload.item.0.unwrap_or_default(), turn);
            }
            "error" => self.timeline.task.error = payload.message.into_filled(),
            "thread_rolled_back" => self.timeline.roll_back(payload.num_turns.count()),
            "token_count" => self.timeline.count(&payload.info.0.unwrap_or_default()),
            "exec_command_end" | "patch_apply_end" => {
                let failed = has_failed(payload.status.as_str(), payload.exit_code)
                    || payload.success.0 == Some(false);
                self.timeline.failed.insert(payload.call_id.into_string(), failed);
            }
            // A fork of 0.123 holds that of the other session, too.
            "thread_name_updated" if payload.thread_id.as_str() == self.whole.id => {
                let mut told = Draft::default();
                told.titled(payload.thread_name.get());
                self.whole.title = told.title.or(self.whole.title.take());
            }
            "user_message" | "agent_message" | "agent_reasoning" | "thread_name_updated" => {}
            kind if is_known_event(kind) => {}
            kind => self.timeline.unknown.add(&format!("event_msg {kind}")),
        }
    }

    fn item(&mut self, item: StoredItem<'_>, turn: Option<String>) {
        match item.kind.as_str() {
            "UserMessage" if self.is_told(true) => {
                let prompt: Vec<&str> = typed_in(&item.content.0).collect();
                let is_image = |kind: &str| kind.ends_with("image");
                let images = item.content.0.iter().filter(|part| is_image(part.kind.as_str()));
                let attached = images
                    .map(|part| part.path.filled().map_or_else(|| "image".to_owned(), file_name))
                    .collect();
                self.timeline.prompt(prompt.join("\n"), attached, turn);
            }
            "AgentMessage" if self.is_told(true) => {
                let text = item.content.0.iter().map(|part| part.text.as_str()).collect();
                self.timeline.answer(text, item.id.into_string());
            }
            "Reasoning" if self.is_told(true) => {
                let joined = |texts: &Texts<'_>| {
                    texts.0.iter().filter_map(|text| text.filled()).collect::<Vec<_>>().join("\n\n")
                };
                let summary = joined(&item.summary_text);
                let raw = joined(&item.raw_content);
                self.timeline.think(if summary.is_empty() { &raw } else { &summary }, item.id.as_str());
            }
            "UserMessage" | "AgentMessage" | "Reasoning" => {}
            kind => {
                if !is_known_item(kind) {
                    self.timeline.unknown.add(&format!("item {kind}"));
                }
                if has_failed(item.status.as_str(), item.exit_code) {
                    self.timeline.failed.insert(item.id.into_string(), true);
                }
            }
        }
    }

    /// Whether messages of a task are told so: the first one decides, so that none counts twice.
    fn is_told(&mut self, by_items: bool) -> bool {
        *self.timeline.task.by_items.get_or_insert(by_items) == by_items
    }

    fn response(&mut self, payload: Payload<'_>) {
        let input = match payload.kind.as_str() {
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                let call = payload.call_id.into_string();
                let (output, failed) = tool_output(payload.output);
                let output = shortened_output(output);
                return self.timeline.step(StoredStep::Result { call, output, failed });
            }
            "function_call" | "tool_search_call" => arguments(payload.arguments.as_str()),
            "custom_tool_call" => payload.input,
            "local_shell_call" | "web_search_call" => payload.action,
            kind if is_known_response(kind) => return,
            kind => return self.timeline.unknown.add(&format!("response_item {kind}")),
        };
        self.timeline.flush_thought();
        let name = payload.name.into_filled().unwrap_or_else(|| payload.kind.as_str().replace("_call", ""));
        let id = payload.call_id.into_filled().unwrap_or_else(|| payload.id.into_string());
        let searched = (payload.kind.as_str() == "web_search_call").then(|| id.clone());
        self.timeline.step(StoredStep::Call { id, name, input });
        // What was found is not stored.
        if let Some(call) = searched {
            let failed = has_failed(payload.status.as_str(), payload.exit_code);
            self.timeline.step(StoredStep::Result { call, output: String::new(), failed });
        }
    }

    fn completed(&mut self, payload: &Payload<'_>) {
        let message = match &payload.error {
            Value::Null => None,
            Value::String(words) => Some(words.clone()),
            error => Some(error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()),
        };
        // Up to 0.123 this is all that tells of an error.
        let said_nothing = payload.last_agent_message.filled().is_none() && !self.timeline.task.is_answered;
        let may_have_failed = said_nothing && self.timeline.task.by_items != Some(true);
        let told = self.timeline.task.error.take();
        let failed = message.or_else(|| may_have_failed.then(|| told.unwrap_or_default()));
        self.timeline.over(&failed.map_or(StoredOutcome::Completed, StoredOutcome::Failed));
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The arguments of a call; those that are no JSON as a text.
fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
