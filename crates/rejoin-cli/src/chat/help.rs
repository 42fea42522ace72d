//! `/help`: all commands, as wide as the terminal.

use std::fmt::Write as _;

use super::slash_commands::COMMANDS;
use crate::wrap::wrapped;

/// The widest usage that leaves room for what it means beside it.
const USAGE: usize = 35;

/// All commands and keys; on a narrow terminal, what a command means stands below it.
pub(super) fn help(columns: usize) -> String {
    let mut out = String::new();
    let beside = columns >= USAGE + 40;
    let mut entry = |usage: &str, about: &str| {
        let indent = if beside { USAGE } else { 4 };
        let lines = wrapped(about, columns.saturating_sub(indent).max(10));
        if beside {
            let _ = write!(out, "{usage:<USAGE$}");
        } else {
            out.push_str(usage);
            out.push('\n');
        }
        for (at, line) in lines.iter().enumerate() {
            if at > 0 || !beside {
                out.push_str(&" ".repeat(indent));
            }
            out.push_str(line);
            out.push('\n');
        }
    };
    for slash in COMMANDS {
        entry(format!("/{} {}", slash.name, slash.usage).trim_end(), slash.about);
    }
    entry("!COMMAND", "a command of the shell, in between");
    entry("!!COMMAND", "the same, and what it prints goes along with the next prompt");
    entry("@FILE", "within a prompt: the file goes along; Tab completes");
    let keys = "\
A message is named by its turn's number, a branch, the beginning of its id, or @ (the head), @~1.
Alt-Enter, or a backslash before Enter, begins another line; Ctrl-X Ctrl-E opens your editor.
↑ and Ctrl-R bring back what was said in any conversation. Ctrl-C stops the turn, Ctrl-D leaves.";
    out.push('\n');
    out.push_str(&wrapped(keys, columns).join("\n"));
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for columns in [40, 80, 200] {
            for line in help(columns).lines() {
                assert!(line.width() <= columns, "{columns}: {line:?}");
            }
        }
    }
}
