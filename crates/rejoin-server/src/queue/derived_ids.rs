//! Ids that follow from who asks and his key: asked for a second time, also after a crash, it is the same run.

use rejoin::{ConversationId, TurnId, derived_id};

/// The turn of whoever asks with this key. A token's id has no NUL.
pub(crate) fn turn(token: &str, key: &str) -> TurnId {
    TurnId::new(derived_id("turn", &[token, key]))
}

/// The conversation that turn begins, if it begins one.
pub(crate) fn conversation(token: &str, key: &str) -> ConversationId {
    ConversationId::new(derived_id("conversation", &[token, key]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_of_one_token_is_one_turn_and_no_other_is() {
        assert_eq!(turn("phone", "1"), turn("phone", "1"));
        assert_ne!(turn("phone", "1"), turn("phone", "2"));
        assert_ne!(turn("phone", "1"), turn("laptop", "1"));
        assert_ne!(turn("phone", "1").uuid(), conversation("phone", "1").uuid());
    }
}
