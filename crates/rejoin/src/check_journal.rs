//! Journals, checked record by record, and repaired where appending can repair.

use std::collections::HashSet;
use std::fmt;

use rejoin_core::{ConversationId, Kind, System};
use rejoin_journal::{Noted, Problem, load_anew};
use serde::{Serialize, Serializer};

use crate::{Error, Rejoin};

/// What a check of a journal found, as `rejoin fsck --json` prints it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct JournalCheck {
    /// The conversation.
    pub id: ConversationId,
    /// Turns that could be read.
    pub turns: usize,
    /// As it stands now, repaired or not, nothing that was ever acknowledged is lost, and its end is
    /// whole.
    pub sound: bool,
    /// What is wrong, each with its line.
    pub problems: Vec<JournalProblem>,
    /// How many problems there are; only the first hundred are kept.
    pub count: u64,
    /// What was appended to repair it.
    pub repaired: Vec<&'static str>,
}

/// Something in a journal that cannot be used, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct JournalProblem {
    /// The line, counted from 1, where it is known.
    pub line: Option<u64>,
    /// Where, in bytes from the beginning, if it stands in one place.
    #[serde(rename = "byte")]
    pub place: Option<u64>,
    /// What.
    #[serde(serialize_with = "in_words")]
    pub problem: Problem,
}

fn in_words<S: Serializer>(problem: &Problem, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(problem)
}

impl From<Noted> for JournalProblem {
    fn from(Noted { place, line, problem }: Noted) -> Self {
        Self { line, place, problem }
    }
}

/// As people are told it, with its place.
impl fmt::Display for JournalProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, line, problem } = self.clone();
        Noted { place, line, problem }.fmt(f)
    }
}

impl Rejoin {
    /// Reads every record of a conversation, and repairs what appending can repair.
    pub fn check(&self, id: ConversationId, repair: bool) -> Result<JournalCheck, Error> {
        let store = self.engine.store();
        let loaded = load_anew(store, id)?;
        let mut problems = loaded.problems;
        let mut prompts = HashSet::new();
        store.read(id, 0, &mut |entry| {
            let Ok(envelope) = entry.content else { return };
            if envelope.kind == Kind::User && !prompts.insert(envelope.uuid) {
                let message = envelope.uuid;
                problems.note(Some(entry.place), entry.line, Problem::Repeated { message });
            }
        })?;
        let conversation = &loaded.conversation;
        let mut lost = conversation.info.is_none() || conversation.info_is_derived;
        let first = |noted: &Noted| noted.problem == Problem::FirstRecordLost;
        let damaged = problems.losses > u64::from(problems.noted.iter().any(first));
        if loaded.end == 0 && problems.is_empty() {
            problems.note(None, None, Problem::Empty);
        } else if conversation.info.is_none() {
            problems.note(None, None, Problem::NotARecord { why: "the first record is lost".into() });
        }
        let mut torn_end = problems.noted.iter().any(|noted| noted.place == Some(loaded.end));
        let mut repaired = Vec::new();
        if repair && !problems.is_empty() {
            let hold = self.engine.hold(id, "repairing it")?;
            if store.appender(id, hold.writer())?.seal()? {
                torn_end = false;
                repaired.push("an unfinished last line was ended");
            }
            if let Some(info) = conversation.info.as_ref().filter(|_| lost) {
                self.engine.note_under(&hold, info, &[System::Conversation(info.clone())])?;
                lost = false;
                repaired.push("what the conversation is was written anew, from where its turns ran");
            }
        }
        let turns = loaded.conversation.tree.turns().len();
        let sound = !(torn_end || lost || damaged);
        let count = problems.count;
        let problems = problems.noted.into_iter().map(JournalProblem::from).collect();
        Ok(JournalCheck { id, turns, sound, problems, count, repaired })
    }
}
