//! `/copy`: a text into the clipboard, by a program of the desktop, else by the terminal itself.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::screen::{self, Painted};

/// Programs that take a text, each with the variable that says that its clipboard is there.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("WAYLAND_DISPLAY", "wl-copy", &[]),
    ("DISPLAY", "xclip", &["-selection", "clipboard"]),
    ("DISPLAY", "xsel", &["--clipboard", "--input"]),
    ("TMUX", "tmux", &["load-buffer", "-w", "-"]),
    ("HOME", "pbcopy", &[]),
];

/// Copies a text, and says how. Whether a terminal took it, it does not tell.
pub(super) fn copy(text: &str) -> String {
    let there = |variable: &str| std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    let mut programs = PROGRAMS.iter().filter(|(variable, ..)| there(variable));
    if let Some((_, program, _)) =
        programs.find(|(_, program, arguments)| hand_over(program, arguments, text))
    {
        return format!("copied with {program}");
    }
    let mut out = Painted::default();
    out.clipboard(text);
    screen::say(&out);
    "handed to the terminal, which copies it if it is allowed to (OSC 52)".to_owned()
}

/// Whether a program took the text.
fn hand_over(program: &str, arguments: &[&str], text: &str) -> bool {
    let mut call = Command::new(program);
    call.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = call.spawn() else { return false };
    let written = child.stdin.take().is_some_and(|mut stdin| stdin.write_all(text.as_bytes()).is_ok());
    child.wait().is_ok_and(|status| status.success()) && written
}
