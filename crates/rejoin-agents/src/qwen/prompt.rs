//! How a prompt reaches Qwen as text.
//!
//! Qwen (0.15.10) runs a leading `/` as a command, puts the file into the prompt that an `@` names, and moves
//! spaces around every other `@`. Its blocks of a message are joined before it looks, so they are no
//! way around that. A line break in front stops the first, its own `\@` the second.

use std::borrow::Cow;

/// What Qwen reads of a prompt; more is cut without a failure.
pub(super) const LONGEST: usize = 8 << 20;

/// The prompt as it has to be written, and whether signs were added inside.
pub(super) fn plain(prompt: &str, exists: impl Fn(&str) -> bool) -> (Cow<'_, str>, bool) {
    let command = prompt.starts_with('/');
    let escapes = at_signs(prompt).any(|at| !stays(prompt, at, &exists));
    if !command && !escapes {
        return (Cow::Borrowed(prompt), false);
    }
    let mut text = String::with_capacity(prompt.len() + 16);
    if command {
        text.push('\n');
    }
    let mut from = 0;
    for at in at_signs(prompt).filter(|_| escapes) {
        text.push_str(&prompt[from..at]);
        text.push('\\');
        from = at;
    }
    text.push_str(&prompt[from..]);
    (Cow::Owned(text), escapes)
}

/// Where an `@` stands that Qwen looks at.
fn at_signs(prompt: &str) -> impl Iterator<Item = usize> + '_ {
    prompt.match_indices('@').map(|(at, _)| at).filter(|at| !prompt[..*at].ends_with('\\'))
}

/// Whether Qwen leaves an `@` and what stands around it as they are: it begins a word of plain
/// letters that names no file.
fn stays(prompt: &str, at: usize, exists: &impl Fn(&str) -> bool) -> bool {
    let mut before = prompt[..at].chars().rev();
    let begins_a_word = match (before.next(), before.next()) {
        (None, _) => true,
        (Some(' '), Some(c)) => !c.is_whitespace(),
        _ => false,
    };
    let rest = &prompt[at + 1..];
    let end = rest.find(|c: char| c.is_whitespace() || ",;!?()[]{}".contains(c)).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('.');
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    begins_a_word && !name.is_empty() && name.chars().all(plain) && !exists(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(prompt: &str) -> String {
        plain(prompt, |name| name == "a.txt").0.into_owned()
    }

    #[test]
    fn an_ordinary_prompt_is_written_as_it_is() {
        for prompt in
            ["hello", "-x", " /x", "!ls", "?", "#x", "1/2", "ask @bob, then @eve.", "@b.txt", r"a\@a.txt"]
        {
            assert_eq!(written(prompt), prompt);
        }
    }

    #[test]
    fn nothing_is_left_to_act() {
        for (prompt, expected) in [
            ("/clear all", "\n/clear all"),
            ("//x", "\n//x"),
            ("see @a.txt", r"see \@a.txt"),
            ("see @a.txt, @b", r"see \@a.txt, \@b"),
            ("see @a.txt.", r"see \@a.txt."),
            ("bob@example.com", r"bob\@example.com"),
            ("x\n@Override", "x\n\\@Override"),
            ("x  @y", r"x  \@y"),
            ("see @server:thing", r"see \@server:thing"),
            (r"@a\ b", r"\@a\ b"),
            ("a @ b", r"a \@ b"),
            ("/x @a.txt", "\n/x \\@a.txt"),
        ] {
            assert_eq!(written(prompt), expected, "{prompt:?}");
        }
    }
}
