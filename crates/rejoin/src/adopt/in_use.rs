//! Whether somebody has a session open now.

use std::path::Path;

use rejoin_agents::Definition;
use rejoin_core::SessionId;
use rejoin_engine::TurnError;
use rejoin_journal::Owner;

/// The process that has a session open, where its agent shows it.
pub(super) fn user(agent: &dyn Definition, store: &Path, session: &SessionId) -> Option<Owner> {
    let users = agent.session_users(store, session).into_iter();
    let owners = users.filter(|user| user.pid != 0 && user.pid != std::process::id()).map(|user| Owner {
        pid: user.pid,
        born: user.born,
        command: agent.command().to_owned(),
        what: "a session of its own".to_owned(),
        ..Owner::default()
    });
    // What a killed one left behind says nothing; nor does a number that is somebody else's by now.
    owners.into_iter().find(|owner| !owner.is_gone() && is_named(owner.pid, agent.command()))
}

/// Whether a process was called by such a name, as far as the system tells.
fn is_named(pid: u32, name: &str) -> bool {
    let Ok(words) = std::fs::read(format!("/proc/{pid}/cmdline")) else { return true };
    words.windows(name.len()).any(|window| window == name.as_bytes())
}

/// Refuses a session that somebody has open.
pub(super) fn busy(agent: &dyn Definition, session: &SessionId, owner: Owner) -> TurnError {
    TurnError::Busy {
        what: format!("session {} of {}", session.short(), agent.agent()),
        owner: Some(Box::new(owner)),
    }
}
