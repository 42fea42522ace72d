//! The one way to stdout and stderr. Whatever is printed becomes [`Painted`] first: foreign text is made
//! visible, styles and movements of the cursor are ours alone. What is meant for programs goes out as it
//! is, unless it would end up on a terminal. `clippy.toml` refuses every other way.
#![allow(clippy::disallowed_methods, reason = "this is the way that the others are to take")]

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rejoin::{visible, visible_line};
use serde::Serialize;

use crate::{style, tty, wrap};

/// How a run of characters looks: a set of attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Style(u16);

impl Style {
    pub(crate) const PLAIN: Self = Self(0);
    pub(crate) const BOLD: Self = Self(1);
    pub(crate) const ITALIC: Self = Self(2);
    pub(crate) const STRUCK: Self = Self(4);
    pub(crate) const LINK: Self = Self(8);
    pub(crate) const CODE: Self = Self(16);
    pub(crate) const DIM: Self = Self(32);
    pub(crate) const REVERSED: Self = Self(64);
    pub(crate) const RED: Self = Self(128);
    /// What should be seen. Not yellow, which is hard to read on white.
    pub(crate) const WARNING: Self = Self(256);
    pub(crate) const GREEN: Self = Self(512);
    pub(crate) const MAGENTA: Self = Self(1024);
    /// What catches the eye.
    pub(crate) const ACCENT: Self = Self::BOLD.and(Self::CODE);

    /// Both together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This style if styles are wanted, else none.
    pub(crate) fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::PLAIN }
    }

    fn codes(self) -> String {
        let attributes = [
            (Self::BOLD, "1"),
            (Self::DIM, "2"),
            (Self::ITALIC, "3"),
            (Self::LINK, "4"),
            (Self::REVERSED, "7"),
            (Self::STRUCK, "9"),
            (Self::RED, "31"),
            (Self::GREEN, "32"),
            (Self::WARNING.and(Self::MAGENTA), "35"),
            (Self::CODE, "36"),
        ];
        let codes = attributes.iter().filter(|(style, _)| self.0 & style.0 != 0).map(|(_, code)| *code);
        codes.collect::<Vec<_>>().join(";")
    }
}

/// What the cursor does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cursor {
    ToLineStart,
    /// Behind so many columns.
    ToColumn(usize),
    Up(usize),
    Down(usize),
    /// Clears the line from here on.
    ClearLine,
    /// Clears the screen from here on.
    ClearBelow,
    /// Seen again, and pasted text is no longer marked.
    AsFound,
}

/// A text that can be printed: nothing in it commands the terminal but what was put there by
/// [`Painted::style`], [`Painted::cursor`] and what is named beside them.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Painted(String);

impl Painted {
    /// Something that is drawn in place of so many lines above the cursor; they are gone.
    pub(crate) fn in_place_of(lines: usize) -> Self {
        let mut out = Self::default();
        if lines > 0 {
            out.cursor(Cursor::ToLineStart);
            out.cursor(Cursor::Up(lines));
            out.cursor(Cursor::ClearBelow);
        }
        out
    }

    /// Adds a text; its lines stay lines.
    pub(crate) fn text(&mut self, text: &str) {
        self.0.push_str(&visible(text));
    }

    /// Adds a text that looks like this.
    pub(crate) fn style(&mut self, style: Style, text: &str) {
        if style == Style::PLAIN || text.trim().is_empty() {
            return self.text(text);
        }
        self.0.push_str("\u{1b}[");
        self.0.push_str(&style.codes());
        self.0.push('m');
        self.text(text);
        self.0.push_str("\u{1b}[0m");
    }

    /// Moves the cursor.
    pub(crate) fn cursor(&mut self, cursor: Cursor) {
        match cursor {
            Cursor::ToLineStart => self.0.push('\r'),
            Cursor::ToColumn(columns) => self.0.extend(["\u{1b}[", &(columns + 1).to_string(), "G"]),
            Cursor::Up(0) | Cursor::Down(0) => {}
            Cursor::Up(lines) => self.0.extend(["\u{1b}[", &lines.to_string(), "A"]),
            Cursor::Down(lines) => self.0.extend(["\u{1b}[", &lines.to_string(), "B"]),
            Cursor::ClearLine => self.0.push_str("\u{1b}[K"),
            Cursor::ClearBelow => self.0.push_str("\u{1b}[J"),
            Cursor::AsFound => self.0.push_str("\u{1b}[?25h\u{1b}[?2004l"),
        }
    }

    /// Has the terminal put a text into its clipboard (OSC 52).
    pub(crate) fn clipboard(&mut self, text: &str) {
        self.0.extend(["\u{1b}]52;c;", &BASE64_STANDARD.encode(text), "\u{7}"]);
    }

    /// Has the terminal show a notification (OSC 9).
    pub(crate) fn notification(&mut self, text: &str) {
        self.0.extend(["\u{1b}]9;", &visible_line(text), "\u{7}"]);
    }

    /// Rings the bell.
    pub(crate) fn bell(&mut self) {
        self.0.push('\u{7}');
    }

    /// The same with so many blanks before every line that is not empty.
    pub(crate) fn indented(&self, by: usize) -> Self {
        let indent = " ".repeat(by);
        let lines = self.0.split_inclusive('\n');
        Self(lines.flat_map(|line| [if line.trim().is_empty() { "" } else { &indent }, line]).collect())
    }

    /// Adds what is painted already.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// With its styles, for a program that draws it.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// With `write!`, all of it is text.
impl fmt::Write for Painted {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text(text);
        Ok(())
    }
}

impl From<&str> for Painted {
    fn from(text: &str) -> Self {
        Self(visible(text).into_owned())
    }
}

impl From<String> for Painted {
    fn from(text: String) -> Self {
        match visible(&text) {
            Cow::Owned(changed) => Self(changed),
            Cow::Borrowed(_) => Self(text),
        }
    }
}

impl From<&String> for Painted {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

/// Something that is shown within a line (a name, a path, a reason): it cannot begin another one.
pub(crate) fn label(text: &str) -> String {
    visible_line(text).into_owned()
}

/// A text of several lines, in which what is seen is what its width is told by.
pub(crate) fn label_lines(text: &str) -> String {
    visible(text).into_owned()
}

/// Prints what is meant for people.
pub(crate) fn print(text: impl Into<Painted>) -> anyhow::Result<()> {
    written(put(io::stdout().lock(), &text.into().0))
}

/// Prints what is meant for programs: as it is, unless a terminal would get it.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    written(Stdout::new().data(text))
}

/// Prints a value for programs. On a terminal it is the same value with more of it escaped.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    written(Stdout::new().json(&(serde_json::to_string_pretty(value)? + "\n")))
}

/// The same, with the names of its fields in the order of the alphabet.
pub(crate) fn sorted_json(value: &impl Serialize) -> anyhow::Result<()> {
    json(&serde_json::to_value(value)?)
}

fn written(written: io::Result<()>) -> anyhow::Result<()> {
    read_on(written.context("cannot write to standard output")).map(drop)
}

/// The rule for pipes: somebody who closed it has seen enough, and that is no error. Whether it was read to its end.
pub(crate) fn read_on<T>(written: Result<T, impl Into<anyhow::Error>>) -> anyhow::Result<bool> {
    match written.map_err(Into::into) {
        Ok(_) => Ok(true),
        Err(error) if is_closed_pipe(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let by_library = error.downcast_ref::<rejoin::Error>().and_then(rejoin::Error::io_kind);
    let mut kinds = error.chain().filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    kinds.any(|kind| kind == io::ErrorKind::BrokenPipe) || by_library == Some(io::ErrorKind::BrokenPipe)
}

/// stdout of what goes on whether somebody reads it or not: a turn, a run. After the first failure nothing more is
/// written.
#[derive(Default)]
pub(crate) struct WhileRead {
    stdout: Stdout,
    is_closed: bool,
}

impl WhileRead {
    /// What is meant for people.
    pub(crate) fn print(&mut self, text: &Painted) {
        self.unless_closed(|_| put(io::stdout().lock(), &text.0));
    }

    /// What is meant for programs: as it is, unless a terminal would get it.
    pub(crate) fn data(&mut self, text: &str) {
        self.unless_closed(|stdout| stdout.data(text));
    }

    /// JSON, whole lines of it.
    pub(crate) fn json(&mut self, text: &str) {
        self.unless_closed(|stdout| stdout.json(text));
    }

    fn unless_closed(&mut self, write: impl FnOnce(&mut Stdout) -> io::Result<()>) {
        if !self.is_closed {
            self.is_closed = write(&mut self.stdout).is_err();
        }
    }
}

/// stdout for what is meant for programs, also as a stream of bytes.
pub(crate) struct Stdout {
    terminal: bool,
    /// The beginning of a character.
    rest: Vec<u8>,
}

impl Default for Stdout {
    fn default() -> Self {
        Self { terminal: io::stdout().is_terminal(), rest: Vec::new() }
    }
}

impl Stdout {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal { visible(text) } else { Cow::Borrowed(text) };
        put(io::stdout().lock(), &text)
    }

    /// JSON, whole lines of it.
    pub(crate) fn json(&mut self, text: &str) -> io::Result<()> {
        let text = if self.terminal { escaped(text) } else { Cow::Borrowed(text) };
        put(io::stdout().lock(), &text)
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            return io::stdout().lock().write(bytes);
        }
        self.rest.extend_from_slice(bytes);
        // A character may come in two pieces; what cannot be one never waits.
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        self.data(&String::from_utf8_lossy(&text))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

fn put(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// The same JSON, with what a terminal would obey or not show as escapes: it stands within strings only.
fn escaped(json: &str) -> Cow<'_, str> {
    if matches!(visible(json), Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if matches!(visible(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_)) {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(out)
}

/// Says something on stderr. Nobody may be listening any more; that is no reason to stop.
pub(crate) fn say(text: &Painted) {
    let _ = put(io::stderr().lock(), &text.0);
}

/// Says a line on stderr that looks like this. Of a text with more lines, the others are set off, so that
/// none of them poses as a line of ours; so is what does not fit in a row of a terminal.
pub(crate) fn say_line(style: Style, line: &str) {
    let mut out = Painted::default();
    out.style(style, &in_rows(&set_off(line)));
    out.0.push('\n');
    say(&out);
}

/// A text broken at words, if it is seen on a terminal; what stands in backticks can be copied as it is.
pub(crate) fn in_rows(text: &str) -> String {
    if !style::on_terminal() {
        return text.to_owned();
    }
    wrap::hanging(&visible(text), tty::columns(), SET_OFF.len()).join("\n")
}

/// What was said to an agent, that one's name before it: `demo › now fix it`.
pub(crate) fn said_by(who: &str, words: &str) -> Painted {
    let who = format!("{} ›", label(who));
    let text = label_lines(&format!("{who} {}", words.trim_end()));
    let text = wrap::hanging_words(&text, tty::columns(), SET_OFF.len()).join("\n");
    let mut out = Painted::default();
    let rest = text.strip_prefix(&who);
    out.style(Style::ACCENT.when(style::colour()), rest.map_or("", |_| &who));
    out.text(rest.unwrap_or(&text));
    out.text("\n");
    out
}

/// What stands before a line that is set off.
const SET_OFF: &str = "    ";

/// A text whose lines after the first are set off.
pub(crate) fn set_off(text: &str) -> String {
    text.trim_end_matches(['\n', '\r']).replace('\n', &format!("\n{SET_OFF}"))
}

/// Help, the version, or an error about what was typed. What was typed is foreign, too.
pub(crate) fn usage(error: &clap::Error, colour: bool) {
    if !error.use_stderr() {
        // A closed pipe is no error, either.
        let _ = error.print();
        return;
    }
    let text = in_rows(&error.render().ansi().to_string()) + "\n";
    let mut out = Painted::default();
    match text.strip_prefix("error:") {
        Some(rest) => {
            out.style(Style::BOLD.and(Style::RED).when(colour), "error:");
            out.text(rest);
        }
        None => out.text(&text),
    }
    say(&out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_and_movements_command_the_terminal() {
        let mut out = Painted::from("a\u{1b}[2Jb");
        out.style(Style::DIM, "c\u{9b}d");
        out.cursor(Cursor::Up(2));
        let _ = fmt::Write::write_str(&mut out, "\u{1b}]52;c;x\u{7}");
        assert_eq!(out.0, "a␛[2Jb\u{1b}[2mc\\u{9b}d\u{1b}[0m\u{1b}[2A␛]52;c;x␇");
    }

    #[test]
    fn what_is_indented_keeps_its_styles() {
        let mut out = Painted::default();
        out.style(Style::BOLD, "one");
        out.text("\n\ntwo\n");
        assert_eq!(out.indented(2).0, "  \u{1b}[1mone\u{1b}[0m\n\n  two\n");
    }

    #[test]
    fn escaped_json_is_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{202e}x\u{e0041}\u{7f} plain é"});
        let text = value.to_string();
        let safe = escaped(&text);
        assert!(safe.chars().all(|c| visible(&c.to_string()) == c.to_string()), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }

    #[test]
    fn the_other_lines_of_a_text_are_set_off() {
        assert_eq!(set_off("one\n✓ two\n"), "one\n    ✓ two");
    }
}
