//! Pi's words for failures. It hands on what its many providers say: most begin with the status.

use FailureClass::{
    ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Other, Quota, RateLimit, Server,
};
use rejoin_core::{FailureClass, Outcome};
use serde_json::Value;

use crate::failures::{Failures, says};

/// Seen with 0.74 to 0.85.
pub(super) const FAILURES: Failures = Failures {
    // On standard error, before it says anything else. The second asks whether to copy the session into this
    // directory, and takes no answer for no.
    rejections: "no session found matching | session found in different project | \
                 stored session working directory does not exist",
    classes: &[
        (Quota, "402", ""),
        (
            Quota,
            "400 403 429 none",
            "quota | billing | credit balance | insufficient credits | insufficient balance | usage limit | \
             spending limit | spend limit | payment required",
        ),
        (Login, "401 403", ""),
        (RateLimit, "429", ""),
        (Server, "5xx", ""),
        (Network, "408", ""),
        (ContextOverflow, "413", ""),
        (
            Login,
            "",
            "no api key | no models available | no model selected | authentication failed | authentication_error | \
             invalid api key | invalid_api_key | incorrect api key | unauthorized | unauthenticated | \
             permission_denied | /login",
        ),
        (RateLimit, "", "rate limit | rate_limit | ratelimit | too many requests | throttling | retry delay"),
        (
            ContextOverflow,
            "",
            "prompt is too long | prompt too long | input is too long | request_too_large | context window | \
             context_window | context length | context_length | context size | \
             exceeds the maximum number of tokens | maximum prompt length | reduce the length of the messages | \
             exceeds the limit of | model token limit | token limit exceeded | too many tokens",
        ),
        (
            InvalidHistory,
            "",
            "tool_use | tool_result | tool_call_id | tool_calls | no tool output found | no tool call found | \
             function response parts | function call turn | thinking block | redacted_thinking | \
             thought_signature | `signature` | without its required | encrypted content | encrypted_content | \
             image exceeds | image dimensions | could not process image | text content blocks must | \
             roles must alternate",
        ),
        (
            Server,
            "",
            "overloaded | service unavailable | service_unavailable | server error | server_error | \
             internal error | provider returned error",
        ),
        (
            Network,
            "",
            "connection error | connection refused | connection lost | network error | fetch failed | \
             socket hang up | other side closed | stream ended | ended without | terminated | timed out | timeout | \
             econn | enotfound | websocket",
        ),
        (InvalidRequest, "told", ""),
    ],
    status,
    readable,
    last_words,
};

/// Why the last message of the model broke off.
pub(super) struct Broken {
    /// Somebody stopped it.
    pub(super) aborted: bool,
    pub(super) words: String,
}

impl Broken {
    /// What it means for the turn, if nobody asks again.
    pub(super) fn outcome(&self) -> Outcome {
        let words = readable(&self.words);
        match (self.aborted, words.is_empty()) {
            (true, true) => Outcome::failed(Other, "the request was aborted"),
            (true, false) => Outcome::failed(Other, words),
            (false, true) => Outcome::failed(Other, "the model failed without a word"),
            (false, false) => FAILURES.outcome(&self.words, Other),
        }
    }
}

/// The line that refuses to resume.
pub(super) fn rejection(stderr: &str) -> Option<&str> {
    stderr.lines().map(str::trim).find(|line| says(line, FAILURES.rejections))
}

/// The status of the service: the first word, or a code in the answer that is quoted.
fn status(words: &str) -> Option<u16> {
    let code = |digits: &str| digits.parse().ok().filter(|code| (400..600).contains(code));
    let first = words.split(|c: char| !c.is_ascii_digit()).next().and_then(code);
    first.or_else(|| {
        let quoted = answer(words)?;
        let error = quoted.get("error").unwrap_or(&quoted);
        code(&error.get("code")?.to_string())
    })
}

/// The words for people: some failures quote the service's whole JSON answer.
pub(super) fn readable(words: &str) -> String {
    let inner = answer(words).and_then(|answer| {
        let error = answer.get("error").unwrap_or(&answer);
        error.get("message").and_then(Value::as_str).map(str::to_owned)
    });
    match (inner, words.split_once('{')) {
        (Some(inner), Some((before, _))) => format!("{before}{inner}"),
        _ => words.to_owned(),
    }
}

fn answer(words: &str) -> Option<Value> {
    serde_json::from_str(words.get(words.find('{')?..)?.trim()).ok()
}

/// What it said on standard error: an error it names as one, else the first line that is neither a
/// warning nor its question.
fn last_words(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let named = lines().find_map(|line| line.strip_prefix("Error: "));
    named.or_else(|| lines().find(|line| !line.starts_with("Warning: ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    #[test]
    fn failures_are_told_apart() {
        for (words, class) in [
            ("400 mock 400", F::InvalidRequest),
            ("401 mock 401", F::Login),
            ("403 status code (no body)", F::Login),
            ("429 mock 429", F::RateLimit),
            ("500 mock 500", F::Server),
            (
                "529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
                F::Server,
            ),
            ("402 Payment Required", F::Quota),
            ("429 You exceeded your current quota, please check your plan and billing details.", F::Quota),
            ("413 request_too_large", F::ContextOverflow),
            (
                "400 This model's maximum context length is 8192 tokens. However, you asked for more",
                F::ContextOverflow,
            ),
            (
                "400 {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long: 2 tokens > 1 maximum\"}}",
                F::ContextOverflow,
            ),
            (
                "400 An assistant message with 'tool_calls' must be followed by tool messages",
                F::InvalidHistory,
            ),
            (
                "{\"error\":{\"code\":429,\"message\":\"slow down\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
                F::RateLimit,
            ),
            ("{\"error\":{\"code\":503,\"message\":\"The model is overloaded.\"}}", F::Server),
            ("Connection error.", F::Network),
            ("terminated", F::Network),
            ("Stream ended without finish_reason", F::Network),
            ("You have hit your ChatGPT usage limit (plus plan).", F::Quota),
            ("No API key found for openai.", F::Login),
            ("No models available. Use /login to log into a provider", F::Login),
            ("Model \"x\" not found. Use --list-models to see available models.", F::Other),
            ("404 no such model", F::InvalidRequest),
            ("4001 things went wrong", F::Other),
            ("", F::Other),
        ] {
            assert_eq!(FAILURES.classify(words, F::Other), class, "{words}");
        }
    }

    #[test]
    fn an_answer_in_json_is_told_in_its_words() {
        assert_eq!(readable("400 {\"type\":\"error\",\"error\":{\"message\":\"too long\"}}"), "400 too long");
        assert_eq!(readable("{\"error\":{\"code\":429,\"message\":\"slow down\"}}"), "slow down");
        for plain in ["400 mock 400", "400 {oops", "{}", ""] {
            assert_eq!(readable(plain), plain);
        }
    }

    #[test]
    fn its_words_are_found_among_warnings_and_advice() {
        let advice = "No API key found for openai.\n\nUse /login to log in. See:\n  /docs/providers.md\n";
        assert_eq!(last_words(advice), Some("No API key found for openai."));
        assert_eq!(last_words("Warning: a\nError: Unknown option: --x\n"), Some("Unknown option: --x"));
        assert_eq!(last_words("Warning: a\n"), None);
        assert_eq!(
            rejection("Warning: a\nNo session found matching 'x'\n"),
            Some("No session found matching 'x'")
        );
        assert_eq!(rejection("No API key found for x."), None);
    }
}
