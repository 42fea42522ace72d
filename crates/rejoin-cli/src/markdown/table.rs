//! Tables: rows that are held until the last one has come, and then set in columns that fit the terminal.

use unicode_width::UnicodeWidthStr;

use super::inline::{Pieces, inline};
use crate::screen::{Painted, Style};

/// A column is no narrower.
const NARROWEST: usize = 4;
/// What stands between two columns.
const GAP: &str = " │ ";

/// How the cells of a column stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

/// Sets a table; `None` if it is none, or has no room.
pub(super) fn table(rows: &[String], width: usize) -> Option<Painted> {
    let sides = sides(rows.get(1)?)?;
    let count = sides.len();
    let cells = |row: &String, base| -> Vec<Pieces> {
        let mut cells: Vec<Pieces> = split(row).iter().map(|cell| pieces(cell, base)).collect();
        cells.resize_with(count, Pieces::new);
        cells
    };
    let head = cells(rows.first()?, Style::BOLD);
    let body: Vec<Vec<Pieces>> = rows[2..].iter().map(|row| cells(row, Style::PLAIN)).collect();
    let widest = |at: usize| {
        let all = std::iter::once(&head).chain(&body);
        all.map(|row| row[at].iter().map(|(_, run)| run.width()).sum()).max().unwrap_or(0)
    };
    let widths = fitting((0..count).map(widest).collect(), width)?;
    let mut out = Painted::default();
    set(&head, &widths, &sides, &mut out);
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    out.style(Style::DIM, &rule.join("─┼─"));
    out.text("\n");
    for row in &body {
        set(row, &widths, &sides, &mut out);
    }
    Some(out)
}

/// What the line below the head says: `| :-- | :-: | --: |`.
fn sides(line: &str) -> Option<Vec<Side>> {
    let side = |cell: &String| {
        let bare = cell.trim_start_matches(':').trim_end_matches(':');
        let is_rule = !bare.is_empty() && bare.bytes().all(|byte| byte == b'-');
        is_rule.then_some(match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Side::Middle,
            (false, true) => Side::Right,
            _ => Side::Left,
        })
    };
    split(line).iter().map(side).collect()
}

/// The cells of a row. A bar in code, or behind a backslash, is none between cells.
fn split(row: &str) -> Vec<String> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let (mut in_code, mut chars) = (false, row.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next_if_eq(&'|').is_some() => cell.push('|'),
            '|' if !in_code => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => {
                in_code ^= c == '`';
                cell.push(c);
            }
        }
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

fn pieces(cell: &str, base: Style) -> Pieces {
    let mut pieces = Pieces::new();
    // What is all of its line leaves nothing open.
    let _ = inline(cell, base, true, true, &mut pieces);
    pieces
}

/// Widths that fit together: the widest column gives way first.
fn fitting(mut widths: Vec<usize>, width: usize) -> Option<Vec<usize>> {
    let room = width.checked_sub(GAP.width() * widths.len().saturating_sub(1))?;
    if widths.is_empty() || room < NARROWEST * widths.len() {
        return None;
    }
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max().filter(|widest| **widest > NARROWEST)?;
        *widest -= 1;
    }
    Some(widths)
}

/// One row, of as many lines as its fullest cell needs.
fn set(row: &[Pieces], widths: &[usize], sides: &[Side], out: &mut Painted) {
    let cells: Vec<Vec<Pieces>> = row.iter().zip(widths).map(|(cell, width)| broken(cell, *width)).collect();
    for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0).max(1) {
        let nothing = Pieces::new();
        for (number, ((cell, width), side)) in cells.iter().zip(widths).zip(sides).enumerate() {
            if number > 0 {
                out.style(Style::DIM, GAP);
            }
            let line = cell.get(at).unwrap_or(&nothing);
            let spare = width.saturating_sub(line.iter().map(|(_, run)| run.width()).sum());
            let before = match side {
                Side::Left => 0,
                Side::Middle => spare / 2,
                Side::Right => spare,
            };
            out.text(&" ".repeat(before));
            for (style, run) in line {
                out.style(*style, run);
            }
            // Nothing need be filled up behind the last one.
            if number + 1 < widths.len() {
                out.text(&" ".repeat(spare - before));
            }
        }
        out.text("\n");
    }
}

/// A cell in lines of this width, broken at words, and within them where a word is wider than that.
fn broken(cell: &Pieces, width: usize) -> Vec<Pieces> {
    let mut lines = vec![Pieces::new()];
    let mut column = 0;
    for (style, run) in cell {
        for word in run.split_inclusive(' ') {
            let bare = word.trim_end().width();
            if column > 0 && column + bare > width {
                lines.push(Pieces::new());
                column = 0;
            }
            for c in word.chars() {
                let size = c.to_string().width();
                if column + size > width {
                    if c == ' ' {
                        continue;
                    }
                    lines.push(Pieces::new());
                    column = 0;
                }
                column += size;
                let line = lines.last_mut();
                match line {
                    Some(line) => match line.last_mut() {
                        Some((last, text)) if last == style => text.push(c),
                        _ => line.push((*style, c.to_string())),
                    },
                    None => return lines,
                }
            }
        }
    }
    lines
}
