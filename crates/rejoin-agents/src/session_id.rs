use rejoin_core::{Agent, InvalidSessionId, SessionId};
use uuid::Uuid;

/// Accepts a lower-case UUID and nothing else: Claude compares ids by case, and Codex takes
/// anything it cannot parse as the name of a session and silently starts a new one.
pub(crate) fn lower_case_uuid(agent: Agent, text: &str) -> Result<SessionId, InvalidSessionId> {
    if is_lower_case_uuid(text) {
        SessionId::new(agent, text)
    } else {
        Err(InvalidSessionId::new(agent, text, "a UUID in lower case"))
    }
}

/// Whether a text is a UUID exactly as both CLIs print theirs.
pub(crate) fn is_lower_case_uuid(text: &str) -> bool {
    text.len() == 36 && !text.bytes().any(|b| b.is_ascii_uppercase()) && Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lower_case_uuid_is_an_id() {
        let good = "01a1e09c-6875-7203-a42d-c11166b3c878";
        assert!(is_lower_case_uuid(good));
        for bad in ["", "x", &good.to_uppercase(), &good[..35], &good.replace('-', ""), "latest", "--last"] {
            assert!(!is_lower_case_uuid(bad), "{bad:?}");
            assert!(lower_case_uuid(Agent::Codex, bad).is_err());
        }
        let error = lower_case_uuid(Agent::Codex, "latest").unwrap_err().to_string();
        assert_eq!(error, r#""latest" cannot be a session id of codex: expected a UUID in lower case"#);
    }
}
