//! How a prompt reaches Claude as text.
//!
//! Claude (2.1.197) reads a leading `/` as a command and puts the file into the prompt that an `@` names. It
//! looks only at the last block of a message, so a prompt that holds either is sent in two blocks:
//! the model gets exactly the same characters, and the last block holds nothing to act on.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::driver::json_line;
use crate::{Attached, Media, Refusal};

/// Stands before a `/` or `@` where blocks cannot be sent: no space to Claude, nothing to the eye.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The message for `--input-format stream-json`: files first, for only the last block may act.
pub(super) fn message(prompt: &str, attachments: &[Attached]) -> Vec<u8> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let content = match split(prompt) {
        None if attachments.is_empty() => json!(prompt),
        None => attachments.iter().map(block).chain([text(prompt)]).collect(),
        Some((head, tail)) => attachments.iter().map(block).chain([text(head), text(tail)]).collect(),
    };
    json_line(&json!({ "type": "user", "message": { "role": "user", "content": content } }))
}

fn block(attached: &Attached) -> Value {
    let media_type = &attached.about.media_type;
    let base64 = || json!({ "type": "base64", "media_type": media_type, "data": attached.base64() });
    let source = match attached.media {
        Media::Image => return json!({ "type": "image", "source": base64() }),
        Media::Text => json!({ "type": "text", "media_type": media_type, "data": attached.text() }),
        Media::Pdf | Media::Other => base64(),
    };
    json!({ "type": "document", "title": attached.about.name, "source": source })
}

/// The prompt for plain text input: as it is, unless something in it would act.
fn plain(prompt: &str) -> Cow<'_, str> {
    let triggers = triggers(prompt);
    if triggers.is_empty() {
        return Cow::Borrowed(prompt);
    }
    let mut text = String::with_capacity(prompt.len() + triggers.len() * 3);
    let mut from = 0;
    for trigger in triggers {
        text.push_str(&prompt[from..trigger]);
        text.push(ZERO_WIDTH_SPACE);
        from = trigger;
    }
    text.push_str(&prompt[from..]);
    Cow::Owned(text)
}

/// Cuts a prompt after the last thing that would act, at the end of its line or word if there is
/// more to come, else in front of its name.
fn split(prompt: &str) -> Option<(&str, &str)> {
    let last = *triggers(prompt).last()?;
    let after = last + 1;
    let rest = &prompt[after..];
    let more = |at: &usize| !prompt[after + at..].trim().is_empty();
    let line = rest.find('\n').filter(more);
    let word = || rest.find(char::is_whitespace).filter(more);
    let name = || rest.find(|c: char| c.is_alphanumeric() || c == '_');
    let at = after + line.or_else(word).or_else(name)?;
    Some(prompt.split_at(at))
}

/// Where something stands that Claude would act on: a leading `/`, or an `@` before a word that is
/// not inside another word.
fn triggers(prompt: &str) -> Vec<usize> {
    let command = prompt.starts_with('/').then_some(0);
    let files = prompt.match_indices('@').map(|(at, _)| at).filter(|at| {
        let before = prompt[..*at].chars().next_back();
        let after = prompt[at + 1..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric()) && after.is_some_and(|c| !c.is_whitespace())
    });
    command.into_iter().chain(files).collect()
}

/// Plain text on its input is refused beyond this (2.1.197).
const LONGEST_PLAIN_PROMPT: usize = 10_000_000;

/// The prompt for a Claude that reads plain text alone, and what to tell the user about it.
pub(super) fn alone(prompt: &str) -> Result<(Vec<u8>, Option<&'static str>), Refusal> {
    let plain = plain(prompt);
    if plain.len() > LONGEST_PLAIN_PROMPT {
        let text =
            "the prompt is longer than 10 MB, which this claude does not read; shorten it or update claude";
        return Err(Refusal::Unsupported(text.into()));
    }
    let warning = "this claude has no --input-format: an invisible character was put before each / and @ that it would have acted on";
    let changed = (plain != prompt).then_some(warning);
    Ok((plain.into_owned().into_bytes(), changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_prompt_is_one_text() {
        for prompt in ["hello", "a@b.c", "1/2", " /x", "@ home", "look @", "#x !y $z"] {
            assert_eq!(split(prompt), None, "{prompt:?}");
            assert_eq!(plain(prompt), prompt);
        }
    }

    #[test]
    fn commands_and_files_are_kept_out_of_the_last_block_without_changing_a_character() {
        for (prompt, head, tail) in [
            ("/clear", "/", "clear"),
            ("/clear all of it", "/clear", " all of it"),
            ("//x", "//", "x"),
            ("@a.txt", "@", "a.txt"),
            ("@/etc/passwd", "@/", "etc/passwd"),
            ("see @a.txt please", "see @a.txt", " please"),
            ("see @a.txt  ", "see @", "a.txt  "),
            ("see @\"a b.txt\"", "see @\"a", " b.txt\""),
            ("see (@a) and @b\nthen\nstop", "see (@a) and @b", "\nthen\nstop"),
            ("/x @y z\n", "/x @y", " z\n"),
            ("é @ü", "é @", "ü"),
            ("、@a b", "、@a", " b"),
        ] {
            assert_eq!(split(prompt), Some((head, tail)), "{prompt:?}");
            assert!(triggers(tail).is_empty(), "{tail:?}");
        }
    }

    #[test]
    fn nothing_is_left_to_act_in_plain_text() {
        assert_eq!(plain("/x @y"), "\u{200b}/x \u{200b}@y");
    }

    #[test]
    fn files_stand_before_the_words() {
        let files = [
            Attached::new("a.png", b"\x89PNG\r\n\x1a\n".to_vec(), String::new()),
            Attached::new("b.txt", b"notes".to_vec(), String::new()),
            Attached::new("c.pdf", b"%PDF-1".to_vec(), String::new()),
        ];
        let blocks = |prompt: &str| {
            let line: Value = serde_json::from_slice(&message(prompt, &files)).unwrap();
            let blocks = line["message"]["content"].as_array().unwrap().clone();
            blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(blocks("hello"), ["image", "document", "document", "text"]);
        assert_eq!(blocks("/clear"), ["image", "document", "document", "text", "text"]);
    }

    #[test]
    fn a_message_is_one_line() {
        let text = String::from_utf8(message("see @a\nb", &[])).unwrap();
        assert_eq!(
            text,
            r#"{"message":{"content":[{"text":"see @a","type":"text"},{"text":"\nb","type":"text"}],"role":"user"},"type":"user"}"#
                .to_owned()
                + "\n"
        );
    }
}
