//! Lines of text broken at words.

use unicode_width::UnicodeWidthStr;

/// A text in lines no wider than this; what stands at the beginning of a line stays there, and a word that is wider
/// than a line is left to the terminal.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| one(line, width)).collect()
}

fn one(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let mut lines = Vec::new();
    let mut current = indent.clone();
    for word in line[indent.len()..].split_inclusive(char::is_whitespace) {
        let taken = current.width() + word.trim_end().width();
        if taken > width && current.trim() != "" {
            lines.push(std::mem::replace(&mut current, indent.clone()).trim_end().to_owned());
        }
        current.push_str(word);
    }
    lines.push(current.trim_end().to_owned());
    lines
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
}
