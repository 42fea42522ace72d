//! Claude's words for failures.

use rejoin_core::FailureClass;

use crate::words::{before_it_began, says};

/// Its refusals to resume: the session is not in this store, or the id is none.
const REJECTIONS: &[&str] = &[
    "no conversation found with session id",
    "is not a uuid and does not match any session title",
    "--resume requires a valid session id",
];

const QUOTA: &[&str] = &[
    "credit balance",
    "quota",
    "billing",
    "usage limit",
    "spending limit",
    "spend limit",
    "hit your limit",
    "limit reached",
    "out of extra usage",
    "weekly limit",
    "5-hour limit",
];
const LOGIN: &[&str] = &[
    "not logged in",
    "/login",
    "invalid api key",
    "failed to authenticate",
    "authentication_error",
    "oauth token",
    "invalid bearer token",
    "x-api-key",
];
const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "context window",
    "context limit",
    "context length",
    "too many tokens",
    "exceed the maximum number of tokens",
    "request too large",
    "request_too_large",
];
const HISTORY: &[&str] = &[
    "tool_use",
    "tool_result",
    "thinking block",
    "`thinking`",
    "redacted_thinking",
    "`signature`",
    "image exceeds",
    "image dimensions",
    "image was too large",
    "could not process image",
    "text content blocks must",
    "roles must alternate",
];

/// Whether these words refuse to resume.
pub(super) fn is_rejection(words: &str) -> bool {
    says(words, REJECTIONS)
}

/// What kind of failure a result reports: its subtype, the service's status, the words.
pub(super) fn classify(subtype: &str, status: Option<u16>, words: &str) -> FailureClass {
    match (subtype, status) {
        ("error_max_turns", _) => FailureClass::StepLimit,
        ("error_max_budget_usd", _) => FailureClass::Quota,
        (_, Some(400 | 402 | 403 | 429)) if says(words, QUOTA) => FailureClass::Quota,
        (_, Some(401 | 403)) => FailureClass::Login,
        (_, Some(402)) => FailureClass::Quota,
        (_, Some(429)) => FailureClass::RateLimit,
        (_, Some(500..)) => FailureClass::Server,
        (_, Some(408)) => FailureClass::Network,
        (_, Some(status)) => {
            if status == 413 || says(words, OVERFLOW) {
                FailureClass::ContextOverflow
            } else if says(words, HISTORY) {
                FailureClass::InvalidHistory
            } else {
                FailureClass::InvalidRequest
            }
        }
        (_, None) if says(words, LOGIN) => FailureClass::Login,
        (_, None) if says(words, QUOTA) => FailureClass::Quota,
        (_, None) if says(words, OVERFLOW) => FailureClass::ContextOverflow,
        ("success", None) => FailureClass::Network,
        (_, None) => FailureClass::Other,
    }
}

/// What kind of failure it is when Claude ends before it begins, with nothing but words.
pub(super) fn classify_words(words: &str) -> FailureClass {
    if says(words, LOGIN) { FailureClass::Login } else { before_it_began(words) }
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
            assert_eq!(classify(subtype, status, words), class, "{status:?} {words}");
        }
    }
}
