//! What a request carries, taken strictly: a field that does not exist is an error with the one that was meant.

use axum::extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::problem::{Code, Problem};

/// A JSON body. Its type says `deny_unknown_fields`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        expect_type(request.headers(), "application/json")?;
        let bytes = take_bytes(request, state).await?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let value = read_json(&mut reader)?;
        Ok(Self(value))
    }
}

fn read_json<T: DeserializeOwned>(
    reader: &mut serde_json::Deserializer<serde_json::de::SliceRead<'_>>,
) -> Result<T, Problem> {
    let value = T::deserialize(&mut *reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| misunderstood("the body", &error.to_string()))
}

/// The whole body, as far as the limit of the route goes.
pub(crate) async fn take_bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    Bytes::from_request(request, state).await.map_err(|rejection: BytesRejection| {
        match axum::response::IntoResponse::into_response(rejection).status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Problem::new(Code::TooLarge, "the body is larger than is taken here")
                    .hint("docs/http.md lists the limits; files go to POST /api/v1/uploads")
            }
            _ => Problem::bad_request("the body broke off"),
        }
    })
}

/// Refuses a body of another type. A page of another origin cannot send JSON without asking first.
pub(crate) fn expect_type(headers: &HeaderMap, expected: &str) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let given = if given.is_empty() { "no type".to_owned() } else { format!("{given:?}") };
    Err(Problem::new(Code::MediaType, format!("a body of {expected} is taken here, this one has {given}"))
        .hint(format!("send the header Content-Type: {expected}")))
}

/// Parameters of the address. Their type says `deny_unknown_fields`.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let text = rejection.body_text();
                let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
                Err(misunderstood("the address", text))
            }
        }
    }
}

/// What serde says, with the field that was probably meant.
fn misunderstood(what: &str, message: &str) -> Problem {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.contains("unknown field")
        && let Some(wrong) = quoted.next()
    {
        let known: Vec<String> = quoted.map(str::to_owned).collect();
        let near = rejoin::suggestion(wrong, known.iter().cloned());
        return Problem::new(
            Code::UnknownField,
            format!("{what} has a field {wrong:?} that does not exist{near}"),
        )
        .hint(if known.is_empty() {
            "leave it out".to_owned()
        } else {
            format!("known are {}", known.join(", "))
        });
    }
    Problem::bad_request(format!("{what} cannot be understood: {message}"))
}
