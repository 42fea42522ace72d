//! What a terminal shows after all that was printed: enough of one for what rejoin prints.

use unicode_width::UnicodeWidthChar;

/// The lines of a terminal of so many columns, from the first one that was printed to the last.
pub(crate) fn picture(raw: &str, columns: usize) -> String {
    let mut terminal = Terminal { columns, lines: vec![Vec::new()], row: 0, column: 0 };
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => {
                let mut number = String::new();
                let command = loop {
                    match chars.next() {
                        Some(c) if ('\u{40}'..='\u{7e}').contains(&c) => break c,
                        Some(c) => number.push(c),
                        None => return terminal.shown(),
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
    terminal.shown()
}

struct Terminal {
    columns: usize,
    /// The second half of a wide character is an empty place.
    lines: Vec<Vec<Option<char>>>,
    row: usize,
    column: usize,
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
fn a_line_that_is_taken_away_leaves_no_trace() {
    assert_eq!(picture("one\r\n⠋ two\r\u{1b}[Jthree", 80), "one\nthree");
    assert_eq!(picture("half\r\n⠋ below\u{1b}[1A\u{1b}[5G a line", 80), "half a line\n⠋ below");
    assert_eq!(picture("日本語x", 4), "日本\n語x");
}
