//! What tells a terminal a colour or a place, so that it is not taken for a part of a word: in `\u{1b}[31mzanzibar`
//! a person reads one word, whether the escape is there, was written out by `show`, or stands in a script.

/// No sequence has more than this between its beginning and its end.
const LONGEST: usize = 48;

/// Escapes as they are written out, each right before the `[`.
const WRITTEN: &[&[u8]] = &[
    b"\x1b",
    "␛".as_bytes(),
    b"\\e",
    b"\\E",
    b"\\033",
    b"\\x1b",
    b"\\x1B",
    b"\\u001b",
    b"\\u001B",
    b"\\u{1b}",
    b"^[",
];

/// Where the sequence ends that the letter or digit at `begin` is the first one of; `None` if it is of none.
#[inline]
pub(crate) fn escape_sequence_end(text: &[u8], begin: usize) -> Option<usize> {
    match text.get(begin.checked_sub(1)?)? {
        b'[' | b'?' | b'>' | b'<' | b'=' | b';' | b'(' | b')' | 0x1b | 0x9b => sequence_end(text, begin),
        _ => None,
    }
}

#[cold]
fn sequence_end(text: &[u8], begin: usize) -> Option<usize> {
    let before = &text[..begin];
    if let [.., 0x1b] | [.., 0x1b, b'(' | b')'] = before {
        // One letter says all.
        return Some(begin + 1);
    }
    // `[?25l`: what is no letter and no digit may come first.
    let signs = before.iter().rev().take(2).take_while(|byte| b"?><=;".contains(byte)).count();
    let before = &before[..before.len() - signs];
    let introduced = match before.strip_suffix(b"[") {
        Some(escape) => WRITTEN.iter().any(|written| escape.ends_with(written)),
        None => before.ends_with("\u{9b}".as_bytes()),
    };
    if !introduced {
        return None;
    }
    let rest = text[begin..].iter().take(LONGEST);
    let numbers = rest.take_while(|byte| byte.is_ascii_digit() || b";:?><=".contains(byte)).count();
    let last = text.get(begin + numbers)?;
    last.is_ascii_alphabetic().then_some(begin + numbers + 1)
}
