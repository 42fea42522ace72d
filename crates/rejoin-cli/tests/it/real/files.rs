//! Looking through files.

use std::fs;
use std::path::{Path, PathBuf};

/// All files below a directory, however deep.
pub(super) fn files_below(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(files_below(&entry.path())),
            _ => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

/// The files below a directory that hold this text.
pub(super) fn files_with(dir: &Path, text: &str) -> Vec<String> {
    let holds = |file: &Path| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let files = files_below(dir).into_iter().filter(|file| holds(file));
    files.map(|file| file.display().to_string()).collect()
}
