//! A session of Codex with all that was said and done in it (0.65.0 to 0.166.0).
//!
//! Prompts and answers are told by the timeline (events, from 0.166 on items), calls of tools by what is sent to the
//! model: that holds the prompts, too, but among words nobody typed.

use std::collections::HashMap;
use std::io;

use rejoin_core::Usage;
use serde_json::Value;

use super::segments::Segment;
use super::sessions::{typed, typed_in};
use super::stored_records::{
    Payload, StoredItem, StoredRecord, TokenInfo, has_failed, is_known_event, is_known_item,
    is_known_response,
};
use super::tool_outputs::tool_output;
use crate::loose::Texts;
use crate::stored_sessions::{
    Draft, StoredAnswer, StoredOutcome, StoredSession, StoredStep, StoredTurn, UnknownKinds, WholeSession,
    each_line, milliseconds, record_in, shortened_output,
};

/// Reads the segments of a session, each of which stands behind the one before it.
pub(super) fn read(session: &StoredSession, segments: &[Segment]) -> io::Result<WholeSession> {
    let mut reading = Reading { id: session.id.clone(), ..Reading::default() };
    let mut places: HashMap<(usize, u64), Place> =
        segments.iter().filter_map(|segment| Some((segment.base?, Place::default()))).collect();
    for (at, segment) in segments.iter().enumerate() {
        let place = segment.base.and_then(|base| places.get(&base)).cloned().unwrap_or_default();
        reading.begin(segment, place);
        each_line(&segment.path, segment.until, &mut |line, end| {
            reading.take_line(line);
            if let Some(place) = places.get_mut(&(at, end)) {
                place.clone_from(&reading.place);
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

/// Where a timeline stands.
#[derive(Clone, Default)]
struct Place {
    /// The last turn the agent would remember.
    tip: Option<usize>,
    branch: Option<String>,
    dir: Option<String>,
    model: Option<String>,
    total: Usage,
}

/// What a task of the agent's has done so far; a prompt begins it, and more may be typed while it runs.
#[derive(Default)]
struct Task {
    /// The agent's id of it.
    id: Option<String>,
    /// The turns of its prompts.
    turns: Vec<usize>,
    is_answered: bool,
    /// Its messages are told by items; nothing before the first one.
    by_items: Option<bool>,
}

/// What must be known of a turn beside what is told of it.
#[derive(Default)]
struct Progress {
    /// Answers that have ids of ours.
    named: usize,
    /// The step at which the request to the model begins that is not yet counted.
    request: usize,
    /// Tasks of this turn's time have no marks.
    is_unmarked: bool,
}

#[derive(Default)]
struct Reading {
    id: String,
    whole: WholeSession,
    progress: Vec<Progress>,
    place: Place,
    task: Task,
    thought: String,
    thought_id: String,
    time: Option<i64>,
    /// How often each id was given to a turn.
    ids: HashMap<String, usize>,
    /// Which calls failed, as far as items tell.
    failed: HashMap<String, bool>,
    segment: String,
    prompts_of_segment: usize,
    has_meta: bool,
    has_begun: bool,
    unknown: UnknownKinds,
}

impl Reading {
    fn begin(&mut self, segment: &Segment, place: Place) {
        self.place = place;
        self.segment.clone_from(&segment.id);
        self.prompts_of_segment = 0;
        self.has_meta = false;
        if segment.base_is_missing {
            self.unknown.add("history_base that is not there");
        }
    }

    fn end(&mut self, is_current: bool) {
        self.end_task();
        if is_current {
            self.whole.head = self.place.tip;
        }
    }

    fn finish(mut self) -> WholeSession {
        for (turn, progress) in self.whole.turns.iter_mut().zip(&self.progress) {
            let said = turn.steps.iter().rev().find(|step| !is_only_usage(step));
            let is_answered = matches!(said, Some(StoredStep::Answer(answer)) if !answer.text.is_empty());
            if progress.is_unmarked && turn.outcome == StoredOutcome::Open && is_answered {
                turn.outcome = StoredOutcome::Completed;
            }
            for step in &mut turn.steps {
                if let StoredStep::Result { call, failed, .. } = step {
                    *failed |= self.failed.get(call).is_some_and(|failed| *failed);
                }
            }
        }
        self.whole.id = self.id;
        self.whole.not_understood = self.unknown.into_list();
        self.whole
    }

    fn take_line(&mut self, line: Option<&[u8]>) {
        let Some(line) = line else { return self.unknown.add("a line that is too long") };
        let is_torn = line.last() != Some(&b'\n');
        match record_in::<StoredRecord<'_>>(line) {
            Some(record) if record.payload.0.is_some() => self.take(record),
            // It may be in the middle of being written.
            _ if is_torn || line.trim_ascii().is_empty() => {}
            Some(record) => self.unknown.add(record.kind.filled().unwrap_or("a record without a type")),
            None => self.unknown.add("a line that is no record"),
        }
    }

    fn take(&mut self, record: StoredRecord<'_>) {
        let Some(payload) = record.payload.0 else { return };
        self.time = milliseconds(record.timestamp.as_str()).or(self.time);
        self.has_begun |= record.kind.as_str() == "session_meta";
        match record.kind.as_str() {
            "session_meta" => self.meta(payload),
            "turn_context" => self.context(&payload),
            "event_msg" => self.event(payload),
            "response_item" => self.response(payload),
            "compacted" => {
                let summary = payload.message.into_string();
                self.flush_thought();
                self.step(StoredStep::Compaction { summary });
            }
            "world_state" | "token_usage_record" => {}
            kind => self.unknown.add(kind),
        }
        if let Some(turn) = self.task.turns.last().and_then(|at| self.whole.turns.get_mut(*at)) {
            turn.ended_ms = self.time.or(turn.ended_ms);
        }
    }

    fn meta(&mut self, payload: Payload<'_>) {
        let mut told = Draft::default();
        told.used_in(payload.cwd.get());
        told.used_on(payload.git.0.and_then(|git| git.branch.into_filled()).as_deref());
        self.place.dir = told.dir.or(self.place.dir.take());
        self.place.branch = told.branch;
        // A fork of 0.123 holds the first record of the other session, too.
        if !self.has_meta && payload.id.as_str() == self.id {
            self.whole.is_subagent |=
                payload.source.0.is_some() || payload.thread_source.as_str() == "subagent";
            self.whole.forked_from = self.whole.forked_from.take().or(payload.forked_from_id.into_filled());
        }
        self.has_meta = true;
    }

    fn context(&mut self, payload: &Payload<'_>) {
        let mut told = Draft::default();
        told.used_in(payload.cwd.get());
        self.place.dir = told.dir.or(self.place.dir.take());
        if let Some(model) = payload.model.filled() {
            self.place.model = Some(model.to_owned());
        }
        // Up to 0.65 it stands behind the prompt.
        if let Some(turn) = self.task.turns.last().and_then(|at| self.whole.turns.get_mut(*at)) {
            turn.dir.clone_from(&self.place.dir);
        }
    }

    fn event(&mut self, payload: Payload<'_>) {
        match payload.kind.as_str() {
            "task_started" | "turn_started" => {
                self.end_task();
                self.task.id = payload.turn_id.into_filled();
            }
            "task_complete" | "turn_complete" => self.completed(&payload),
            "turn_aborted" => self.over(&StoredOutcome::Interrupted),
            "user_message" if self.is_told(false) => {
                let images = payload.images.0.len();
                let attached = payload.local_images.0.iter().map(|path| file_name(path.as_str()));
                let attached = attached.chain((0..images).map(|_| "image".to_owned())).collect();
                self.prompt(typed(payload.message.as_str()).to_owned(), attached, None);
            }
            "agent_message" if self.is_told(false) => {
                self.answer(payload.message.into_string(), String::new())
            }
            "agent_reasoning" if self.is_told(false) => self.think(payload.text.as_str(), ""),
            "item_completed" => {
                let turn = payload.turn_id.into_filled();
                self.item(payload.item.0.unwrap_or_default(), turn);
            }
            "thread_rolled_back" => self.roll_back(payload.num_turns.count()),
            "token_count" => self.count(payload.info.0.unwrap_or_default()),
            "exec_command_end" | "patch_apply_end" => {
                let failed = has_failed(payload.status.as_str(), payload.exit_code)
                    || payload.success.0 == Some(false);
                self.failed.insert(payload.call_id.into_string(), failed);
            }
            // A fork of 0.123 holds that of the other session, too.
            "thread_name_updated" if payload.thread_id.as_str() == self.id => {
                let mut told = Draft::default();
                told.titled(payload.thread_name.get());
                self.whole.title = told.title.or(self.whole.title.take());
            }
            "user_message" | "agent_message" | "agent_reasoning" | "thread_name_updated" => {}
            kind if is_known_event(kind) => {}
            kind => self.unknown.add(&format!("event_msg {kind}")),
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
                self.prompt(prompt.join("\n"), attached, turn);
            }
            "AgentMessage" if self.is_told(true) => {
                let text = item.content.0.iter().map(|part| part.text.as_str()).collect();
                self.answer(text, item.id.into_string());
            }
            "Reasoning" if self.is_told(true) => {
                let joined = |texts: &Texts<'_>| {
                    texts.0.iter().filter_map(|text| text.filled()).collect::<Vec<_>>().join("\n\n")
                };
                let summary = joined(&item.summary_text);
                let raw = joined(&item.raw_content);
                self.think(if summary.is_empty() { &raw } else { &summary }, item.id.as_str());
            }
            "UserMessage" | "AgentMessage" | "Reasoning" => {}
            kind => {
                if !is_known_item(kind) {
                    self.unknown.add(&format!("item {kind}"));
                }
                if has_failed(item.status.as_str(), item.exit_code) {
                    self.failed.insert(item.id.into_string(), true);
                }
            }
        }
    }

    /// Whether messages of a task are told so: the first one decides, so that none counts twice.
    fn is_told(&mut self, by_items: bool) -> bool {
        *self.task.by_items.get_or_insert(by_items) == by_items
    }

    fn response(&mut self, payload: Payload<'_>) {
        let input = match payload.kind.as_str() {
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                let call = payload.call_id.into_string();
                let (output, failed) = tool_output(payload.output);
                let output = shortened_output(output);
                return self.step(StoredStep::Result { call, output, failed });
            }
            "function_call" => arguments(payload.arguments.as_str()),
            "custom_tool_call" => payload.input,
            "local_shell_call" | "web_search_call" => payload.action,
            "tool_search_call" => arguments(payload.arguments.as_str()),
            kind if is_known_response(kind) => return,
            kind => return self.unknown.add(&format!("response_item {kind}")),
        };
        self.flush_thought();
        let name = payload.name.into_filled().unwrap_or_else(|| payload.kind.as_str().replace("_call", ""));
        let id = payload.call_id.into_filled().unwrap_or_else(|| payload.id.into_string());
        let searched = (payload.kind.as_str() == "web_search_call").then(|| id.clone());
        self.step(StoredStep::Call { id, name, input });
        // What was found is not stored.
        if let Some(call) = searched {
            let failed = has_failed(payload.status.as_str(), payload.exit_code);
            self.step(StoredStep::Result { call, output: String::new(), failed });
        }
    }

    fn prompt(&mut self, prompt: String, attached: Vec<String>, turn: Option<String>) {
        if prompt.trim().is_empty() && attached.is_empty() {
            return;
        }
        self.flush_thought();
        self.prompts_of_segment += 1;
        let is_unmarked = self.task.id.is_none() && turn.is_none();
        if is_unmarked {
            // The end of the one before it is not told.
            self.task.turns.clear();
        }
        let id = turn.or_else(|| self.task.id.clone());
        let id = id.unwrap_or_else(|| format!("{}:{}", self.segment, self.prompts_of_segment));
        let id = self.unique(id);
        let at = self.whole.turns.len();
        self.whole.turns.push(StoredTurn {
            id,
            parent: self.place.tip,
            prompt,
            attached,
            dir: self.place.dir.clone(),
            branch: self.place.branch.clone(),
            started_ms: self.time,
            ended_ms: self.time,
            ..StoredTurn::default()
        });
        self.progress.push(Progress { is_unmarked, ..Progress::default() });
        self.place.tip = Some(at);
        self.task.turns.push(at);
    }

    /// What is typed while a task runs is a turn of its own; Codex has one id for both.
    fn unique(&mut self, id: String) -> String {
        loop {
            let times = self.ids.entry(id.clone()).or_default();
            *times += 1;
            if *times == 1 {
                return id;
            }
            let wanted = format!("{id}:{times}");
            if !self.ids.contains_key(&wanted) {
                self.ids.insert(wanted.clone(), 1);
                return wanted;
            }
        }
    }

    fn think(&mut self, thought: &str, id: &str) {
        if !self.thought.is_empty() {
            self.thought.push_str("\n\n");
        }
        self.thought.push_str(thought);
        self.thought_id = id.to_owned();
    }

    /// A thought no words followed.
    fn flush_thought(&mut self) {
        if !self.thought.is_empty() {
            let id = std::mem::take(&mut self.thought_id);
            self.answer(String::new(), id);
        }
    }

    fn answer(&mut self, text: String, id: String) {
        self.task.is_answered |= !text.is_empty();
        let thought = std::mem::take(&mut self.thought);
        let Some(at) = self.current() else {
            return self.unknown.add("an answer before any prompt");
        };
        let answer = StoredAnswer {
            id: if id.is_empty() { self.answer_id(at) } else { id },
            text,
            thought,
            model: self.place.model.clone(),
            usage: None,
            time_ms: self.time,
        };
        self.step(StoredStep::Answer(answer));
    }

    fn answer_id(&mut self, turn: usize) -> String {
        let number = self.progress.get_mut(turn).map_or(0, |progress| {
            progress.named += 1;
            progress.named
        });
        let turn = self.whole.turns.get(turn).map_or("", |turn| turn.id.as_str());
        format!("{turn}/{number}")
    }

    /// The turn that what is told now belongs to; a task without a prompt goes on with the last one.
    fn current(&self) -> Option<usize> {
        self.task.turns.last().copied().or(self.place.tip)
    }

    fn step(&mut self, step: StoredStep) {
        match self.current().and_then(|at| self.whole.turns.get_mut(at)) {
            Some(turn) => turn.steps.push(step),
            None => self.unknown.add("a step before any prompt"),
        }
    }

    /// The tokens of a request are told when it is over, and told again when nothing was asked.
    fn count(&mut self, info: TokenInfo) {
        let Some(total) = info.total_token_usage.0.map(Usage::from) else { return };
        if total == self.place.total {
            return;
        }
        let last = info.last_token_usage.0.map(Usage::from).filter(|last| *last != Usage::default());
        let used = last.unwrap_or_else(|| total.since(self.place.total));
        self.place.total = total;
        let Some(at) = self.current() else { return };
        let (model, time_ms) = (self.place.model.clone(), self.time);
        self.flush_thought();
        let (Some(turn), Some(progress)) = (self.whole.turns.get_mut(at), self.progress.get_mut(at)) else {
            return;
        };
        let request = progress.request.min(turn.steps.len());
        let mut answers = turn.steps[request..].iter_mut().filter_map(|step| match step {
            StoredStep::Answer(answer) if answer.usage.is_none() => Some(answer),
            _ => None,
        });
        if let Some(answer) = answers.next() {
            answer.usage = Some(used);
            progress.request = turn.steps.len();
            return;
        }
        // It only called tools.
        let is_call = |step: &StoredStep| matches!(step, StoredStep::Call { .. });
        let place =
            turn.steps[request..].iter().position(is_call).map_or(turn.steps.len(), |call| request + call);
        progress.request = turn.steps.len() + 1;
        let id = self.answer_id(at);
        let answer = StoredAnswer { id, model, usage: Some(used), time_ms, ..StoredAnswer::default() };
        if let Some(turn) = self.whole.turns.get_mut(at) {
            turn.steps.insert(place, StoredStep::Answer(answer));
        }
    }

    fn completed(&mut self, payload: &Payload<'_>) {
        let message = match &payload.error {
            Value::Null => None,
            Value::String(words) => Some(words.clone()),
            error => Some(error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()),
        };
        // Up to 0.123 this is all that tells of an error.
        let said_nothing = payload.last_agent_message.filled().is_none() && !self.task.is_answered;
        let failed = message.or_else(|| (said_nothing && self.task.by_items != Some(true)).then(String::new));
        self.over(&failed.map_or(StoredOutcome::Completed, StoredOutcome::Failed));
    }

    fn over(&mut self, outcome: &StoredOutcome) {
        self.flush_thought();
        let last = self.task.turns.last().copied();
        for at in &self.task.turns {
            let Some(turn) = self.whole.turns.get_mut(*at) else { continue };
            // What was typed meanwhile was answered together, or in between.
            let is_answered = turn
                .steps
                .iter()
                .any(|step| matches!(step, StoredStep::Answer(answer) if !answer.text.is_empty()));
            let was_answered = Some(*at) != last && is_answered;
            turn.outcome = if was_answered { StoredOutcome::Completed } else { outcome.clone() };
            turn.ended_ms = self.time.or(turn.ended_ms);
        }
        self.end_task();
    }

    fn end_task(&mut self) {
        self.flush_thought();
        self.task = Task::default();
    }

    /// The agent forgets so many prompts; what was done about them stays as a branch.
    fn roll_back(&mut self, prompts: u64) {
        self.end_task();
        for _ in 0..prompts {
            let Some(turn) = self.place.tip.and_then(|at| self.whole.turns.get(at)) else { break };
            self.place.tip = turn.parent;
        }
    }
}

/// Whether a step was only made to tell what a request used.
fn is_only_usage(step: &StoredStep) -> bool {
    matches!(step, StoredStep::Answer(answer) if answer.text.is_empty() && answer.thought.is_empty())
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// The arguments of a call; those that are no JSON as a text.
fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
