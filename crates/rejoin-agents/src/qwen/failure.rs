//! Qwen's words for failures.
//!
//! A failure of the model's service poses as the end of an answer: `[API Error: 400 …]`, in a turn
//! that succeeded by every other sign.

use rejoin_core::FailureClass;

use crate::words::says;

/// How such a failure begins.
const BEGINNINGS: &[&str] = &[
    "[API Error: ",
    "Qwen OAuth quota exceeded:",
    "Qwen OAuth free tier has been discontinued",
    "Quota exhausted: ",
];
/// What Qwen adds behind the bracket when asked to slow down.
const AFTER_BRACKET: &[&str] = &["]\nPlease wait and try again later", "]\nPossible quota limitations"];

/// Its refusals to resume, on standard error, before its first line.
const REJECTIONS: &[&str] = &["no saved session found with"];

/// In this order: the first that matches is the class.
const CLASSES: &[(FailureClass, &[&str])] = &[
    (FailureClass::Busy, &["is already in use"]),
    (
        FailureClass::Quota,
        &[
            "insufficient_quota",
            "insufficient balance",
            "quota exceeded",
            "exceeded your current quota",
            "quota exhausted",
            "free tier has been discontinued",
            "allocated quota",
            "arrearage",
            "billing",
        ],
    ),
    (
        FailureClass::ContextOverflow,
        &[
            "context length",
            "context_length",
            "context window",
            "maximum context",
            "prompt is too long",
            "input token count exceeds",
            "range of input length",
            "too many tokens",
        ],
    ),
    (
        FailureClass::InvalidHistory,
        &[
            "tool_calls",
            "tool_call_id",
            "tool_use",
            "tool_result",
            "function call turn",
            "function response",
            "role 'tool'",
            "roles must alternate",
            "thought_signature",
            "`signature`",
            "image exceeds",
        ],
    ),
];
const LOGIN: &[&str] = &[
    "no auth type is selected",
    "auth type is",
    "api key",
    "api_key",
    "unauthorized",
    "authentication",
    "re-authenticate",
    "access token",
    "oauth",
];
const RATE_LIMIT: &[&str] =
    &["rate limit", "rate_limit", "resource_exhausted", "too many requests", "throttl"];
const SERVER: &[&str] = &[
    "internal server error",
    "server_error",
    "overloaded",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
];
const NETWORK: &[&str] = &[
    "connection error",
    "fetch failed",
    "terminated",
    "econnre",
    "enotfound",
    "etimedout",
    "socket hang up",
    "timed out",
    "timeout",
    "premature close",
    "network",
    "stream ended",
    "model stream",
];

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

/// Whether these words refuse to resume.
pub(super) fn is_rejection(words: &str) -> bool {
    says(words, REJECTIONS)
}

/// What kind of failure these words tell of; `otherwise` if none is known.
pub(super) fn classify(words: &str, otherwise: FailureClass) -> FailureClass {
    if says(words, &["reached max session turns", "max-tool-calls", "max-wall-time", "run budget"]) {
        return FailureClass::StepLimit;
    }
    let known = || CLASSES.iter().find(|(_, known)| says(words, known)).map(|(class, _)| *class);
    match (status(words), known()) {
        // A failing service may say anything in its excuse.
        (Some(500..), _) => FailureClass::Server,
        (_, Some(class)) => class,
        (Some(401 | 403), _) => FailureClass::Login,
        (Some(402), _) => FailureClass::Quota,
        (Some(429), _) => FailureClass::RateLimit,
        (Some(408), _) => FailureClass::Network,
        (Some(413), _) => FailureClass::ContextOverflow,
        (Some(_), _) => FailureClass::InvalidRequest,
        (None, None) => {
            let by_words = [
                (FailureClass::RateLimit, RATE_LIMIT),
                (FailureClass::Server, SERVER),
                (FailureClass::Network, NETWORK),
                (FailureClass::Login, LOGIN),
            ];
            by_words.iter().find(|(_, known)| says(words, known)).map_or(otherwise, |(class, _)| *class)
        }
    }
}

/// The words for people, without the brackets.
pub(super) fn readable(words: &str) -> String {
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
