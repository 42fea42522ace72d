//! What a word is, for the index and for whoever looks at the text itself: one rule for both.

use std::ops::Range;

/// Longer words are told apart by their beginning only.
pub(crate) const LONGEST_WORD: usize = 64;

/// A word as it is compared: lower case, cut at [`LONGEST_WORD`] bytes.
pub(crate) struct Word {
    bytes: [u8; LONGEST_WORD],
    length: usize,
    /// Something did not fit: nothing more is added.
    full: bool,
}

impl Word {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The first eight bytes as a number, and the rest: cheap to hash.
    pub(crate) fn head(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    const fn new() -> Self {
        Self { bytes: [0; LONGEST_WORD], length: 0, full: false }
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn push_char(&mut self, c: char) {
        let mut buffer = [0; 4];
        let encoded = c.encode_utf8(&mut buffer).as_bytes();
        self.full = self.full || self.length + encoded.len() > LONGEST_WORD;
        if !self.full {
            encoded.iter().for_each(|byte| self.push(*byte));
        }
    }

    fn clear(&mut self) {
        // What lies behind the word stays zero: see `head`.
        self.bytes[..8].fill(0);
        self.length = 0;
        self.full = false;
    }
}

/// For an ASCII byte: its lower case if it can stand in a word, else 0.
const FOLDED: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        let as_byte = byte as u8;
        if as_byte.is_ascii_alphanumeric() {
            table[byte] = as_byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// Hands out every word of a text and where it stands: runs of letters and digits, in lower case;
/// in scripts written without spaces, every letter is a word.
#[inline]
pub(crate) fn words(text: &str, mut each: impl FnMut(&Word, Range<usize>)) {
    let bytes = text.as_bytes();
    let mut word = Word::new();
    let mut begin = 0;
    let mut at = 0;
    let mut open = false;
    while let Some(&byte) = bytes.get(at) {
        if let Some(&folded) = FOLDED.get(usize::from(byte)) {
            if folded != 0 {
                if !open {
                    (open, begin) = (true, at);
                }
                if !word.full {
                    word.push(folded);
                }
            } else if open {
                each(&word, begin..at);
                word.clear();
                open = false;
            }
            at += 1;
            continue;
        }
        let Some(c) = text[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        let alone = stands_alone(c);
        if open && (alone || !c.is_alphanumeric()) {
            each(&word, begin..at);
            word.clear();
            open = false;
        }
        if c.is_alphanumeric() {
            if !open {
                (open, begin) = (true, at);
            }
            fold(c, &mut word);
            if alone {
                each(&word, begin..end);
                word.clear();
                open = false;
            }
        }
        at = end;
    }
    if open {
        each(&word, begin..at);
    }
}

fn fold(c: char, word: &mut Word) {
    match c {
        // Only its place in the word tells it from the other sigma.
        'ς' => word.push_char('σ'),
        c => c.to_lowercase().filter(|c| c.is_alphanumeric()).for_each(|c| word.push_char(c)),
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
            found.push(String::from_utf8(word.as_bytes().to_vec()).unwrap());
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
    fn the_head_of_a_word_knows_nothing_of_the_word_before() {
        let mut heads = Vec::new();
        words("abcdefghijkl ab", |word, _| heads.push(word.head()));
        assert_eq!(heads[1], u64::from_le_bytes(*b"ab\0\0\0\0\0\0"));
    }
}
