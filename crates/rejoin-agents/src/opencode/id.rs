use rejoin_core::{InvalidSessionId, SessionId};

/// Accepts only what OpenCode makes: `ses_` and 26 letters and digits. Anything else it looks for
/// in vain, and an argument that begins with a dash would be a flag.
pub(super) fn session(text: &str) -> Result<SessionId, InvalidSessionId> {
    if is_session(text) {
        SessionId::new(super::agent(), text)
    } else {
        Err(InvalidSessionId::new(super::agent(), text, "ses_ and 26 letters and digits"))
    }
}

/// Whether a text is an id of a session exactly as OpenCode prints them.
pub(super) fn is_session(text: &str) -> bool {
    text.strip_prefix("ses_")
        .is_some_and(|rest| rest.len() == 26 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_ids_are_accepted() {
        let good = "ses_e1f622e5effeNebwavi3K0Zyvz";
        assert_eq!(session(good).unwrap().as_str(), good);
        for bad in [
            "",
            "ses_",
            &good[..29],
            &format!("{good}x"),
            &good.replace('e', "-"),
            "msg_e1f622e5effeNebwavi3K0Zyvz",
        ] {
            assert!(session(bad).is_err(), "{bad:?}");
        }
    }
}
