//! What the queue needs of the rest of the daemon, in one place.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use rejoin::{ConversationId, Event, TurnId};

use crate::app::App;
use crate::caller::{Caller, TokenScope};
use crate::problem::Problem;

/// The rights a token has now; none if it was revoked.
// SEAM auth: `app.auth.caller_now(token)`.
#[expect(clippy::unnecessary_wraps, reason = "until tokens can be revoked")]
pub(crate) fn rights_now(_app: &App, token: &str) -> Option<Caller> {
    Some(everything(token))
}

/// Whether somebody would see a question of an agent in this conversation.
// SEAM stream: `app.hubs.is_watched(conversation)`.
pub(crate) fn is_watched(_app: &App, _conversation: ConversationId) -> bool {
    false
}

/// Something happened in a turn that runs here: whoever watches is told at once.
// SEAM stream: hand it to `app.hubs`.
pub(crate) fn tell(_app: &App, _conversation: ConversationId, _turn: TurnId, _event: &Event) {}

/// Who sent a request.
// SEAM auth: the gate's own extractor `Caller` takes the place of this.
pub(crate) struct Asker(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.extensions.get::<Caller>().cloned().unwrap_or_else(|| everything("local"))))
    }
}

fn everything(token: &str) -> Caller {
    Caller {
        token: token.to_owned(),
        scopes: vec![TokenScope::Read, TokenScope::Prompt, TokenScope::Answer, TokenScope::Admin],
        ceiling: None,
        projects: None,
    }
}
