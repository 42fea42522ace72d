//! The terminal: whether there is one, its size, its modes, and that it is left as it was found.
#![allow(clippy::disallowed_methods, reason = "the streams are asked what they are, and not written to")]

use std::io::IsTerminal;
use std::sync::OnceLock;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios};
use rustix::termios::{tcflush, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

use crate::screen::{self, Cursor, Painted};
use crate::style;

/// How the terminal was found.
static FOUND: OnceLock<Termios> = OnceLock::new();

/// Whether a person sits at a terminal: what they type comes here, and they see all that is printed.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

/// Whether what is printed is seen on a terminal.
pub(crate) fn on_stdout() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether what is said is seen on a terminal.
pub(crate) fn on_stderr() -> bool {
    std::io::stderr().is_terminal()
}

/// The width of the terminal that data is printed on.
pub(crate) fn stdout_columns() -> Option<usize> {
    tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col.into())
}

/// Its width now.
pub(crate) fn columns() -> usize {
    let of_stderr = tcgetwinsize(std::io::stderr()).ok().map(|size| usize::from(size.ws_col));
    of_stderr.or_else(stdout_columns).filter(|columns| *columns > 0).unwrap_or(80)
}

/// How wide text is set: longer lines are hard to read.
pub(crate) fn text_columns() -> usize {
    columns().min(100)
}

/// Its height now.
pub(crate) fn rows() -> usize {
    match tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_row > 0 => usize::from(size.ws_row),
        _ => 24,
    }
}

/// Whether stderr's terminal is ours to draw on: we do not run in the background.
pub(crate) fn is_ours() -> bool {
    tcgetpgrp(std::io::stderr()).map_or(true, |group| group == getpgrp())
}

/// Remembers how the terminal is, and sees to it that a panic leaves it so.
pub(crate) fn keep() -> std::io::Result<()> {
    if FOUND.set(tcgetattr(std::io::stdin())?).is_ok() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            hook(panic);
        }));
    }
    Ok(())
}

/// Leaves the terminal as it was found.
pub(crate) fn restore() {
    if let Some(found) = FOUND.get() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, found);
        if !style::dumb() {
            let mut out = Painted::default();
            out.cursor(Cursor::AsFound);
            screen::say(&out);
        }
    }
}

/// Keys come one by one and are not shown, Ctrl-C among them. Until it is dropped.
pub(crate) struct Raw;

impl Raw {
    pub(crate) fn begin() -> std::io::Result<Self> {
        keep()?;
        let mut modes = tcgetattr(std::io::stdin())?;
        let output = modes.output_modes;
        modes.make_raw();
        modes.output_modes = output;
        tcsetattr(std::io::stdin(), OptionalActions::Drain, &modes)?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Keys come one by one and are not shown; Ctrl-C stays a signal. Until it is dropped.
pub(crate) struct Keys(Termios);

impl Keys {
    pub(crate) fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Now, &modes)?;
        Ok(Self(before))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// What is typed is not shown, but kept for whoever reads next. Until it is dropped.
pub(crate) struct Quiet;

impl Quiet {
    pub(crate) fn begin() -> Self {
        echo(false);
        Self
    }

    /// Lets a person answer: what was typed before the question is no answer to it.
    pub(crate) fn interrupted<T>(answer: impl FnOnce() -> T) -> T {
        let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        echo(true);
        let answer = answer();
        echo(false);
        answer
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        echo(true);
    }
}

fn echo(on: bool) {
    if let Ok(mut modes) = tcgetattr(std::io::stdin()) {
        modes.local_modes.set(LocalModes::ECHO, on);
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &modes);
    }
}
