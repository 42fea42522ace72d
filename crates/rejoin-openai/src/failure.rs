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

    /// An answer that is not 200. `secret` is taken out of the words.
    pub(crate) fn status(status: u16, body: &str, retry_after: Option<u64>, secret: Option<&str>) -> Self {
        let words = words(body);
        let low = words.to_lowercase();
        let full =
            ["context length", "context_length", "context window", "too many tokens", "prompt is too long"];
        let class = match status {
            401 | 403 => "login",
            402 => "quota",
            429 if low.contains("quota") || low.contains("billing") => "quota",
            429 => "rate_limit",
            500..=599 => "server",
            400 | 413 | 422 if full.iter().any(|part| low.contains(part)) => "context_overflow",
            400..=499 => "invalid_request",
            _ => "other",
        };
        let again = match (class, retry_after) {
            ("rate_limit" | "server", Some(seconds)) => Again::After(seconds),
            ("rate_limit" | "server", None) => Again::Soon,
            _ => Again::Never,
        };
        let mut message = format!("HTTP {status}: {words}");
        if let Some(secret) = secret.filter(|secret| secret.len() >= 4) {
            message = message.replace(secret, "[key]");
        }
        Self { class, message, again }
    }
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
        let class = |status, body| Failure::status(status, body, None, None).class;
        assert_eq!(class(401, "{}"), "login");
        assert_eq!(class(429, r#"{"error":{"message":"slow down"}}"#), "rate_limit");
        assert_eq!(class(429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#), "quota");
        assert_eq!(class(503, "busy"), "server");
        assert_eq!(
            class(400, r#"{"error":{"message":"maximum context length is 8192 tokens"}}"#),
            "context_overflow"
        );
        assert_eq!(class(400, r#"{"error":"no such model"}"#), "invalid_request");
        let failure =
            Failure::status(401, r#"{"error":{"message":"bad key sk-secret"}}"#, None, Some("sk-secret"));
        assert_eq!(failure.message, "HTTP 401: bad key [key]");
    }
}
