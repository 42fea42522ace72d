//! What went wrong, as `application/problem+json`: a stable code, what happened, and what to do next.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rejoin_engine::TurnError;
use rejoin_journal::JournalError;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Every kind of problem there is. Their names are part of the API: docs/http.md lists them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Code {
    /// The request cannot be understood.
    BadRequest,
    /// A field, parameter or route that does not exist.
    UnknownField,
    /// No token, or one that is not good.
    Unauthorized,
    /// The token's scopes do not reach so far.
    ScopeMissing,
    /// The token may not go so far, or not in this project.
    NotAllowed,
    /// What would let an agent do more than the ceiling.
    CeilingExceeded,
    /// The request was sent to another host than this one.
    ForeignHost,
    /// The request comes from a page of another origin.
    ForeignOrigin,
    /// It does not exist.
    NotFound,
    /// The route exists, with other methods.
    MethodNotAllowed,
    /// Somebody is at it.
    Busy,
    /// The question has an answer, or is not open any more.
    NotOpen,
    /// The state does not allow it.
    Conflict,
    /// The conversation is not any more what the caller saw.
    Changed,
    /// `If-Match` is missing.
    MatchRequired,
    /// A body, a prompt or a file is too large.
    TooLarge,
    /// A body of another type than is taken here.
    MediaType,
    /// The engine refuses it as it stands.
    Refused,
    /// The key was given to another request.
    KeyReused,
    /// Too many at once, or too often.
    TooMany,
    /// The daemon is about to end.
    Stopping,
    /// The disk, the journal, rejoin itself.
    Internal,
}

impl Code {
    /// Every one, for the documents and their tests.
    #[cfg(test)]
    pub(crate) const ALL: [Code; 22] = [
        Code::BadRequest,
        Code::UnknownField,
        Code::Unauthorized,
        Code::ScopeMissing,
        Code::NotAllowed,
        Code::CeilingExceeded,
        Code::ForeignHost,
        Code::ForeignOrigin,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::Busy,
        Code::NotOpen,
        Code::Conflict,
        Code::Changed,
        Code::MatchRequired,
        Code::TooLarge,
        Code::MediaType,
        Code::Refused,
        Code::KeyReused,
        Code::TooMany,
        Code::Stopping,
        Code::Internal,
    ];

    /// As it stands in the API: status, name, title, and whether the same request may succeed later.
    pub(crate) fn facts(self) -> (StatusCode, &'static str, &'static str, bool) {
        use StatusCode as S;
        match self {
            Code::BadRequest => (S::BAD_REQUEST, "bad_request", "The request cannot be understood", false),
            Code::UnknownField => (S::BAD_REQUEST, "unknown_field", "There is no such field", false),
            Code::Unauthorized => (S::UNAUTHORIZED, "unauthorized", "A token is needed", false),
            Code::ScopeMissing => {
                (S::FORBIDDEN, "scope_missing", "The token's scopes do not reach so far", false)
            }
            Code::NotAllowed => (S::FORBIDDEN, "not_allowed", "This token may not do that", false),
            Code::CeilingExceeded => {
                (S::FORBIDDEN, "ceiling_exceeded", "More than the ceiling allows", false)
            }
            Code::ForeignHost => (S::MISDIRECTED_REQUEST, "foreign_host", "Sent to another host", false),
            Code::ForeignOrigin => (S::FORBIDDEN, "foreign_origin", "Comes from another origin", false),
            Code::NotFound => (S::NOT_FOUND, "not_found", "It does not exist", false),
            Code::MethodNotAllowed => {
                (S::METHOD_NOT_ALLOWED, "method_not_allowed", "Not with this method", false)
            }
            Code::Busy => (S::CONFLICT, "busy", "Somebody is at it", true),
            Code::NotOpen => (S::CONFLICT, "not_open", "The question is not open any more", false),
            Code::Conflict => (S::CONFLICT, "conflict", "Not as things stand", false),
            Code::Changed => (S::PRECONDITION_FAILED, "changed", "It went on since it was looked at", false),
            Code::MatchRequired => (S::PRECONDITION_REQUIRED, "match_required", "If-Match is needed", false),
            Code::TooLarge => (S::PAYLOAD_TOO_LARGE, "too_large", "Too large", false),
            Code::MediaType => (S::UNSUPPORTED_MEDIA_TYPE, "media_type", "Another type is taken here", false),
            Code::Refused => (S::UNPROCESSABLE_ENTITY, "refused", "It cannot be done as it stands", false),
            Code::KeyReused => (S::UNPROCESSABLE_ENTITY, "key_reused", "The key is another request's", false),
            Code::TooMany => (S::TOO_MANY_REQUESTS, "too_many", "Too many at once", true),
            Code::Stopping => (S::SERVICE_UNAVAILABLE, "stopping", "The daemon is about to end", true),
            Code::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "rejoin itself failed", true),
        }
    }
}

/// One problem, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    code: Code,
    detail: String,
    hint: Option<String>,
    retry_after: Option<u64>,
    more: Map<String, Value>,
}

/// A problem as it is sent; some kinds have further members.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProblemBody {
    /// Names the kind of problem: `urn:rejoin:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// A few words for the kind.
    title: &'static str,
    /// The status of the response.
    status: u16,
    /// The kind, for programs.
    code: Code,
    /// What happened.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Whether the same request may succeed later.
    retryable: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: Map<String, Value>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts { code, detail: detail.into(), hint: None, retry_after: None, more: Map::new() }))
    }

    /// What to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// When it is worth trying again.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// A further member of the body.
    pub(crate) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.0.more.insert(name.to_owned(), value);
        }
        self
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Code::NotFound, detail)
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    /// A thread that was to carry it out is gone.
    pub(crate) fn lost(error: &tokio::task::JoinError) -> Self {
        Self::new(Code::Internal, format!("what was asked for was not carried out to its end: {error}"))
    }

    pub(crate) fn code(&self) -> Code {
        self.0.code
    }

    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// As it is sent.
    pub(crate) fn body(&self) -> ProblemBody {
        let (status, name, title, retryable) = self.0.code.facts();
        ProblemBody {
            kind: format!("urn:rejoin:problem:{name}"),
            title,
            status: status.as_u16(),
            code: self.0.code,
            detail: self.0.detail.clone(),
            hint: self.0.hint.clone(),
            retryable,
            more: self.0.more.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, ..) = self.0.code.facts();
        let mut response = (status, Json(self.body())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.0.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.0.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"rejoin\""));
        }
        response
    }
}

impl From<rejoin::Error> for Problem {
    fn from(error: rejoin::Error) -> Self {
        let text = error.to_string();
        let rejoin::Error::Turn(error) = error else { return Self::new(Code::Internal, text) };
        let code = match error {
            TurnError::NotFound(_) | TurnError::Journal(JournalError::NotFound { .. }) => Code::NotFound,
            TurnError::Usage(_) | TurnError::AlreadyAsked { .. } => Code::Refused,
            TurnError::NotAnswered(_) => Code::NotOpen,
            TurnError::Journal(JournalError::RecordTooLong { .. }) => Code::TooLarge,
            TurnError::Permission(_) => Code::CeilingExceeded,
            TurnError::Busy { .. } | TurnError::Cancelled { .. } => Code::Busy,
            TurnError::TooMany { .. } => Code::TooMany,
            TurnError::KeyReused { .. } => Code::KeyReused,
            TurnError::Changed { .. } => Code::Changed,
            _ => Code::Internal,
        };
        Self::new(code, text)
    }
}

impl From<TurnError> for Problem {
    fn from(error: TurnError) -> Self {
        rejoin::Error::from(error).into()
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        rejoin::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind is documented, with its status.
    #[test]
    fn every_kind_stands_in_the_document() {
        let document = include_str!("../../../docs/http.md");
        for code in Code::ALL {
            let (status, name, ..) = code.facts();
            let row = format!("| `{name}` | {} |", status.as_u16());
            assert!(document.contains(&row), "docs/http.md has no row {row:?}");
            assert_eq!(serde_json::to_value(code).unwrap(), name);
        }
    }
}
