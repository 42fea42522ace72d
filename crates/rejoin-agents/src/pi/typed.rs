//! What the user typed, of a message that Pi stored: the contents of attached files stand before it.

/// The text behind the files, and their names.
pub(super) fn behind_files(text: &str) -> (&str, Vec<&str>) {
    let mut text = text.trim_start();
    let mut names = Vec::new();
    while let Some(file) = text.strip_prefix("<file name=")
        && let Some((file, rest)) = file.split_once("</file>")
    {
        let name = file.split('>').next().unwrap_or_default();
        names.push(name.trim_matches('"'));
        text = rest.trim_start();
    }
    (text, names)
}
