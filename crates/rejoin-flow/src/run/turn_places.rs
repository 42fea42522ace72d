//! Whoever carries out several things at once may say how many turns there are at a time.

use std::path::Path;

use rejoin::{ConversationId, TurnId};

/// Says when a turn of a flow may begin.
pub trait TurnPlaces: Send + Sync {
    /// Waits until the turn may begin, or until `stopped` says that it need not.
    fn enter(&self, turn: TurnId, conversation: ConversationId, dir: &Path, stopped: &dyn Fn() -> bool);

    /// The turn is over, or is not begun.
    fn leave(&self, turn: TurnId);
}

/// The place of a turn, until it is dropped.
pub(super) struct TakenPlace<'a> {
    places: &'a dyn TurnPlaces,
    turn: TurnId,
}

impl<'a> TakenPlace<'a> {
    pub(super) fn wait(
        places: &'a dyn TurnPlaces,
        (turn, conversation): (TurnId, ConversationId),
        dir: &Path,
        stopped: &dyn Fn() -> bool,
    ) -> Self {
        // Before it is waited for: whatever happens meanwhile, it is left.
        let taken = Self { places, turn };
        places.enter(turn, conversation, dir, stopped);
        taken
    }
}

impl Drop for TakenPlace<'_> {
    fn drop(&mut self) {
        self.places.leave(self.turn);
    }
}
