use std::fmt;
use std::path::Path;

use rejoin_core::{Agent, ConversationId, SessionId};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What a lease is on. All names there are stand here: two meanings of one name would keep each other out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LeaseName(String);

impl LeaseName {
    /// One writer per conversation.
    pub fn conversation(id: ConversationId) -> Self {
        Self(format!("conversation-{id}"))
    }

    /// One writer per session of an agent, whichever conversation points at it.
    pub fn session(session: &SessionId) -> Self {
        Self(format!("session-{}-{session}", session.agent()))
    }

    /// The names of conversations stay as they are.
    pub fn names() -> Self {
        Self("names".into())
    }

    /// Nobody else begins a conversation because a project has none to continue.
    pub fn beginning_in(project: &str) -> Self {
        Self(format!("begin-{}", hash(Sha256::digest(project).as_slice())))
    }

    /// One process per run of a flow.
    pub fn flow_run(id: Uuid) -> Self {
        Self(format!("flow-{id}"))
    }

    /// One daemon per home.
    pub fn daemon() -> Self {
        Self("daemon".into())
    }

    /// The commands that a run of a flow has started.
    pub fn flow_commands(id: Uuid) -> Self {
        Self(format!("flow-{id}-commands"))
    }

    /// One first start of an agent per place where it keeps its sessions.
    pub fn set_up(agent: &Agent, store: &Path) -> Self {
        let place = Sha256::new().chain_update(store.as_os_str().as_encoded_bytes()).chain_update([0]);
        Self(format!("store-{agent}-{}", hash(place.finalize().as_slice())))
    }

    /// One chooses the id of a home.
    pub(crate) fn home() -> Self {
        Self("home".into())
    }

    /// One takes the inventory of a home.
    pub(crate) fn origins() -> Self {
        Self("origins".into())
    }

    /// As a text: the name of its file, where it has one.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The first half of a hash.
fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes.first_chunk().copied().unwrap_or_default()))
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&LeaseName> for LeaseName {
    fn from(name: &LeaseName) -> Self {
        name.clone()
    }
}

impl From<&str> for LeaseName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<&String> for LeaseName {
    fn from(name: &String) -> Self {
        Self(name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another version that runs beside this one must find the same locks.
    #[test]
    fn names_stay_as_they_were() {
        let id = Uuid::from_u128(7);
        let names = [
            LeaseName::conversation(ConversationId::new(id)),
            LeaseName::session(&SessionId::new(Agent::Claude, "abc").unwrap()),
            LeaseName::names(),
            LeaseName::beginning_in("/home/ann/app"),
            LeaseName::flow_run(id),
            LeaseName::flow_commands(id),
            LeaseName::set_up(&Agent::Claude, Path::new("/home/ann/.claude")),
        ];
        let text: Vec<&str> = names.iter().map(LeaseName::as_str).collect();
        assert_eq!(
            text,
            [
                "conversation-00000000-0000-0000-0000-000000000007",
                "session-claude-abc",
                "names",
                "begin-c6e422ae6b09f558f24611bf74f92933",
                "flow-00000000-0000-0000-0000-000000000007",
                "flow-00000000-0000-0000-0000-000000000007-commands",
                "store-claude-092436eb5ff7877725ba14a466970032",
            ]
        );
    }
}
