//! What the queue needs of the rest of the daemon, in one place.

use rejoin::{ConversationId, Event, TurnId};

use crate::app::App;
use crate::caller::Caller;

/// The rights a token has now; none if it was revoked.
pub(crate) fn rights_now(app: &App, token: &str) -> Option<Caller> {
    app.auth.caller_now(token)
}

/// Whether somebody would see a question of an agent in this conversation.
pub(crate) fn is_watched(app: &App, conversation: ConversationId) -> bool {
    app.hubs.is_watched(conversation) || app.hubs.inbox_watched()
}

/// Something happened in a turn that runs here: whoever watches is told at once.
pub(crate) fn tell(app: &App, conversation: ConversationId, turn: TurnId, event: &Event) {
    app.hubs.live(conversation, turn, event);
}
