//! Words of a shell's line: what was typed so far, and how a word is written there.

use std::fmt::Write as _;

/// What a word that is being typed means so far: without the quotes and backslashes of a shell.
pub(super) fn meant(typed: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    let mut chars = typed.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => out.extend(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, _) => out.push(c),
        }
    }
    out
}

/// A word as the script of a shell takes it: bash puts it into the line as it is, behind the quote that was typed; the
/// others see to it themselves. `None` if it cannot stand there.
pub(super) fn for_shell(shell: &str, quote: Option<char>, word: &str) -> Option<String> {
    if shell != "bash" {
        return Some(word.to_owned());
    }
    if let Some(quote) = quote {
        let special = if quote == '"' { "\"$`\\!" } else { "'" };
        return (!word.contains(|c| special.contains(c))).then(|| word.to_owned());
    }
    let mut out = String::new();
    for c in word.chars() {
        let is_plain = c.is_alphanumeric() || "_-+./:@%,=~".contains(c);
        let _ = if is_plain { write!(out, "{c}") } else { write!(out, "\\{c}") };
    }
    // At the beginning it would stand for a home directory.
    Some(if out.starts_with('~') { format!("\\{out}") } else { out })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_no_part_of_what_is_meant() {
        for typed in ["my re", "my\\ re", "'my re", "\"my re", "my' 're", "m\"y re\""] {
            assert_eq!(meant(typed), "my re", "{typed}");
        }
        assert_eq!(meant("it\\'s"), "it's");
        assert_eq!(meant("'a\\b'"), "a\\b");
        assert_eq!(meant("end\\"), "end");
    }

    #[test]
    fn bash_gets_a_word_that_it_reads_as_one() {
        let bash = |quote, word| for_shell("bash", quote, word);
        assert_eq!(bash(None, "my release").unwrap(), "my\\ release");
        assert_eq!(bash(None, "a$b;c&'d'").unwrap(), "a\\$b\\;c\\&\\'d\\'");
        assert_eq!(bash(None, "~x").unwrap(), "\\~x");
        assert_eq!(bash(None, "größe-1.2").unwrap(), "größe-1.2");
        assert_eq!(bash(Some('\''), "my $ release").unwrap(), "my $ release");
        assert_eq!((bash(Some('\''), "it's"), bash(Some('"'), "my $ release")), (None, None));
        assert_eq!(for_shell("fish", None, "my release").unwrap(), "my release");
    }
}
