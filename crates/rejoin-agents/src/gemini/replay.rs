//! The log of a session, replayed: which messages Gemini would remember, and the turns that all of them make. Messages
//! are never forgotten here; what leaves the list stays as a turn beside the path.

use std::collections::{HashMap, HashSet};

use super::kept_message::KeptMessage;
use super::typed::typed;
use super::whole_record::{WholeMessage, WholeRecord};
use crate::stored_sessions::{StoredOutcome, StoredStep, StoredTurn, UnknownKinds};

/// Stands behind every summary.
const AFTER_SUMMARY: &str = "Got it. Thanks for the additional context!";
/// What the user ran in shell mode, to which nothing is answered.
const SHELL_MODE: &str = "I ran the following shell command:";
/// Of a file that was imported.
const IMPORTED: &str = "Imported session from ";

/// Gemini names every message.
const NAMELESS: &str = "messages without an id";
/// All summaries together are no longer; one may stand in several turns.
const MOST_REPEATED: usize = 128 << 20;

#[derive(Default)]
pub(super) struct Replay {
    pub(super) session: String,
    pub(super) title: Option<String>,
    pub(super) is_subagent: bool,
    /// The file it was copied from.
    pub(super) imported_from: Option<String>,
    pub(super) unknown: UnknownKinds,
    dir: Option<String>,
    messages: Vec<Message>,
    by_id: HashMap<String, usize>,
    turns: Vec<Turn>,
    /// What Gemini remembers.
    list: Vec<Listed>,
    last: Last,
}

/// What happened to the list last.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Change,
    /// A session was begun or resumed.
    Header,
    /// A resume begins with an empty list; the real one follows within some milliseconds.
    Emptied,
    /// What was undone is in no list that follows.
    Rewind,
}

struct Message {
    kept: KeptMessage,
    means: Meaning,
    /// Where in the list it is, if it is there.
    place: usize,
}

#[derive(Clone, Copy)]
enum Meaning {
    /// It begins this turn, or repeats its prompt under another id.
    Prompt(usize),
    /// It stands for all up to this turn.
    Summary(Option<usize>),
    Other,
}

struct Turn {
    prompt: usize,
    parent: Option<usize>,
    parts: Vec<Part>,
    /// The last summary that stands on its path, by its message.
    summary: Option<usize>,
    /// Its prompt was removed from the list.
    was_taken_back: bool,
    error: Option<String>,
}

enum Part {
    Message(usize),
    Summary(usize),
}

#[derive(Clone, Copy)]
struct Listed {
    message: usize,
    after: State,
}

/// Where the conversation stands.
#[derive(Clone, Copy, Default)]
struct State {
    turn: Option<usize>,
    /// The summary with which the list begins, by its message.
    summary: Option<usize>,
}

impl Replay {
    /// Takes in a record, and says whether it is one.
    pub(super) fn take_line(&mut self, line: &[u8]) -> bool {
        let Ok(record) = serde_json::from_slice::<WholeRecord<'_>>(line) else { return false };
        let is_message = record.id.filled().is_some() && record.role.filled().is_some();
        let set = record.set.0;
        let is_set = set.is_some();
        let set = set.unwrap_or_default();
        let has_header = record.session.filled().is_some();
        if !is_message && !is_set && !has_header && record.rewind_to.filled().is_none() {
            return false;
        }
        for named in [record.session, set.session].into_iter().filter_map(crate::loose::Text::into_filled) {
            self.session = named;
        }
        for title in [record.summary, set.summary] {
            let title = title.get().map(str::trim).filter(|title| !title.is_empty());
            self.title = title.map(str::to_owned).or(self.title.take());
        }
        self.is_subagent |= record.kind.as_str() == "subagent";
        let dir = record.directories.0.first().and_then(|dir| dir.get());
        let dir = dir.filter(|dir| dir.starts_with('/')).map(str::to_owned);
        self.dir = dir.or(self.dir.take());
        if let Some(first) = record.rewind_to.filled() {
            self.rewind(first);
        } else if let Some(messages) = set.messages {
            self.replace(messages.0);
        } else if let Some(messages) = record.messages {
            for message in messages.0 {
                self.add(message);
            }
        } else if is_message {
            self.add(serde_json::from_slice(line).unwrap_or_default());
        } else if has_header {
            self.last = Last::Header;
        }
        true
    }

    /// The file that is read now tells what is remembered.
    pub(super) fn begin_file(&mut self) {
        self.list.clear();
        self.last = Last::Change;
    }

    fn state(&self) -> State {
        self.list.last().map(|listed| listed.after).unwrap_or_default()
    }

    fn is_listed(&self, message: usize) -> bool {
        let place = self.messages.get(message).map(|message| message.place);
        place.and_then(|place| self.list.get(place)).is_some_and(|listed| listed.message == message)
    }

    fn push(&mut self, message: usize, after: State) {
        if let Some(message) = self.messages.get_mut(message) {
            message.place = self.list.len();
        }
        self.list.push(Listed { message, after });
    }

    /// Keeps a message that was not seen before.
    fn keep(&mut self, kept: KeptMessage) -> usize {
        let at = self.messages.len();
        if !kept.id.is_empty() {
            self.by_id.insert(kept.id.clone(), at);
        }
        self.messages.push(Message { kept, means: Meaning::Other, place: usize::MAX });
        at
    }

    /// A message that was said now.
    fn add(&mut self, message: WholeMessage<'_>) {
        if message.id.filled().is_none() {
            return self.unknown.saw(1, NAMELESS);
        }
        match message.role.as_str() {
            "user" | "gemini" => {}
            "info" | "warning" | "error" => return self.note(message),
            role => return self.unknown.saw(1, &format!("message of {role}")),
        }
        if std::mem::take(&mut self.last) == Last::Emptied {
            self.list.clear();
        }
        let before = self.state();
        let (at, after) = self.place(message, before);
        if !self.is_listed(at) {
            self.push(at, after);
        }
    }

    /// What the program told the user.
    fn note(&mut self, message: WholeMessage<'_>) {
        let is_error = message.role.as_str() == "error";
        let is_import = message.id.as_str().starts_with("import-");
        let text = KeptMessage::of(message).text;
        if is_import && let Some(path) = text.strip_prefix(IMPORTED) {
            self.imported_from = Some(path.trim().to_owned());
        }
        if is_error && let Some(turn) = self.state().turn.and_then(|turn| self.turns.get_mut(turn)) {
            turn.error = Some(text);
        }
    }

    /// Finds the place of a message among all that was said: where the conversation stands behind it.
    fn place(&mut self, message: WholeMessage<'_>, before: State) -> (usize, State) {
        let is_prompt = typed(message.role.as_str(), &message.content, &message.display).is_some();
        let kept = KeptMessage::of(message);
        if let Some(at) = self.by_id.get(&kept.id).copied() {
            let means = self.messages.get_mut(at).map_or(Meaning::Other, |message| {
                message.kept.fill(kept);
                message.means
            });
            let after = match means {
                Meaning::Prompt(turn) => State { turn: Some(turn), ..before },
                Meaning::Summary(turn) => State { turn, summary: Some(at) },
                Meaning::Other => before,
            };
            return (at, after);
        }
        let is_after_summary = kept.is_answer && !kept.was_counted() && kept.text.trim() == AFTER_SUMMARY;
        let at = self.keep(kept);
        if is_prompt {
            let turn = self.begin(at, before);
            return (at, State { turn: Some(turn), ..before });
        }
        if is_after_summary && let Some(summary) = self.only_prompt(before) {
            // A copy of a session that was summarized: what looked like a prompt is the summary.
            self.turns.pop();
            let after = State { turn: None, summary: Some(summary) };
            self.means(summary, Meaning::Summary(None));
            for listed in self.list.iter_mut().rev().take_while(|listed| listed.after.turn == before.turn) {
                listed.after = after;
            }
            return (at, after);
        }
        if let Some(turn) = before.turn.and_then(|turn| self.turns.get_mut(turn)) {
            turn.parts.push(Part::Message(at));
        }
        (at, before)
    }

    fn means(&mut self, message: usize, means: Meaning) {
        if let Some(message) = self.messages.get_mut(message) {
            message.means = means;
        }
    }

    /// The prompt of the turn that was begun last, if nothing comes before it and nothing was said to it.
    fn only_prompt(&self, state: State) -> Option<usize> {
        let turn = state.turn.filter(|turn| turn + 1 == self.turns.len())?;
        let turn = self.turns.get(turn).filter(|turn| turn.parent.is_none() && turn.parts.is_empty())?;
        Some(turn.prompt)
    }

    fn begin(&mut self, prompt: usize, before: State) -> usize {
        let known = before.turn.and_then(|turn| self.turns.get(turn)).and_then(|turn| turn.summary);
        // A turn after a rewind to before the place where the summary was made.
        let untold = before.summary.filter(|summary| known != Some(*summary));
        self.turns.push(Turn {
            prompt,
            parent: before.turn,
            parts: untold.into_iter().map(Part::Summary).collect(),
            summary: before.summary.or(known),
            was_taken_back: false,
            error: None,
        });
        let turn = self.turns.len() - 1;
        self.means(prompt, Meaning::Prompt(turn));
        turn
    }

    /// All from that message on is forgotten.
    fn rewind(&mut self, first: &str) {
        if self.last == Last::Emptied {
            self.list.clear();
        }
        self.last = Last::Rewind;
        let first = self.by_id.get(first).copied().filter(|first| self.is_listed(*first));
        let keep = first.and_then(|first| self.messages.get(first)).map_or(0, |first| first.place);
        self.list.truncate(keep);
    }

    /// These messages are remembered now, and no others.
    fn replace(&mut self, mut messages: Vec<WholeMessage<'_>>) {
        let last_change = std::mem::take(&mut self.last);
        let all = messages.len();
        messages.retain(|message| message.id.filled().is_some());
        self.unknown.saw(all - messages.len(), NAMELESS);
        let has_words = messages.iter().any(|message| {
            message.role.as_str() == "gemini"
                || typed(message.role.as_str(), &message.content, &message.display).is_some()
        });
        if last_change == Last::Header && !has_words && !self.list.is_empty() {
            self.last = Last::Emptied;
            return;
        }
        let summary = self.new_summary(&messages);
        let last = self.state().turn;
        let before = std::mem::take(&mut self.list);
        let mut repeated = match summary {
            Some(summary) => self.repeated(last, messages.get(summary + 1..).unwrap_or_default()),
            None => None,
        };
        let mut state = State::default();
        for (number, message) in messages.into_iter().enumerate() {
            let is_new = !self.by_id.contains_key(message.id.as_str());
            let is_prompt = typed(message.role.as_str(), &message.content, &message.display).is_some();
            let at;
            if summary == Some(number) && is_new {
                let text = whole_text(&message);
                at = self.keep(KeptMessage::summary(message, text));
                self.means(at, Meaning::Summary(last));
                state = State { turn: last, summary: Some(at) };
                if let Some(turn) = last.and_then(|last| self.turns.get_mut(last)) {
                    turn.parts.push(Part::Summary(at));
                    turn.summary = Some(at);
                }
            } else if is_new && summary.is_some_and(|summary| number == summary + 1) {
                at = self.keep(KeptMessage::of(message));
            } else if let Some(turns) = repeated.as_mut().filter(|_| is_new && summary < Some(number)) {
                // What was kept beside the summary has new ids.
                at = self.keep(KeptMessage::of(message));
                if is_prompt && let Some(turn) = turns.pop() {
                    self.means(at, Meaning::Prompt(turn));
                    state.turn = Some(turn);
                }
            } else {
                (at, state) = self.place(message, state);
            }
            if !self.is_listed(at) {
                self.push(at, state);
            }
        }
        // Gemini takes a prompt back that failed.
        if summary.is_none() && last_change != Last::Rewind {
            for listed in before {
                let means = self.messages.get(listed.message).map(|message| message.means);
                if let Some(Meaning::Prompt(turn)) = means
                    && !self.is_listed(listed.message)
                    && let Some(turn) = self.turns.get_mut(turn)
                {
                    turn.was_taken_back = true;
                }
            }
        }
    }

    /// Where among messages a summary stands that was made now: Gemini's own first words thank for it.
    fn new_summary(&self, messages: &[WholeMessage<'_>]) -> Option<usize> {
        let thanks = messages.iter().position(|message| message.role.as_str() == "gemini")?;
        let summary = messages.get(thanks.checked_sub(1)?)?;
        let is_new = |message: &WholeMessage<'_>| !self.by_id.contains_key(message.id.as_str());
        let thanking = messages.get(thanks).filter(|message| is_new(message))?;
        let is_one = is_new(summary) && summary.role.as_str() == "user";
        let mut before = messages.get(..thanks - 1)?.iter();
        let is_first = !before.any(|it| typed(it.role.as_str(), &it.content, &it.display).is_some());
        (is_one && is_first && whole_text(thanking).trim() == AFTER_SUMMARY).then(|| thanks - 1)
    }

    /// The turns that are repeated beside a summary, the last first in the list being the first: those that end the
    /// path to `last`. `None`, if it is not certain.
    fn repeated(&self, last: Option<usize>, messages: &[WholeMessage<'_>]) -> Option<Vec<usize>> {
        let prompts = messages.iter().filter_map(|it| typed(it.role.as_str(), &it.content, &it.display));
        let mut turns = Vec::new();
        let mut at = last;
        for prompt in prompts.rev() {
            let turn = self.turns.get(at?)?;
            if self.messages.get(turn.prompt)?.kept.text != prompt {
                return None;
            }
            turns.extend(at);
            at = turn.parent;
        }
        Some(turns)
    }

    /// The turns, and the last of those that are remembered.
    pub(super) fn into_turns(self) -> (Vec<StoredTurn>, Option<usize>) {
        let head = self.state().turn;
        let mut messages: Vec<Option<KeptMessage>> =
            self.messages.into_iter().map(|message| Some(message.kept)).collect();
        let mut room = MOST_REPEATED;
        let summaries: HashMap<usize, String> = self
            .turns
            .iter()
            .flat_map(|turn| &turn.parts)
            .filter_map(|part| match part {
                Part::Summary(at) => Some((*at, messages.get(*at)?.as_ref()?.text.clone())),
                Part::Message(_) => None,
            })
            .collect();
        let mut turns = Vec::with_capacity(self.turns.len());
        for turn in self.turns {
            let Some(prompt) = messages.get_mut(turn.prompt).and_then(Option::take) else { continue };
            let mut stored = StoredTurn {
                parent: turn.parent,
                dir: self.dir.clone(),
                started_ms: prompt.time_ms,
                ended_ms: prompt.time_ms,
                ..StoredTurn::default()
            };
            if prompt.text.starts_with(SHELL_MODE) {
                stored.outcome = StoredOutcome::Completed;
            }
            (stored.id, stored.prompt, stored.attached) = (prompt.id, prompt.text, prompt.attached);
            let mut answered = HashSet::new();
            for part in turn.parts {
                let at = match part {
                    Part::Summary(at) => {
                        let summary = summaries.get(&at).filter(|summary| summary.len() <= room);
                        let summary = summary.cloned().unwrap_or_default();
                        room -= summary.len();
                        stored.steps.push(StoredStep::Compaction { summary });
                        continue;
                    }
                    Part::Message(at) => at,
                };
                let Some(message) = messages.get_mut(at).and_then(Option::take) else { continue };
                stored.ended_ms = stored.ended_ms.max(message.time_ms);
                if message.is_answer {
                    stored.outcome = if message.is_last_word() {
                        StoredOutcome::Completed
                    } else if message.was_cancelled() {
                        StoredOutcome::Interrupted
                    } else {
                        StoredOutcome::Open
                    };
                }
                message.steps(&mut answered, &mut stored.steps);
            }
            let has_failed = turn.was_taken_back || turn.error.is_some();
            if has_failed && stored.outcome != StoredOutcome::Completed {
                stored.outcome = StoredOutcome::Failed(turn.error.unwrap_or_default());
            }
            turns.push(stored);
        }
        (turns, head)
    }
}

fn whole_text(message: &WholeMessage<'_>) -> String {
    use crate::loose::TextOr;
    match &message.content {
        TextOr::Text(text) => text.clone().into_owned(),
        TextOr::Blocks(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
        TextOr::Neither => String::new(),
    }
}
