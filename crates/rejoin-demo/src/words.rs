//! What a prompt says. Prompts come plain, or as rejoin composes them: earlier turns quoted in
//! `<history-KEY>`, the user's own message in `<message-KEY>`.

/// A prompt taken apart.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Words<'a> {
    /// What the user said.
    pub(crate) own: &'a str,
    /// How many earlier turns the prompt tells about.
    pub(crate) told: usize,
}

pub(crate) fn words(prompt: &str) -> Words<'_> {
    for (close, tag) in prompt.rmatch_indices("\n</message-") {
        let after = &prompt[close + tag.len()..];
        let Some((key, _)) = after.split_once('>').filter(|(key, _)| is_key(key)) else { continue };
        let open = format!("<message-{key}>\n");
        let Some(start) = prompt[..=close].rfind(&open).filter(|&at| starts_line(prompt, at)) else {
            continue;
        };
        let Some(own) = prompt.get(start + open.len()..close.max(start + open.len())) else { continue };
        return Words { own, told: told(&prompt[..start], key) };
    }
    Words { own: after_instructions(prompt), told: 0 }
}

/// Counts the turns in the history block that carries the message's key.
fn told(before: &str, key: &str) -> usize {
    let (open, turn) = (format!("<history-{key}>\n"), format!("<turn-{key}"));
    before.find(&open).map_or(0, |at| {
        let history = &before[at..];
        history
            .match_indices(&turn)
            .filter(|(at, _)| starts_line(history, *at) && history[at + turn.len()..].starts_with([' ', '>']))
            .count()
    })
}

/// Standing instructions may come in front of a message that has no block of its own.
fn after_instructions(prompt: &str) -> &str {
    let mark = "<instructions-";
    prompt
        .find(mark)
        .filter(|&at| starts_line(prompt, at) && prompt.starts_with("Standing instructions"))
        .and_then(|at| prompt[at + mark.len()..].split_once('>'))
        .filter(|(key, _)| is_key(key))
        .and_then(|(key, rest)| rest.split_once(&format!("\n</instructions-{key}>\n\n")))
        .map_or(prompt, |(_, own)| own)
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

fn starts_line(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

/// The marks in a text, in order, with repetitions.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = &str> {
    const MARK: &str = "MARK-";
    text.match_indices(MARK).filter_map(move |(at, _)| {
        let name = &text[at + MARK.len()..];
        let end = name.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).unwrap_or(name.len());
        (end > 0).then(|| &text[at..at + MARK.len() + end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_prompt_is_the_users_own() {
        assert_eq!(words("fix it"), Words { own: "fix it", told: 0 });
    }

    #[test]
    fn only_the_message_block_of_a_composed_prompt_is_the_users_own() {
        let prompt = "Here is what happened.\n<history-k1>\n<turn-k1 number=\"1\">\n<user-k1>\nHANG\n</user-k1>\n</turn-k1>\n\
            <turn-k1 number=\"2\">\n</turn-k1>\n</history-k1>\n\nAnswer only this.\n<message-k1>\ngo on\n<message-x>\n</message-k1>\n";
        assert_eq!(words(prompt), Words { own: "go on\n<message-x>", told: 2 });
    }

    #[test]
    fn blocks_that_do_not_close_are_text() {
        for text in
            ["<message-k>\n", "a\n</message-k>", "\n</message-", "\n</message->", "<message-k>\n</message-k>"]
        {
            let _ = words(text);
        }
        assert_eq!(words("a\n</message-k>").own, "a\n</message-k>");
        assert_eq!(words("<message-k>\n\n</message-k>").own, "");
    }

    #[test]
    fn instructions_in_front_of_a_message_are_not_the_users_own() {
        let prompt =
            "Standing instructions for this conversation:\n<instructions-k>\nDIE\n</instructions-k>\n\nhello";
        assert_eq!(words(prompt).own, "hello");
    }

    #[test]
    fn marks_are_found_in_order() {
        assert_eq!(
            marks("MARK-b2, MARK-, xMARK-a1 MARK-b2").collect::<Vec<_>>(),
            ["MARK-b2", "MARK-a1", "MARK-b2"]
        );
    }
}
