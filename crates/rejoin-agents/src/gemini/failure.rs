//! Gemini's words for failures.

use FailureClass::{
    ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Other, Quota, RateLimit, Server,
    StepLimit,
};
use rejoin_core::FailureClass;
use serde_json::Value;

use crate::Exit;
use crate::failures::{Failures, Words, backwards, says};
use crate::words::before_it_began;

/// Its exit codes for what went wrong before the turn began (0.61.0).
const NO_LOGIN: i32 = 41;
const UNTRUSTED: i32 = 55;

/// Its help begins with this.
const USAGE: &str = "Usage: gemini";

/// Lines it prints whatever happens.
const USUAL: &[&str] = &[
    "Warning: True color",
    "Warning: 256-color",
    "Ripgrep is not available",
    "YOLO mode is enabled",
    "Approval mode overridden",
    "Loaded cached credentials",
    "Keychain initialization",
    "Using FileKeychain",
    "MCP issues detected",
];

const LOGIN: Words =
    "api key not valid | api_key_invalid | unauthenticated | permission_denied | auth method | log in";
const QUOTA: Words = "quota | billing | credits | daily limit";
/// Its own limit of steps was reached.
const STEPS: Words = "session turns";

/// Seen with 0.61.0; the codes are those of the service.
pub(super) const FAILURES: Failures = Failures {
    classes: &[
        (StepLimit, "FatalTurnLimitedError", ""),
        (StepLimit, "", STEPS),
        (Login, "FatalAuthenticationError 401 403", ""),
        (Quota, "402", ""),
        (Quota, "429", QUOTA),
        (RateLimit, "429", ""),
        (Server, "5xx", ""),
        (ContextOverflow, "413", ""),
        (Login, "", LOGIN),
        (
            ContextOverflow,
            "",
            "token count | exceeds the maximum number of tokens | context window | context length | \
             request payload size exceeds",
        ),
        // The stored history itself is refused.
        (
            InvalidHistory,
            "told",
            "function call | function response | functioncall | functionresponse | thought_signature",
        ),
        (InvalidRequest, "told", ""),
        (Quota, "", QUOTA),
        (
            Network,
            "",
            "fetch failed | terminated | econnrefused | econnreset | enotfound | etimedout | socket | network | \
             stream ended | premature close",
        ),
    ],
    last_words,
    ..Failures::PLAIN
};

fn class(kind: &str, code: Option<u64>, words: &str) -> FailureClass {
    let code = code.map(|code| u16::try_from(code).unwrap_or(u16::MAX));
    FAILURES.class(kind, code, words).unwrap_or(Other)
}

/// Whether Gemini's own limit of steps was reached.
pub(super) fn is_step_limit(words: &str) -> bool {
    says(words, STEPS)
}

/// What it adds to a 429, whatever the service itself said: advice that speaks of quotas and logins.
const ADVICE: &[&str] = &["Please wait and try again later.", "Possible quota limitations"];

/// A failure in its words: the class, and what to show.
pub(super) fn told(kind: &str, words: &str) -> (FailureClass, String) {
    let (words, advised) = without_advice(words);
    let answer = Answer::of(words);
    let code = answer.code.or(advised.then_some(429));
    (class(kind, code, words), answer.message)
}

/// The words up to the advice, and whether there was any.
fn without_advice(words: &str) -> (&str, bool) {
    let ends = words.rfind("]\n").map(|end| end + 1);
    let advised = |end: &usize| ADVICE.iter().any(|advice| words[*end..].trim_start().starts_with(advice));
    ends.filter(advised).map_or((words, false), |end| (&words[..end], true))
}

/// Whether a hook of the user's did not let a prompt pass.
pub(super) fn is_blocked_by_a_hook(words: &str) -> bool {
    words.starts_with("Agent execution blocked:")
}

/// What an attempt that is about to be repeated failed with, and how to tell it.
pub(super) fn retry(line: &str) -> Option<(FailureClass, String)> {
    let line = line.trim();
    let told = line.strip_prefix("Attempt ")?;
    let (number, rest) = told.split_once(' ')?;
    number.parse::<u32>().ok()?;
    let again = rest.starts_with("failed") && rest.contains("Retrying");
    let code = rest.strip_prefix("failed with status ").and_then(leading_number);
    let words = line.split("...").next().unwrap_or(line);
    again.then(|| (class("", code, line), words.to_owned()))
}

fn leading_number(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
    digits.parse().ok()
}

/// Its refusal to resume, in its words.
pub(super) fn rejection(stderr: &str) -> Option<&str> {
    stderr.lines().map(str::trim).find(|line| line.starts_with("Error resuming session:"))
}

/// Why it ended before it named a session.
pub(super) fn refused(exit: &Exit<'_>) -> Option<(FailureClass, String)> {
    let code = exit.code.filter(|code| *code != 0)?;
    let words = last_words(exit.stderr).unwrap_or("it did not say why");
    Some(match code {
        NO_LOGIN => {
            let text = format!(
                "Gemini is not logged in (exit code {NO_LOGIN}): {words} Run gemini once and log in, or set GEMINI_API_KEY"
            );
            (Login, text)
        }
        UNTRUSTED => {
            let text = format!(
                "Gemini does not trust this directory (exit code {UNTRUSTED}), and what the project brings along for it \
                 (.gemini, .env) is not for rejoin to trust: run gemini there once and trust it, or set \
                 GEMINI_CLI_TRUST_WORKSPACE=true"
            );
            (FailureClass::Setup, text)
        }
        _ if says(words, LOGIN) => (Login, words.to_owned()),
        _ => (before_it_began(words), words.to_owned()),
    })
}

/// The last line on standard error that says something.
fn last_words(stderr: &str) -> Option<&str> {
    // What is wrong with an argument stands before the help.
    let refusal = stderr.split_once(USAGE).and_then(|(before, _)| last_line(before));
    refusal.or_else(|| last_line(stderr))
}

fn last_line(text: &str) -> Option<&str> {
    let says_something = |line: &&str| {
        !line.starts_with("at ")
            && !matches!(*line, "{" | "}")
            && !line.starts_with("status: ")
            && !USUAL.iter().any(|usual| line.starts_with(usual))
    };
    backwards(text).find(says_something)
}

/// What stands in `[API Error: …]`: often the service's whole JSON answer.
struct Answer {
    code: Option<u64>,
    message: String,
}

impl Answer {
    fn of(words: &str) -> Self {
        let inner = words.strip_prefix("[API Error: ").unwrap_or(words);
        // A hint of Gemini's own may follow.
        let parsed = inner
            .find('{')
            .map(|at| serde_json::Deserializer::from_str(&inner[at..]).into_iter::<Value>())
            .and_then(|mut values| values.next()?.ok());
        let error = parsed.as_ref().and_then(|answer| answer.get("error"));
        let code = error.and_then(|error| error.get("code")).and_then(Value::as_u64);
        let message = error.and_then(|error| error.get("message")).and_then(Value::as_str);
        match message {
            // The service's answer may be wrapped in another one.
            Some(message) if message.trim_start().starts_with('{') => {
                let nested = Answer::of(message);
                Answer { code: nested.code.or(code), message: nested.message }
            }
            Some(message) => Answer { code, message: coded(code, message) },
            None => {
                let message = inner.trim_end().trim_end_matches(']').to_owned();
                let code = inner.split_once("(Status: ").and_then(|(_, status)| code_of(status));
                Answer { code, message }
            }
        }
    }
}

fn coded(code: Option<u64>, message: &str) -> String {
    code.map_or_else(|| message.to_owned(), |code| format!("{message} ({code})"))
}

/// The code that belongs to a name of the service's.
fn code_of(status: &str) -> Option<u64> {
    let names = [
        ("INVALID_ARGUMENT", 400),
        ("FAILED_PRECONDITION", 400),
        ("UNAUTHENTICATED", 401),
        ("PERMISSION_DENIED", 403),
        ("NOT_FOUND", 404),
        ("RESOURCE_EXHAUSTED", 429),
        ("INTERNAL", 500),
        ("UNAVAILABLE", 503),
        ("DEADLINE_EXCEEDED", 504),
    ];
    names.iter().find(|(name, _)| status.starts_with(name)).map(|(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    fn api(code: u64, message: &str) -> String {
        format!(r#"[API Error: {{"error":{{"code":{code},"message":"{message}","status":"X"}}}}]"#)
    }

    #[test]
    fn failures_are_told_apart() {
        for (words, class) in [
            (api(400, "mock 400"), F::InvalidRequest),
            (api(400, "API key not valid. Please pass a valid API key."), F::Login),
            (
                api(400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
                F::ContextOverflow,
            ),
            (
                api(400, "Please ensure that function call turn comes immediately after a user turn"),
                F::InvalidHistory,
            ),
            (api(401, "x"), F::Login),
            (api(403, "x"), F::Login),
            (api(404, "models/x is not found"), F::InvalidRequest),
            (api(429, "mock 429"), F::RateLimit),
            (
                api(429, "You exceeded your current quota, please check your plan and billing details"),
                F::Quota,
            ),
            (api(500, "x"), F::Server),
            (api(503, "The model is overloaded."), F::Server),
            ("[API Error: The model is overloaded. (Status: UNAVAILABLE)]".into(), F::Server),
            (
                "[API Error: slow down]\nPlease wait and try again later. To increase your limits, request a quota \
                 increase through AI Studio, or switch to another /auth method"
                    .into(),
                F::RateLimit,
            ),
            (
                "[API Error: You exceeded your current quota]\nPlease wait and try again later.".into(),
                F::Quota,
            ),
            ("[API Error: terminated]".into(), F::Network),
            ("[API Error: exception TypeError: fetch failed sending request]".into(), F::Network),
            ("Reached max session turns for this session.".into(), F::StepLimit),
            ("something new".into(), F::Other),
        ] {
            assert_eq!(told("unknown", &words).0, class, "{words}");
        }
        assert_eq!(told("FatalAuthenticationError", "x").0, F::Login);
    }

    #[test]
    fn words_are_for_people() {
        assert_eq!(told("", &api(500, "mock 500")).1, "mock 500 (500)");
        let nested = r#"[API Error: {"error":{"code":1,"message":"{\"error\":{\"code\":503,\"message\":\"busy\"}}"}}] Possible quota"#;
        assert_eq!(told("", nested), (F::Server, "busy (503)".into()));
        assert_eq!(told("", "[API Error: terminated]").1, "terminated");
        assert_eq!(told("", "[API Error: slow down]\nPlease wait and try again later. …").1, "slow down");
        assert_eq!(told("", "").1, "");
    }

    #[test]
    fn only_attempts_that_are_repeated_are_retries() {
        let line = r#"Attempt 3 failed with status 429. Retrying with backoff... _ApiError: {"error":{}}"#;
        assert_eq!(
            retry(line),
            Some((F::RateLimit, "Attempt 3 failed with status 429. Retrying with backoff".into()))
        );
        let line = "Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed";
        assert_eq!(retry(line), Some((F::Network, "Attempt 1 failed. Retrying with backoff".into())));
        for other in
            ["Attempt 10 failed: {}. Max attempts reached", "Attempt x failed. Retrying", "", "at Attempt 1"]
        {
            assert_eq!(retry(other), None, "{other}");
        }
    }
}
