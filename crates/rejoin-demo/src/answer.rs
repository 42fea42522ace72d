//! The answer: what the agent remembers, for people and for tests. Pure.

use crate::words::{marks, words};

/// What the answer is made of.
pub(crate) struct Known<'a> {
    pub(crate) session: &'a str,
    /// The prompts of earlier turns.
    pub(crate) earlier: &'a [String],
    /// The prompt of this one.
    pub(crate) prompt: &'a str,
    pub(crate) instructions: Option<&'a str>,
    /// The files of all turns, in words.
    pub(crate) files: &'a [String],
    /// What happened in this turn.
    pub(crate) notes: &'a [String],
}

pub(crate) fn answer(known: &Known<'_>) -> String {
    let mut sentences = vec![memory(known)];
    if let Some(instructions) = known.instructions {
        sentences.push(format!("My standing instructions: “{}”.", clipped(instructions)));
    }
    if !known.files.is_empty() {
        sentences.push(format!("Files I got from you: {}.", known.files.join(", ")));
    }
    sentences.extend_from_slice(known.notes);
    let mut answer = sentences.join(" ");
    if let Some(seen) = seen(known) {
        answer.push_str("\n\n");
        answer.push_str(&seen);
    }
    answer
}

fn memory(known: &Known<'_>) -> String {
    let id = known.session.get(..8).unwrap_or(known.session);
    let number = known.earlier.len() + 1;
    let here = format!("I am the demo agent. This is message {number} of session {id};");
    let told =
        known.earlier.iter().map(String::as_str).chain([known.prompt]).map(|text| words(text).told).sum();
    match (known.earlier.len(), told) {
        (0, 0) => format!("{here} nothing came before it. Send another one and I will remember this."),
        (0, told) => format!("{here} I remember 0 earlier messages from you and {}.", turns(told)),
        (count, told) => {
            let s = if count == 1 { "" } else { "s" };
            let told = if told == 0 { String::new() } else { format!(", and {}", turns(told)) };
            format!("{here} I remember {count} earlier message{s} from you: {}{told}.", quoted(known.earlier))
        }
    }
}

fn turns(told: usize) -> String {
    format!("{told} turn{} I was told about", if told == 1 { "" } else { "s" })
}

/// The first message and the last two; all of them if there are no more.
fn quoted(earlier: &[String]) -> String {
    let quote = |text: &String| format!("“{}”", clipped(words(text).own));
    match earlier {
        [first, .., before, last] if earlier.len() > 3 => {
            format!("{}, …, {}, {}", quote(first), quote(before), quote(last))
        }
        few => few.iter().map(quote).collect::<Vec<_>>().join(", "),
    }
}

/// A text short enough, and harmless enough, to stand in a sentence.
pub(crate) fn clipped(text: &str) -> String {
    const MOST: usize = 60;
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let mut clipped: String = line.chars().filter(|c| !c.is_control()).take(MOST).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped
}

/// A line for tests: how many messages had marks, and which. People send none, and are shown none.
fn seen(known: &Known<'_>) -> Option<String> {
    let mut count = 0;
    let mut distinct: Vec<&str> = Vec::new();
    for text in known.earlier.iter().map(String::as_str).chain([known.prompt]) {
        let mut marked = false;
        for mark in marks(text) {
            marked = true;
            if !distinct.contains(&mark) {
                distinct.push(mark);
            }
        }
        count += usize::from(marked);
    }
    (count > 0).then(|| format!("SEEN n={count} marks={}", distinct.join(",")))
}

/// Cuts a text into the pieces in which it is said.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const PIECE: usize = 24;
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.ceil_char_boundary(PIECE.min(rest.len()));
        let end = rest[from..].find([' ', '\n']).map_or(rest.len(), |at| from + at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known<'a>(earlier: &'a [String], prompt: &'a str) -> Known<'a> {
        Known { session: "4f1c2a9e-0000", earlier, prompt, instructions: None, files: &[], notes: &[] }
    }

    #[test]
    fn it_says_what_it_remembers() {
        let earlier = ["diagnose the bug MARK-a".to_owned()];
        assert_eq!(
            answer(&known(&earlier, "fix MARK-b MARK-a")),
            "I am the demo agent. This is message 2 of session 4f1c2a9e; I remember 1 earlier message from you: \
             “diagnose the bug MARK-a”.\n\nSEEN n=2 marks=MARK-a,MARK-b"
        );
    }

    #[test]
    fn it_says_when_there_is_nothing_to_remember() {
        let text = answer(&known(&[], "hello"));
        assert!(text.contains("nothing came before it"), "{text}");
        assert!(text.ends_with("I will remember this."), "a line for tests is only for tests: {text}");
    }

    #[test]
    fn it_mentions_turns_it_was_told_about() {
        let prompt = "<history-k>\n<turn-k>\n</turn-k>\n</history-k>\n<message-k>\nhi\n</message-k>\n";
        assert!(answer(&known(&[], prompt)).contains("and 1 turn I was told about."));
    }

    #[test]
    fn long_and_wild_text_is_clipped() {
        assert_eq!(clipped("one\ntwo"), "one…");
        assert_eq!(clipped("a\u{1b}[0m"), "a[0m…");
        assert_eq!(clipped(&"ä".repeat(100)).chars().count(), 61);
    }

    #[test]
    fn pieces_make_up_the_text() {
        for text in ["", "short", "“äöü” many words in a row that are longer\n\nthan one piece …"] {
            assert_eq!(pieces(text).collect::<String>(), text);
        }
    }
}
