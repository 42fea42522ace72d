//! From what a person types to the message that is meant.

use std::fmt;

use rejoin_core::{Conversation, MessageId, Turn};

use crate::config::suggestion;
use crate::{Error, WantedMessage};

/// A message that was named.
pub(crate) struct NamedMessage {
    pub(crate) message: MessageId,
    /// It was named as the end of this branch.
    pub(crate) branch: Option<String>,
    /// Not the message was named but its turn.
    pub(crate) names_a_turn: bool,
}

/// The message meant by `@` (the head), `@~2` (two turns before it), a turn's number as `show`
/// prints it, a branch's name, or an id or the beginning of one.
pub(crate) fn find_message(conversation: &Conversation, text: &str) -> Result<NamedMessage, Error> {
    let tree = &conversation.tree;
    let (path, _) = tree.path(tree.head().map(|turn| turn.id));
    let turn = |turn: &Turn, branch| NamedMessage { message: turn.end, branch, names_a_turn: true };
    let short_number = (1..=3).contains(&text.len());
    if let Some(number) = text.parse::<usize>().ok().filter(|_| short_number) {
        let at = number.checked_sub(1).and_then(|at| path.get(at));
        return at.map(|at| turn(at, None)).ok_or_else(|| {
            Error::not_found(format!("there is no turn {number} on the path; it has {}", path.len()))
        });
    }
    if let Some(back) = crate::name::steps_back(text)? {
        let at = path.len().checked_sub(back + 1).map(|at| path[at]);
        return at.map(|at| turn(at, None)).ok_or_else(|| {
            Error::not_found(format!("{text} is before the first turn; the path has {} turns", path.len()))
        });
    }
    if let Some((name, end)) = tree.branches().find(|(name, _)| *name == text) {
        return Ok(turn(end, Some(name.to_owned())));
    }
    let found = if text.is_empty() { Vec::new() } else { tree.messages_with_prefix(text) };
    match found.as_slice() {
        [one] => Ok(NamedMessage {
            message: *one,
            branch: None,
            names_a_turn: tree.turn(*one).is_some_and(|turn| turn.id == *one),
        }),
        [] => {
            let hint = suggestion(text, tree.branches().map(|(name, _)| name.to_owned()));
            Err(no_message(&format_args!("{text:?}"), &hint))
        }
        many => {
            let list: Vec<String> = many.iter().take(8).map(ToString::to_string).collect();
            Err(Error::usage(format!(
                "{text:?} is the beginning of {} messages: {}; type more of it",
                many.len(),
                list.join(", ")
            )))
        }
    }
}

/// The turn of a message that is wanted.
pub(crate) fn find_turn<'a>(
    conversation: &'a Conversation,
    wanted: &WantedMessage,
) -> Result<&'a Turn, Error> {
    let message = match wanted {
        WantedMessage::Id(id) => *id,
        WantedMessage::Reference(text) => find_message(conversation, text)?.message,
    };
    conversation.tree.turn(message).ok_or_else(|| no_message(wanted, ""))
}

fn no_message(what: &dyn fmt::Display, hint: &str) -> Error {
    Error::not_found(format!("no message {what} in this conversation; `rejoin show --ids` lists them{hint}"))
}
