use std::io::{self, Read, Seek};
use std::ops::{ControlFlow, Range};

use rejoin_core::{Envelope, System};
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::{Entry, Problem};

/// How far a scan came.
pub(crate) struct Scanned {
    /// Behind the last whole record.
    pub(crate) end: u64,
    /// What stands after it: a write that was cut, or one that is just being done.
    pub(crate) tail: Option<Tail>,
}

pub(crate) struct Tail {
    pub(crate) line: Option<u64>,
    pub(crate) bytes: u64,
    /// See [`Entry::limits`].
    pub(crate) limits: bool,
}

/// Hands out all that stands from `from` on, until `each` has enough; `before` is the number of lines up to there, if known.
pub(crate) fn scan<R: Read + Seek>(
    lines: &mut Lines<R>,
    from: u64,
    before: Option<u64>,
    each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
) -> io::Result<Scanned> {
    lines.seek(from)?;
    let mut end = from;
    let mut number = before;
    while let Some(line) = lines.next()? {
        number = number.map(|number| number + 1);
        let place = line.place;
        // Only asked where something cannot be read.
        let limits = || line.bytes.is_none_or(may_have_been_a_level);
        let mut enough = None;
        let rest = match line.bytes {
            None => Some((0, Problem::TooLong { bytes: line.length })),
            Some(bytes) => {
                let text = bytes.trim_ascii_end().len();
                records_of(bytes, &mut |at, json, content| {
                    if enough.is_some() {
                        return;
                    }
                    let limits = content.is_err() && limits();
                    // Mostly the only one of its line.
                    let end = if at.end == text { line.length } else { at.end as u64 };
                    let (place, end) = (place + at.start as u64, place + end);
                    if each(Entry { place, end, line: number, json, content, limits }).is_break() {
                        enough = Some(end);
                    }
                })
            }
        };
        if let Some(end) = enough {
            return Ok(Scanned { end, tail: None });
        }
        match rest {
            Some((at, _)) if !line.ended => {
                let at = at as u64;
                return Ok(Scanned {
                    end: place + at,
                    tail: Some(Tail { line: number, bytes: line.length - at, limits: limits() }),
                });
            }
            Some((at, problem)) => {
                let (place, end) = (place + at as u64, place + line.length);
                let limits = limits();
                let entry = Entry { place, end, line: number, json: "", content: Err(problem), limits };
                if each(entry).is_break() {
                    return Ok(Scanned { end, tail: None });
                }
            }
            None => {}
        }
        end = place + line.length;
    }
    Ok(Scanned { end, tail: None })
}

/// Whether what is no record may have been one of what agents may do: it has words of one, or nothing tells what
/// it was. The beginning of a record that was not written to its end is told by its first words, and nothing
/// was begun after it that it limited.
fn may_have_been_a_level(line: &[u8]) -> bool {
    const BEGIN: &[u8] = b"{\"uuid\":\"";
    let text = line.trim_ascii_start();
    let tells = (text.starts_with(BEGIN) || BEGIN.starts_with(text)) && memchr::memchr(0, text).is_none();
    !tells || System::mentions_a_level(text)
}

/// Hands out every whole object of a line (records can be glued together by a foreign hand) with where it stands, then
/// says where the rest begins that is none, and what is wrong with it.
///
/// Only objects that begin where the line or another object ended count: looking for one further
/// inside would let the arguments of a tool call pose as a turn.
pub(crate) fn records_of<'a>(
    line: &'a [u8],
    each: &mut dyn FnMut(Range<usize>, &'a str, Result<Envelope<'a>, Problem>),
) -> Option<(usize, Problem)> {
    let begin = line.len() - line.trim_ascii_start().len();
    let (text, after) = text_of(line.trim_ascii_end());
    let text = text.get(begin..)?;
    if text.is_empty() && after == After::Nothing {
        return None;
    }
    if after == After::Nothing
        && let Ok(envelope) = serde_json::from_str(text)
    {
        each(begin..begin + text.len(), text, Ok(envelope));
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    loop {
        let at = begin + values.byte_offset();
        match values.next() {
            Some(Ok(raw)) if raw.get().starts_with('{') => {
                let json = raw.get();
                let content = serde_json::from_str(json).map_err(|error| Problem::not_a_record(&error));
                let json_or_none = if content.is_ok() { json } else { "" };
                let end = begin + values.byte_offset();
                each(end - json.len()..end, json_or_none, content);
            }
            Some(Ok(_)) => {
                return Some((at, Problem::NotJson { why: "a value outside of any record".into() }));
            }
            Some(Err(error)) if !error.is_eof() => return Some((at, Problem::not_json(&error))),
            // The text ended too early, or just when it should not have ended.
            end => {
                let torn = Problem::Torn { bytes: (line.len() - at) as u64 };
                return match after {
                    After::OtherBytes => Some((at, Problem::NotUtf8)),
                    After::HalfACharacter => Some((at, torn)),
                    After::Nothing => end.map(|_| (at, torn)),
                };
            }
        }
    }
}

/// The first record of a line, for whoever knows that one begins there.
pub(crate) fn first_record(line: &[u8]) -> Result<&str, Problem> {
    let (text, after) = text_of(line);
    match serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next() {
        Some(Ok(raw)) if raw.get().starts_with('{') => Ok(raw.get()),
        Some(Err(_)) if after == After::OtherBytes => Err(Problem::NotUtf8),
        Some(Err(error)) if !error.is_eof() => Err(Problem::not_json(&error)),
        _ => Err(Problem::Vanished),
    }
}

/// What follows the text at the beginning of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// Nothing: all of it is text.
    Nothing,
    /// Half a character at its very end, as a cut leaves it.
    HalfACharacter,
    /// Bytes that are no text.
    OtherBytes,
}

fn text_of(bytes: &[u8]) -> (&str, After) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, After::Nothing),
        Err(error) => {
            let (valid, _) = bytes.split_at(error.valid_up_to());
            let after = error.error_len().map_or(After::HalfACharacter, |_| After::OtherBytes);
            (std::str::from_utf8(valid).unwrap_or_default(), after)
        }
    }
}
