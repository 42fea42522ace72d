//! Lines of text broken at words.

use unicode_width::UnicodeWidthStr;

/// A text in lines no wider than this; what stands at the beginning of a line stays there, and a word that is wider
/// than a line is left to the terminal.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    hanging_words(text, width, 0)
}

/// The same, with what does not fit in a line set off by so many columns. What stands in backticks is one word: it is
/// a command that can be copied.
pub(crate) fn hanging(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    text.lines().flat_map(|line| one(line, width, &indent, words_and_commands(line).into_iter())).collect()
}

/// The same of what somebody said: backticks mean nothing in it.
pub(crate) fn hanging_words(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(indent);
    let lines = text.lines();
    lines.flat_map(|line| one(line, width, &indent, line.split_inclusive(char::is_whitespace))).collect()
}

fn one<'a>(line: &str, width: usize, hang: &str, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let own: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let indent = if own.len() < hang.len() { hang } else { &own };
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in words {
        let taken = current.width() + word.trim_end().width();
        if taken > width && current.trim() != "" {
            lines.push(std::mem::replace(&mut current, indent.to_owned()).trim_end().to_owned());
        }
        current.push_str(word);
    }
    lines.push(current.trim_end().to_owned());
    lines
}

/// The words of a line, each with the blanks behind it.
fn words_and_commands(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    for (at, c) in line.char_indices() {
        match c {
            '`' => quoted = !quoted && line[at + 1..].contains('`'),
            c if c.is_whitespace() && !quoted => {
                let end = at + c.len_utf8();
                words.push(&line[begin..end]);
                begin = end;
            }
            _ => {}
        }
    }
    words.push(&line[begin..]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_words_and_keep_their_indentation() {
        assert_eq!(wrapped("one two three\n\n  four five", 9), ["one two", "three", "", "  four", "  five"]);
        assert_eq!(wrapped("incomprehensibilities of it", 9), ["incomprehensibilities", "of it"]);
        assert_eq!(wrapped("修复 这个 错误", 9), ["修复 这个", "错误"]);
    }

    #[test]
    fn what_does_not_fit_is_set_off_and_commands_stay_whole() {
        assert_eq!(
            hanging("one two three\n      four five", 9, 2),
            ["one two", "  three", "      four", "      five"]
        );
        assert_eq!(
            hanging("go on with `rejoin ls -A` now", 16, 2),
            ["go on with", "  `rejoin ls -A`", "  now"]
        );
        assert_eq!(hanging("a ` is no command", 9, 0), ["a ` is no", "command"]);
        assert_eq!(hanging_words("look at `rejoin ls -A` now", 16, 2), ["look at `rejoin", "  ls -A` now"]);
    }
}
