//! Text from outside, made fit to be shown.

use std::time::Duration;

/// Removes terminal control sequences and control characters; tabs and line ends stay.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\t' | '\n' => out.push(c),
            c if c.is_control() => {}
            // Marks that reorder text can make a line read as another one.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        // CSI: parameters, then one final byte.
        Some('[') => {
            for c in chars.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        }
        // OSC, DCS, PM, APC: up to BEL or ESC \.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// A time limit in words.
pub(crate) fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        0 => format!("{} ms", limit.as_millis()),
        seconds if seconds % 60 == 0 && seconds >= 120 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_or_sets_a_title_gets_through() {
        let nasty = "a\u{1b}[2Jb\u{1b}]0;title\u{7}c\u{1b}]8;;x\u{1b}\\d\u{9b}e\u{202e}f\u{0}g\th\n";
        assert_eq!(printable(nasty), "abcdefg\th\n");
    }
}
