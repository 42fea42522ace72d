//! How a prompt reaches Gemini as text.
//!
//! Gemini (0.61.0) acts on some signs in what it reads from its input, and there is no other way in:
//! - a leading `/` runs a command, and a prompt that begins with `/` or `?` is left out of the
//!   memory when the session is resumed. A character that is none to the eye stands before it.
//! - an `@` before the name of a file, an agent or a resource puts that into the prompt, wherever
//!   it stands, in quoted history too. A backslash before it is Gemini's own sign for "no".
//!
//! Everything else goes as it is.

use std::borrow::Cow;

/// No space to Gemini, nothing to the eye.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// What Gemini does not count as a part of the conversation when it stands first.
const FORGOTTEN: &[&str] = &["/", "?", "<session_context>", "<hook_context>"];

/// The prompt, with a sign before everything Gemini would act on. `acts` says whether a name after
/// an `@` means something to it.
pub(super) fn guarded(prompt: &str, acts: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut marks: Vec<(usize, char)> = Vec::new();
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let begins = prompt.len() - prompt.trim_start_matches(blank).len();
    if FORGOTTEN.iter().any(|start| prompt[begins..].starts_with(start)) {
        marks.push((begins, ZERO_WIDTH_SPACE));
    }
    marks.extend(mentions(prompt).into_iter().filter(|(_, name)| acts(name)).map(|(at, _)| (at, '\\')));
    if marks.is_empty() {
        return Cow::Borrowed(prompt);
    }
    let mut text = String::with_capacity(prompt.len() + marks.len() * 3);
    let mut from = 0;
    for (at, mark) in marks {
        text.push_str(&prompt[from..at]);
        text.push(mark);
        from = at;
    }
    text.push_str(&prompt[from..]);
    Cow::Owned(text)
}

/// The names after an `@`, each with the place of its `@`, as Gemini cuts them out.
pub(super) fn mentions(prompt: &str) -> Vec<(usize, Cow<'_, str>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = prompt[from..].find('@').map(|at| from + at) {
        let name = &prompt[at + 1..];
        let end = name_end(name);
        from = at + 1 + end;
        if end > 0 && !prompt[..at].ends_with('\\') {
            found.push((at, unescaped(&name[..end])));
        }
    }
    found
}

/// How far a name goes: up to a blank or a sign of a sentence; what is quoted or escaped belongs to
/// it, and a dot inside.
fn name_end(text: &str) -> usize {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let after = at + c.len_utf8();
        let rest = &text[after..];
        at = match c {
            '"' => rest.find('"').map_or(after, |end| after + end + 1),
            '\\' => match rest.chars().next().filter(|c| *c != '\n' && *c != '\r') {
                Some(c) => after + c.len_utf8(),
                None => after,
            },
            '.' if rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']) => return at,
            ' ' | '\t' | '\n' | '\r' | ',' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => {
                return at;
            }
            _ => after,
        };
    }
    at
}

fn unescaped(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_out_as_gemini_does() {
        for (prompt, names) in [
            ("plain", &[][..]),
            ("@ home, look @", &[]),
            ("@a.txt", &["a.txt"]),
            ("see @src/main.rs.", &["src/main.rs"]),
            ("see @a.txt. Then (@b) or @c, @d!", &["a.txt", "b", "c", "d"]),
            ("me@example.com", &["example.com"]),
            ("@my\\ file.txt x", &["my file.txt"]),
            ("@\"my file.txt\" x", &["\"my file.txt\""]),
            ("@\"open", &["\"open"]),
            ("\\@no @yes", &["yes"]),
            ("@@twice", &["@twice"]),
            ("@é\n@ü", &["é", "ü"]),
            ("@.", &[]),
        ] {
            let found: Vec<String> =
                mentions(prompt).into_iter().map(|(_, name)| name.into_owned()).collect();
            assert_eq!(found, names, "{prompt:?}");
        }
    }

    #[test]
    fn only_what_acts_is_marked() {
        let guard = |prompt: &'static str| guarded(prompt, |name| name.starts_with('x'));
        for same in ["hello", "-x", "!ls", "a@y @ x", "1/2", "// no", "what?", "\\@x"] {
            let expected = same.replace("// no", "\u{200b}// no");
            assert_eq!(guard(same), expected, "{same}");
        }
        assert_eq!(guard("/clear"), "\u{200b}/clear");
        assert_eq!(guard(" \n/clear"), " \n\u{200b}/clear");
        assert_eq!(guard("?why"), "\u{200b}?why");
        assert_eq!(guard("/x @x and @y, @x2"), "\u{200b}/x \\@x and @y, \\@x2");
        assert_eq!(guard("<session_context>"), "\u{200b}<session_context>");
    }
}
