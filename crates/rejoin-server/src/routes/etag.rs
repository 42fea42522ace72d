//! `ETag` and `If-Match`: a change is made to what its caller saw, or not at all.

use axum::http::{HeaderMap, HeaderValue, header};
use rejoin::ConversationView;

use crate::problem::{Code, Problem};

/// The tag of what a view shows.
pub(crate) fn tag(view: &ConversationView<'_>) -> String {
    format!("\"{}\"", view.state_digest())
}

/// The header that goes with every read.
pub(crate) fn headers(tag: &str) -> HeaderMap {
    let value = HeaderValue::from_str(tag).ok();
    value.into_iter().map(|value| (header::ETAG, value)).collect()
}

/// Refuses a change without a tag, or of something else than its caller saw.
pub(crate) fn check(sent: &HeaderMap, view: &ConversationView<'_>) -> Result<(), Problem> {
    let now = tag(view);
    let Some(given) = sent.get(header::IF_MATCH) else {
        return Err(Problem::new(
            Code::MatchRequired,
            "this changes what the next turn builds on, so it needs If-Match",
        )
        .hint("send the ETag of the conversation as you saw it in the header If-Match")
        .with("etag", now));
    };
    let given = given.to_str().unwrap_or_default();
    if given.split(',').any(|one| one.trim() == now) { Ok(()) } else { Err(changed(&now)) }
}

/// Somebody was faster.
pub(crate) fn changed(now: &str) -> Problem {
    Problem::new(
        Code::Changed,
        "the conversation is not any more what the tag was given for; nothing was changed",
    )
    .hint("look at it again, then send its present ETag")
    .with("etag", now)
}
