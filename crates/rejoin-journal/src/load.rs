use std::collections::{HashMap, HashSet};

use rejoin_core::{Conversation, ConversationId, Envelope, System, Tree, TurnId};
use serde::Deserialize;

use crate::load_cache::CachedLoad;
use crate::turn_spans::TurnSpans;
use crate::{JournalError, Problem, Problems, Store};

/// A conversation as read from its journal.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The conversation, as far as it could be read.
    pub conversation: Conversation,
    /// What could not be used.
    pub problems: Problems,
    /// The cursor to go on reading from.
    pub end: u64,
    /// Where its turns begin and end.
    pub(crate) spans: TurnSpans,
}

impl Loaded {
    /// The newer format it is written in, of which this version may misunderstand something.
    pub fn newer_format(&self) -> Option<u32> {
        let told = self.conversation.info.as_ref().map(|info| info.schema);
        let noted = self.problems.noted.iter().filter_map(|noted| match noted.problem {
            Problem::NewerVersion { schema } => Some(schema),
            _ => None,
        });
        noted.chain(told).max().filter(|schema| *schema > System::SCHEMA)
    }
}

/// So much new has to be read before it is worth keeping what came of it.
const WORTH_KEEPING: u64 = 4 << 20;

/// Reads a conversation. The texts stay in the journal: see [`crate::messages`]. Of a large one
/// only what is new since the last time is looked at.
pub fn load(store: &dyn Store, id: ConversationId) -> Result<Loaded, JournalError> {
    load_from(store, id, CachedLoad::recall(store, id), u64::MAX)
}

/// Reads all of a conversation, whatever was kept of it: every problem is noted with its line.
pub fn load_anew(store: &dyn Store, id: ConversationId) -> Result<Loaded, JournalError> {
    load_from(store, id, None, u64::MAX)
}

/// Reads a conversation as it stood before a record was written, which stands at `place`.
pub fn load_before(store: &dyn Store, id: ConversationId, place: u64) -> Result<Loaded, JournalError> {
    load_from(store, id, None, place)
}

fn load_from(
    store: &dyn Store,
    id: ConversationId,
    kept: Option<CachedLoad>,
    until: u64,
) -> Result<Loaded, JournalError> {
    let from = kept.as_ref().map_or(0, |cached| cached.end);
    let mut last = kept.as_ref().map(|cached| cached.last);
    let (mut conversation, mut spans) =
        kept.map(|cached| (cached.conversation, cached.spans)).unwrap_or_default();
    let mut problems = Problems::default();
    let mut newest_schema = System::SCHEMA;
    let read = store.read(id, from, &mut |entry| match entry.content {
        _ if entry.place >= until => {}
        Err(problem) => {
            problems.note(Some(entry.place), entry.line, problem);
            if entry.limits {
                conversation.lose_ceiling();
            }
        }
        Ok(envelope) => {
            if let Some(schema) = schema_of(&envelope).filter(|schema| *schema > newest_schema) {
                newest_schema = schema;
                problems.note(Some(entry.place), entry.line, Problem::NewerVersion { schema });
            }
            conversation.apply(&envelope, entry.place);
            spans.apply(&envelope, entry.place);
            last = Some((entry.place, envelope.uuid));
        }
    });
    let end = match read {
        // Another journal than the one that was loaded.
        Err(JournalError::Shrunk { .. }) if from > 0 => {
            if let Ok(files) = store.files() {
                files.forget_load(id);
            }
            return load_anew(store, id);
        }
        read => read?.min(until),
    };
    // That of a newer version may be there, and not be understood.
    if newest_schema == System::SCHEMA
        && conversation.derive_info(|dir| store.files().ok()?.project_around(id, dir))
    {
        problems.note(None, None, Problem::FirstRecordLost);
    }
    note_gaps(&conversation.tree, &mut problems);
    let mut loaded = Loaded { conversation, problems, end, spans };
    // Other problems than a cut write are told every time, so they must be met every time.
    let only_torn = loaded.problems.noted.iter().all(|noted| matches!(noted.problem, Problem::Torn { .. }));
    if let Some(last) = last.filter(|_| end - from > WORTH_KEEPING && only_torn && until == u64::MAX) {
        let cached = CachedLoad { end, last, conversation: loaded.conversation, spans: loaded.spans };
        if let (Ok(files), Some(bytes)) = (store.files(), cached.write(id)) {
            files.keep_load(id, &bytes);
        }
        (loaded.conversation, loaded.spans) = (cached.conversation, cached.spans);
    }
    Ok(loaded)
}

/// The format a first record says it begins, also where the rest of it is not understood.
fn schema_of(envelope: &Envelope<'_>) -> Option<u32> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let says = envelope.subtype.as_deref() == Some("conversation");
    let payload = envelope.system_payload.filter(|_| says)?;
    Some(serde_json::from_str::<Version>(payload.get()).ok()?.schema)
}

fn note_gaps(tree: &Tree, problems: &mut Problems) {
    let mut told = HashSet::new();
    for parent in tree.orphans() {
        if told.insert(parent) {
            problems.note(None, None, Problem::MissingParent { parent });
        }
    }
    for turn in cycles(tree) {
        problems.note(None, None, Problem::Cycle { turn });
    }
}

/// One turn of each circle. Every turn is passed once: a walk ends where an earlier one came by.
fn cycles(tree: &Tree) -> Vec<TurnId> {
    let mut cycles = Vec::new();
    let mut passed_by: HashMap<TurnId, usize> = HashMap::new();
    for (walk, turn) in tree.turns().iter().enumerate() {
        let mut next = Some(turn);
        while let Some(turn) = next {
            match passed_by.insert(turn.id, walk) {
                Some(earlier) if earlier == walk => {
                    cycles.push(turn.id);
                    break;
                }
                Some(_) => break,
                None => next = turn.parent.and_then(|parent| tree.turn(parent)),
            }
        }
    }
    cycles
}
