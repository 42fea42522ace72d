//! Emphasis, code and links within a line.

use crate::screen::Style;

/// Runs of text with their style.
pub(super) type Pieces = Vec<(Style, String)>;

/// Takes a text apart. An error tells where a mark stands that is not closed yet; in a text that is all of its
/// line such marks are text. A text that is not all of its line ends with a blank.
pub(super) fn inline(
    text: &str,
    base: Style,
    styled: bool,
    all: bool,
    pieces: &mut Pieces,
) -> Result<(), usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let previous = text[..at].chars().next_back();
        let run = rest.len() - rest.trim_start_matches(c).len();
        let mut next = at + c.len_utf8();
        match c {
            '\\' if rest[1..].starts_with(['*', '_', '`', '[']) => {
                add(pieces, base, if styled { &rest[1..2] } else { &rest[..2] });
                next = at + 2;
            }
            '`' => match closing_code(&rest[run..], run) {
                Some(length) => {
                    let code = &rest[run..run + length];
                    let shown = if styled { code } else { &rest[..length + 2 * run] };
                    add(pieces, base.and(Style::CODE), shown);
                    next = at + length + 2 * run;
                }
                None if all => {
                    add(pieces, base, &rest[..run]);
                    next = at + run;
                }
                None => return Err(at),
            },
            '*' | '_' | '~' => {
                let style = emphasis(c, run).filter(|_| opens(previous, rest[run..].chars().next()));
                let length = style.and_then(|_| closing(&rest[run..], c, run, all));
                match (style, length) {
                    (Some(style), Some(length)) => {
                        let (marks, inner) = (&rest[..run], &rest[run..run + length]);
                        add(pieces, base, if styled { "" } else { marks });
                        inline(inner, base.and(style), styled, true, pieces)?;
                        add(pieces, base, if styled { "" } else { marks });
                        next = at + length + 2 * run;
                    }
                    (Some(_), None) if !all => return Err(at),
                    _ => {
                        add(pieces, base, &rest[..run]);
                        next = at + run;
                    }
                }
            }
            '[' => match link(rest) {
                Link::Open if !all => return Err(at),
                Link::To { words, target, length } if styled => {
                    inline(words, base.and(Style::LINK), styled, true, pieces)?;
                    if words != target {
                        add(pieces, base.and(Style::DIM), &format!(" ({target})"));
                    }
                    next = at + length;
                }
                _ => add(pieces, base, "["),
            },
            'h' if styled && !previous.is_some_and(char::is_alphanumeric) && address(rest) > 0 => {
                let length = address(rest);
                add(pieces, base.and(Style::LINK), &rest[..length]);
                next = at + length;
            }
            _ => {
                let marks = rest.find(['\\', '`', '*', '_', '~', '[']).unwrap_or(rest.len());
                let address = rest.match_indices("http").map(|(at, _)| at).find(|at| *at > 0);
                let plain = marks.min(address.unwrap_or(rest.len())).max(c.len_utf8());
                add(pieces, base, &rest[..plain]);
                next = at + plain;
            }
        }
        at = next;
    }
    Ok(())
}

/// How long the address is that stands here; 0 if there is none.
fn address(text: &str) -> usize {
    let Some(scheme) = ["https://", "http://"].into_iter().find(|scheme| text.starts_with(scheme)) else {
        return 0;
    };
    let host = &text[scheme.len()..];
    let end = host.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | ')' | ']' | '*'));
    // What ends a sentence is not part of it.
    let host = host[..end.unwrap_or(host.len())].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '_']);
    if host.is_empty() { 0 } else { scheme.len() + host.len() }
}

fn add(pieces: &mut Pieces, style: Style, text: &str) {
    match pieces.last_mut() {
        Some((last, run)) if *last == style => run.push_str(text),
        _ => pieces.push((style, text.to_owned())),
    }
}

/// What so many marks mean. `__init__` is meant far more often than a bold `init`.
fn emphasis(mark: char, run: usize) -> Option<Style> {
    match (mark, run) {
        ('~', 2) => Some(Style::STRUCK),
        ('*' | '_', 1) => Some(Style::ITALIC),
        ('*', 2) => Some(Style::BOLD),
        ('*', 3) => Some(Style::BOLD.and(Style::ITALIC)),
        _ => None,
    }
}

/// Marks within a word are text: `snake_case`, `2*3*4`.
fn opens(previous: Option<char>, next: Option<char>) -> bool {
    !previous.is_some_and(char::is_alphanumeric) && next.is_some_and(|c| !c.is_whitespace())
}

/// How far it is to the same marks again, at the end of a word.
fn closing(text: &str, mark: char, run: usize, all: bool) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find([mark, '`']) {
        let start = at + found;
        let c = text[start..].chars().next()?;
        let length = text[start..].len() - text[start..].trim_start_matches(c).len();
        at = start + length;
        if c == '`' {
            // What stands in code closes nothing.
            match closing_code(&text[at..], length) {
                Some(code) => at += code + length,
                None if all => {}
                None => return None,
            }
            continue;
        }
        let before = text[..start].chars().next_back();
        let after = text[at..].chars().next();
        let ends_word = before.is_some_and(|c| !c.is_whitespace() && c != '\\');
        if length == run && ends_word && !after.is_some_and(char::is_alphanumeric) {
            return Some(start);
        }
    }
    None
}

/// How far it is to as many backquotes again.
fn closing_code(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
    None
}

enum Link<'a> {
    /// Its end did not come yet.
    Open,
    /// It is none.
    None,
    To {
        words: &'a str,
        target: &'a str,
        length: usize,
    },
}

/// `[words](target)`.
fn link(text: &str) -> Link<'_> {
    let mut depth = 0;
    let close = text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        (depth == 0).then_some(at)
    });
    let Some(close) = close else { return Link::Open };
    let Some(target) = text[close + 1..].strip_prefix('(') else { return Link::None };
    let mut depth = 1;
    for (at, c) in target.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 && at > 0 {
            return Link::To { words: &text[1..close], target: &target[..at], length: close + 3 + at };
        }
        if c.is_whitespace() || depth == 0 {
            break;
        }
    }
    Link::None
}
