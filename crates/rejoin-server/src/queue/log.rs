//! The queue of a conversation on the disk: one log, appended to, and rewritten when most of it is history.

use std::io::Read;

use rejoin::{ConversationId, Rejoin};
use rejoin_journal::{JournalError, LogKind};

use super::entry::Entry;
use super::state::QueueState;

const KIND: LogKind = LogKind::Queue;

/// Fewer lines than this are not worth being rewritten.
const FEW: usize = 64;

/// What a line looks like.
pub(super) fn written(entry: &Entry) -> Vec<u8> {
    let mut line = serde_json::to_vec(entry).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The lines of a log; those that are none, torn ones for instance, are passed over.
pub(super) fn read_lines(bytes: &[u8]) -> impl Iterator<Item = Entry> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// Adds lines to the log of a conversation. With `sync` they survive a loss of power when it returns.
pub(super) fn append(
    rejoin: &Rejoin,
    conversation: ConversationId,
    entries: &[Entry],
    sync: bool,
) -> Result<(), JournalError> {
    let mut end = rejoin.store().logs().open(KIND, conversation.uuid())?;
    let mut bytes = if end.is_torn() { vec![b'\n'] } else { Vec::new() };
    bytes.extend(entries.iter().flat_map(written));
    end.append(&bytes)?;
    if sync { end.sync() } else { Ok(()) }
}

/// Reads the log of a conversation: how its queue stands, and of how many lines that was made.
pub(super) fn load(
    rejoin: &Rejoin,
    conversation: ConversationId,
) -> Result<(QueueState, usize), JournalError> {
    let mut bytes = Vec::new();
    let place = rejoin.store().logs().place(KIND, conversation.uuid());
    let read = rejoin.store().logs().read(KIND, conversation.uuid())?.read_to_end(&mut bytes);
    read.map_err(|cause| JournalError::Io { what: "read", path: place, cause })?;
    let (mut state, mut lines) = (QueueState::default(), 0);
    for entry in read_lines(&bytes) {
        state.apply(entry);
        lines += 1;
    }
    Ok((state, lines))
}

/// All conversations that have one.
pub(super) fn conversations(rejoin: &Rejoin) -> Result<Vec<ConversationId>, JournalError> {
    Ok(rejoin.store().logs().ids(KIND)?.into_iter().map(ConversationId::new).collect())
}

/// Writes the log anew, in as few lines as make the same state, if it has grown to many more. How many it has then.
pub(super) fn compact(
    rejoin: &Rejoin,
    conversation: ConversationId,
    state: &QueueState,
    lines: usize,
) -> Result<usize, JournalError> {
    if state.is_empty() {
        rejoin.store().logs().remove(KIND, conversation.uuid())?;
        return Ok(0);
    }
    let entries = state.entries();
    if lines < FEW || lines < entries.len() * 2 {
        return Ok(lines);
    }
    let bytes: Vec<u8> = entries.iter().flat_map(written).collect();
    rejoin.store().logs().rewrite(KIND, conversation.uuid(), &bytes)?;
    Ok(entries.len())
}
