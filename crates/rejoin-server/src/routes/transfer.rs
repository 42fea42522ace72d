//! Conversations that leave or come: exported as they are streamed, imported when all of them is there.

use std::io::{self, Write};
use std::path::PathBuf;

use axum::Json;
use axum::body::Body as ResponseBody;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use bytes::Bytes;
use rejoin::{Format, Imported, Redactor};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use super::access::{conversation_id, open, sees};
use super::body::{Params, Path, expect_type, take_bytes};
use super::etag;
use crate::app::Shared;
use crate::byte_stream::ByteStream;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// What an export looks like.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExportFormat {
    /// To be read.
    #[default]
    Markdown,
    /// One page, to be read.
    Html,
    /// The path to the head, nothing cut.
    Json,
    /// The journal, a record per line.
    Jsonl,
    /// The journal with what is needed to take it in elsewhere.
    Bundle,
}

impl ExportFormat {
    /// The library's, the type of the body, and how its file ends.
    fn facts(self) -> (Format, &'static str, &'static str) {
        match self {
            Self::Markdown => (Format::Markdown, "text/markdown; charset=utf-8", "md"),
            Self::Html => (Format::Html, "text/html; charset=utf-8", "html"),
            Self::Json => (Format::Json, "application/json", "json"),
            Self::Jsonl => (Format::Jsonl, "application/x-ndjson", "jsonl"),
            Self::Bundle => (Format::Bundle, BUNDLE, "rejoin"),
        }
    }
}

/// The type of a bundle, and of a journal that is taken in.
const BUNDLE: &str = "application/vnd.rejoin.bundle";

/// How to export.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// `markdown` (if nothing is said), `html`, `json`, `jsonl`, `bundle`.
    #[serde(default)]
    #[param(inline)]
    format: ExportFormat,
    /// Without what looks like a secret.
    #[serde(default)]
    redact: bool,
}

/// Writes a conversation out; always as a file to be saved, never as a page of this origin.
#[utoipa::path(
    get, path = "/conversations/{id}/export", operation_id = "export_conversation", tag = "conversations", params(("id" = String, Path), ExportParams),
    responses((status = 200, content(
        (String = "text/markdown"),
        (String = "text/html"),
        (Value = "application/json"),
        (String = "application/x-ndjson"),
        (String = "application/vnd.rejoin.bundle"),
    )))
)]
pub(crate) async fn export(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<ExportParams>,
) -> Result<(HeaderMap, ResponseBody), Problem> {
    caller.require(TokenScope::Read)?;
    let id = conversation_id(&id)?;
    let (format, kind, ending) = params.format.facts();
    let (send, receive) = mpsc::channel(4);
    let shared = Shared::clone(&app);
    let rejoin = app.rejoin();
    // What can be refused is refused before the first byte.
    let (tag, checked, caller) = app
        .blocking({
            let shared = Shared::clone(&shared);
            move |rejoin| open(&shared, rejoin, &caller, id).map(|view| (etag::tag(&view), view.id(), caller))
        })
        .await?;
    tokio::task::spawn_blocking(move || {
        let mut out = ChunkWriter { send, buffer: Vec::new() };
        let mut redactor = params.redact.then(|| Redactor::new(std::env::var("HOME").ok()));
        let done = open(&shared, &rejoin, &caller, checked)
            .and_then(|view| Ok(view.export(format, redactor.as_mut(), &mut out)?))
            .and_then(|()| out.flush().map_err(|error| Problem::new(Code::Internal, error.to_string())));
        if let Err(problem) = done {
            // The body breaks off: whoever saves it sees that it is not whole.
            let _ = out.send.blocking_send(Err(io::Error::other(problem.detail().to_owned())));
        }
    });
    let name = format!("attachment; filename=\"{}.{ending}\"", id.short());
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&name).unwrap_or(HeaderValue::from_static("attachment")),
        ),
    ];
    // Of what stood before it was written out: a change that names it is refused if it went on since.
    let mut all = etag::headers(&tag);
    all.extend(headers);
    Ok((all, ResponseBody::from_stream(ByteStream(receive))))
}

/// Sends what is written in pieces; waits while the reader is behind.
struct ChunkWriter {
    send: mpsc::Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
}

/// How large a piece is.
const CHUNK: usize = 64 << 10;

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.buffer));
        self.send.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Where to.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportParams {
    /// The conversation belongs to the project around this directory from now on.
    #[param(value_type = Option<String>)]
    project: Option<PathBuf>,
}

/// Takes in a bundle, or a journal. What it says of levels and directories narrows, and never widens or moves.
#[utoipa::path(
    post, path = "/conversations/import", operation_id = "import_conversation", tag = "conversations", params(ImportParams),
    request_body(content = String, content_type = "application/vnd.rejoin.bundle"),
    responses((status = 201, body = Imported))
)]
pub(crate) async fn import(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<ImportParams>,
    request: Request,
) -> Result<(StatusCode, Json<Imported>), Problem> {
    caller.require(TokenScope::Prompt)?;
    expect_type(request.headers(), BUNDLE)?;
    match &params.project {
        Some(project) => {
            let real = project.canonicalize().map_err(|error| {
                Problem::not_found(format!("the project {} cannot be used: {error}", project.display()))
            })?;
            if !sees(&app, &caller, &real) {
                return Err(Problem::new(
                    Code::NotAllowed,
                    format!("{} is not open to this token", project.display()),
                ));
            }
        }
        // What it says of where it belongs would decide who sees it.
        None if caller.projects.is_some() || !app.roots.is_empty() => {
            return Err(Problem::new(Code::NotAllowed, "this token sees some projects only")
                .hint("say with `project` which one the conversation shall belong to"));
        }
        None => {}
    }
    let bytes = take_bytes(request, &app).await?;
    let imported = app
        .blocking(move |rejoin| {
            Ok(rejoin.import_from(&mut &bytes[..], "the body", params.project.as_deref())?)
        })
        .await?;
    Ok((StatusCode::CREATED, Json(imported)))
}
