//! Looks at the agent's stored session before and after a turn.

use std::path::Path;

use rejoin_agents::{Definition, Found};
use rejoin_core::plan::Stored;
use rejoin_core::{Pin, SessionId, Witness};

/// How the stored session of a pin stands against what we left.
pub(crate) fn stored(agent: &dyn Definition, pin: &Pin) -> Stored {
    match agent.find_session(Path::new(&pin.store), Path::new(&pin.dir), &pin.session) {
        Found::Nowhere => Stored::Missing,
        Found::CannotTell => Stored::CannotTell,
        Found::At(path) => match (&pin.witness, agent.witness(&path, &pin.session)) {
            (_, None) => Stored::Missing,
            // Nobody's use makes a session shorter: an older copy was put back, or its end was lost with
            // the power. It would go on without what was said since.
            (Some(before), Some(now)) if before.path == now.path && now.size < before.size => Stored::Missing,
            (Some(before), Some(now)) if *before != now => Stored::Advanced,
            _ => Stored::Stored,
        },
    }
}

/// How the stored session looks now.
pub(crate) fn witness(
    agent: &dyn Definition,
    store: &Path,
    dir: &Path,
    session: &SessionId,
) -> Option<Witness> {
    match agent.find_session(store, dir, session) {
        Found::At(path) => agent.witness(&path, session),
        Found::Nowhere | Found::CannotTell => None,
    }
}
