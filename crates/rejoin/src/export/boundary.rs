//! Where a secret can begin. Tokens stand in escaped texts, coloured texts and addresses as well as in plain
//! ones: there a letter or a digit right before them need not be a part of the same word.

use regex::bytes::Regex;

/// What ends in a letter or a digit and is no part of the word behind it.
const NO_PART_OF_A_WORD: &str = r"(?x-u)(?:
    # Escapes: `\n`, `\033`, `\x1b`, `\u001b`, however often they were escaped again.
    \\(?: [bfnrtv] | [0-7]{1,3} | x[0-9A-Fa-f]{2} | u[0-9A-Fa-f]{4} )
    # `%3D`, `%253D`; `=3D` of mails.
    | %(?:25)*[0-9A-Fa-f]{2} | =3D
    # Colours and the like, whatever became of the escape before them: `[1;32m`. Without a number, only with it.
    | \[[0-9;:?]+[A-Za-z]
    | (?: \x1b | \\[eE] | 33 | 1[bB] | \^\[ | \xe2\x90\x9b )\[[A-Za-z]
    | \x1b[()][0-9AB]
    )\z";

/// The longest of them, about.
const LONGEST: usize = 32;

/// Tells where a secret can begin.
pub(super) struct Boundary(Option<Regex>);

impl Boundary {
    pub(super) fn new() -> Self {
        // An expression that is none would be a mistake of ours; the tests try it.
        Self(Regex::new(NO_PART_OF_A_WORD).ok())
    }

    /// Whether what begins here is the beginning of a word, or of a path. A name before a `_` is another word.
    pub(super) fn is_at(&self, text: &[u8], at: usize) -> bool {
        let (Some(first), Some(before)) = (text.get(at), at.checked_sub(1).map(|before| text[before])) else {
            return true;
        };
        let goes_on = match first {
            b'/' => before.is_ascii_alphanumeric() || b"_.~-".contains(&before),
            first if first.is_ascii_alphanumeric() || *first == b'_' => before.is_ascii_alphanumeric(),
            _ => false,
        };
        !goes_on || self.is_behind_an_escape(&text[at.saturating_sub(LONGEST)..at])
    }

    /// The next such place from here on, or the end.
    pub(super) fn next(&self, text: &[u8], from: usize) -> usize {
        (from..text.len()).find(|at| self.is_at(text, *at)).unwrap_or(text.len())
    }

    fn is_behind_an_escape(&self, before: &[u8]) -> bool {
        // Most words of a text have none of these before them.
        before.iter().any(|byte| b"\\%=[\x1b".contains(byte))
            && self.0.as_ref().is_some_and(|escape| escape.is_match(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_begins_behind_what_is_no_letter_and_behind_an_escape() {
        let boundary = Boundary::new();
        for before in [
            "",
            " ",
            "\"",
            "é",
            "TOKEN_",
            "line\\n",
            "a\\\\n",
            "\\t",
            "\\u0022",
            "\\x1b",
            "\\033",
            "x%3D",
            "%22",
            "a%253d",
            "=3D",
            "\u{1b}[32m",
            "\u{1b}[m",
            "\u{1b}[K",
            "\u{1b}[38;2;255;255;255m",
            "\\u001b[1;32m",
            "\\u001b[m",
            "\\x1B[m",
            "\\e[0m",
            "\\033[K",
            "^[[m",
            "␛[m",
            "\u{1b}(B",
        ] {
            let text = format!("{before}word");
            assert!(boundary.is_at(text.as_bytes(), before.len()), "{before:?}");
        }
        for before in ["ta", "x\\na", "%2", "100%", "[a", "[ta", "[32", "\\a", "9", "\u{1b}[32ma"] {
            let text = format!("{before}word");
            let is_word = before.ends_with(|c: char| c.is_ascii_alphanumeric());
            assert_eq!(boundary.is_at(text.as_bytes(), before.len()), !is_word, "{before:?}");
        }
    }

    #[test]
    fn a_path_begins_where_no_other_goes_on() {
        let boundary = Boundary::new();
        for (before, begins) in [
            ("", true),
            (" ", true),
            ("://", true),
            ("\\n", true),
            ("host", false),
            ("..", false),
            ("~", false),
        ] {
            let text = format!("{before}/home/ann");
            assert_eq!(boundary.is_at(text.as_bytes(), before.len()), begins, "{before:?}");
        }
    }
}
