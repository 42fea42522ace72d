//! Texts cut to a width on the screen, counted as terminals count it: the one place that does it.

use rejoin_core::visible_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The first line of a text that says something, cut to a width. Names and the like, of which no line may be
/// hidden, are cut by [`cut_to_width`] instead.
pub fn one_line(text: &str, width: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut_to_width(&line.replace('\t', " "), width)
}

/// A text on one line, with nothing in it that a terminal would obey, cut to a width with an ellipsis.
pub fn cut_to_width(text: &str, width: usize) -> String {
    let line = visible_line(text);
    if line.width() <= width {
        return line.into_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or_default());
        room = left.unwrap_or_default();
        left.is_some()
    };
    let cut: String = line.chars().take_while(fits).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_a_terminal_has_no_more_room() {
        assert_eq!(cut_to_width("short", 5), "short");
        assert_eq!(cut_to_width("修复这个错误", 7), "修复这…");
        assert_eq!(cut_to_width("one two three", 9), "one two…");
    }

    #[test]
    fn cutting_again_changes_nothing() {
        let once = one_line("\n  a line\u{1b}[2J that is\trather long\nand another", 20);
        assert_eq!(one_line(&once, 20), once);
        assert_eq!(once, "a line␛[2J that is…");
    }
}
