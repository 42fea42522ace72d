//! Text from outside, made fit to be shown: what a terminal would obey, and what nobody would see, is
//! written out. Nothing is left out, so a person sees all that an agent is told.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text with everything in it to be seen. Line ends and tabs stay; other control characters, marks that
/// reorder text and characters without a width become signs: `␛`, `␍`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, false)
}

/// The same in one line: line ends and tabs become signs, too (`␊`, `␉`).
pub fn visible_line(text: &str) -> Cow<'_, str> {
    written_out(text, true)
}

fn written_out(text: &str, one_line: bool) -> Cow<'_, str> {
    if is_plain(text, one_line) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    // What was copied, and the last character before the one that is looked at.
    let (mut done, mut before) = (0, None);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let sign = match c {
            '\n' | '\t' if !one_line => None,
            // An end of a line as other systems write it.
            '\r' if !one_line && next == Some('\n') => Some(Sign::None),
            // Emoji and some scripts are written with joiners. Anywhere else they only hide.
            '\u{200c}' | '\u{200d}' if [before, next].into_iter().flatten().all(takes_joiner) => None,
            c => Sign::of(c),
        };
        before = Some(c);
        if let Some(sign) = sign {
            out.push_str(&text[done..at]);
            done = at + c.len_utf8();
            sign.write(c, &mut out);
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Nearly everything is: told without looking at single characters.
fn is_plain(text: &str, one_line: bool) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') | (!one_line & matches!(byte, b'\n' | b'\t'));
    text.as_bytes().chunks(64).all(|chunk| chunk.iter().fold(true, |all, byte| all & plain(byte)))
}

fn takes_joiner(c: char) -> bool {
    !c.is_ascii() && Sign::of(c).is_none()
}

/// What stands for a character.
enum Sign {
    /// A picture of it.
    Picture(char),
    /// Its number.
    Number,
    /// Nothing: it is part of what comes next.
    None,
}

impl Sign {
    /// The sign of a character that would be obeyed, or not be seen.
    fn of(c: char) -> Option<Self> {
        match c {
            ' '..='~' => None,
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).map(Self::Picture),
            '\u{7f}' => Some(Self::Picture('\u{2421}')),
            c if c.is_control() || is_unseen(c) => Some(Self::Number),
            _ => None,
        }
    }

    fn write(&self, c: char, out: &mut String) {
        match self {
            Self::Picture(picture) => out.push(*picture),
            Self::Number => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            Self::None => {}
        }
    }
}

/// Characters that reorder or break text, or that nobody sees: marks of direction, blanks without a width,
/// fillers, tags, and the selectors that no emoji needs.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out_and_nothing_is_left_out() {
        let nasty = "a\u{1b}[2Jb\u{1b}]0;title\u{7}c\u{1b}]8;;x\u{1b}\\d\u{9b}e\u{202e}f\u{0}g\th\u{7f}\n";
        assert_eq!(visible(nasty), "a␛[2Jb␛]0;title␇c␛]8;;x␛\\d\\u{9b}e\\u{202e}f␀g\th␡\n");
        assert_eq!(visible("told\u{1b}]all the rest"), "told␛]all the rest");
        assert_eq!(visible_line("two\nlines\tand\r\nmore"), "two␊lines␉and␍␊more");
        assert_eq!(visible("one\r\ntwo\rthree\r"), "one\ntwo␍three␍");
    }

    #[test]
    fn what_nobody_would_see_is_written_out() {
        assert_eq!(visible("a\u{200b}b\u{e0041}\u{feff}"), "a\\u{200b}b\\u{e0041}\\u{feff}");
        assert_eq!(visible("pass\u{200d}word \u{200c}\u{200d}"), "pass\\u{200d}word \\u{200c}\\u{200d}");
        assert_eq!(visible("é\u{200d}\u{200d}é"), "é\\u{200d}\\u{200d}é");
    }

    #[test]
    fn what_people_write_stays() {
        for text in ["", "plain", "日本語 ❤️ 👨‍👩‍👧 می‌خواهم עברית", "tab\tand\nline", "café — “x”"]
        {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_obeyed_and_nothing_is_lost(text in any::<String>(), hostile in "[\\x00-\\x9f\u{200b}-\u{202e}\u{2066}-\u{2069}a-c]{0,40}") {
            for text in [&text, &hostile] {
                let lines = visible(text);
                let line = visible_line(text);
                prop_assert!(!lines.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
                prop_assert!(!line.contains(char::is_control));
                for shown in [&lines, &line] {
                    // Every character that can be seen is there, in order.
                    let mut rest = shown.chars();
                    for c in text.chars().filter(|c| Sign::of(*c).is_none()) {
                        prop_assert!(rest.any(|other| other == c), "{c:?} is lost in {shown:?}");
                    }
                    let unseen = |c: char| is_unseen(c) && !matches!(c, '\u{200c}' | '\u{200d}');
                    prop_assert!(!shown.contains(unseen));
                }
                // Once is enough, and what is shown twice is shown the same.
                prop_assert_eq!(&visible(&lines), &lines);
                prop_assert_eq!(&visible_line(&line), &line);
            }
        }
    }
}
