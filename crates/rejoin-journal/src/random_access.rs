//! Reading single records out of a journal, wherever its bytes are.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use rejoin_core::{ConversationInfo, Envelope, System};

use crate::lines::Lines;
use crate::scan::{first_record, records_of};
use crate::{LONGEST_LINE, Problem, RawRecord};

/// Hands out the records at some places. Neighbours are read in one go.
pub(crate) fn fetch<R: Read + Seek>(
    source: R,
    places: &[u64],
    each: &mut dyn FnMut(u64, Result<RawRecord<'_>, Problem>),
) -> io::Result<()> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    let mut lines = Lines::new(source, LONGEST_LINE);
    for place in places {
        lines.seek(place)?;
        let found = match lines.next()? {
            None => Err(Problem::Vanished),
            Some(line) => match line.bytes {
                None => Err(Problem::TooLong { bytes: line.length }),
                Some(bytes) => first_record(bytes).map(|json| RawRecord { json }),
            },
        };
        each(place, found);
    }
    Ok(())
}

/// Hands out the records whose JSON contains `text`, until `each` has enough.
pub(crate) fn search<R: Read + Seek>(
    source: R,
    text: &str,
    each: &mut dyn FnMut(RawRecord<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let finder = memchr::memmem::Finder::new(text);
    let mut lines = Lines::new(source, LONGEST_LINE);
    let mut flow = ControlFlow::Continue(());
    while let (ControlFlow::Continue(()), Some(line)) = (flow, lines.next()?) {
        let Some(bytes) = line.bytes.filter(|bytes| finder.find(bytes).is_some()) else { continue };
        records_of(bytes, &mut |_, json, _| {
            if flow.is_continue() && finder.find(json.as_bytes()).is_some() {
                flow = each(RawRecord { json });
            }
        });
    }
    Ok(())
}

/// How far is looked back: some of the longest lines.
const FAR: u64 = 4 * LONGEST_LINE as u64;

/// Hands out records from the end backwards, until `each` has enough.
pub(crate) fn read_back<R: Read + Seek>(
    mut source: R,
    each: &mut dyn FnMut(&Envelope<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut end = source.seek(SeekFrom::End(0))?;
    let floor = end.saturating_sub(FAR);
    let mut step = 16 << 10;
    let mut bytes = Vec::new();
    while end > floor {
        let begin = end.saturating_sub(step).max(floor);
        source.seek(SeekFrom::Start(begin))?;
        bytes.clear();
        let length = end - begin;
        // Room for one byte more: where it is full, reading asks for the end in small steps.
        bytes.reserve_exact(usize::try_from(length).unwrap_or_default() + 1);
        source.by_ref().take(length).read_to_end(&mut bytes)?;
        // The first line may have begun before.
        let whole = match memchr::memchr(b'\n', &bytes) {
            _ if begin == 0 => 0,
            Some(newline) => newline + 1,
            None => bytes.len(),
        };
        if whole == bytes.len() {
            if begin == floor {
                break;
            }
            step *= 4;
            continue;
        }
        for line in bytes[whole..].rsplit(|byte| *byte == b'\n') {
            let mut records = Vec::new();
            records_of(line, &mut |_, _, content| records.extend(content.ok()));
            for record in records.iter().rev() {
                if each(record).is_break() {
                    return Ok(());
                }
            }
        }
        end = begin + whole as u64;
    }
    Ok(())
}

/// What a conversation is, from its first line.
pub(crate) fn info<R: Read + Seek>(source: R) -> Option<ConversationInfo> {
    let mut lines = Lines::with_buffer(source, 64 << 10, 4 << 10);
    let line = lines.next().ok()??;
    let envelope: Envelope<'_> = serde_json::from_str(first_record(line.bytes?).ok()?).ok()?;
    match envelope.system()? {
        System::Conversation(info) => Some(info),
        _ => None,
    }
}

/// Where a conversation lies now, if its project was moved since its first line was written.
pub(crate) fn follow_moves<R: Read + Seek>(source: R, info: &mut ConversationInfo) {
    // What cannot be read is reported by whoever opens the conversation.
    let _ = search(source, "\"subtype\":\"moved\"", &mut |raw| {
        if let Ok(envelope) = raw.envelope()
            && let Some(System::Moved { project, dir }) = envelope.system()
        {
            (info.project, info.dir) = (project, dir);
        }
        ControlFlow::Continue(())
    });
}
