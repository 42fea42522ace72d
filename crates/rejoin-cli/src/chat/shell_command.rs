//! `!command` and `!!command`: a command of the shell in between; of the second, what it printed goes to the agent.

use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::Context;

use crate::screen;
use crate::style;

/// Of a longer output, its beginning and its end go to the agent.
const BEGINNING: usize = 20 << 10;
const END: usize = 80 << 10;

/// A command that ran, and what it printed.
pub(super) struct CommandOutput {
    command: String,
    status: String,
    text: String,
}

/// Runs a command on this terminal.
pub(super) fn run(command: &str, dir: &Path) -> anyhow::Result<()> {
    let status = shell(command, dir).status().with_context(|| format!("cannot run {command:?}"))?;
    tell(status);
    Ok(())
}

/// Runs a command, shows what it prints and keeps it.
pub(super) fn run_and_keep(command: &str, dir: &Path) -> anyhow::Result<CommandOutput> {
    let cannot = || format!("cannot run {command:?}");
    let (mut reader, writer) = std::io::pipe().with_context(cannot)?;
    let mut call = shell(command, dir);
    call.stdin(Stdio::null()).stdout(writer.try_clone().with_context(cannot)?).stderr(writer);
    let mut child = call.spawn().with_context(cannot)?;
    // Our own ends of the pipe would keep it open for ever.
    drop(call);
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        bytes.extend_from_slice(&buffer[..count]);
        screen::print(String::from_utf8_lossy(&buffer[..count]).as_ref())?;
    }
    let status = child.wait().with_context(cannot)?;
    tell(status);
    let text = shortened(&String::from_utf8_lossy(&bytes));
    Ok(CommandOutput { command: command.to_owned(), status: in_words(status), text })
}

impl CommandOutput {
    /// How many bytes of it go to the agent.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// `the output of make · 1.2 KB`
    pub(super) fn title(&self) -> String {
        format!("the output of {} · {}", style::one_line(&self.command, 60), style::bytes(self.len()))
    }

    /// As it stands in a prompt: in a fence that nothing in it can close.
    pub(super) fn as_paragraph(&self) -> String {
        let longest = self.text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let text = self.text.trim_end_matches('\n');
        format!("`{}` printed ({}):\n{fence}\n{text}\n{fence}", self.command.replace('`', "'"), self.status)
    }
}

fn shell(command: &str, dir: &Path) -> Command {
    let mut call = Command::new("sh");
    call.args(["-c", command]).current_dir(dir);
    call
}

fn tell(status: ExitStatus) {
    if !status.success() {
        style::talk(&format!("✗ {}", in_words(status)));
    }
}

/// `exit code 1`, or the signal.
fn in_words(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

fn shortened(text: &str) -> String {
    if text.len() <= BEGINNING + END {
        return text.to_owned();
    }
    let (begin, end) = (text.floor_char_boundary(BEGINNING), text.ceil_char_boundary(text.len() - END));
    format!("{}\n… {} left out …\n{}", &text[..begin], style::bytes(end - begin), &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> CommandOutput {
        CommandOutput { command: "cat `x`".into(), status: "exit code 0".into(), text: text.into() }
    }

    #[test]
    fn an_output_stands_in_a_fence_that_it_cannot_close() {
        assert_eq!(output("a\n").as_paragraph(), "`cat 'x'` printed (exit code 0):\n```\na\n```");
        let fenced = output("```\ncode\n````\n").as_paragraph();
        assert!(fenced.contains(":\n`````\n```\n") && fenced.ends_with("````\n`````"), "{fenced}");
    }

    #[test]
    fn of_a_long_output_the_beginning_and_the_end_are_kept() {
        let text = format!("begin{}end", "ä".repeat(100 << 10));
        let short = shortened(&text);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.contains(" left out …"));
        assert!(short.len() < BEGINNING + END + 100, "{}", short.len());
        assert_eq!(shortened("short"), "short");
    }
}
