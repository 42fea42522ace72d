//! Text as a page may have it.

use rejoin_core::{visible, visible_line};

/// A name, which cannot begin a line.
pub(super) fn label(text: &str) -> String {
    escaped(&visible_line(text))
}

/// A browser obeys marks that reorder text, and shows no control characters: all of it is to be seen.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// What a tool printed, without the colours it had on a terminal: they are no words.
pub(super) fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let numbers =
            behind.bytes().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':')).count();
        if behind.as_bytes().get(numbers) == Some(&b'm') {
            rest = &behind[numbers + 1..];
        } else {
            out.push_str("\u{1b}[");
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}
