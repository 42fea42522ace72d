//! A session of Pi (0.52.12 to 0.85.0), read whole: a tree of entries, of which the path to the last one is what Pi
//! remembers.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::turn_tree::{Addition, Place, TurnTree};
use super::typed::behind_files;
use super::wire::{Block, Message};
use crate::loose::{Flag, Number, Object, Text, TextOr};
use crate::stored_sessions::{
    StoredAnswer, StoredOutcome, StoredStep, StoredTurn, UnknownKinds, WholeSession, each_record,
    milliseconds, shortened_output,
};

const LONGEST_LINE: u64 = 8 << 20;
/// What a command is called that the user ran, not the model.
const USERS_COMMAND: &str = "bashExecution";
/// Entries that say nothing a turn is made of. They are links of the tree.
const LINKS: [&str; 6] =
    ["model_change", "thinking_level_change", "branch_summary", "label", "custom", "custom_message"];

/// Reads the session in a file.
pub(super) fn read(file: &Path) -> io::Result<WholeSession> {
    let mut reading = Reading::default();
    let without = each_record(file, LONGEST_LINE, |line, is_glued| reading.take_line(line, is_glued))?;
    reading.unknown.saw(without, "lines without a record");
    reading.finish()
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
struct Entry<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    parent_id: Text<'a>,
    timestamp: Text<'a>,
    // session
    cwd: Text<'a>,
    parent_session: Text<'a>,
    // session_info
    name: Text<'a>,
    // compaction
    summary: Text<'a>,
    message: Object<Message<'a>>,
}

/// A command that the user ran.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct UsersEntry<'a> {
    message: Object<UsersCommand<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), rename_all = "camelCase", default)]
struct UsersCommand<'a> {
    command: Text<'a>,
    output: Text<'a>,
    exit_code: Number,
    cancelled: Flag,
}

/// A message with the entry it stands in.
struct Said<'a> {
    id: &'a str,
    parent: &'a str,
    time_ms: Option<i64>,
    line: &'a [u8],
    message: Message<'a>,
}

/// A file that is being read.
#[derive(Default)]
struct Reading {
    id: String,
    title: Option<String>,
    dir: Option<String>,
    forked_from: Option<String>,
    tree: TurnTree,
    places: HashMap<String, Place>,
    /// The last entry: Pi goes on there.
    last: Option<(String, Place)>,
    unknown: UnknownKinds,
}

impl Reading {
    fn take_line(&mut self, line: &[u8], is_glued: bool) -> bool {
        let Ok(entry) = serde_json::from_slice::<Entry<'_>>(line) else { return false };
        let kind = entry.kind.as_str();
        let is_known =
            ["session", "session_info", "compaction", "message"].contains(&kind) || LINKS.contains(&kind);
        // A part of a torn line may look like an entry of another kind.
        if kind.is_empty() || entry.id.filled().is_none() || (is_glued && !is_known) {
            return false;
        }
        if kind == "session" {
            self.id = entry.id.into_string();
            self.dir = entry.cwd.get().filter(|dir| Path::new(dir).is_absolute()).map(str::to_owned);
            self.forked_from = entry.parent_session.filled().map(|path| session_in(path).to_owned());
            return true;
        }
        if !is_known {
            self.unknown.saw(1, kind);
        }
        self.take_entry(entry, line, is_glued);
        true
    }

    fn take_entry(&mut self, entry: Entry<'_>, line: &[u8], is_glued: bool) {
        let time_ms = milliseconds(entry.timestamp.as_str());
        let Entry { kind, id, parent_id, name, summary, message, .. } = entry;
        let id = id.into_string();
        let before = self.places.get(parent_id.as_str()).copied().unwrap_or_default();
        let mut place = match kind.as_str() {
            _ if self.places.contains_key(&id) => return,
            "session_info" => {
                self.title = name
                    .get()
                    .map(str::trim)
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .or(self.title.take());
                before
            }
            "compaction" => {
                let steps = vec![StoredStep::Compaction { summary: summary.into_string() }];
                let addition = Addition { steps, outcome: None, time_ms, bytes: line.len() };
                self.tree.go_on(before, &id, addition).unwrap_or(before)
            }
            "message" => {
                let message = message.0.unwrap_or_default();
                let message = Said { id: &id, parent: parent_id.as_str(), time_ms, line, message };
                self.take_message(message, before)
            }
            _ => before,
        };
        // Pi cannot read it, so it forgets what comes before.
        place.is_cut_off |= is_glued;
        self.places.insert(id.clone(), place);
        if !is_glued {
            self.last = Some((id, place));
        }
    }

    fn take_message(&mut self, said: Said<'_>, before: Place) -> Place {
        let Said { id, parent, time_ms, line, message } = said;
        let (steps, outcome) = match message.role.as_str() {
            "user" => {
                let Some(turn) = prompt(id, &message) else { return before };
                let turn =
                    StoredTurn { dir: self.dir.clone(), started_ms: time_ms, ended_ms: time_ms, ..turn };
                return self.tree.begin(before, parent, turn, line.len());
            }
            "assistant" => {
                let outcome = outcome(&message);
                (answered(id, time_ms, message), Some(outcome))
            }
            "toolResult" => (vec![result(message)], None),
            USERS_COMMAND => (users_command(id, line), None),
            "custom" | "branchSummary" | "compactionSummary" => return before,
            role => {
                self.unknown.saw(1, &format!("message of {role}"));
                return before;
            }
        };
        let addition = Addition { steps, outcome, time_ms, bytes: line.len() };
        self.tree.go_on(before, id, addition).unwrap_or_else(|| {
            self.unknown.saw(1, "messages without a prompt");
            before
        })
    }

    fn finish(mut self) -> io::Result<WholeSession> {
        if self.id.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no record in it was understood"));
        }
        let last = self.last.take().filter(|(_, place)| !place.is_cut_off);
        let head = last.and_then(|(id, place)| self.tree.ending_at(place, &id));
        Ok(WholeSession {
            id: self.id,
            title: self.title,
            forked_from: self.forked_from,
            is_subagent: false,
            turns: self.tree.turns,
            head,
            not_understood: self.unknown.into_list(),
        })
    }
}

/// The id of the session in a file, which ends its name; the path, if that is named otherwise.
fn session_in(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let id = name.strip_suffix(".jsonl").and_then(|name| name.split_once('_'));
    id.map_or(path, |(_, id)| id)
}

/// A turn, if the user typed something or sent a file.
fn prompt(id: &str, message: &Message<'_>) -> Option<StoredTurn> {
    let mut images: Vec<String> = Vec::new();
    let whole = match &message.content {
        TextOr::Text(text) => text.clone().into_owned(),
        TextOr::Blocks(blocks) => {
            images.extend(blocks.iter().filter_map(|block| block.media.filled()).map(str::to_owned));
            texts(blocks).join("\n")
        }
        TextOr::Neither => return None,
    };
    let (prompt, names) = behind_files(&whole);
    // A name is written for an image, too, if it was a file.
    let attached = if names.is_empty() { images } else { names.into_iter().map(str::to_owned).collect() };
    (!prompt.trim().is_empty() || !attached.is_empty()).then(|| StoredTurn {
        id: id.to_owned(),
        prompt: prompt.to_owned(),
        attached,
        ..StoredTurn::default()
    })
}

/// What there is to read in blocks.
fn texts<'a>(blocks: &'a [Block<'_>]) -> Vec<&'a str> {
    blocks.iter().map(|block| block.text.as_str()).filter(|text| !text.trim().is_empty()).collect()
}

fn outcome(message: &Message<'_>) -> StoredOutcome {
    match message.stop_reason.as_str() {
        "stop" | "length" => StoredOutcome::Completed,
        "error" => StoredOutcome::Failed(message.error.as_str().to_owned()),
        "aborted" => StoredOutcome::Interrupted,
        _ => StoredOutcome::Open,
    }
}

/// What the model said, and what it called then.
fn answered(id: &str, time_ms: Option<i64>, message: Message<'_>) -> Vec<StoredStep> {
    let mut answer = StoredAnswer {
        id: id.to_owned(),
        model: message.model.into_filled(),
        usage: message.usage.0.map(|tokens| tokens.usage()).filter(|usage| !usage.is_zero()),
        time_ms,
        ..StoredAnswer::default()
    };
    let mut calls = Vec::new();
    match message.content {
        TextOr::Text(text) => answer.text = text.into_owned(),
        TextOr::Blocks(blocks) => {
            for block in blocks {
                match block.kind.as_str() {
                    "toolCall" => calls.push(StoredStep::Call {
                        id: block.id.into_string(),
                        name: block.name.into_string(),
                        input: block.arguments,
                    }),
                    "thinking" => answer.thought.push_str(block.thinking.as_str()),
                    _ => answer.text.push_str(block.text.as_str()),
                }
            }
        }
        TextOr::Neither => {}
    }
    let says_something = !answer.text.is_empty() || !answer.thought.is_empty() || answer.usage.is_some();
    says_something.then_some(StoredStep::Answer(answer)).into_iter().chain(calls).collect()
}

fn result(message: Message<'_>) -> StoredStep {
    let output = match &message.content {
        TextOr::Text(text) => text.clone().into_owned(),
        TextOr::Blocks(blocks) => texts(blocks).join("\n"),
        TextOr::Neither => String::new(),
    };
    StoredStep::Result {
        call: message.tool_call_id.into_string(),
        output: shortened_output(output),
        failed: message.is_error.is_set(),
    }
}

/// A command that the user ran, and what it wrote. The model is told of both, unless the user wished otherwise.
fn users_command(id: &str, line: &[u8]) -> Vec<StoredStep> {
    let entry: UsersEntry<'_> = serde_json::from_slice(line).unwrap_or_default();
    let ran = entry.message.0.unwrap_or_default();
    let failed = ran.cancelled.is_set() || ran.exit_code.0.is_some_and(|code| code != 0.0);
    vec![
        StoredStep::Call {
            id: id.to_owned(),
            name: USERS_COMMAND.to_owned(),
            input: json!({ "command": ran.command.as_str() }),
        },
        StoredStep::Result {
            call: id.to_owned(),
            output: shortened_output(ran.output.into_string()),
            failed,
        },
    ]
}
