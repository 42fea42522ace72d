//! Lines that were longer than the limit: what is there is made whole again, so that one path
//! reads all lines and a huge last line still ends the turn.

use std::borrow::Cow;

use crate::Line;

/// Stands at the end of a text that was cut.
pub(crate) const MARK: &str = " [cut here by rejoin: the line was too long]";

/// Nobody nests deeper; a line that does is not worth repairing.
const DEEPEST: usize = 120;

/// The line as text fit for a JSON reader: what is no UTF-8 replaced, what was cut closed.
pub(crate) fn text(line: Line<'_>) -> Cow<'_, str> {
    if !line.truncated {
        return decoded(line.bytes);
    }
    let text = decoded(without_half_a_character(line.bytes));
    repair(&text).map_or(text, Cow::Owned)
}

/// Looks at whole words of memory first: reading lossily from the start is many times slower.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// A cut may fall inside a character of several bytes.
fn without_half_a_character(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let start = bytes.len() - back;
        let length = match bytes[start] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => 1,
        };
        return if length > back { &bytes[..start] } else { bytes };
    }
    bytes
}

/// Closes a JSON value that was cut anywhere: an open text ends with [`MARK`], a dangling key or
/// half a number is dropped, open brackets are closed. `None` if it was no JSON object.
pub(crate) fn repair(text: &str) -> Option<String> {
    let cut = Cut::find(text)?;
    let mut whole = String::with_capacity(text.len() + MARK.len() + cut.open.len() + 1);
    match cut.text_until {
        Some(end) => {
            whole.push_str(&text[..end]);
            whole.push_str(MARK);
            whole.push('"');
        }
        None => whole.push_str(&text[..cut.sound_until]),
    }
    whole.extend(cut.open.iter().rev().map(|bracket| if *bracket == b'{' { '}' } else { ']' }));
    Some(whole)
}

/// Where a cut line can be closed.
#[derive(Default)]
struct Cut {
    /// Brackets that are open at that place.
    open: Vec<u8>,
    /// The end of the last complete value, or of the bracket just opened.
    sound_until: usize,
    /// The cut is inside a text that is a value: its last whole character ends here.
    text_until: Option<usize>,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Key,
    Colon,
    Value,
    CommaOrClose,
}

impl Cut {
    fn find(text: &str) -> Option<Cut> {
        let bytes = text.as_bytes();
        let mut cut = Cut::default();
        let mut next = Next::Value;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match (byte, next) {
                (b' ' | b'\t' | b'\r' | b'\n', _) => at += 1,
                (b'{' | b'[', Next::Value) if cut.open.len() < DEEPEST => {
                    cut.open.push(byte);
                    next = if byte == b'{' { Next::Key } else { Next::Value };
                    at += 1;
                    cut.sound_until = at;
                }
                _ if cut.open.is_empty() => return None,
                (b'{' | b'[', _) => return None,
                (b'}' | b']', _) => {
                    let opened = if byte == b'}' { b'{' } else { b'[' };
                    if cut.open.pop() != Some(opened) {
                        return None;
                    }
                    next = Next::CommaOrClose;
                    at += 1;
                    cut.sound_until = at;
                    if cut.open.is_empty() {
                        return Some(cut);
                    }
                }
                (b',', Next::CommaOrClose) => {
                    next = if cut.open.last() == Some(&b'{') { Next::Key } else { Next::Value };
                    at += 1;
                }
                (b':', Next::Colon) => {
                    next = Next::Value;
                    at += 1;
                }
                (b'"', Next::Key | Next::Value) => match end_of_text(bytes, at + 1) {
                    Ok(end) if next == Next::Key => {
                        next = Next::Colon;
                        at = end;
                    }
                    Ok(end) => {
                        next = Next::CommaOrClose;
                        at = end;
                        cut.sound_until = at;
                    }
                    Err(last_whole) => {
                        cut.text_until = (next == Next::Value).then_some(last_whole);
                        return Some(cut);
                    }
                },
                (_, Next::Value) => {
                    let rest = &bytes[at..];
                    let length = rest.iter().position(|b| b",]} \t\r\n".contains(b)).unwrap_or(rest.len());
                    at += length.max(1);
                    if at < bytes.len() {
                        next = Next::CommaOrClose;
                        cut.sound_until = at;
                    }
                }
                _ => return None,
            }
        }
        (!cut.open.is_empty()).then_some(cut)
    }
}

/// The place after the closing quote of a text that begins at `from`; if it is not closed, the
/// place after its last whole character.
fn end_of_text(bytes: &[u8], from: usize) -> Result<usize, usize> {
    let mut at = from;
    loop {
        let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
            return Err(bytes.len());
        };
        at += found;
        if bytes[at] == b'"' {
            return Ok(at + 1);
        }
        let escape = at;
        match bytes.get(at + 1) {
            None => return Err(escape),
            Some(b'u') => {
                let Some(digits) = bytes.get(at + 2..at + 6) else {
                    return Err(escape);
                };
                at += 6;
                // No reader accepts the first half of a pair alone: the second belongs to it.
                let half = is_high_surrogate(digits) && bytes.len() < at + 6;
                if half && bytes.get(at).is_none_or(|next| *next == b'\\') {
                    return Err(escape);
                }
            }
            Some(_) => at += 2,
        }
    }
}

fn is_high_surrogate(digits: &[u8]) -> bool {
    matches!(digits, [b'd' | b'D', b'8' | b'9' | b'a' | b'A' | b'b' | b'B', _, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"type":"x","a":[1,-2.5e3,{"b":"t\u00e9\ud83d\ude00\n\\"},[],{}],"c":true,"d":null,"e":"é😀","f":{"g":"h"}}"#;

    #[test]
    fn a_line_cut_at_any_byte_is_valid_again() {
        for cut in 1..LINE.len() {
            let line = Line { bytes: &LINE.as_bytes()[..cut], truncated: true };
            let text = text(line);
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{cut}: {text}");
        }
    }

    #[test]
    fn what_was_complete_is_kept_and_what_was_cut_is_marked_or_dropped() {
        for (cut, whole) in [
            (r#"{"a":"b","c":"d"#, r#"{"a":"b","c":"d [cut here by rejoin: the line was too long]"}"#),
            (r#"{"a":"b","c":"d\"#, r#"{"a":"b","c":"d [cut here by rejoin: the line was too long]"}"#),
            (r#"{"a":"b","c":"d\u00e"#, r#"{"a":"b","c":"d [cut here by rejoin: the line was too long]"}"#),
            (
                r#"{"a":"b","c":"d\ud83d\ude"#,
                r#"{"a":"b","c":"d [cut here by rejoin: the line was too long]"}"#,
            ),
            (r#"{"a":"b","c":"d\\"#, r#"{"a":"b","c":"d\\ [cut here by rejoin: the line was too long]"}"#),
            (r#"{"a":"b","c":"#, r#"{"a":"b"}"#),
            (r#"{"a":"b","c"#, r#"{"a":"b"}"#),
            (r#"{"a":"b","#, r#"{"a":"b"}"#),
            (r#"{"a":[1,2,12"#, r#"{"a":[1,2]}"#),
            (r#"{"a":[1,{"b":tru"#, r#"{"a":[1,{}]}"#),
            (r#"{"a":1} trailing"#, r#"{"a":1}"#),
            ("{", "{}"),
        ] {
            assert_eq!(repair(cut).as_deref(), Some(whole), "{cut}");
        }
    }

    #[test]
    fn what_is_no_json_is_left_as_it_is() {
        for odd in ["", "progress", "1", "\"x", "}{", "{]", "{1", "{\"a\" \"b\"", &"[".repeat(1000)] {
            assert_eq!(repair(odd), None, "{odd}");
        }
    }
}
