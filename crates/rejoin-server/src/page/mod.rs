//! The page at `/` and its files. It holds no data, so it needs no token.

mod files;

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use self::files::PageFile;

/// What stands at a path outside of the API: a file, or the page itself for whoever shows pages. The page has
/// addresses of its own (`/c/…`, `/inbox`), which it reads itself. `None` if there is nothing.
pub(crate) fn find(path: &str, headers: &HeaderMap) -> Option<Response<Body>> {
    let name = path.strip_prefix('/').unwrap_or(path);
    let name = if name.is_empty() { files::INDEX } else { name };
    let file = match files::find(name) {
        Some(file) => file,
        None if !files::is_for_files(name) && shows_pages(headers) => files::find(files::INDEX)?,
        None => return None,
    };
    Some(respond(file, headers))
}

fn respond(file: &PageFile, headers: &HeaderMap) -> Response<Body> {
    let known = said(headers, &IF_NONE_MATCH).any(|tag| tag == file.etag || tag == "*");
    let gzip = file.gzip.filter(|_| takes_gzip(headers));
    let bytes = gzip.unwrap_or(file.plain);
    let mut response = Response::new(Body::empty());
    let mut set = |name, value| response.headers_mut().insert(name, HeaderValue::from_static(value));
    set(ETAG, file.etag);
    set(CACHE_CONTROL, file.cache_control());
    if file.gzip.is_some() {
        set(VARY, "accept-encoding");
    }
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    set(CONTENT_TYPE, file.content_type());
    if gzip.is_some() {
        set(CONTENT_ENCODING, "gzip");
    }
    // Said here, because whoever asks by HEAD gets no body to measure.
    response.headers_mut().insert(CONTENT_LENGTH, bytes.len().into());
    *response.body_mut() = Body::from(bytes);
    response
}

/// The items of a header that is a list.
fn said<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Whether it is asked by something that shows pages, not by a script or for an image.
fn shows_pages(headers: &HeaderMap) -> bool {
    said(headers, &ACCEPT).any(|item| item.split(';').next().is_some_and(|kind| kind.trim() == "text/html"))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    said(headers, &ACCEPT_ENCODING).any(|item| {
        let (name, weight) = item.split_once(';').unwrap_or((item, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn compressed_is_sent_to_whom_it_was_offered_by() {
        for yes in ["gzip", "br, gzip", "gzip;q=0.5", "GZIP, deflate", "deflate, gzip;q=1.0, *;q=0.5"] {
            assert!(takes_gzip(&headers(ACCEPT_ENCODING, yes)), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip;q=0.0", "gzip;q=x", "xgzip"] {
            assert!(!takes_gzip(&headers(ACCEPT_ENCODING, no)), "{no}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn addresses_of_the_page_are_for_whoever_shows_pages() {
        let browser = headers(ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8");
        for path in ["/", "/c/4711", "/inbox", "/stats"] {
            assert!(find(path, &browser).is_some(), "{path}");
        }
        for path in ["/assets/missing.js", "/assets/"] {
            assert!(find(path, &browser).is_none(), "{path}");
        }
        for accept in ["*/*", "image/*", "application/json"] {
            assert!(find("/inbox", &headers(ACCEPT, accept)).is_none(), "{accept}");
        }
        assert!(find("/", &HeaderMap::new()).is_some());
        assert!(find("/../Cargo.toml", &HeaderMap::new()).is_none());
    }
}
