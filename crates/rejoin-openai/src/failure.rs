//! What an endpoint's refusal means.

use serde_json::Value;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    /// One of rejoin's words.
    pub(crate) class: &'static str,
    /// In the endpoint's own words.
    pub(crate) message: String,
    /// Whether trying again may help.
    pub(crate) again: Again,
}

/// Whether trying again may help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Again {
    Never,
    Soon,
    /// After so many seconds: the endpoint said so.
    After(u64),
}

impl Failure {
    pub(crate) fn network(error: &impl std::fmt::Display) -> Self {
        Self {
            class: "network",
            message: format!("the endpoint cannot be reached: {error}"),
            again: Again::Soon,
        }
    }

    pub(crate) fn other(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), again: Again::Never }
    }

    /// An answer that is not 200. Its words may be shown: see [`without`].
    pub(crate) fn status(status: u16, body: &str, retry_after: Option<u64>) -> Self {
        let words = words(body);
        let low = words.to_lowercase();
        let class = match status {
            401 | 403 => "login",
            402 => "quota",
            429 if low.contains("quota") || low.contains("billing") => "quota",
            429 => "rate_limit",
            408 | 500..=599 => "server",
            413 => "context_overflow",
            400 | 422 if OVERFLOW.iter().any(|part| low.contains(part)) => "context_overflow",
            400..=499 => "invalid_request",
            _ => "other",
        };
        let again = match (class, retry_after) {
            ("rate_limit" | "server", Some(seconds)) => Again::After(seconds),
            ("rate_limit" | "server", None) => Again::Soon,
            _ => Again::Never,
        };
        Self { class, message: format!("HTTP {status}: {words}"), again }
    }
}

/// Words for a history that does not fit. The next replay is shorter only if they are recognised.
const OVERFLOW: &[&str] = &[
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum number of tokens",
    "prompt is too long",
    "too many tokens",
];

/// An endpoint's answer without the key, which some repeat. To be taken out before anything is cut.
pub(crate) fn without(secret: Option<&str>, body: &str) -> String {
    secret.filter(|secret| secret.len() >= 4).map_or_else(|| body.to_owned(), |it| body.replace(it, "[key]"))
}

/// The endpoint's own words, out of the usual shapes.
fn words(body: &str) -> String {
    let value: Option<Value> = serde_json::from_str(body).ok();
    let error = value.as_ref().and_then(|value| value.get("error")).or(value.as_ref());
    let text = error.and_then(|error| error.get("message").unwrap_or(error).as_str());
    let code = error.and_then(|error| error.get("code")).and_then(Value::as_str).unwrap_or_default();
    let text = text.unwrap_or_else(|| body.trim());
    let cut = text.floor_char_boundary(600);
    if code.is_empty() || text.contains(code) {
        text[..cut].to_owned()
    } else {
        format!("{} ({code})", &text[..cut])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart_and_never_show_the_key() {
        let class = |status, body| Failure::status(status, body, None).class;
        assert_eq!(class(401, "{}"), "login");
        assert_eq!(class(429, r#"{"error":{"message":"slow down"}}"#), "rate_limit");
        assert_eq!(class(429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#), "quota");
        assert_eq!(class(503, "busy"), "server");
        assert_eq!(
            class(400, r#"{"error":{"message":"maximum context length is 8192 tokens"}}"#),
            "context_overflow"
        );
        assert_eq!(
            class(400, r#"{"error":{"message":"the request exceeds the available context size"}}"#),
            "context_overflow"
        );
        assert_eq!(class(413, "Payload Too Large"), "context_overflow");
        assert_eq!(class(408, ""), "server");
        assert_eq!(class(400, r#"{"error":"no such model"}"#), "invalid_request");
        let told = |body: &str| Failure::status(401, &without(Some("sk-secret"), body), None).message;
        assert_eq!(told(r#"{"error":{"message":"bad key sk-secret"}}"#), "HTTP 401: bad key [key]");
        let long = told(&format!("{}sk-secret", "x".repeat(597)));
        assert!(!long.contains("sk-"), "a key that is cut in two is one, too: {long}");
    }
}
