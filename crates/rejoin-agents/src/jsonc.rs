//! JSON with comments and commas too many, as people write configuration.

use std::path::Path;

use rejoin_files::read_regular_text;
use serde_json::Value;

/// Nobody's configuration is longer.
pub(crate) const LONGEST: u64 = 4 << 20;

/// What stands in a file of settings; one that cannot be read says nothing.
pub(crate) fn file(path: &Path) -> Option<Value> {
    read(&read_regular_text(path, LONGEST).ok()?)
}

/// Reads it; `None` if it is no such thing.
pub(crate) fn read(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain(text))).ok()
}

/// Without comments and without commas before a closing bracket.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '"' {
            let (string, after) = rest.split_at(string_end(rest));
            plain.push_str(string);
            rest = after;
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else {
            if matches!(c, '}' | ']') {
                let kept = plain.trim_end();
                let kept = kept.strip_suffix(',').unwrap_or(kept).len();
                plain.truncate(kept);
            }
            plain.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    plain
}

/// Where a text in quotes ends, its quotes included.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_passed_over() {
        let text = "\u{feff}// one\n{ /* two */ \"a\": \"//é\\\" /* no */\", \"b\": [1, 2, ], // three\n}\n";
        assert_eq!(read(text), Some(json!({ "a": "//é\" /* no */", "b": [1, 2] })));
        for odd in ["", "{", "\"", "/*", "{]", "// x"] {
            assert_eq!(read(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let project = tempfile::tempdir().unwrap();
        let settings = project.path().join("opencode.json");
        crate::pipes::put(&settings);
        assert_eq!(crate::pipes::not_waited_for(move || file(&settings)), None);
    }
}
