//! What a word is, for the index and for whoever looks at the text itself: one rule for both.

use std::ops::Range;

use crate::fulltext::escape_sequence::escape_sequence_end;

/// Longer words are told apart by their beginning only.
pub(crate) const LONGEST_WORD: usize = 64;

/// A word as it is compared: lower case, cut at [`LONGEST_WORD`] bytes.
pub(crate) struct Word {
    /// Eight bytes each, little end first; zero behind the end.
    eights: [u64; LONGEST_WORD / 8],
    length: usize,
    /// Something did not fit: nothing more is added.
    full: bool,
}

impl Word {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Its bytes, eight at a time.
    #[inline]
    pub(crate) fn eights(&self) -> &[u64] {
        &self.eights[..self.length.div_ceil(8)]
    }

    pub(crate) fn begins_with(&self, bytes: &[u8]) -> bool {
        let mut eights = bytes.chunks(8).zip(&self.eights);
        bytes.len() <= self.length && eights.all(|(chunk, eight)| eight.to_le_bytes().starts_with(chunk))
    }

    /// Adds its bytes to others.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        let end = bytes.len() + self.length;
        for eight in self.eights() {
            bytes.extend_from_slice(&eight.to_le_bytes());
        }
        bytes.truncate(end);
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.append_to(&mut bytes);
        bytes
    }

    const fn new() -> Self {
        Self { eights: [0; LONGEST_WORD / 8], length: 0, full: false }
    }

    /// Takes a run of ASCII letters and digits that begins at a place.
    #[inline]
    fn take(&mut self, text: &[u8], begin: usize, length: usize) {
        // Sets the bit that makes capitals small; digits have it already.
        const SMALL: u64 = 0x2020_2020_2020_2020;
        (self.length, self.full) = (length.min(LONGEST_WORD), false);
        let mut left = self.length;
        let mut at = begin;
        for eight in self.eights.iter_mut().take(self.length.div_ceil(8)) {
            let eight_bytes = text.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            let bytes = eight_bytes.unwrap_or_else(|| {
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(&text[at..]).for_each(|(to, from)| *to = *from);
                bytes
            });
            let mask = if left >= 8 { u64::MAX } else { (1 << (left * 8)) - 1 };
            *eight = (u64::from_le_bytes(bytes) | SMALL) & mask;
            left = left.saturating_sub(8);
            at += 8;
        }
    }

    fn push(&mut self, c: char) {
        let mut buffer = [0; 4];
        let encoded = c.encode_utf8(&mut buffer).as_bytes();
        self.full = self.full || self.length + encoded.len() > LONGEST_WORD;
        if self.full {
            return;
        }
        for byte in encoded {
            let (eight, shift) = (self.length / 8, self.length % 8 * 8);
            if shift == 0 {
                self.eights[eight] = 0;
            }
            self.eights[eight] |= u64::from(*byte) << shift;
            self.length += 1;
        }
    }
}

/// Hands out every word of a text and where it stands: runs of letters and digits, in lower case;
/// in scripts written without spaces, every letter is a word. What tells a terminal a colour is no
/// part of the word behind it.
#[inline]
pub(crate) fn words(text: &str, mut each: impl FnMut(&Word, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut word = Word::new();
    let mut at = 0;
    // Up to here nothing is a word any more.
    let mut sequence_end = 0;
    while at < bytes.len() {
        // Plain ASCII goes by in blocks: a bit for every byte, an edge where a word begins or ends.
        let mut open = None;
        while let Some(letters) = bytes.get(at..at + 64).and_then(plain_letters) {
            let mut edges = letters ^ (letters << 1 | u64::from(open.is_some()));
            while edges != 0 {
                let edge = at + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                open = match open {
                    None => Some(edge),
                    Some(begin) => {
                        sequence_end = escape_sequence_end(bytes, begin).unwrap_or(sequence_end);
                        let begin = begin.max(sequence_end);
                        if begin < edge {
                            word.take(bytes, begin, edge - begin);
                            each(&word, begin..edge);
                        }
                        None
                    }
                };
            }
            at += 64;
        }
        // Any other block, and the word that goes on into it.
        let range = open.unwrap_or(at)..at + 64;
        at = any_words(text, range, &mut sequence_end, &mut word, &mut each);
    }
}

/// Which of 64 bytes are letters or digits; `None` if some are not ASCII.
#[inline]
fn plain_letters(block: &[u8]) -> Option<u64> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    let mut letters = 0;
    for (number, eight) in block.as_chunks().0.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        if eight & HIGH != 0 {
            return None;
        }
        // Adding so much lifts a byte to 0x80 from the first letter on, or from behind the last.
        let small = eight | (0x20 * EACH);
        let letter = (small + (0x80 - 0x61) * EACH) & !(small + (0x80 - 0x7b) * EACH);
        let digit = (eight + (0x80 - 0x30) * EACH) & !(eight + (0x80 - 0x3a) * EACH);
        // Gathers the high bits of eight bytes in one.
        let bits = (((letter | digit) & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        letters |= bits << (number * 8);
    }
    Some(letters)
}

/// Hands out the words that begin in a range, and returns where the last of them ends, or the range.
fn any_words(
    text: &str,
    range: Range<usize>,
    sequence_end: &mut usize,
    word: &mut Word,
    each: &mut impl FnMut(&Word, Range<usize>),
) -> usize {
    let mut at = range.start.max(*sequence_end);
    while at < range.end {
        let Some(c) = text[at..].chars().next() else { break };
        if c.is_ascii_alphanumeric()
            && let Some(end) = escape_sequence_end(text.as_bytes(), at)
        {
            (*sequence_end, at) = (end, end);
            continue;
        }
        let begin = at;
        (word.length, word.full) = (0, false);
        if !c.is_alphanumeric() {
            at += c.len_utf8();
        } else if stands_alone(c) {
            at += c.len_utf8();
            fold(c, word);
        } else {
            at = goes_on(text, at, word);
        }
        if word.length > 0 {
            each(word, begin..at);
        }
    }
    at
}

/// Adds letters to a word, up to where it ends.
fn goes_on(text: &str, begin: usize, word: &mut Word) -> usize {
    for (at, c) in text[begin..].char_indices() {
        if !c.is_alphanumeric() || stands_alone(c) {
            return begin + at;
        }
        fold(c, word);
    }
    text.len()
}

fn fold(c: char, word: &mut Word) {
    match c {
        // Only its place in the word tells it from the other sigma.
        'ς' => word.push('σ'),
        c => c.to_lowercase().filter(|c| c.is_alphanumeric()).for_each(|c| word.push(c)),
    }
}

/// Letters of scripts that do not put spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3040}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' // Han
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        words(text, |word, place| {
            assert!(!text[place].is_empty());
            found.push(String::from_utf8(word.to_bytes()).unwrap());
        });
        found
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_in_lower_case() {
        assert_eq!(
            of("Fix_the bug-42 in src/Main.rs!"),
            ["fix", "the", "bug", "42", "in", "src", "main", "rs"]
        );
        assert_eq!(of(""), Vec::<String>::new());
        assert_eq!(of("--"), Vec::<String>::new());
        assert_eq!(of("x"), ["x"]);
    }

    #[test]
    fn words_of_every_language_are_found() {
        assert_eq!(of("Größe ÄRGER naïve"), ["größe", "ärger", "naïve"]);
        assert_eq!(of("ошибка В коде"), ["ошибка", "в", "коде"]);
        assert_eq!(of("ΟΔΟΣ οδός"), ["οδοσ", "οδόσ"]);
        assert_eq!(of("修复bug吧"), ["修", "复", "bug", "吧"]);
        assert_eq!(of("テスト"), ["テ", "ス", "ト"]);
        assert_eq!(of("버그 수정"), ["버그", "수정"]);
        assert_eq!(of("خطأ في"), ["خطأ", "في"]);
    }

    #[test]
    fn a_long_word_is_cut_between_characters() {
        assert_eq!(of(&"x".repeat(100)), ["x".repeat(64)]);
        let cut = of(&format!("{}ééz", "x".repeat(61)));
        assert_eq!(cut, [format!("{}é", "x".repeat(61))]);
    }

    #[test]
    fn nothing_of_a_word_is_left_in_the_next() {
        let mut eights = Vec::new();
        words("abcdefghijkl ab é AB", |word, _| eights.push(word.eights().to_vec()));
        let ab = u64::from_le_bytes(*b"ab\0\0\0\0\0\0");
        assert_eq!(eights[1..], [vec![ab], vec![0xa9c3], vec![ab]]);
    }

    #[test]
    fn plain_text_is_read_in_blocks_as_it_is_letter_by_letter() {
        let mut text = String::new();
        for number in 0..3000_u32 {
            // All of ASCII, words of all lengths, now and then something else.
            text.push(char::from((number * number % 128) as u8));
            text.push_str(&"aZ9x".repeat((number % 30) as usize / 3));
            if number % 97 == 0 {
                text.push_str("é字");
            }
            if number % 41 == 0 {
                text.push_str(
                    ["\u{1b}[1;31m", "\\e[0m", "\u{1b}(B", "\u{1b}[38;2;1;2;3;4;5;6;7;8"]
                        [number as usize % 4],
                );
            }
        }
        for begin in [0, 1, 5, 63] {
            let text = &text[text.ceil_char_boundary(begin)..];
            let (mut one, mut other) = (Vec::new(), Vec::new());
            words(text, |word, place| one.push((word.to_bytes(), place)));
            any_words(text, 0..text.len(), &mut 0, &mut Word::new(), &mut |word, place| {
                other.push((word.to_bytes(), place));
            });
            assert!(one.len() > 1000);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn colours_of_a_terminal_are_no_part_of_words() {
        assert_eq!(of("\u{1b}[31mzanzibar\u{1b}[0m"), ["zanzibar"]);
        assert_eq!(
            of("one \u{1b}[1;38;5;196mred\u{1b}[mtwo \u{1b}[?25lthree"),
            ["one", "red", "two", "three"]
        );
        assert_eq!(of("\u{1b}(Bbold \u{9b}32mgreen"), ["bold", "green"]);
        assert_eq!(of("\u{1b}[31mзанзибар \u{1b}[4m字"), ["занзибар", "字"]);
        let far = format!("{}\u{1b}[31mzanzibar", "word ".repeat(40));
        assert_eq!(of(&far).last().map(String::as_str), Some("zanzibar"));
        // Written out, as in a script or in what `show` shows.
        assert_eq!(of("\\e[31mzanzibar"), ["e", "zanzibar"]);
        assert_eq!(
            of("\\033[1;31mzanzibar \\x1b[0mx \\u001b[4my"),
            ["033", "zanzibar", "x1b", "x", "u001b", "y"]
        );
        assert_eq!(of("␛[31mzanzibar ^[[0mx"), ["zanzibar", "x"]);
        // What only looks like it.
        assert_eq!(of("a[31m] [30min] x[5m"), ["a", "31m", "30min", "x", "5m"]);
    }

    #[test]
    fn letters_of_several_scripts_make_one_word() {
        assert_eq!(of("Xéy ABCDEFGHé1 éX"), ["xéy", "abcdefghé1", "éx"]);
        let long = "x".repeat(70);
        assert_eq!(of(&format!("{long}é")), ["x".repeat(64)]);
    }
}
