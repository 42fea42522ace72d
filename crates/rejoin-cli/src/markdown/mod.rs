//! Markdown as it comes, a few words at a time, made readable on a terminal.
//!
//! Only what cannot change any more is printed: a word once it has ended, an emphasis once it is closed. So the
//! pieces in which a text comes make no difference, and marks that turn out to be none are shown as they are. A
//! table waits for its last row. Without styles all marks stay; the text is then only wrapped.

mod block;
mod code;
mod inline;
mod table;

use rejoin::visible;
use unicode_width::UnicodeWidthStr;

use block::{Block, block};
use code::Code;
use inline::inline;

use crate::screen::{Painted, Style};

/// A line that is still waiting for its end is printed after so many bytes.
const LONGEST: usize = 4096;
/// A table that is longer is set in parts.
const MOST_ROWS: usize = 1000;

/// A text on its way to the terminal.
pub(crate) struct Markdown {
    styled: bool,
    width: usize,
    /// What came and is not printed yet: the rest of a line.
    rest: String,
    /// The last piece ended within the end of a line, perhaps.
    after_return: bool,
    line: Line,
    /// The block of code we are in.
    code: Option<Code>,
    /// The rows of the table we are in.
    rows: Vec<String>,
}

/// What is printed of the current line.
enum Line {
    Nothing,
    Words(Words),
    Verbatim,
    /// It is a row, and waits for the others.
    Row,
}

/// Words that are wrapped.
struct Words {
    column: usize,
    /// Blanks before the next word.
    gap: usize,
    /// What the next line begins with when this one is full, and how wide that is.
    indent: Painted,
    indent_width: usize,
    base: Style,
}

impl Markdown {
    pub(crate) fn new(styled: bool) -> Self {
        let (rest, rows) = (String::new(), Vec::new());
        Self { styled, width: 80, rest, after_return: false, line: Line::Nothing, code: None, rows }
    }

    /// Takes in a piece; gives what can be printed now, on a terminal of that width.
    pub(crate) fn feed(&mut self, piece: &str, width: usize) -> Painted {
        self.width = width.max(20);
        let mut out = Painted::default();
        let joined;
        let mut piece = piece;
        if std::mem::take(&mut self.after_return) {
            joined = format!("\r{piece}");
            piece = &joined;
        }
        if let Some(before) = piece.strip_suffix('\r') {
            self.after_return = true;
            piece = before;
        }
        // What is wrapped and styled is what is seen.
        for line in visible(piece).split_inclusive('\n') {
            self.take_line(line, &mut out);
        }
        out
    }

    /// Takes in a line or a part of one. What is certain is looked for once, behind its last blank.
    fn take_line(&mut self, line: &str, out: &mut Painted) {
        if self.rest.len() + line.len() >= LONGEST {
            return line.chars().for_each(|c| self.take(c, out));
        }
        if let Some(whole) = line.strip_suffix('\n') {
            self.rest.push_str(whole);
            return self.close(out);
        }
        let blank = line.char_indices().rfind(|(_, c)| c.is_whitespace());
        let certain = blank.map_or(0, |(at, c)| at + c.len_utf8());
        self.rest.push_str(&line[..certain]);
        if certain > 0 {
            self.advance(false, out);
        }
        self.rest.push_str(&line[certain..]);
    }

    fn take(&mut self, c: char, out: &mut Painted) {
        if c == '\n' {
            return self.close(out);
        }
        self.rest.push(c);
        if self.rest.len() >= LONGEST {
            self.advance(true, out);
        } else if c.is_whitespace() {
            self.advance(false, out);
        }
    }

    /// Prints what is held back and ends the line, if anything stands on it.
    pub(crate) fn end_line(&mut self) -> Painted {
        let mut out = Painted::default();
        if std::mem::take(&mut self.after_return) {
            visible("\r").chars().for_each(|c| self.take(c, &mut out));
        }
        if !self.rest.is_empty() || !matches!(self.line, Line::Nothing) {
            self.close(&mut out);
        }
        self.set_table(&mut out);
        out
    }

    /// The text has ended: what comes next is another one.
    pub(crate) fn end(&mut self) -> Painted {
        let out = self.end_line();
        self.code = None;
        out
    }

    /// How far the cursor is from the beginning of its line.
    pub(crate) fn column(&self) -> usize {
        match &self.line {
            Line::Words(words) => words.column,
            Line::Nothing | Line::Verbatim | Line::Row => 0,
        }
    }

    /// Nothing stands on the line, and nothing waits.
    pub(crate) fn holds_nothing(&self) -> bool {
        let waits = !self.rest.is_empty() || self.after_return || !self.rows.is_empty();
        !waits && matches!(self.line, Line::Nothing)
    }

    fn close(&mut self, out: &mut Painted) {
        self.advance(true, out);
        if !matches!(self.line, Line::Row) {
            out.text("\n");
        }
        self.line = Line::Nothing;
    }

    /// Prints the table that has come; rows that are none are shown as they are.
    fn set_table(&mut self, out: &mut Painted) {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return;
        }
        match table::table(&rows, self.width) {
            Some(table) => out.append(&table),
            None => rows.iter().for_each(|row| out.text(&format!("{row}\n"))),
        }
    }

    /// Prints what is certain, or all there is.
    fn advance(&mut self, all: bool, out: &mut Painted) {
        if all {
            let text = std::mem::take(&mut self.rest);
            self.print(&text, true, out);
        } else {
            let text = std::mem::take(&mut self.rest);
            let done = self.print(&text, false, out);
            self.rest = text;
            self.rest.drain(..done);
        }
    }

    /// Prints of a text, which ends with a blank unless it is all, what is certain; gives how much that was.
    fn print(&mut self, text: &str, all: bool, out: &mut Painted) -> usize {
        let mut done = 0;
        if matches!(self.line, Line::Nothing) {
            if self.code.is_some() {
                return if all { self.code(text, out) } else { 0 };
            }
            let Some((block, length)) = block(text, all) else { return 0 };
            if self.styled && block == Block::Verbatim && self.rows.len() < MOST_ROWS {
                self.rows.push(text.to_owned());
                self.line = Line::Row;
                return text.len();
            }
            self.set_table(out);
            done = length;
            self.begin(block, &text[..length], out);
        }
        match &self.line {
            Line::Nothing => text.len(),
            Line::Verbatim => {
                out.text(&text[done..]);
                text.len()
            }
            Line::Row => {
                if let Some(row) = self.rows.last_mut() {
                    row.push_str(text);
                }
                text.len()
            }
            Line::Words(_) => done + self.words(&text[done..], all, out),
        }
    }

    /// A line of code as it is, or the end of the code.
    fn code(&mut self, text: &str, out: &mut Painted) -> usize {
        match &mut self.code {
            Some(code) if !code.ends(text) => {
                if self.styled {
                    code.line(text, out);
                } else {
                    out.text(text);
                }
            }
            _ => {
                self.code = None;
                out.style(Style::DIM.when(self.styled), text);
            }
        }
        text.len()
    }

    /// Prints what stands before the first word; `marks` is what that was written as.
    fn begin(&mut self, block: Block, marks: &str, out: &mut Painted) {
        let (first, indent, base) = match block {
            Block::Blank => return,
            Block::Fence(fence) => {
                let info = marks.trim_start().trim_start_matches(['`', '~']);
                self.code = Some(Code::new(fence, info));
                out.style(Style::DIM.when(self.styled), marks);
                return;
            }
            Block::Rule => {
                let line = if self.styled { "─".repeat(self.width.min(40)) } else { marks.to_owned() };
                out.style(Style::DIM.when(self.styled), &line);
                return;
            }
            Block::Verbatim => {
                self.line = Line::Verbatim;
                return;
            }
            Block::Heading if self.styled => {
                let first = marks.trim() == "#";
                let base = if first { Style::BOLD.and(Style::LINK) } else { Style::BOLD };
                (String::new(), String::new(), base)
            }
            Block::Heading => (marks.to_owned(), String::new(), Style::PLAIN),
            Block::Words(prefix) if self.styled => (prefix.first, prefix.next, Style::PLAIN),
            Block::Words(prefix) => (marks.to_owned(), prefix.plain_next, Style::PLAIN),
        };
        out.style(Style::DIM.when(self.styled), &first);
        let indent_width = indent.width();
        let mut styled_indent = Painted::default();
        styled_indent.style(Style::DIM.when(self.styled), &indent);
        self.line =
            Line::Words(Words { column: first.width(), gap: 0, indent: styled_indent, indent_width, base });
    }

    fn words(&mut self, text: &str, all: bool, out: &mut Painted) -> usize {
        let Line::Words(words) = &mut self.line else { return 0 };
        let mut end = text.len();
        let mut pieces = Vec::new();
        // What is not certain waits from the beginning of its word.
        while let Err(at) = inline(&text[..end], words.base, self.styled, all, &mut pieces) {
            pieces.clear();
            end = text[..at]
                .rfind(char::is_whitespace)
                .map_or(0, |blank| blank + text[blank..].chars().next().map_or(1, char::len_utf8));
        }
        let mut word: Vec<(Style, String)> = Vec::new();
        for (style, piece) in pieces {
            for c in piece.chars() {
                if c.is_whitespace() {
                    words.put(&mut word, self.width, self.styled, out);
                    words.gap += if c == '\t' { 4 } else { 1 };
                } else {
                    match word.last_mut() {
                        Some((last, run)) if *last == style => run.push(c),
                        _ => word.push((style, c.to_string())),
                    }
                }
            }
        }
        words.put(&mut word, self.width, self.styled, out);
        end
    }
}

impl Words {
    /// Prints a word, on the next line if this one is full.
    fn put(&mut self, word: &mut Vec<(Style, String)>, width: usize, styled: bool, out: &mut Painted) {
        if word.is_empty() {
            return;
        }
        let length: usize = word.iter().map(|(_, run)| run.width()).sum();
        let gap = std::mem::take(&mut self.gap);
        if self.column > self.indent_width && self.column + gap + length > width {
            out.text("\n");
            out.append(&self.indent);
            self.column = self.indent_width + length;
        } else {
            out.text(&" ".repeat(gap));
            self.column += gap + length;
        }
        for (style, run) in word.drain(..) {
            out.style(style.when(styled), &run);
        }
    }
}

#[cfg(test)]
mod tests;
