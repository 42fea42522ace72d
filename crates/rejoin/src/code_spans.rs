//! Which parts of a line of code are keywords, texts, comments: enough for colours, in one pass over the line.
//!
//! What a line begins in (a comment, a text of several lines) is carried on from the line before, so code can be
//! coloured while it arrives. A language is a row of a table (`languages.rs`); none is read well enough to be
//! compiled, and whatever is fed in, the spans together are the line as it was.

mod languages;
mod scan;

use std::borrow::Cow;

use languages::{LANGUAGES, Language, Shape};
use scan::Scan;

/// What a part of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// Nothing of the others: to be left as it is.
    Plain,
    /// A word of the language; the name of a tag.
    Keyword,
    /// A name that begins with a capital, in languages where types do.
    Type,
    /// What is called.
    Function,
    /// A key, an attribute, a variable of a shell.
    Name,
    /// A text in quotes, code within a sentence.
    String,
    /// A number.
    Number,
    /// A comment.
    Comment,
    /// A title of Markdown, a table of TOML, the place a part of a diff is from.
    Heading,
    /// A line that a diff adds.
    Added,
    /// A line that a diff removes.
    Removed,
}

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSpan<'a> {
    /// The text of it.
    pub text: &'a str,
    /// What it is.
    pub kind: CodeKind,
}

/// Colours code line after line, in the language of one block.
#[derive(Debug, Clone)]
pub struct CodeColours {
    language: &'static Language,
    within: Within,
}

/// What the next line begins in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Code,
    /// A comment, and how many are open where they nest.
    Comment { open: usize },
    /// A text in quotes that may go on over lines: which of the language's quotes.
    Quote(usize),
    /// Rust's raw text, and how many `#` end it.
    Raw { hashes: usize },
    /// A shell's text up to a line that is this word.
    Heredoc(String),
    /// A tag of HTML, and in which quote of it.
    Tag { quote: Option<u8> },
    /// A block of code of Markdown, and the fence that ends it: which sign, how many.
    Fence { sign: u8, length: usize },
}

impl CodeColours {
    /// For the language that a fence names (`rust`, `ts title=…`, `{.python}`); none if it is not known.
    pub fn of_fence(info: &str) -> Option<Self> {
        let name = info
            .trim_start_matches(['{', '.', ' '])
            .split(|at: char| at.is_whitespace() || matches!(at, ',' | '{' | '}' | ':'))
            .next()?;
        let name = name.strip_prefix("language-").unwrap_or(name).to_ascii_lowercase();
        let language = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))?;
        Some(Self { language, within: Within::Code })
    }

    /// The next line, without its end, in parts: together they are the line.
    pub fn line<'a>(&mut self, line: &'a str) -> Vec<CodeSpan<'a>> {
        let mut scan = Scan::new(line);
        match self.language.shape {
            Shape::Code => scan.code(self.language, &mut self.within),
            Shape::Tags => scan.tags(&mut self.within),
            Shape::Diff => scan.whole(diff_line(line)),
            Shape::Markdown => scan.markdown(&mut self.within),
        }
        scan.finish()
    }
}

fn diff_line(line: &str) -> CodeKind {
    let begins = |with: &[&str]| with.iter().any(|with| line.starts_with(with));
    if begins(&[
        "@@",
        "diff ",
        "index ",
        "--- ",
        "+++ ",
        "new file",
        "deleted file",
        "rename ",
        "similarity ",
    ]) {
        CodeKind::Heading
    } else if begins(&["+", ">"]) {
        CodeKind::Added
    } else if begins(&["-", "<"]) {
        CodeKind::Removed
    } else {
        CodeKind::Plain
    }
}

/// The word as the table of keywords has it.
fn looked_up<'a>(word: &'a str, language: &Language) -> Cow<'a, str> {
    // No keyword is that long: a line of one word is not copied for it.
    if language.ignores_case && word.len() <= 32 {
        Cow::Owned(word.to_ascii_lowercase())
    } else {
        Cow::Borrowed(word)
    }
}

#[cfg(test)]
mod tests;
