//! What the tests of whole commands are written with: a bench with a home and a project of its own, calls of
//! `rejoin` on it, and what came of them.

mod bench;
mod call;
mod claude;
mod codex;
mod live;
mod opencode;
mod picture;
mod processes;
mod said;
mod screen;

pub(crate) use bench::Bench;
pub(crate) use call::{Call, REJOIN};
pub(crate) use claude::{failing_claude, fake_claude};
pub(crate) use codex::fake_codex;
pub(crate) use live::Live;
pub(crate) use opencode::old_opencode;
pub(crate) use picture::{looks, overlong, picture};
pub(crate) use processes::{Process, interrupt, kill, signal};
pub(crate) use said::Said;
pub(crate) use screen::{Screen, without_sequences};

use std::time::{Duration, Instant};

/// Long enough for a busy machine; a test that reaches it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Waits until something is there.
#[track_caller]
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
