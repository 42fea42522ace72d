//! Text from outside, made fit to be shown.

use std::time::Duration;

/// A line an agent wrote to standard error, as it is told and shown: without colours, everything else to
/// be seen.
pub(crate) fn diagnostic(line: &str) -> String {
    rejoin_core::visible(&without_colours(line)).into_owned()
}

/// Takes out the sequences that only colour what comes after them, if they are whole: `ESC [ 1 ; 31 m`.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        if let Some(rest) = after.strip_prefix('m') {
            out.push_str(rest);
        } else {
            out.push_str("\u{1b}[");
            out.push_str(part);
        }
    }
    out
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
    fn a_diagnostic_loses_its_colours_and_nothing_else() {
        assert_eq!(diagnostic("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mno\tkey\u{1b}[m"), "Error: no\tkey");
        assert_eq!(diagnostic("a\u{1b}[2Jb\u{1b}]0;title"), "a␛[2Jb␛]0;title");
        assert_eq!(diagnostic("cut \u{1b}[3"), "cut ␛[3");
    }
}
