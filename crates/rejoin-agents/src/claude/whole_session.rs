//! A session of Claude Code with all that was said and done in it (2.0.34 to 2.1.325).

use std::collections::HashMap;
use std::io;

use rejoin_core::Usage;
use serde::Deserialize;

use super::typed_prompt::{INTERRUPTED, RAN, TextBlock, is_injected, typed};
use crate::loose::{Flag, Object, Text, TextOr};
use crate::stored_sessions::{
    Draft, Entry, RecordTree, Records, Sign, StoredAnswer, StoredSession, StoredStep, UnknownKinds,
    WholeSession, believable_dir, last_below, milliseconds, named_branch, read_records, shortened_output,
    stored_turns,
};
use crate::stream_json::Tokens;
use crate::stream_json::blocks::Block;

/// Whose answers are none: the program itself put them in.
const SYNTHETIC: &str = "<synthetic>";
/// Up to this version the current path ends in the message with the latest time.
const LAST_BY_TIME: [u64; 3] = [2, 1, 52];
/// Records that stand outside of the tree, or only link others in it.
const KNOWN: [&str; 22] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "assistant",
    "atis-latch",
    "attachment",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "relocated",
    "summary",
    "system",
    "tools-used",
    "user",
    "worktree-state",
];

/// Reads it.
pub(super) fn read(session: &StoredSession) -> io::Result<WholeSession> {
    let mut records = ClaudeRecords::default();
    let lines = read_records(&session.file, &mut records)?;
    let is_subagent = records.tree.is_empty() && !records.side.is_empty();
    let (tree, ends) =
        if is_subagent { (records.side, records.side_ends) } else { (records.tree, records.ends) };
    let head = head(&tree, &ends, &records.leaves);
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

/// The record that the current path ends in.
fn head(tree: &RecordTree<Entry>, ends: &Ends, leaves: &[String]) -> Option<usize> {
    if let Some(leaf) = leaves.iter().rev().find_map(|leaf| tree.find(leaf)) {
        return Some(last_below(&tree.parents(), leaf));
    }
    if ends.is_by_time { ends.latest.map(|(_, place)| place) } else { tree.records().len().checked_sub(1) }
}

/// Where a path may end that no record names the end of.
#[derive(Default)]
struct Ends {
    is_by_time: bool,
    /// The time of the latest message, and its place.
    latest: Option<(i64, usize)>,
}

#[derive(Default)]
struct ClaudeRecords {
    tree: RecordTree<Entry>,
    ends: Ends,
    /// Of a sub-agent. They count if there are no others: then the file is its own.
    side: RecordTree<Entry>,
    side_ends: Ends,
    /// The ends of the current path as they were noted, the last one last.
    leaves: Vec<String>,
    /// Answers of the model, numbered by their ids.
    messages: HashMap<String, usize>,
    usage: HashMap<usize, Usage>,
    names: Draft,
    has_own_title: bool,
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
    logical_parent_uuid: Text<'a>,
    cwd: Text<'a>,
    git_branch: Text<'a>,
    timestamp: Text<'a>,
    version: Text<'a>,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    is_api_error_message: Flag,
    origin: Object<Origin<'a>>,
    message: Object<Message<'a>>,
    attachment: Object<Attachment<'a>>,
    forked_from: Object<ForkedFrom<'a>>,
    custom_title: Text<'a>,
    ai_title: Text<'a>,
    leaf_uuid: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Origin<'a> {
    kind: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    id: Text<'a>,
    model: Text<'a>,
    stop_reason: Text<'a>,
    content: TextOr<'a, Block<'a>>,
    usage: Object<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Attachment<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    filename: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default, rename_all = "camelCase")]
struct ForkedFrom<'a> {
    session_id: Text<'a>,
}

impl TextBlock for Block<'_> {
    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn text(&self) -> &str {
        self.text.as_str()
    }
}

impl Records for ClaudeRecords {
    type Record<'a> = Record<'a>;

    fn take_in(&mut self, record: Record<'_>) -> bool {
        if record.kind.filled().is_none() {
            return false;
        }
        if !KNOWN.contains(&record.kind.as_str()) {
            self.unknown.add(record.kind.as_str());
        }
        match record.kind.as_str() {
            "last-prompt" => self.leaves.extend(record.leaf_uuid.filled().map(str::to_owned)),
            // What the user calls it counts more than what the model does.
            "custom-title" => {
                self.has_own_title = true;
                self.names.titled(record.custom_title.get());
            }
            "ai-title" if !self.has_own_title => self.names.titled(record.ai_title.get()),
            _ => {}
        }
        if record.uuid.filled().is_some() {
            self.add(record);
        }
        true
    }
}

impl ClaudeRecords {
    fn add(&mut self, record: Record<'_>) {
        let is_side = record.is_sidechain.is_set();
        if is_side && !self.tree.is_empty() {
            return;
        }
        if let Some(from) = record.forked_from.0.as_ref().and_then(|from| from.session_id.filled())
            && self.forked_from.is_none()
        {
            self.forked_from = Some(from.to_owned());
        }
        let time_ms = milliseconds(record.timestamp.as_str());
        let is_message = matches!(record.kind.as_str(), "user" | "assistant");
        let is_by_time =
            record.version.filled().and_then(numbers).is_some_and(|version| version <= LAST_BY_TIME);
        let id = record.uuid.as_str().to_owned();
        let parent = record.parent_uuid.filled().or(record.logical_parent_uuid.filled()).map(str::to_owned);
        let entry = self.entry(record, time_ms);
        let (tree, ends) =
            if is_side { (&mut self.side, &mut self.side_ends) } else { (&mut self.tree, &mut self.ends) };
        tree.add(&id, parent.as_deref(), entry);
        ends.is_by_time = is_by_time;
        // Of two with one time Claude takes the first, although the second may hold the answer.
        if let Some(place) = tree.find(&id).filter(|_| is_message)
            && let Some(time) = time_ms
            && ends.latest.is_none_or(|(latest, _)| time > latest)
        {
            ends.latest = Some((time, place));
        }
    }

    fn entry(&mut self, record: Record<'_>, time_ms: Option<i64>) -> Entry {
        let mut entry = Entry {
            id: record.uuid.as_str().to_owned(),
            dir: believable_dir(record.cwd.get()).map(str::to_owned),
            branch: named_branch(record.git_branch.get()).map(str::to_owned),
            time_ms,
            ..Entry::default()
        };
        match record.kind.as_str() {
            "user" => by_the_user(&mut entry, record),
            "assistant" => self.by_the_agent(&mut entry, record),
            "system" => match record.subtype.as_str() {
                "turn_duration" => entry.sign = Sign::Over,
                "local_command" => entry.sign = Sign::Ran,
                _ => {}
            },
            "attachment" => {
                let attachment = record.attachment.0.unwrap_or_default();
                if attachment.kind.as_str() == "file" {
                    entry.attached.extend(attachment.filename.into_filled());
                }
            }
            _ => {}
        }
        entry
    }

    fn by_the_agent(&mut self, entry: &mut Entry, record: Record<'_>) {
        let is_error = record.is_api_error_message.is_set();
        let message = record.message.0.unwrap_or_default();
        if is_error || message.model.as_str() == SYNTHETIC {
            let text = text_of(&message.content);
            if is_error || text.starts_with("API Error") {
                entry.sign = Sign::Failed(text);
            }
            return;
        }
        let id = message.id.filled().unwrap_or(entry.id.as_str());
        let next = self.messages.len();
        let number = *self.messages.entry(id.to_owned()).or_insert(next);
        entry.message = Some(number);
        entry.model = message.model.filled().map(str::to_owned);
        // The first records of an answer may tell less than the last one.
        if let Some(used) = message.usage.0.as_ref().map(Tokens::usage).filter(|used| !used.is_zero()) {
            let known = self.usage.entry(number).or_insert(used);
            if used.output >= known.output {
                *known = used;
            }
        }
        let is_between = matches!(message.stop_reason.as_str(), "tool_use" | "pause_turn");
        match message.content {
            TextOr::Text(text) => add_answer(entry, &text, ""),
            TextOr::Blocks(blocks) => {
                for block in blocks {
                    if block.is_call() {
                        entry.steps.push(StoredStep::Call {
                            id: block.id.into_string(),
                            name: block.name.into_string(),
                            input: block.input,
                        });
                    } else {
                        add_answer(entry, block.text.as_str(), block.thinking.as_str());
                    }
                }
            }
            TextOr::Neither => {}
        }
        entry.sign = match entry.steps.last() {
            Some(StoredStep::Answer(answer)) if !answer.text.is_empty() && !is_between => Sign::Answered,
            _ => Sign::GoesOn,
        };
    }
}

/// Adds what was said or thought to the answer of a record; behind a call a further one begins.
fn add_answer(entry: &mut Entry, text: &str, thought: &str) {
    if text.is_empty() && thought.is_empty() {
        return;
    }
    if let Some(StoredStep::Answer(answer)) = entry.steps.last_mut() {
        answer.text.push_str(text);
        answer.thought.push_str(thought);
        return;
    }
    let has_one = entry.steps.iter().any(|step| matches!(step, StoredStep::Answer(_)));
    let id = if has_one { format!("{}#{}", entry.id, entry.steps.len()) } else { entry.id.clone() };
    entry.steps.push(StoredStep::Answer(StoredAnswer {
        id,
        text: text.to_owned(),
        thought: thought.to_owned(),
        model: entry.model.clone(),
        usage: None,
        time_ms: entry.time_ms,
    }));
}

fn by_the_user(entry: &mut Entry, record: Record<'_>) {
    let origin = record.origin.0.unwrap_or_default();
    let content = record.message.0.unwrap_or_default().content;
    if record.is_compact_summary.is_set() {
        entry.steps.push(StoredStep::Compaction { summary: text_of(&content) });
        return;
    }
    if !is_injected(record.is_meta, record.is_compact_summary, origin.kind.as_str()) {
        entry.prompt = typed(&content).filter(|prompt| !prompt.is_empty());
    }
    let begins = |text: &str| text.trim_start().starts_with(INTERRUPTED);
    let was_interrupted = match &content {
        TextOr::Text(text) => begins(text),
        TextOr::Blocks(blocks) => blocks.iter().any(|block| begins(block.text.as_str())),
        TextOr::Neither => false,
    };
    if entry.prompt.is_none() && was_interrupted {
        entry.sign = Sign::Interrupted;
    }
    match content {
        TextOr::Blocks(blocks) => {
            for block in blocks.into_iter().filter(|block| block.kind.as_str() == "tool_result") {
                if entry.sign == Sign::None {
                    entry.sign = Sign::GoesOn;
                }
                entry.steps.push(StoredStep::Result {
                    call: block.tool_use_id.as_str().to_owned(),
                    failed: block.is_error.is_set(),
                    output: shortened_output(block.output()),
                });
            }
        }
        TextOr::Text(text) if RAN.iter().any(|mark| text.trim_start().starts_with(mark)) => {
            entry.sign = Sign::Ran;
        }
        _ => {}
    }
}

fn text_of(content: &TextOr<'_, Block<'_>>) -> String {
    match content {
        TextOr::Text(text) => text.clone().into_owned(),
        TextOr::Blocks(blocks) => {
            blocks.iter().filter_map(|block| block.text.filled()).collect::<Vec<_>>().join("\n")
        }
        TextOr::Neither => String::new(),
    }
}

/// A version as numbers.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split(['.', '-', '+']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}
