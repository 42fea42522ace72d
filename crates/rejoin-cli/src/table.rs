//! Columns that fit the terminal.

use rejoin::cut_to_width;
use unicode_width::UnicodeWidthStr;

use crate::screen::label;
use crate::tty;
use crate::wrap::hanging;

/// How wide the output may be: as the terminal is, or as `$COLUMNS` says.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    asked.or_else(tty::stdout_columns).filter(|columns| *columns >= 40).unwrap_or(120)
}

/// How wide what is printed for a person may be; what others get is not broken.
pub(crate) fn width_for_a_person() -> usize {
    if for_a_person() { width() } else { usize::MAX }
}

/// A line as wide as that at most; what does not fit is set off by so many columns.
pub(crate) fn fitted(line: &str, indent: usize) -> String {
    hanging(line, width_for_a_person(), indent).join("\n") + "\n"
}

/// Whether data is printed for a person.
pub(crate) fn for_a_person() -> bool {
    tty::on_stdout()
}

/// Whether data may be printed in colours.
pub(crate) fn in_colour() -> bool {
    for_a_person() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A column.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) right: bool,
    /// Where it is too narrow for all, those with the highest number go first; 0 never goes.
    pub(crate) spare: u8,
    pub(crate) cells: Vec<String>,
}

/// Lays columns out; `stretched` gets what room is left. Columns without content are left out. Where all that could go
/// has gone and there is still no room, the widest ones are cut, but for the first, by which things are called.
pub(crate) fn lay_out(mut columns: Vec<Column>, stretched: &str, width: usize, header: bool) -> String {
    /// What `stretched` is worth that others go.
    const LEAST: usize = 24;
    const NARROWEST: usize = 8;
    // Widths are those of what is seen.
    for cell in columns.iter_mut().flat_map(|column| &mut column.cells) {
        *cell = label(cell);
    }
    columns.retain(|column| column.cells.iter().any(|cell| !cell.is_empty()));
    let size = |column: &Column| {
        let cells = column.cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        if header { cells.max(column.title.width()) } else { cells }
    };
    let taken = |columns: &[Column]| -> usize {
        columns.iter().filter(|column| column.title != stretched).map(|column| size(column) + 2).sum()
    };
    while taken(&columns) + LEAST > width {
        let Some(spare) =
            (0..columns.len()).filter(|at| columns[*at].spare > 0).max_by_key(|at| columns[*at].spare)
        else {
            break;
        };
        columns.remove(spare);
    }
    let room = width.saturating_sub(taken(&columns)).max(NARROWEST);
    let mut sizes: Vec<usize> = columns
        .iter()
        .map(|column| if column.title == stretched { size(column).min(room) } else { size(column) })
        .collect();
    let gaps = 2 * sizes.len().saturating_sub(1);
    while sizes.iter().sum::<usize>() + gaps > width {
        match sizes.iter_mut().skip(1).max().filter(|size| **size > NARROWEST) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    let mut out = String::new();
    let mut line = |cells: Vec<&str>| {
        let mut text = String::new();
        for ((cell, column), size) in cells.iter().zip(&columns).zip(&sizes) {
            let cell = cut_to_width(cell, *size);
            let gap = " ".repeat(size - cell.width());
            if column.right {
                text.push_str(&gap);
                text.push_str(&cell);
            } else {
                text.push_str(&cell);
                text.push_str(&gap);
            }
            text.push_str("  ");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    if header {
        line(columns.iter().map(|column| column.title).collect());
    }
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        line(columns.iter().map(|column| column.cells[row].as_str()).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let column = |title, right, spare, cells: [&str; 2]| Column {
            title,
            right,
            spare,
            cells: cells.map(str::to_owned).to_vec(),
        };
        vec![
            column("id", false, 0, ["4f1c2a9e", "00000000"]),
            column("title", false, 0, ["修复这个错误 and then look at it once more, please", "b"]),
            column("turns", true, 0, ["12", "3"]),
            column("branch", false, 1, ["feature/a-long-name", "main"]),
            column("state", false, 0, ["", ""]),
        ]
    }

    #[test]
    fn a_column_goes_and_a_title_is_cut_where_there_is_no_room() {
        let narrow = lay_out(columns(), "title", 50, true);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines[0], "id        title                              turns");
        assert_eq!(lines[1], "4f1c2a9e  修复这个错误 and then look at it…     12");
        assert_eq!(lines[2], "00000000  b                                      3");
        assert!(lines.iter().all(|line| line.width() <= 50), "{narrow}");
        assert!(lay_out(columns(), "title", 100, false).contains("feature/a-long-name"));
    }

    #[test]
    fn what_cannot_go_is_cut_but_never_the_first() {
        let mut columns = columns();
        for column in &mut columns {
            column.spare = 0;
        }
        let narrow = lay_out(columns, "title", 36, true);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines[0], "id        title     turns  branch");
        assert_eq!(lines[1], "4f1c2a9e  修复这…      12  feature/…");
        assert!(lines.iter().all(|line| line.width() <= 36), "{narrow}");
    }
}
