//! `@file` in a prompt: the files that are meant go along with it.

use std::path::{Path, PathBuf};

/// What may stand behind a mention and is not part of it.
const PUNCTUATION: &[char] = &[',', '.', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '`'];

/// The files that a text mentions and that are there, each once. Whatever else begins with `@` is only words.
pub(super) fn mentioned(text: &str, dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && !['(', '[', '{', '"', '\'', '`'].contains(&c)) {
            continue;
        }
        if let Some(file) = file_at(&text[at + 1..], dir).filter(|file| !files.contains(file)) {
            files.push(file);
        }
    }
    files
}

/// The file named at the beginning of a text: in quotes, or up to a blank.
fn file_at(text: &str, dir: &Path) -> Option<PathBuf> {
    let found = |name: &str| {
        let path = dir.join(from_home(name));
        (!name.is_empty() && path.is_file()).then_some(path)
    };
    if let Some(quoted) = text.strip_prefix('"') {
        return found(quoted.split_once('"')?.0);
    }
    let mut name = text.split(char::is_whitespace).next()?;
    loop {
        if let Some(file) = found(name) {
            return Some(file);
        }
        name = name.strip_suffix(PUNCTUATION)?;
    }
}

/// `~/notes.txt` as the shell has it.
pub(super) fn from_home(name: &str) -> PathBuf {
    match (name.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_there_are_meant_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        for file in ["src/a.rs", "b.txt", "two words.md"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        let found = |text: &str| -> Vec<String> {
            let files = mentioned(text, dir.path()).into_iter();
            files.map(|file| file.strip_prefix(dir.path()).unwrap().display().to_string()).collect()
        };
        assert_eq!(found("look at @src/a.rs, (@b.txt) and @b.txt."), ["src/a.rs", "b.txt"]);
        assert_eq!(found("@\"two words.md\" please"), ["two words.md"]);
        assert_eq!(found("me@b.txt @dataclass @src @ @\"b.txt"), [""; 0]);
    }
}
