//! What no request gets past: its host, its origin, and a token for everything that holds data.

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::peer::Peer;
use super::{Auth, Proof, safe_headers};
use crate::app::Shared;
use crate::problem::{Code, Problem};

/// The header by which the page sends its secret.
const PAGE_SECRET: &str = "x-rejoin-secret";
/// Another program on this host may have set cookies of our name; more than a few are nobody's mistake.
const MOST_COOKIES: usize = 8;
/// What a page of another site may send without being allowed to.
const SIMPLE_TYPES: [&str; 3] = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];

/// A file may be a text: its type is the file's. What a page of another site sends has no token, and no secret.
const UPLOADS: &str = "/api/v1/uploads";

/// Every request passes here, and every response.
pub(crate) async fn gate(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let api = path == "/api" || path.starts_with("/api/");
    let mut response = match admit(&app.auth, &mut request, api).await {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    safe_headers::put_on(&mut response, api);
    response
}

/// Lets a request in, and notes in it who asks.
async fn admit(auth: &Auth, request: &mut Request, api: bool) -> Result<(), Problem> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    auth.hosts().check(method, uri, headers, api)?;
    if !api || is_open(method, uri.path()) {
        return Ok(());
    }
    let peer = request.extensions().get::<Peer>().copied();
    let proof = proof(headers, &auth.hosts().cookie()).ok_or_else(no_token)?;
    let Some(admitted) = auth.admit(&proof) else {
        return Err(auth.refuse(peer, "a token or a browser that is not known").await);
    };
    if !method.is_safe() && uri.path() != UPLOADS {
        refuse_simple_body(headers)?;
    }
    request.extensions_mut().insert(admitted.via);
    request.extensions_mut().insert(admitted.caller);
    Ok(())
}

/// What is asked for without a token: to get one, and whether anybody is there.
fn is_open(method: &Method, path: &str) -> bool {
    match path {
        "/api/v1/login" => method == Method::POST,
        "/api/v1/health" => method == Method::GET || method == Method::HEAD,
        _ => false,
    }
}

/// What a request brings to show who sends it. A query is never looked at: it ends up in logs and histories.
fn proof<'a>(headers: &'a HeaderMap, cookie: &str) -> Option<Proof<'a>> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let (scheme, token) = value.to_str().ok()?.trim().split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| Proof::Bearer(token.trim()));
    }
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let named = |pair: &'a str| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == cookie).then_some(value)
    };
    let cookies: Vec<&str> =
        lines.flat_map(|line| line.split(';')).filter_map(named).take(MOST_COOKIES).collect();
    if cookies.is_empty() {
        return None;
    }
    let secret = headers.get(PAGE_SECRET)?.to_str().ok()?;
    Some(Proof::Browser { cookies, secret })
}

fn no_token() -> Problem {
    Problem::new(Code::Unauthorized, "this needs a token").hint(
        "send the header Authorization: Bearer $(rejoin token); a browser is let in by `rejoin serve --url`",
    )
}

/// Refuses a body that a form could send.
fn refuse_simple_body(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let simple = match given {
        Some(_) => {
            essence.is_empty() || SIMPLE_TYPES.iter().any(|simple| essence.eq_ignore_ascii_case(simple))
        }
        None => {
            headers.contains_key(TRANSFER_ENCODING)
                || headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0")
        }
    };
    if !simple {
        return Ok(());
    }
    let given = if essence.is_empty() { "without a type" } else { essence };
    Err(Problem::new(Code::MediaType, format!("a body {given} is not taken by anything here"))
        .hint("send the header Content-Type: application/json"))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        given.iter().map(header).collect()
    }

    fn shown(given: &[(&'static str, &'static str)]) -> String {
        match proof(&headers(given), "rejoin_7717") {
            None => "nothing".to_owned(),
            Some(Proof::Bearer(token)) => format!("bearer {token}"),
            Some(Proof::Browser { cookies, secret }) => format!("browser {} {secret}", cookies.join(",")),
        }
    }

    #[test]
    fn a_bearer_token_or_cookie_and_secret_are_found_and_nothing_less() {
        assert_eq!(shown(&[]), "nothing");
        assert_eq!(shown(&[("authorization", "Bearer abc")]), "bearer abc");
        assert_eq!(shown(&[("authorization", "bearer  abc ")]), "bearer abc");
        assert_eq!(shown(&[("authorization", "Basic abc")]), "nothing");
        assert_eq!(shown(&[("authorization", "abc")]), "nothing");
        assert_eq!(shown(&[("cookie", "rejoin_7717=c")]), "nothing");
        assert_eq!(shown(&[("x-rejoin-secret", "s")]), "nothing");
        assert_eq!(shown(&[("cookie", "a=b; rejoin_7717=c"), ("x-rejoin-secret", "s")]), "browser c s");
        let other_port = [("cookie", "rejoin_77=c; xrejoin_7717=d"), ("x-rejoin-secret", "s")];
        assert_eq!(shown(&other_port), "nothing");
        let two = [("cookie", "rejoin_7717=c; rejoin_7717=d"), ("x-rejoin-secret", "s")];
        assert_eq!(shown(&two), "browser c,d s");
        let both = [("authorization", "Basic x"), ("cookie", "rejoin_7717=c"), ("x-rejoin-secret", "s")];
        assert_eq!(shown(&both), "nothing", "whoever sends a wrong header is not taken for a browser");
    }

    #[test]
    fn a_body_that_a_form_could_send_is_refused() {
        let passes = |given: &[(&'static str, &'static str)]| refuse_simple_body(&headers(given)).is_ok();
        assert!(passes(&[]) && passes(&[("content-length", "0")]));
        assert!(passes(&[("content-type", "application/json"), ("content-length", "2")]));
        assert!(passes(&[("content-type", "image/png"), ("content-length", "2")]));
        for simple in
            ["text/plain", "Text/Plain; charset=utf-8", "application/x-www-form-urlencoded", "", ";"]
        {
            assert!(!passes(&[("content-type", simple)]), "{simple:?}");
        }
        assert!(!passes(&[("content-type", "multipart/form-data; boundary=x")]));
        assert!(!passes(&[("content-length", "2")]) && !passes(&[("transfer-encoding", "chunked")]));
    }
}
