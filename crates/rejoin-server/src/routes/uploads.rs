//! `POST /uploads`: files, ahead of the prompt they go along with.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::{Params, take_bytes};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};
use crate::queue::{Upload, keep_upload};

/// The largest file that is taken, in bytes.
pub(crate) const LARGEST: usize = 20 << 20;

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 200;

/// What a file is called.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UploadName {
    /// Its name; or in the header `X-Filename`.
    name: Option<String>,
}

/// Keeps a file for a prompt that is to come: for a day, or until a turn that used it has completed.
///
/// The body is the file, its `Content-Type` the file's. 20 MiB are taken.
#[utoipa::path(
    post, path = "/uploads", operation_id = "upload", tag = "runs", params(UploadName),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 201, body = Upload), (status = "4XX", body = ProblemBody))
)]
pub(crate) async fn post(
    State(app): State<Shared>,
    caller: Caller,
    Params(named): Params<UploadName>,
    request: Request,
) -> Result<(StatusCode, Json<Upload>), Problem> {
    caller.require(TokenScope::Prompt)?;
    let (name, media_type) = described(request.headers(), named.name.as_deref());
    let bytes = take_bytes(request, &()).await?;
    let upload = app.blocking(move |rejoin| keep_upload(rejoin, name, media_type, &bytes)).await?;
    Ok((StatusCode::CREATED, Json(upload)))
}

/// Name and type of a file.
fn described(headers: &HeaderMap, name: Option<&str>) -> (String, String) {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type =
        header(CONTENT_TYPE.as_str()).split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let media_type = if media_type.is_empty() { "application/octet-stream".to_owned() } else { media_type };
    let name = bare_name(name.unwrap_or_else(|| header("x-filename")));
    let name = if name.is_empty() { usual_name(&media_type).to_owned() } else { name };
    (name, media_type)
}

/// A name without a directory, and without what could do harm on a screen.
fn bare_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut name: String = last.chars().filter(|letter| !letter.is_control()).collect();
    // The end tells what it is.
    let cut = name.ceil_char_boundary(name.len().saturating_sub(LONGEST_NAME));
    name.drain(..cut);
    if matches!(name.as_str(), "." | "..") { String::new() } else { name }
}

/// What a file without a name is called: agents go by its ending.
fn usual_name(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "upload.png",
        "image/jpeg" => "upload.jpg",
        "image/gif" => "upload.gif",
        "image/webp" => "upload.webp",
        "application/pdf" => "upload.pdf",
        "application/json" => "upload.json",
        kind if kind.starts_with("text/") => "upload.txt",
        _ => "upload",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_directory_and_is_not_endless() {
        for (given, name) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            (r"C:\Users\ann\a.png", "a.png"),
            ("a\u{1b}[31m.txt", "a[31m.txt"),
            ("..", ""),
            ("dir/", ""),
        ] {
            assert_eq!(bare_name(given), name);
        }
        let long = bare_name(&format!("{}.png", "ä".repeat(500)));
        assert!(long.len() <= LONGEST_NAME && long.ends_with("ä.png"));
    }
}
