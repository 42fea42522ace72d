//! Lines of code in the colours of their language.

use rejoin::{CodeColours, CodeKind};

use crate::screen::{Painted, Style};

/// A block of code that is going on.
pub(super) struct Code {
    /// The marks that end it.
    fence: String,
    colours: Option<CodeColours>,
}

impl Code {
    /// A block that these marks opened, with what stood behind them.
    pub(super) fn new(fence: String, info: &str) -> Self {
        let colours = CodeColours::of_fence(info);
        Self { fence, colours }
    }

    /// Whether a line ends it.
    pub(super) fn ends(&self, line: &str) -> bool {
        let marks = line.trim();
        marks.len() >= self.fence.len() && marks.chars().all(|c| self.fence.starts_with(c))
    }

    /// A line of it, as it is.
    pub(super) fn line(&mut self, line: &str, out: &mut Painted) {
        let Some(colours) = &mut self.colours else { return out.style(Style::CODE, line) };
        for span in colours.line(line) {
            out.style(style_of(span.kind), span.text);
        }
    }
}

/// Colours that can be read on a dark and on a light ground.
fn style_of(kind: CodeKind) -> Style {
    match kind {
        CodeKind::Plain | CodeKind::Function => Style::PLAIN,
        CodeKind::Keyword => Style::MAGENTA,
        CodeKind::Type | CodeKind::Name | CodeKind::Number => Style::CODE,
        CodeKind::String | CodeKind::Added => Style::GREEN,
        CodeKind::Comment => Style::DIM,
        CodeKind::Heading => Style::BOLD,
        CodeKind::Removed => Style::RED,
    }
}
