use std::ops::ControlFlow;

use rejoin_core::{ConversationId, Kind, Native};
use serde::Deserialize;

use crate::{JournalError, Store};

/// Conversations whose id begins with `prefix`; dashes and case do not count. One result means the
/// prefix names it, several that it is too short.
pub fn find_by_prefix(store: &dyn Store, prefix: &str) -> Result<Vec<ConversationId>, JournalError> {
    let wanted: String = prefix.chars().filter(|c| *c != '-').collect::<String>().to_ascii_lowercase();
    if wanted.is_empty() || !wanted.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Vec::new());
    }
    let mut found = store.ids()?;
    found.retain(|id| id.uuid().simple().to_string().starts_with(&wanted));
    Ok(found)
}

/// Conversations that hold, or once held, an agent's session of that id.
pub fn find_by_session(store: &dyn Store, session: &str) -> Result<Vec<ConversationId>, JournalError> {
    let needle = format!("\"session\":{}", serde_json::Value::from(session));
    let mut found = Vec::new();
    for id in store.ids()? {
        let mut held = false;
        let searched = store.search(id, &needle, &mut |raw| {
            held = serde_json::from_str(raw.json).is_ok_and(|origin: Origin| origin.is_of(session));
            if held { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match searched {
            // Deleted since the ids were listed.
            Err(JournalError::NotFound { .. }) => {}
            searched => searched?,
        }
        if held {
            found.push(id);
        }
    }
    Ok(found)
}

/// Enough of a record to tell whether we wrote the session's id, or an agent did as an argument of
/// some tool.
#[derive(Deserialize)]
struct Origin {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    native: Option<Native>,
}

impl Origin {
    fn is_of(&self, session: &str) -> bool {
        let ours = matches!(self.subtype.as_deref(), Some("intent" | "pin" | "receipt" | "gap"));
        (self.kind == Kind::System && ours)
            || self.native.as_ref().is_some_and(|native| native.session.as_deref() == Some(session))
    }
}
