//! Waits for an agent that says that a turn is over before its store shows it.

use std::time::{Duration, Instant};

use rejoin_agents::{Definition, Found, Look};
use rejoin_core::SessionId;

use crate::before::context::TurnContext;
use crate::before::stored_session;
use crate::during::cancel::CancelWatch;

/// Between two looks at the store.
const PAUSE: Duration = Duration::from_millis(10);

/// The stored session once it shows the turn that ended: it is not as it was before, and nobody writes to it any more.
/// Nothing if that does not come in time, or the user does not wait for it. A store that cannot be looked into has
/// nothing to wait for.
pub(crate) fn await_settled(
    agent: &dyn Definition,
    context: &TurnContext,
    session: &SessionId,
    limit: Duration,
    cancel: &CancelWatch,
) -> Option<Look> {
    let before = context.looks.taken_at(session).and_then(|look| look.witness);
    let ended = Instant::now();
    let mut last = None;
    loop {
        let look = stored_session::after_turn(agent, context, session);
        let has_moved = look.witness.is_some() && look.witness != before;
        if look.found == Found::CannotTell || (has_moved && last.as_ref() == Some(&look)) {
            return Some(look);
        }
        if ended.elapsed() >= limit || cancel.requests() > 0 {
            return None;
        }
        last = Some(look);
        std::thread::sleep(PAUSE);
    }
}
