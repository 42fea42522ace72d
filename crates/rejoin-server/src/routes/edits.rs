//! What changes what the next turn builds on: the head is moved, words are changed. Each names in `If-Match` what
//! its caller saw.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use rejoin::{ConversationView, MovedHead, Rewind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{conversation_id, open};
use super::body::{Body, Path};
use super::etag;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// Changes a conversation as its caller saw it, and says what its tag is then.
async fn change<T: Send + 'static>(
    app: Shared,
    caller: Caller,
    id: &str,
    sent: HeaderMap,
    edit: impl FnOnce(&ConversationView<'_>) -> Result<T, rejoin::Error> + Send + 'static,
) -> Result<(HeaderMap, Json<T>), Problem> {
    caller.require(TokenScope::Prompt)?;
    let id = conversation_id(id)?;
    let shared = Shared::clone(&app);
    let (tag, edited) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?.strictly();
            etag::check(&sent, &view)?;
            let edited = edit(&view).map_err(Problem::from);
            let now = etag::tag(&open(&shared, rejoin, &caller, id)?);
            match edited {
                Err(problem) if problem.code() == Code::Changed => Err(etag::changed(&now)),
                edited => Ok((now, edited?)),
            }
        })
        .await?;
    Ok((etag::headers(&tag), Json(edited)))
}

/// Where the next turn shall go on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchBody {
    /// At the end of the turn of this message (an id, a turn's number), or of this branch.
    at: String,
    /// A name for the branch that begins there.
    name: Option<String>,
}

/// Moves the head to an earlier turn or another branch; the next turn goes on there.
#[utoipa::path(
    post, path = "/conversations/{id}/branch", tag = "conversations",
    params(("id" = String, Path), ("If-Match" = String, Header, description = "The ETag of what was seen")),
    request_body = BranchBody, responses((status = 200, body = MovedHead))
)]
pub(crate) async fn branch(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    sent: HeaderMap,
    Body(body): Body<BranchBody>,
) -> Result<(HeaderMap, Json<MovedHead>), Problem> {
    change(app, caller, &id, sent, move |view| view.branch(&body.at, body.name.as_deref())).await
}

/// How far back: one of the two.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RewindBody {
    /// By so many turns.
    turns: Option<usize>,
    /// To the end of the turn of this message.
    to: Option<String>,
}

/// Takes the head back; nothing is deleted.
#[utoipa::path(
    post, path = "/conversations/{id}/rewind", tag = "conversations",
    params(("id" = String, Path), ("If-Match" = String, Header, description = "The ETag of what was seen")),
    request_body = RewindBody, responses((status = 200, body = MovedHead))
)]
pub(crate) async fn rewind(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    sent: HeaderMap,
    Body(body): Body<RewindBody>,
) -> Result<(HeaderMap, Json<MovedHead>), Problem> {
    let how = match (body.turns, body.to) {
        (Some(turns), None) => Rewind::Turns(turns),
        (None, Some(message)) => Rewind::To(message),
        _ => return Err(Problem::bad_request("say how far back: either `turns` or `to`")),
    };
    change(app, caller, &id, sent, move |view| view.rewind(&how)).await
}

/// Another wording.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// The message (an id; a turn's number or a branch means its prompt).
    message: String,
    /// Its new text.
    text: String,
}

/// What came of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Edited {
    /// Whether the text was another one.
    changed: bool,
}

/// Gives a message another wording; later turns stay. Agents that may know the old one are not resumed.
#[utoipa::path(
    post, path = "/conversations/{id}/edit", tag = "conversations",
    params(("id" = String, Path), ("If-Match" = String, Header, description = "The ETag of what was seen")),
    request_body = EditBody, responses((status = 200, body = Edited))
)]
pub(crate) async fn edit(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    sent: HeaderMap,
    Body(body): Body<EditBody>,
) -> Result<(HeaderMap, Json<Edited>), Problem> {
    change(app, caller, &id, sent, move |view| {
        view.amend(&body.message, &body.text).map(|changed| Edited { changed })
    })
    .await
}
