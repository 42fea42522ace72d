//! Codex's words for failures.

use FailureClass::{
    Busy, ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Quota, RateLimit, Server,
};
use rejoin_core::FailureClass;
use serde_json::Value;

use crate::failures::{Failures, backwards};

/// Seen with 0.123 and 0.166.
pub(super) const FAILURES: Failures = Failures {
    // On standard error, before it names a session.
    rejections: "no rollout found for thread id | is archived | missing source rollout | \
                 failed to read session metadata | which is no longer configured",
    classes: &[
        (Busy, "", "already has an active writer"),
        (Quota, "", "quota | usage limit | billing | purchase more credits | spend cap"),
        (
            Login,
            "",
            "401 unauthorized | status 401 | 403 forbidden | missing environment variable | not logged in | \
             log in again | sign in again | codex login | access token | refresh token | invalid api key | \
             incorrect api key",
        ),
        (RateLimit, "", "429 too many | status 429 | status: 429 | rate limit | rate_limit"),
        (ContextOverflow, "", "context window | context_length_exceeded | context length | ran out of room"),
        (
            InvalidHistory,
            "",
            "no tool output found | no tool call found | without its required | encrypted content | \
             encrypted_content | duplicate item",
        ),
        (
            InvalidRequest,
            "",
            "invalid_request_error | 400 bad request | status 400 | input exceeds the maximum length",
        ),
        (
            Server,
            "",
            "high demand | at capacity | overloaded | status 5 | status: 5 | internal server error | server_error",
        ),
        (
            Network,
            "",
            "stream disconnected | connection failed | error sending request | waiting for network | timed out | \
             timeout | dns error",
        ),
    ],
    readable,
    last_words,
    ..Failures::PLAIN
};

/// The words for people: some failures are the service's whole JSON answer.
fn readable(words: &str) -> String {
    let inner = serde_json::from_str::<Value>(words).ok().and_then(|answer| {
        let error = answer.get("error").unwrap_or(&answer);
        error.get("message").and_then(Value::as_str).map(str::to_owned)
    });
    inner.unwrap_or_else(|| words.to_owned())
}

/// The last word on standard error: what stands after `Error: `, else the last line that is not
/// one Codex always prints.
fn last_words(stderr: &str) -> Option<&str> {
    let usual = |line: &&str| line.starts_with("Reading ") && line.ends_with(" from stdin...");
    let lines = || backwards(stderr).filter(|line| !usual(line));
    let named =
        lines().find_map(|line| line.strip_prefix("Error: ").or_else(|| line.strip_prefix("error: ")));
    named.or_else(|| lines().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    #[test]
    fn failures_are_told_apart() {
        for (words, class) in [
            (
                "unexpected status 401 Unauthorized: mock invalid key, url: http://127.0.0.1:1/v1/responses",
                F::Login,
            ),
            ("unexpected status 403 Forbidden: x", F::Login),
            ("Missing environment variable: `KEY`.", F::Login),
            ("exceeded retry limit, last status: 429 Too Many Requests", F::RateLimit),
            ("We’re currently experiencing high demand, which may cause temporary errors.", F::Server),
            ("unexpected status 503 Service Unavailable: x", F::Server),
            ("stream disconnected before completion: stream closed before response.completed", F::Network),
            ("Quota exceeded. Check your plan and billing details.", F::Quota),
            ("You’ve hit your usage limit. Upgrade to Pro", F::Quota),
            (r#"{"error": {"message": "x", "code": "context_length_exceeded"}}"#, F::ContextOverflow),
            ("Codex ran out of room in the model's context window.", F::ContextOverflow),
            (r#"{"error": {"message": "No tool output found for function call c."}}"#, F::InvalidHistory),
            (r#"{"error": {"message": "x", "type": "invalid_request_error"}}"#, F::InvalidRequest),
            ("thread x already has an active writer (code -32600)", F::Busy),
            ("port 8401 says no", F::Other),
        ] {
            assert_eq!(FAILURES.classify(words, F::Other), class, "{words}");
        }
    }

    #[test]
    fn the_services_answer_is_made_readable() {
        assert_eq!(readable(r#"{"error": {"message": "bad", "type": "x"}}"#), "bad");
        assert_eq!(readable("plain"), "plain");
        assert_eq!(last_words("WARNING: x\nError: thread/resume: no\n\n"), Some("thread/resume: no"));
        assert_eq!(last_words("No prompt provided via stdin.\n"), Some("No prompt provided via stdin."));
        assert_eq!(last_words("Reading additional input from stdin...\n"), None);
    }
}
