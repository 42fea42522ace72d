//! OpenCode's words for failures.

use FailureClass::{
    ContextOverflow, InvalidHistory, InvalidRequest, Login, Network, Other, Quota, RateLimit, Server,
};
use rejoin_core::{FailureClass, Outcome};

use super::wire::Trouble;
use crate::failures::{Failures, Words, after_error, last_line};

/// A failure it told of.
pub(super) struct Failure {
    pub(super) class: FailureClass,
    words: String,
    /// It was stopped.
    pub(super) aborted: bool,
    /// It failed inside, and says no more than that.
    unexplained: bool,
}

impl Failure {
    /// One without words.
    pub(super) fn unknown() -> Self {
        let words = "OpenCode failed without saying why".to_owned();
        Self { class: Other, words, aborted: false, unexplained: false }
    }

    /// How a turn ended that ended with it. A model it does not know is its usual inner failure, and
    /// stays in the session until another is named (1.18.33).
    pub(super) fn outcome(self, model: Option<&str>) -> Outcome {
        if !self.unexplained {
            return Outcome::failed(self.class, self.words);
        }
        let hint = match model {
            Some(model) => format!("perhaps it does not know the model {model:?}"),
            None => {
                "perhaps it does not know the session's model; name one with --model provider/model".into()
            }
        };
        Outcome::failed(self.class, format!("{} ({hint}; `opencode models` lists them)", self.words))
    }
}

const OVERFLOW: Words = "context_length_exceeded | context length | context window | prompt is too long | \
                         input is too long | maximum prompt length | exceeds the maximum number of tokens | \
                         compaction exhausted | conversation history too large";
const QUOTA: Words =
    "insufficient_quota | quota | usage limit | billing | credit balance | insufficient balance";
const HISTORY: Words = "tool_use ids were found without | tool_call_id | tool_calls must be followed | \
                        no tool output found | no tool call found | encrypted content | thinking blocks | \
                        invalid signature";

/// Seen with 1.18.33; what it hands on are the words of its many services.
pub(super) const FAILURES: Failures = Failures {
    classes: &[
        (ContextOverflow, "ContextOverflowError", ""),
        (Login, "ProviderAuthError", ""),
        (InvalidRequest, "ContentFilterError", ""),
        // It failed inside: most often it does not know the model.
        (InvalidRequest, "none", "unexpected server error"),
        (Login, "401 403", ""),
        (Quota, "402", ""),
        (Quota, "429", QUOTA),
        (RateLimit, "429", ""),
        (Server, "408 5xx", ""),
        (ContextOverflow, "413", ""),
        (ContextOverflow, "", OVERFLOW),
        (Quota, "", QUOTA),
        (InvalidHistory, "4xx", HISTORY),
        (InvalidRequest, "4xx", ""),
        (
            Login,
            "",
            "unauthorized | api key | api_key | not logged in | auth login | authentication | forbidden",
        ),
        (RateLimit, "", "rate limit | rate_limit | too many requests | too_many_requests"),
        (InvalidHistory, "", HISTORY),
        (Server, "", "overloaded | internal server error | server_error | bad gateway | at capacity"),
        (
            Network,
            "",
            "econnrefused | econnreset | enotfound | etimedout | unable to connect | cannot connect | \
             socket connection was closed | connection closed | fetch failed | timed out | network",
        ),
        (InvalidRequest, "", "modelnotfound | model not found | invalid_request_error"),
    ],
    last_words,
    ..Failures::PLAIN
};

/// What an error line tells of.
pub(super) fn of(trouble: &Trouble<'_>) -> Failure {
    let words = trouble.words().to_owned();
    let details = trouble.data.0.as_ref();
    let status = details.and_then(|details| details.status.0).map(|status| status as u16);
    let all = format!("{words}\n{}", details.map(|details| details.body.as_str()).unwrap_or_default());
    Failure {
        class: FAILURES.class(trouble.name.as_str(), status, &all).unwrap_or(Other),
        aborted: trouble.name.as_str() == "MessageAbortedError",
        unexplained: words.starts_with("Unexpected server error"),
        words,
    }
}

/// Whether these last words refuse to resume: nothing else stands in that line.
pub(super) fn rejection(stderr: &str) -> Option<&str> {
    last_words(stderr).filter(|words| *words == "Session not found")
}

/// The last word on standard error: what stands after `Error: `, else the last line. An argument it
/// does not accept is answered by its help alone.
fn last_words(stderr: &str) -> Option<&str> {
    if stderr.lines().any(|line| line.starts_with("opencode run [message..]")) {
        return Some(
            "unknown argument, or one without its value: OpenCode printed the help of `opencode run`",
        );
    }
    after_error(stderr).or_else(|| last_line(stderr))
}

/// What it asked leave for and was refused: "permission requested: bash (echo x); auto-rejecting".
pub(super) fn refused(line: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let (_, rest) = line.split_once("permission requested: ")?;
    let what = rest.split_once("; auto-rejecting")?.0;
    Some(what.chars().filter(|c| !c.is_control()).take(LONGEST).collect())
}

/// Whether it runs as another agent than that one.
pub(super) fn fell_back(line: &str, profile: &str) -> bool {
    line.contains(profile) && line.contains("Falling back")
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    #[test]
    fn failures_are_told_apart() {
        for (line, class) in [
            (r#"{"name":"APIError","data":{"message":"x","statusCode":401}}"#, F::Login),
            (r#"{"name":"APIError","data":{"message":"x","statusCode":402}}"#, F::Quota),
            (r#"{"name":"APIError","data":{"message":"x","statusCode":429}}"#, F::RateLimit),
            (
                r#"{"name":"APIError","data":{"message":"x","statusCode":429,"responseBody":"{\"code\":\"insufficient_quota\"}"}}"#,
                F::Quota,
            ),
            (r#"{"name":"APIError","data":{"message":"x","statusCode":503}}"#, F::Server),
            (r#"{"name":"APIError","data":{"message":"x","statusCode":400}}"#, F::InvalidRequest),
            (
                r#"{"name":"APIError","data":{"message":"prompt is too long: 9 tokens","statusCode":400}}"#,
                F::ContextOverflow,
            ),
            (
                r#"{"name":"APIError","data":{"message":"`tool_use` ids were found without `tool_result`","statusCode":400}}"#,
                F::InvalidRequest,
            ),
            (
                r#"{"name":"APIError","data":{"message":"tool_use ids were found without tool_result","statusCode":400}}"#,
                F::InvalidHistory,
            ),
            (r#"{"name":"ContextOverflowError","data":{"message":"x"}}"#, F::ContextOverflow),
            (r#"{"name":"ProviderAuthError","data":{"message":"x"}}"#, F::Login),
            (
                r#"{"name":"UnknownError","data":{"message":"Unable to connect. Is the computer able to access the url?"}}"#,
                F::Network,
            ),
            (
                r#"{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details."}}"#,
                F::InvalidRequest,
            ),
            (r#"{"_tag":"Odd"}"#, F::Other),
        ] {
            assert_eq!(of(&serde_json::from_str(line).unwrap()).class, class, "{line}");
        }
    }

    #[test]
    fn refusals_are_read_with_and_without_colours() {
        let line = "\u{1b}[93m\u{1b}[1m! \u{1b}[0mpermission requested: bash (echo hello2); auto-rejecting";
        assert_eq!(refused(line).as_deref(), Some("bash (echo hello2)"));
        assert_eq!(refused("permission requested: bash"), None);
        assert_eq!(rejection("\nError: Session not found\n"), Some("Session not found"));
        assert_eq!(rejection("Error: Session not found in the file"), None);
        assert_eq!(last_words(""), None);
    }
}
