//! What the user typed, of all that Claude Code keeps as messages of the user.

use crate::loose::{Flag, TextOr};
use crate::stored_sessions::unwrapped;

/// How a record begins that the program wrote when the user interrupted it.
pub(super) const INTERRUPTED: &str = "[Request interrupted by user";
/// How the outputs of a program's own commands begin, and of those that the user ran.
pub(super) const RAN: [&str; 3] = ["<local-command-stdout>", "<bash-stdout>", "<bash-stderr>"];

const INJECTED: [&str; 6] =
    ["<local-command-", "<bash-stdout>", "<bash-stderr>", "<system-reminder>", INTERRUPTED, "Unknown skill:"];

/// A block of a message.
pub(super) trait TextBlock {
    /// Its kind.
    fn kind(&self) -> &str;
    /// Its text, if it has one.
    fn text(&self) -> &str;
}

/// Whether a record with these marks was put in by the program, whatever stands in it.
pub(super) fn is_injected(is_meta: Flag, is_compact_summary: Flag, origin: &str) -> bool {
    is_meta.is_set() || is_compact_summary.is_set() || origin == "task-notification"
}

/// What the user typed, if the content of a record is that.
pub(super) fn typed(content: &TextOr<'_, impl TextBlock>) -> Option<String> {
    let text = match content {
        TextOr::Text(text) => text.trim(),
        TextOr::Blocks(blocks) => {
            if blocks.iter().any(|block| block.kind() == "tool_result") {
                return None;
            }
            let texts = blocks.iter().map(|block| block.text().trim());
            texts
                .into_iter()
                .find(|text| !text.is_empty() && !INJECTED.iter().any(|mark| text.starts_with(mark)))?
        }
        TextOr::Neither => return None,
    };
    if INJECTED.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    if let Some(command) = unwrapped(text, "<bash-input>", "</bash-input>") {
        return Some(format!("!{command}"));
    }
    // The parts of a command come in either order.
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    if text.starts_with("<command-")
        && let Some(name) = part("command-name")
    {
        return Some(format!("{name} {}", part("command-args").unwrap_or_default()).trim_end().to_owned());
    }
    Some(text.to_owned())
}
