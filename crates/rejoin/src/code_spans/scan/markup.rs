//! Lines of HTML and of Markdown.

use super::Scan;
use crate::code_spans::{CodeKind, Within};

impl Scan<'_> {
    pub(in crate::code_spans) fn tags(&mut self, within: &mut Within) {
        while self.at < self.line.len() {
            let from = self.at;
            match within {
                Within::Comment { .. } => {
                    if self.skip_to("-->", false) {
                        *within = Within::Code;
                    }
                    self.take(from, CodeKind::Comment);
                }
                Within::Tag { quote: Some(quote) } => {
                    let mark = if *quote == b'"' { "\"" } else { "'" };
                    if self.skip_to(mark, false) {
                        *within = Within::Tag { quote: None };
                    }
                    self.take(from, CodeKind::String);
                }
                Within::Tag { quote: None } => self.in_tag(within),
                _ if self.sees("<!--") => *within = Within::Comment { open: 1 },
                _ if self.sees("<") => {
                    self.at += 1;
                    self.skip_while(|byte| matches!(byte, b'/' | b'!' | b'?'));
                    self.skip_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
                    if self.at > from + 1 {
                        *within = Within::Tag { quote: None };
                        self.take(from, CodeKind::Keyword);
                    }
                }
                _ => self.skip_while(|byte| byte != b'<'),
            }
        }
    }

    fn in_tag(&mut self, within: &mut Within) {
        let from = self.at;
        match self.byte(from) {
            Some(b'>') => {
                self.at += 1;
                self.take(from, CodeKind::Keyword);
                *within = Within::Code;
            }
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                self.take(from, CodeKind::String);
                *within = Within::Tag { quote: Some(quote) };
            }
            Some(byte) if byte.is_ascii_alphabetic() || b"@:_#".contains(&byte) => {
                self.skip_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.@#".contains(&byte));
                self.take(from, CodeKind::Name);
            }
            _ => self.at += 1,
        }
    }

    pub(in crate::code_spans) fn markdown(&mut self, within: &mut Within) {
        let trimmed = self.line.trim_start();
        let sign = trimmed.bytes().next().unwrap_or_default();
        let length = trimmed.bytes().take_while(|byte| *byte == sign).count();
        let fence = matches!(sign, b'`' | b'~') && length >= 3;
        if let Within::Fence { sign: opened, length: least } = *within {
            let ends = fence && sign == opened && length >= least && trimmed.trim_end().len() == length;
            if ends {
                *within = Within::Code;
            }
            self.whole(if ends { CodeKind::Comment } else { CodeKind::String });
        } else if fence {
            *within = Within::Fence { sign, length };
            self.whole(CodeKind::Comment);
        } else if sign == b'#' && length <= 6 {
            self.whole(CodeKind::Heading);
        } else if sign == b'>' {
            self.whole(CodeKind::Comment);
        } else {
            self.markdown_line(trimmed);
        }
    }

    fn markdown_line(&mut self, trimmed: &str) {
        let indent = self.line.len() - trimmed.len();
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let marker = match trimmed.as_bytes().get(digits) {
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if digits > 0 => digits + 1,
            _ => 0,
        };
        if marker > 0 && self.byte(indent + marker) == Some(b' ') {
            self.at = indent + marker;
            self.take(indent, CodeKind::Keyword);
        }
        while self.at < self.line.len() {
            let from = self.at;
            if self.byte(from) == Some(b'`') {
                self.at += 1;
                if self.skip_to("`", false) {
                    self.take(from, CodeKind::String);
                }
            } else {
                self.at += 1;
            }
        }
    }
}
