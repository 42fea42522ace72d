//! Blocks of code, with the colours of their language.

use super::escape::escaped;
use crate::{CodeColours, CodeKind};

/// A block; `fence` is what its first line says about the language.
pub(super) fn block(fence: &str, code: &str, out: &mut String) {
    out.push_str("<pre><code>");
    let code = code.strip_suffix('\n').unwrap_or(code);
    match CodeColours::of_fence(fence) {
        None => out.push_str(&escaped(code)),
        Some(mut colours) => {
            for (number, line) in code.split('\n').enumerate() {
                if number > 0 {
                    out.push('\n');
                }
                for span in colours.line(line.strip_suffix('\r').unwrap_or(line)) {
                    coloured(span.kind, span.text, out);
                }
            }
        }
    }
    out.push_str("</code></pre>\n");
}

fn coloured(kind: CodeKind, text: &str, out: &mut String) {
    let class = match kind {
        CodeKind::Plain => return out.push_str(&escaped(text)),
        CodeKind::Keyword => "k",
        CodeKind::Type => "t",
        CodeKind::Function => "f",
        CodeKind::Name => "n",
        CodeKind::String => "s",
        CodeKind::Number => "d",
        CodeKind::Comment => "c",
        CodeKind::Heading => "h",
        CodeKind::Added => "a",
        CodeKind::Removed => "r",
    };
    out.push_str("<span class=\"");
    out.push_str(class);
    out.push_str("\">");
    out.push_str(&escaped(text));
    out.push_str("</span>");
}
