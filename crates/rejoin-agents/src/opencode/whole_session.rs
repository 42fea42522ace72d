//! A session of OpenCode with all that was said and done in it, from its messages in order: rows of the database
//! (1.15.4 to 1.18.33) or files (1.1.31).

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::sessions::{Piece, is_placeholder};
use super::wire::{Part, Tokens, Trouble};
use crate::loose::{Flag, Number, Object, Text};
use crate::stored_sessions::{
    Draft, StoredAnswer, StoredOutcome, StoredStep, StoredTurn, UnknownKinds, WholeSession, shortened_output,
};
use crate::surrogates;

/// A message as it is stored.
pub(super) struct StoredMessage {
    pub(super) id: String,
    pub(super) data: String,
    /// Its parts in order, each with its id.
    pub(super) parts: Vec<(String, String)>,
}

/// What is stored of the session itself.
#[derive(Default)]
pub(super) struct AboutSession {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) title: Option<String>,
    pub(super) dir: Option<String>,
    /// From where on it was undone, as JSON.
    pub(super) revert: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Revert<'a> {
    #[serde(rename = "messageID")]
    message: Text<'a>,
    #[serde(rename = "partID")]
    part: Text<'a>,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Message<'a> {
    role: Text<'a>,
    #[serde(rename = "parentID")]
    parent: Text<'a>,
    time: Object<Times>,
    #[serde(rename = "providerID")]
    provider: Text<'a>,
    #[serde(rename = "modelID")]
    model: Text<'a>,
    path: Object<MessagePath<'a>>,
    tokens: Object<Tokens>,
    /// A user's message has an object here.
    summary: Flag,
    finish: Text<'a>,
    error: Object<Trouble<'a>>,
}

#[derive(Clone, Copy, Deserialize, Default)]
#[serde(default)]
pub(super) struct Times {
    pub(super) created: Number,
    completed: Number,
}

#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct MessagePath<'a> {
    cwd: Text<'a>,
}

/// What a part of a user's message is beside a text.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Addition<'a> {
    filename: Text<'a>,
    url: Text<'a>,
    prompt: Text<'a>,
}

/// A session in the making.
pub(super) struct Reading {
    whole: WholeSession,
    dir: Option<String>,
    revert: Option<(String, Option<String>)>,
    is_undone: bool,
    /// What was undone of turns that were not.
    undone: StoredTurn,
    tip: Option<usize>,
    /// The turns that messages of the user began or went on with.
    turns: HashMap<String, Option<usize>>,
    seen: HashSet<String>,
    unknown: UnknownKinds,
}

impl Reading {
    pub(super) fn new(about: AboutSession) -> Self {
        let revert = about.revert.and_then(|revert| {
            let revert: Revert<'_> = serde_json::from_str(&revert).ok()?;
            Some((revert.message.into_filled()?, revert.part.into_filled()))
        });
        let mut told = Draft::default();
        told.titled(about.title.as_deref().filter(|title| !is_placeholder(title)));
        told.used_in(about.dir.as_deref());
        let whole = WholeSession {
            id: about.id,
            title: told.title,
            is_subagent: about.parent.is_some(),
            ..WholeSession::default()
        };
        Self {
            whole,
            dir: told.dir,
            revert,
            is_undone: false,
            undone: StoredTurn::default(),
            tip: None,
            turns: HashMap::new(),
            seen: HashSet::new(),
            unknown: UnknownKinds::default(),
        }
    }

    /// The next message.
    pub(super) fn take(&mut self, message: StoredMessage) {
        if !self.seen.insert(message.id.clone()) {
            return;
        }
        let data = mended(message.data);
        let Ok(told) = serde_json::from_str::<Message<'_>>(&data) else {
            return self.unknown.add("a message that is no JSON");
        };
        let mut parts = message.parts;
        if !self.is_undone
            && let Some((from, part)) = &self.revert
            && message.id >= *from
        {
            // The beginning of this one still counts, if a part is named.
            let kept = part.as_ref().filter(|_| message.id == *from);
            if let Some(part) = kept {
                parts.retain(|(id, _)| id < part);
                self.unknown.add("parts that were undone");
                self.message(message.id, &told, parts);
                self.is_undone = true;
                self.whole.head = self.tip;
                return;
            }
            self.is_undone = true;
            self.whole.head = self.tip;
        }
        self.message(message.id, &told, parts);
    }

    pub(super) fn finish(mut self) -> WholeSession {
        if !self.is_undone {
            self.whole.head = self.tip;
        }
        self.whole.not_understood = self.unknown.into_list();
        self.whole
    }

    fn message(&mut self, id: String, told: &Message<'_>, parts: Vec<(String, String)>) {
        let parts: Vec<_> = parts.into_iter().map(|(id, data)| (id, mended(data))).collect();
        match told.role.as_str() {
            "user" => self.by_user(id, told, &parts),
            "assistant" if told.summary.is_set() => self.summary(&id, told, &parts),
            "assistant" => self.by_agent(&id, told, &parts),
            role => self.unknown.add(&format!("a message of {role:?}")),
        }
    }

    fn by_user(&mut self, id: String, told: &Message<'_>, parts: &[(String, String)]) {
        let (mut typed, mut attached) = (Vec::new(), Vec::new());
        for (_, data) in parts {
            let Ok(piece) = serde_json::from_str::<Piece<'_>>(data) else {
                self.unknown.add("a part that is no JSON");
                continue;
            };
            let more: Addition<'_> = serde_json::from_str(data).unwrap_or_default();
            match piece.kind.as_str() {
                "text" => typed.extend(piece.typed().map(str::to_owned)),
                "file" => {
                    let named =
                        more.filename.filled().or(more.url.filled().filter(|url| !url.starts_with("data:")));
                    attached.push(named.unwrap_or("file").to_owned());
                }
                // A command that another agent carries out.
                "subtask" => typed.extend(more.prompt.into_filled()),
                "compaction" | "agent" | "snapshot" | "patch" => {}
                kind => self.unknown.add(&format!("part {kind}")),
            }
        }
        let prompt = typed.join("\n");
        if prompt.trim().is_empty() && attached.is_empty() {
            // OpenCode's own words: what is answered to them belongs to the turn before.
            self.turns.insert(id, self.tip);
            return;
        }
        let created = time(told.time.0.unwrap_or_default().created);
        let at = self.whole.turns.len();
        self.turns.insert(id.clone(), Some(at));
        self.whole.turns.push(StoredTurn {
            id,
            parent: self.tip,
            prompt,
            attached,
            dir: self.dir.clone(),
            started_ms: created,
            ended_ms: created,
            ..StoredTurn::default()
        });
        self.tip = Some(at);
    }

    fn by_agent(&mut self, id: &str, told: &Message<'_>, parts: &[(String, String)]) {
        let mut answer = answer(id, told);
        let (mut texts, mut thoughts, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for (part_id, data) in parts {
            let Ok(piece) = serde_json::from_str::<Piece<'_>>(data) else {
                self.unknown.add("a part that is no JSON");
                continue;
            };
            match piece.kind.as_str() {
                "text" => texts.extend(piece.text.into_filled()),
                "reasoning" => thoughts.extend(piece.text.into_filled()),
                "tool" => {
                    let part: Part<'_> = serde_json::from_str(data).unwrap_or_default();
                    let is_over = part.is_over();
                    let Some(call) = part.into_call() else { continue };
                    let id = if call.id.is_empty() { part_id.clone() } else { call.id };
                    steps.push(StoredStep::Call { id: id.clone(), name: call.name, input: call.input });
                    if is_over {
                        let output = shortened_output(call.output);
                        steps.push(StoredStep::Result { call: id, output, failed: call.failed });
                    }
                }
                "step-start" | "step-finish" | "snapshot" | "patch" | "file" | "retry" | "agent" => {}
                kind => self.unknown.add(&format!("part {kind}")),
            }
        }
        answer.text = texts.join("\n");
        answer.thought = thoughts.join("\n\n");
        let Some(turn) = self.turn_of(told) else {
            return self.unknown.add("an answer before any prompt");
        };
        if !answer.text.is_empty() || !answer.thought.is_empty() || answer.usage.is_some() {
            turn.steps.push(StoredStep::Answer(answer));
        }
        turn.steps.extend(steps);
        if let Some(outcome) = outcome(told) {
            turn.outcome = outcome;
        }
        let mut dir = Draft::default();
        dir.used_in(told.path.0.as_ref().and_then(|path| path.cwd.get()));
        turn.dir = dir.dir.or(turn.dir.take());
        ended(turn, told);
    }

    /// What comes before is known to the agent only by this from here on, if it was written to its end.
    fn summary(&mut self, id: &str, told: &Message<'_>, parts: &[(String, String)]) {
        let texts = parts.iter().filter_map(|(_, data)| {
            let piece: Piece<'_> = serde_json::from_str(data).ok()?;
            (piece.kind.as_str() == "text").then(|| piece.text.into_filled())?
        });
        let summary = texts.collect::<Vec<_>>().join("\n");
        let is_whole = told.finish.filled().is_some() && told.error.0.is_none();
        let answer = answer(id, told);
        let Some(turn) = self.turn_of(told) else {
            return self.unknown.add("a summary before any prompt");
        };
        if answer.usage.is_some() {
            turn.steps.push(StoredStep::Answer(answer));
        }
        if is_whole {
            turn.steps.push(StoredStep::Compaction { summary });
        }
        ended(turn, told);
    }

    /// The turn a message of the agent's belongs to.
    fn turn_of(&mut self, told: &Message<'_>) -> Option<&mut StoredTurn> {
        let at = self.turns.get(told.parent.as_str()).copied().flatten().or(self.tip)?;
        if self.is_undone && self.whole.head.is_some_and(|head| at <= head) {
            // Of a turn that still counts this does not.
            self.unknown.add("an answer that was undone");
            return Some(&mut self.undone);
        }
        self.whole.turns.get_mut(at)
    }
}

/// What a message of the agent's tells of itself.
fn answer(id: &str, told: &Message<'_>) -> StoredAnswer {
    let model = told.model.filled().map(|model| match told.provider.filled() {
        Some(provider) => format!("{provider}/{model}"),
        None => model.to_owned(),
    });
    let usage =
        told.tokens.0.as_ref().map(Tokens::usage).filter(|usage| *usage != rejoin_core::Usage::default());
    let times = told.time.0.unwrap_or_default();
    StoredAnswer { id: id.to_owned(), model, usage, time_ms: time(times.created), ..StoredAnswer::default() }
}

/// How a turn stands after a message of the agent's; nothing, if it tells nothing of that: a command the user ran.
fn outcome(told: &Message<'_>) -> Option<StoredOutcome> {
    let is_over = told.time.0.unwrap_or_default().completed.0.is_some();
    Some(match (&told.error.0, told.finish.as_str()) {
        (Some(error), _) if error.name.as_str() == "MessageAbortedError" => StoredOutcome::Interrupted,
        (Some(error), _) => StoredOutcome::Failed(error.words().to_owned()),
        (None, "") if is_over => return None,
        (None, "" | "tool-calls" | "unknown") => StoredOutcome::Open,
        (None, _) => StoredOutcome::Completed,
    })
}

fn ended(turn: &mut StoredTurn, told: &Message<'_>) {
    let times = told.time.0.unwrap_or_default();
    turn.ended_ms = time(times.completed).or(time(times.created)).or(turn.ended_ms);
}

fn time(time: Number) -> Option<i64> {
    time.0.map(|time| time as i64)
}

/// JavaScript cuts texts in the middle of characters.
fn mended(json: String) -> String {
    surrogates::mended(&json).unwrap_or(json)
}
