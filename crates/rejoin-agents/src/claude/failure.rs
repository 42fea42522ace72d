//! Claude's words for failures.

use FailureClass::{
    ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Quota, RateLimit, Server, StepLimit,
};
use rejoin_core::FailureClass;

use crate::failures::{Failures, Words, says};
use crate::words::before_it_began;

const QUOTA: Words = "credit balance | quota | billing | usage limit | spending limit | spend limit | hit your limit | \
                      limit reached | out of extra usage | out of usage credits | weekly limit | session limit | \
                      5-hour limit | opus limit | sonnet limit | fable 5 limit | usage credits are required";
const LOGIN: Words = "not logged in | /login | invalid api key | failed to authenticate | authentication_error | \
                      oauth token | invalid bearer token | x-api-key";
const OVERFLOW: Words = "prompt is too long | context window | context limit | context length | too many tokens | \
                         exceed the maximum number of tokens | request too large | request_too_large";

/// Seen with 2.1.52 to 2.1.197, by the subtype of a result and the service's status.
pub(super) const FAILURES: Failures = Failures {
    // The session is not in this store, or the id is none.
    rejections: "no conversation found with session id | is not a uuid and does not match any session title | \
                 --resume requires a valid session id",
    classes: &[
        (StepLimit, "error_max_turns", ""),
        (Quota, "error_max_budget_usd", ""),
        (Quota, "400 402 403 429", QUOTA),
        (Login, "401 403", ""),
        (Quota, "402", ""),
        (RateLimit, "429", ""),
        (Server, "5xx", ""),
        (Network, "408", ""),
        (ContextOverflow, "413", ""),
        (ContextOverflow, "told", OVERFLOW),
        (
            InvalidHistory,
            "told",
            "tool_use | tool_result | thinking block | `thinking` | redacted_thinking | `signature` | image exceeds | \
             image dimensions | image was too large | could not process image | text content blocks must | \
             roles must alternate",
        ),
        (InvalidRequest, "told", ""),
        (Login, "", LOGIN),
        (Quota, "", QUOTA),
        (ContextOverflow, "", OVERFLOW),
        // A success that is an error and has no status: the service was not reached.
        (Network, "success", ""),
    ],
    ..Failures::PLAIN
};

/// What kind of failure it is when Claude ends before it begins, with nothing but words.
pub(super) fn before(words: &str) -> FailureClass {
    if says(words, LOGIN) { Login } else { before_it_began(words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    #[test]
    fn failures_are_told_apart() {
        for (subtype, status, words, class) in [
            ("success", Some(401), "x", F::Login),
            ("success", Some(403), "Failed to authenticate. API Error: 403", F::Login),
            ("success", None, "Not logged in · Please run /login", F::Login),
            ("success", Some(429), "API Error: Request rejected (429)", F::RateLimit),
            ("success", Some(429), "You've hit your limit · resets 3pm", F::Quota),
            ("success", Some(429), "You've hit your session limit · resets 3:40pm (Asia/Tokyo)", F::Quota),
            ("success", Some(429), "You've hit your Opus limit · resets Nov 21, 3pm (UTC)", F::Quota),
            ("success", Some(400), "Credit balance is too low", F::Quota),
            ("success", Some(500), "API Error: 500", F::Server),
            ("success", Some(529), "overloaded", F::Server),
            ("success", None, "API Error: Unable to connect to API (ConnectionRefused)", F::Network),
            ("success", Some(400), "Prompt is too long · the request is ~250000 tokens", F::ContextOverflow),
            ("success", Some(413), "Request too large (max 32MB)", F::ContextOverflow),
            (
                "success",
                Some(400),
                "unexpected `tool_use_id` found in `tool_result` blocks",
                F::InvalidHistory,
            ),
            ("success", Some(400), "Invalid `signature` in `thinking` block", F::InvalidHistory),
            ("success", Some(400), "image exceeds 5 MB maximum", F::InvalidHistory),
            ("success", Some(400), "mock bad request", F::InvalidRequest),
            ("success", Some(404), "model not found", F::InvalidRequest),
            ("error_max_turns", None, "Reached maximum number of turns (1)", F::StepLimit),
            ("error_during_execution", None, "something", F::Other),
        ] {
            assert_eq!(
                FAILURES.class(subtype, status, words).unwrap_or(F::Other),
                class,
                "{status:?} {words}"
            );
        }
    }
}
