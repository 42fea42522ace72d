//! Paths as they are typed: words with quotes and backslashes, and what Tab makes of their beginning.

use std::path::Path;

use super::file_mentions::from_home;
use crate::screen::label;

/// How many files are offered.
const OFFERED: usize = 50;

/// The words of a line, as a shell has them: blanks part them, unless in quotes or behind a backslash.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The files and directories that begin like this, directories with a slash behind them. Hidden ones only if asked
/// for; those whose names could not stand in a line as they are, never.
pub(super) fn beginning_with(typed: &str, dir: &Path) -> Vec<String> {
    let (parent, name) = match typed.rfind('/') {
        Some(slash) => typed.split_at(slash + 1),
        None => ("", typed),
    };
    let Ok(entries) = std::fs::read_dir(dir.join(from_home(parent))) else { return Vec::new() };
    let fits = |entry: &str| {
        entry.starts_with(name)
            && (name.starts_with('.') || !entry.starts_with('.'))
            && label(entry) == *entry
    };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let file_name = entry.file_name().into_string().ok().filter(|name| fits(name))?;
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{parent}{file_name}{slash}"))
        })
        .collect();
    found.sort();
    found.truncate(OFFERED);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        assert_eq!(words("a  b"), ["a", "b"]);
        assert_eq!(words(r#"two\ words.md 'it is' "a \"b\"" """#), ["two words.md", "it is", "a \"b\"", ""]);
        assert_eq!(words("  "), [""; 0]);
        assert_eq!(words("open 'end"), ["open", "end"]);
    }

    #[test]
    fn paths_are_completed_directory_by_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        for file in ["src/a.rs", "src/b.rs", "some.txt", ".hidden"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        assert_eq!(beginning_with("s", dir.path()), ["some.txt", "src/"]);
        assert_eq!(beginning_with("src/", dir.path()), ["src/a.rs", "src/b.rs"]);
        assert_eq!(beginning_with(".h", dir.path()), [".hidden"]);
        assert_eq!(beginning_with("nowhere/x", dir.path()), [""; 0]);
    }
}
