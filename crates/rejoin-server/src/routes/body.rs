//! What a request carries, taken strictly: a field that does not exist is an error with the one that was meant.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Query, Request, rejection::BytesRejection};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::uploads::LARGEST;
use crate::problem::{Code, Problem};

/// A JSON body. Its type says `deny_unknown_fields`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        expect_type(request.headers(), "application/json")?;
        let bytes = take_bytes(request, state).await?;
        read_json(&bytes).map(Self)
    }
}

/// A value from the whole of a JSON body.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| misunderstood("the body", &error.to_string()))
}

/// The whole body, as far as the limit of the route goes and as long as it is worth waiting for.
pub(crate) async fn take_bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let told = told_length(request.headers());
    // One that could never be taken is not waited for.
    if told.is_some_and(|length| length > LARGEST as u64) {
        return Err(too_large());
    }
    let within = longest_wait(told);
    let taken = tokio::time::timeout(within, Bytes::from_request(request, state)).await;
    let taken = taken.map_err(|_| {
        Problem::bad_request(format!("the body was not whole after {} s", within.as_secs()))
            .hint("send it again, faster")
    })?;
    taken.map_err(|rejection: BytesRejection| {
        match axum::response::IntoResponse::into_response(rejection).status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(),
            _ => Problem::bad_request("the body broke off"),
        }
    })
}

/// Any body may take so long.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// A long one may take longer: so many bytes a second are the least.
const SLOWEST: u64 = 64 << 10;

/// How long a body of this length may take, or one that does not tell: who sends a byte now and then must not hold a
/// connection for ever.
fn longest_wait(length: Option<u64>) -> Duration {
    BODY_WITHIN + Duration::from_secs(length.unwrap_or(LARGEST as u64) / SLOWEST)
}

fn told_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Problem {
    Problem::new(Code::TooLarge, "the body is larger than is taken here")
        .hint("files go to POST /api/v1/uploads, which takes 20 MiB")
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

/// What an address names in its path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let axum::extract::Path(named) = axum::extract::Path::from_request_parts(parts, state)
            .await
            .map_err(|rejection| misunderstood("the address", &rejection.body_text()))?;
        Ok(Self(named))
    }
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
        return unknown_field(what, wrong, &known);
    }
    Problem::bad_request(format!("{what} cannot be understood: {message}"))
}

/// A field, or a parameter, that does not exist, with the one that was probably meant.
pub(crate) fn unknown_field(what: &str, wrong: &str, known: &[String]) -> Problem {
    let near = rejoin::suggestion(wrong, known.iter().cloned());
    Problem::new(Code::UnknownField, format!("{what} has a field {wrong:?} that does not exist{near}")).hint(
        if known.is_empty() { "leave it out".to_owned() } else { format!("known are {}", known.join(", ")) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_body_may_take_longer_and_none_for_ever() {
        let wait = |length| longest_wait(length).as_secs();
        assert_eq!((wait(Some(0)), wait(Some(100)), wait(Some(640 << 10))), (10, 10, 20));
        assert_eq!((wait(Some(LARGEST as u64)), wait(None)), (330, 330));
    }
}
