//! One pass over one line. Every step goes forward, and what is looked at ahead is either taken or not looked at
//! again, so a line costs what it is long.

mod markup;

use super::languages::Language;
use super::{CodeKind, CodeSpan, Within, looked_up};

/// A line, and how far it is read. Parts begin and end at ASCII signs or at the ends of the line, never within a
/// character.
pub(super) struct Scan<'a> {
    line: &'a str,
    at: usize,
    taken: usize,
    spans: Vec<CodeSpan<'a>>,
    /// There is no end of a `/…/` in the rest of the line.
    no_regex: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0, taken: 0, spans: Vec::new(), no_regex: false }
    }

    /// All parts, with what no one claimed.
    pub(super) fn finish(mut self) -> Vec<CodeSpan<'a>> {
        self.push(self.line.len(), CodeKind::Plain);
        self.spans
    }

    /// The whole line is of one kind.
    pub(super) fn whole(&mut self, kind: CodeKind) {
        self.at = self.line.len();
        self.push(self.at, kind);
    }

    fn push(&mut self, to: usize, kind: CodeKind) {
        let Some(text) = self.line.get(self.taken..to).filter(|text| !text.is_empty()) else { return };
        match self.spans.last_mut() {
            Some(last) if last.kind == kind => {
                let from = self.taken - last.text.len();
                last.text = self.line.get(from..to).unwrap_or(text);
            }
            _ => self.spans.push(CodeSpan { text, kind }),
        }
        self.taken = to;
    }

    /// From `from` to where the reading is: of this kind.
    fn take(&mut self, from: usize, kind: CodeKind) {
        self.push(from, CodeKind::Plain);
        self.push(self.at, kind);
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.line.as_bytes().get(at).copied()
    }

    fn sees(&self, text: &str) -> bool {
        self.line.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn skip_while(&mut self, is: impl Fn(u8) -> bool) {
        while self.byte(self.at).is_some_and(&is) {
            self.at += 1;
        }
    }

    /// Up to and with the mark. Whether it was there.
    fn skip_to(&mut self, mark: &str, escapes: bool) -> bool {
        while let Some(byte) = self.byte(self.at) {
            if escapes && byte == b'\\' {
                self.at += 2;
            } else if self.sees(mark) {
                self.at += mark.len();
                return true;
            } else {
                self.at += 1;
            }
        }
        self.at = self.line.len();
        false
    }

    /// The next byte that is no blank.
    fn after_blanks(&self) -> Option<(usize, u8)> {
        let rest = self.line.as_bytes().get(self.at..)?;
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        rest.get(blanks).map(|byte| (self.at + blanks, *byte))
    }

    pub(super) fn code(&mut self, language: &Language, within: &mut Within) {
        self.go_on(language, within);
        if self.at == 0 && (self.directive(language) || self.table(language)) {
            return;
        }
        let mut heredoc = None;
        while let Some(byte) = self.byte(self.at) {
            let from = self.at;
            let before = from.checked_sub(1).and_then(|at| self.byte(at));
            let after_blank = before.is_none_or(|byte| byte.is_ascii_whitespace());
            let after_word = before.is_some_and(|byte| in_word(byte, language));
            if (after_blank || !language.comments_after_space)
                && language.line_comments.iter().any(|mark| self.begins_comment(mark))
            {
                self.at = self.line.len();
                self.take(from, CodeKind::Comment);
            } else if language.block_comment.is_some_and(|(begin, _)| self.sees(begin)) {
                self.at += language.block_comment.map_or(0, |(begin, _)| begin.len());
                *within = Within::Comment { open: 1 };
                self.comment(language, within);
                self.take(from, CodeKind::Comment);
            } else if let Some(which) = self.quote(language, after_word) {
                self.at += language.quotes[which].mark.len();
                self.text(language, which, within);
                let key = language.key_mark.is_some() && self.is_key(language);
                self.take(from, if key { CodeKind::Name } else { CodeKind::String });
            } else if language.rust && !after_word && self.rust(byte, within) {
            } else if language.shell && byte == b'$' {
                self.variable(from);
            } else if language.shell && self.sees("<<") {
                heredoc = self.heredoc().or(heredoc);
            } else if language.decorators && byte == b'@' {
                self.at += 1;
                self.skip_while(|byte| in_word(byte, language) || byte == b'.');
                self.take(from, CodeKind::Keyword);
            } else if language.regexes && byte == b'/' && self.regex() {
                self.take(from, CodeKind::String);
            } else if byte.is_ascii_digit() && !after_word {
                self.number();
                self.take(from, CodeKind::Number);
            } else if in_word(byte, language) {
                self.word(language);
            } else {
                self.at += 1;
            }
        }
        if let (Within::Code, Some(end)) = (&*within, heredoc) {
            *within = Within::Heredoc(end);
        }
    }

    /// What the line before left open.
    fn go_on(&mut self, language: &Language, within: &mut Within) {
        match within {
            Within::Comment { .. } => {
                self.comment(language, within);
                self.take(0, CodeKind::Comment);
            }
            Within::Quote(which) => {
                let which = *which;
                self.text(language, which, within);
                self.take(0, CodeKind::String);
            }
            Within::Raw { hashes } => {
                let hashes = *hashes;
                self.raw(hashes, within);
                self.take(0, CodeKind::String);
            }
            Within::Heredoc(end) => {
                let ended = self.line.trim() == end;
                self.whole(CodeKind::String);
                if ended {
                    *within = Within::Code;
                }
            }
            Within::Code | Within::Tag { .. } | Within::Fence { .. } => {}
        }
    }

    /// A mark with a blank at its end is one at the end of the line, too.
    fn begins_comment(&self, mark: &str) -> bool {
        self.sees(mark)
            || (mark.ends_with(' ') && self.line.get(self.at..).is_some_and(|rest| rest == mark.trim_end()))
    }

    fn comment(&mut self, language: &Language, within: &mut Within) {
        let (Some((begin, end)), Within::Comment { open }) = (language.block_comment, &mut *within) else {
            return;
        };
        while self.at < self.line.len() {
            if self.sees(end) {
                self.at += end.len();
                *open -= 1;
                if *open == 0 {
                    *within = Within::Code;
                    return;
                }
            } else if language.comments_nest && self.sees(begin) {
                self.at += begin.len();
                *open += 1;
            } else {
                self.at += 1;
            }
        }
    }

    fn quote(&self, language: &Language, after_word: bool) -> Option<usize> {
        if after_word && !language.quotes_after_words {
            return None;
        }
        language.quotes.iter().position(|quote| self.sees(quote.mark))
    }

    fn text(&mut self, language: &Language, which: usize, within: &mut Within) {
        let Some(quote) = language.quotes.get(which) else { return };
        let ended = self.skip_to(quote.mark, quote.escapes);
        *within = if ended || !quote.lines { Within::Code } else { Within::Quote(which) };
    }

    fn raw(&mut self, hashes: usize, within: &mut Within) {
        *within = Within::Raw { hashes };
        while self.skip_to("\"", false) {
            let from = self.at;
            while self.at - from < hashes && self.byte(self.at) == Some(b'#') {
                self.at += 1;
            }
            if self.at - from == hashes {
                *within = Within::Code;
                return;
            }
        }
    }

    /// Rust's raw texts, characters and lifetimes. Whether there was one.
    fn rust(&mut self, byte: u8, within: &mut Within) -> bool {
        let from = self.at;
        if byte == b'r' || (byte == b'b' && self.byte(from + 1) == Some(b'r')) {
            let begin = from + if byte == b'r' { 1 } else { 2 };
            let hashes = self.line.as_bytes()[begin..].iter().take_while(|byte| **byte == b'#').count();
            if self.byte(begin + hashes) == Some(b'"') {
                self.at = begin + hashes + 1;
                self.raw(hashes, within);
                self.take(from, CodeKind::String);
                return true;
            }
        }
        let inside = match (byte, self.byte(from + 1)) {
            (b'\'', _) => from + 1,
            (b'b', Some(b'\'')) => from + 2,
            _ => return false,
        };
        let mut characters = self.line.get(inside..).unwrap_or_default().char_indices();
        match (characters.next(), characters.next()) {
            (Some((_, '\\')), _) => {
                self.at = inside;
                self.skip_to("'", true);
                self.take(from, CodeKind::String);
            }
            (Some(_), Some((end, '\''))) => {
                self.at = inside + end + 1;
                self.take(from, CodeKind::String);
            }
            _ => {
                self.at = inside;
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                self.take(from, CodeKind::Type);
            }
        }
        true
    }

    fn variable(&mut self, from: usize) {
        self.at += 1;
        match self.byte(self.at) {
            Some(b'{') => {
                self.skip_to("}", false);
            }
            Some(b'@' | b'#' | b'?' | b'!' | b'$' | b'*') => self.at += 1,
            _ => self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        }
        if self.at > from + 1 {
            self.take(from, CodeKind::Name);
        }
    }

    /// The word behind `<<`, as far as there is one.
    fn heredoc(&mut self) -> Option<String> {
        self.at += 2;
        if self.byte(self.at) == Some(b'<') {
            self.at += 1;
            return None;
        }
        self.skip_while(|byte| matches!(byte, b'-' | b'\'' | b'"' | b' '));
        let from = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let word =
            self.line.get(from..self.at).filter(|word| word.starts_with(|at: char| !at.is_ascii_digit()))?;
        self.skip_while(|byte| matches!(byte, b'\'' | b'"'));
        self.take(from, CodeKind::Name);
        Some(word.to_owned())
    }

    /// `/…/` where a value can begin. Whether it was one; if so it is read.
    fn regex(&mut self) -> bool {
        let from = self.at;
        let before =
            self.line.as_bytes()[..from].iter().rev().take(64).find(|byte| !byte.is_ascii_whitespace());
        let value = before.is_none_or(|byte| b"(,=:[!&|?{};+".contains(byte))
            || self.line.get(..from).is_some_and(|before| before.ends_with("return "));
        if !value || self.no_regex {
            return false;
        }
        self.at += 1;
        if self.skip_to("/", true) {
            self.skip_while(|byte| byte.is_ascii_lowercase());
            return true;
        }
        self.no_regex = true;
        self.at = from;
        false
    }

    fn number(&mut self) {
        while let Some(byte) = self.byte(self.at) {
            let next = self.byte(self.at + 1);
            let exponent = matches!(byte, b'+' | b'-')
                && matches!(self.byte(self.at - 1), Some(b'e' | b'E'))
                && next.is_some_and(|next| next.is_ascii_digit());
            let fraction = byte == b'.' && next.is_some_and(|next| next.is_ascii_digit());
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || fraction || exponent) {
                break;
            }
            self.at += 1;
        }
    }

    fn word(&mut self, language: &Language) {
        let from = self.at;
        self.skip_while(|byte| in_word(byte, language));
        let word = self.line.get(from..self.at).unwrap_or_default();
        let next = self.byte(self.at);
        let kind = if self.is_key(language) {
            CodeKind::Name
        } else if language.keywords.binary_search(&looked_up(word, language).as_ref()).is_ok() {
            CodeKind::Keyword
        } else if language.types && word.starts_with(|at: char| at.is_ascii_uppercase()) {
            CodeKind::Type
        } else if language.calls && (next == Some(b'(') || (language.rust && next == Some(b'!'))) {
            CodeKind::Function
        } else {
            return;
        };
        self.take(from, kind);
    }

    /// Whether what was just read is a key.
    fn is_key(&self, language: &Language) -> bool {
        let (Some(mark), Some((at, next))) = (language.key_mark, self.after_blanks()) else { return false };
        next == mark
            && (!language.key_blank || self.byte(at + 1).is_none_or(|byte| byte.is_ascii_whitespace()))
    }

    /// `#include`. Whether the rest of the line is read, too: never.
    fn directive(&mut self, language: &Language) -> bool {
        let Some((from, b'#')) = self.after_blanks().filter(|_| language.directives) else { return false };
        self.at = from + 1;
        self.skip_while(|byte| byte.is_ascii_alphabetic() || byte == b' ');
        self.take(from, CodeKind::Keyword);
        false
    }

    /// `[table]`. Whether it was one.
    fn table(&mut self, language: &Language) -> bool {
        let is = language.tables && self.line.trim_start().starts_with('[') && !self.line.contains('=');
        if is {
            self.whole(CodeKind::Heading);
        }
        is
    }
}

fn in_word(byte: u8, language: &Language) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii() || language.in_words.contains(&byte)
}
