//! What the user typed, of a message that Gemini stored.

use std::borrow::Cow;

use crate::loose::TextOr;

/// What Gemini itself says in the user's name begins so.
const INJECTED: [&str; 4] = ["<session_context>", "<hook_context>", "<state_snapshot>", "System: "];
/// What stands around the contents of files that were mentioned.
pub(super) const FILES: &str = "--- Content from referenced files ---";
const END_OF_FILES: &str = "--- End of content ---";

/// A part of a message.
pub(super) trait HasText {
    /// Its text, if it has one.
    fn text(&self) -> &str;
}

/// What the user typed, if a message is that. Of what was shown and what was sent, what was shown.
pub(super) fn typed<'a, P: HasText>(
    role: &str,
    content: &'a TextOr<'_, P>,
    display: &'a TextOr<'_, P>,
) -> Option<Cow<'a, str>> {
    if role != "user" {
        return None;
    }
    let sent = words(content);
    // Gemini goes on by itself after an error, and shows the prompt again.
    if sent.as_deref().is_some_and(is_injected) {
        return None;
    }
    words(display).or(sent).filter(|text| !is_injected(text))
}

fn is_injected(text: &str) -> bool {
    INJECTED.iter().any(|mark| text.starts_with(mark))
}

/// The words of a message without the contents of files behind them.
fn words<'a, P: HasText>(content: &'a TextOr<'_, P>) -> Option<Cow<'a, str>> {
    let words = match content {
        TextOr::Text(text) => Cow::Borrowed(without_files(text)),
        TextOr::Blocks(parts) => {
            let texts =
                parts.iter().map(HasText::text).take_while(|text| !text.trim_start().starts_with(FILES));
            let texts: Vec<&str> = texts.filter(|text| !text.trim().is_empty()).collect();
            match texts[..] {
                [text] => Cow::Borrowed(without_files(text)),
                _ => Cow::Owned(texts.join("\n")),
            }
        }
        TextOr::Neither => return None,
    };
    let words = match words {
        Cow::Borrowed(words) => Cow::Borrowed(words.trim()),
        Cow::Owned(words) => Cow::Owned(words.trim().to_owned()),
    };
    Some(words).filter(|words| !words.is_empty())
}

/// Older versions write prompt and files as one text.
fn without_files(text: &str) -> &str {
    let has_files = text.trim_end().ends_with(END_OF_FILES);
    text.split_once(FILES).filter(|_| has_files).map_or(text, |(words, _)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Part(&'static str);

    impl HasText for Part {
        fn text(&self) -> &str {
            self.0
        }
    }

    fn of(sent: &'static [&'static str], shown: &'static str) -> Option<String> {
        let sent = TextOr::Blocks(sent.iter().map(|text| Part(text)).collect());
        let shown = TextOr::Text(Cow::Borrowed(shown));
        typed("user", &sent, &shown).map(Cow::into_owned)
    }

    #[test]
    fn what_was_typed_is_told_apart_from_files_and_from_what_gemini_says_itself() {
        const ONE: &str = "a\n--- Content from referenced files ---\nx\n--- End of content ---";
        const QUOTED: &str = "quoted --- Content from referenced files --- and more";
        assert_eq!(
            of(&["a @f", "\n--- Content from referenced files ---", "x", END_OF_FILES], "").as_deref(),
            Some("a @f")
        );
        assert_eq!(of(&[ONE], "").as_deref(), Some("a"));
        assert_eq!(of(&[QUOTED], "").as_deref(), Some(QUOTED));
        assert_eq!(of(&["long"], "short").as_deref(), Some("short"));
        assert_eq!(of(&["System: Please continue."], "again"), None);
        assert_eq!(of(&["<session_context>x"], ""), None);
        assert_eq!(of(&["a", " ", "b"], "").as_deref(), Some("a\nb"));
        assert_eq!(of(&[], " "), None);
    }
}
