//! What a terminal shows after all that was printed: enough of one for what rejoin prints.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthChar;

/// The lines of a terminal of so many columns, from the first one that was printed to the last.
pub(crate) fn picture(raw: &str, columns: usize) -> String {
    drawn(raw, columns).shown()
}

/// The lines that were wider than the terminal, up to where it broke them. A word that is
/// wider than the terminal is none of them, if it stands alone.
pub(crate) fn overlong(raw: &str, columns: usize) -> Vec<String> {
    let lines = drawn(raw, columns).overlong.into_iter();
    lines.filter(|line| line.trim().contains(' ') || line.ends_with(' ')).collect()
}

/// The codes of all colours and other looks that were used.
pub(crate) fn looks(raw: &str) -> BTreeSet<String> {
    let sequences = raw.split("\u{1b}[").skip(1);
    let of_looks = sequences.filter_map(|text| {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        text[end..].starts_with('m').then(|| text[..end].split(';').map(str::to_owned))
    });
    of_looks.flatten().collect()
}

fn drawn(raw: &str, columns: usize) -> Terminal {
    let (lines, overlong) = (vec![Vec::new()], Vec::new());
    let mut terminal = Terminal { columns, lines, row: 0, column: 0, overlong };
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => {
                let mut number = String::new();
                let command = loop {
                    match chars.next() {
                        Some(c) if ('\u{40}'..='\u{7e}').contains(&c) => break c,
                        Some(c) => number.push(c),
                        None => return terminal,
                    }
                };
                terminal.obey(command, number.parse().ok());
            }
            '\r' => terminal.column = 0,
            '\n' => terminal.down(),
            '\u{8}' => terminal.column = terminal.column.saturating_sub(1),
            c => terminal.put(c),
        }
    }
    terminal
}

struct Terminal {
    columns: usize,
    /// The second half of a wide character is an empty place.
    lines: Vec<Vec<Option<char>>>,
    row: usize,
    column: usize,
    /// The lines that went on in the next row.
    overlong: Vec<String>,
}

impl Terminal {
    fn obey(&mut self, command: char, number: Option<usize>) {
        let count = number.unwrap_or(1).max(1);
        match command {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = (self.row + count).min(self.lines.len() - 1),
            'C' => self.column = (self.column + count).min(self.columns - 1),
            'G' => self.column = (count - 1).min(self.columns - 1),
            'J' => {
                self.lines[self.row].truncate(self.column);
                self.lines.truncate(self.row + 1);
            }
            'K' => self.lines[self.row].truncate(self.column),
            // Colours, and what is asked of the cursor.
            'm' | 'h' | 'l' => {}
            other => panic!("rejoin prints a sequence that this terminal does not know: {other:?}"),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if width == 0 {
            return;
        }
        // Only the next character goes to the next line.
        if self.column + width > self.columns {
            let row: String = self.lines[self.row].iter().flatten().collect();
            self.overlong.push(format!("{row}{c}"));
            self.column = 0;
            self.down();
        }
        let line = &mut self.lines[self.row];
        line.resize(line.len().max(self.column + width), Some(' '));
        line[self.column] = Some(c);
        line[self.column + 1..self.column + width].fill(None);
        self.column += width;
    }

    fn shown(&self) -> String {
        let line = |line: &Vec<Option<char>>| line.iter().flatten().collect::<String>().trim_end().to_owned();
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }
}

#[test]
fn lines_that_are_too_wide_are_found_but_not_words_that_are() {
    assert_eq!(overlong("one two\nthree\n  seventeen\nfour\n", 5), ["one tw"]);
    assert_eq!(overlong("three four\n", 5), ["three "]);
    assert_eq!(looks("\u{1b}[1;36ma\u{1b}[0m\u{1b}[2J"), ["0", "1", "36"].map(str::to_owned).into());
}

#[test]
fn a_line_that_is_taken_away_leaves_no_trace() {
    assert_eq!(picture("one\r\n⠋ two\r\u{1b}[Jthree", 80), "one\nthree");
    assert_eq!(picture("half\r\n⠋ below\u{1b}[1A\u{1b}[5G a line", 80), "half a line\n⠋ below");
    assert_eq!(picture("日本語x", 4), "日本\n語x");
}
