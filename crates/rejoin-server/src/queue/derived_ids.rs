//! Ids that follow from who asks and his key: asked for a second time, also after a crash, it is the same run.

use rejoin::{ConversationId, TurnId};
use uuid::Uuid;

/// Of all ids that are derived here.
const NAMESPACE: Uuid = Uuid::from_u128(0x5d3e_7f0c_91b6_4a52_8c1d_2f6a_e0b7_4c39);

fn derived(what: &str, token: &str, key: &str) -> Uuid {
    // A token's id has no NUL, so no two pairs are one text.
    Uuid::new_v5(&NAMESPACE, format!("{what}\0{token}\0{key}").as_bytes())
}

/// The turn of whoever asks with this key.
pub(crate) fn turn(token: &str, key: &str) -> TurnId {
    TurnId::new(derived("turn", token, key))
}

/// The conversation that turn begins, if it begins one.
pub(crate) fn conversation(token: &str, key: &str) -> ConversationId {
    ConversationId::new(derived("conversation", token, key))
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
