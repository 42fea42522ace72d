//! Qwen's words for failures.
//!
//! A failure of the model's service poses as the end of an answer: `[API Error: 400 …]`, in a turn
//! that succeeded by every other sign (0.15 and 0.24).

use FailureClass::{
    Busy, ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Quota, RateLimit, Server,
    StepLimit,
};
use rejoin_core::FailureClass;

use crate::failures::{Failures, after_error, backwards, says};

/// How such a failure begins.
const BEGINNINGS: &[&str] = &[
    "[API Error: ",
    "Qwen OAuth quota exceeded:",
    "Qwen OAuth free tier has been discontinued",
    "Quota exhausted: ",
];
/// What Qwen adds behind the bracket when asked to slow down.
const AFTER_BRACKET: &[&str] = &["]\nPlease wait and try again later", "]\nPossible quota limitations"];

/// Seen with 0.15.10.
pub(super) const FAILURES: Failures = Failures {
    // On standard error, before its first line.
    rejections: "no saved session found with",
    classes: &[
        (StepLimit, "", "reached max session turns | max-tool-calls | max-wall-time | run budget"),
        // A failing service may say anything in its excuse.
        (Server, "5xx", ""),
        (Busy, "", "is already in use"),
        (
            Quota,
            "",
            "insufficient_quota | insufficient balance | quota exceeded | exceeded your current quota | \
             quota exhausted | free tier has been discontinued | allocated quota | arrearage | billing",
        ),
        (
            ContextOverflow,
            "",
            "context length | context_length | context window | maximum context | prompt is too long | \
             input token count exceeds | range of input length | too many tokens",
        ),
        (
            InvalidHistory,
            "",
            "tool_calls | tool_call_id | tool_use | tool_result | function call turn | function response | \
             role 'tool' | roles must alternate | thought_signature | `signature` | image exceeds",
        ),
        (Login, "401 403", ""),
        (Quota, "402", ""),
        (RateLimit, "429", ""),
        (Network, "408", ""),
        (ContextOverflow, "413", ""),
        (InvalidRequest, "told", ""),
        (RateLimit, "", "rate limit | rate_limit | resource_exhausted | too many requests | throttl"),
        (
            Server,
            "",
            "internal server error | server_error | overloaded | bad gateway | service unavailable | gateway timeout",
        ),
        (
            Network,
            "",
            "connection error | fetch failed | terminated | econnre | enotfound | etimedout | socket hang up | \
             timed out | timeout | premature close | network | stream ended | model stream",
        ),
        (
            Login,
            "",
            "no auth type is selected | auth type is | api key | api_key | unauthorized | authentication | \
             re-authenticate | access token | oauth",
        ),
    ],
    status,
    readable,
    last_words,
};

/// Whether a piece of an answer begins as a failure does.
pub(super) fn begins_like_one(piece: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| piece.starts_with(beginning))
}

/// The failure that ends a text.
pub(super) fn at_the_end(text: &str) -> Option<&str> {
    let from = BEGINNINGS.iter().filter_map(|beginning| text.rfind(beginning)).max()?;
    let failure = &text[from..];
    let closed = !failure.starts_with('[')
        || failure.trim_end().ends_with(']')
        || AFTER_BRACKET.iter().any(|after| failure.contains(after));
    closed.then_some(failure)
}

/// The words on standard error that tell most: those that refuse to resume or an argument, those
/// after `Error: `, else the last line that is no part of a stack.
fn last_words(stderr: &str) -> Option<&str> {
    const HELP: &str = "Show version number";
    let refuses = |line: &&str| says(line, FAILURES.rejections) || line.starts_with("Unknown argument");
    let refusal = backwards(stderr).find(refuses);
    let help = || stderr.contains(HELP).then_some("it refused its arguments and printed its help");
    let last = || backwards(stderr).find(|line| !line.starts_with("at "));
    refusal.or_else(|| after_error(stderr)).or_else(help).or_else(last)
}

/// The words for people, without the brackets.
fn readable(words: &str) -> String {
    let words = words.trim();
    let inner = words.strip_prefix(BEGINNINGS[0]).map(|rest| match rest.split_once("]\n") {
        Some((inner, _)) => inner,
        None => rest.strip_suffix(']').unwrap_or(rest),
    });
    inner.unwrap_or(words).to_owned()
}

/// The service's status, with which the words of a failure begin.
fn status(words: &str) -> Option<u16> {
    let words = words.trim_start();
    let words = words.strip_prefix(BEGINNINGS[0]).unwrap_or(words);
    let number = words.split(|c: char| !c.is_ascii_digit()).next()?;
    number.parse().ok().filter(|status| number.len() == 3 && (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    #[test]
    fn failures_are_told_apart() {
        for (words, class) in [
            ("[API Error: 400 mock 400]", F::InvalidRequest),
            ("[API Error: 401 Incorrect API key provided]", F::Login),
            ("[API Error: 403 forbidden]", F::Login),
            ("[API Error: 404 no such model]", F::InvalidRequest),
            ("[API Error: 429 slow down]\nPossible quota limitations in place", F::RateLimit),
            ("[API Error: 429 You exceeded your current quota]", F::Quota),
            ("[API Error: 402 pay]", F::Quota),
            ("Qwen OAuth quota exceeded: try tomorrow", F::Quota),
            ("[API Error: 500 mock 500]", F::Server),
            ("[API Error: 503 tool_calls are down]", F::Server),
            ("[API Error: Connection error. (cause: fetch failed)]", F::Network),
            ("[API Error: terminated (cause: other side closed)]", F::Network),
            ("[API Error: 400 This model's maximum context length is 8192 tokens]", F::ContextOverflow),
            ("[API Error: 413 too large]", F::ContextOverflow),
            (
                "[API Error: 400 An assistant message with 'tool_calls' must be followed by tool messages]",
                F::InvalidHistory,
            ),
            ("[API Error: Quota exceeded (Status: RESOURCE_EXHAUSTED)]", F::Quota),
            ("Missing API key for OpenAI-compatible auth.", F::Login),
            ("No auth type is selected.", F::Login),
            ("Session Id x is already in use.", F::Busy),
            ("Reached max session turns for this session.", F::StepLimit),
            ("something", F::Other),
        ] {
            assert_eq!(FAILURES.classify(words, F::Other), class, "{words}");
        }
    }

    #[test]
    fn a_failure_stands_at_the_end_and_is_whole() {
        assert_eq!(at_the_end("partial [API Error: 400 x]"), Some("[API Error: 400 x]"));
        let slow = "[API Error: 429 x]\nPlease wait and try again later. To increase";
        assert_eq!(at_the_end(slow), Some(slow));
        for answer in ["", "fine", "[API Error: 400 x] means that the request is wrong", "see [API Error: "] {
            assert_eq!(at_the_end(answer), None, "{answer}");
        }
        assert_eq!(readable("[API Error: 429 x]\nPlease wait"), "429 x");
        assert_eq!(readable("[API Error: 400 [a] b]"), "400 [a] b");
    }

    #[test]
    fn the_last_words_are_those_that_tell_most() {
        for (stderr, words) in [
            (
                "Ripgrep not available\nNo saved session found with ID x. Run `qwen`\n",
                "No saved session found with ID x. Run `qwen`",
            ),
            ("An error occurred:\nError: ENOENT: x\n    at main (cli.js:1)\n", "ENOENT: x"),
            ("Unknown argument: x\nUsage: qwen\n -v Show version number\n", "Unknown argument: x"),
            ("  -v Show version number\n", "it refused its arguments and printed its help"),
            ("Operation cancelled.\n", "Operation cancelled."),
        ] {
            assert_eq!(last_words(stderr), Some(words));
        }
        assert_eq!(last_words("\n"), None);
    }
}
