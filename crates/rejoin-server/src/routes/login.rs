//! Browsers, let in by a code and out again.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use super::body::Body;
use super::route_table::{Purpose, routes};
use crate::app::Shared;
use crate::auth::{CODE_GOOD_FOR, Peer, Via, on_disk};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};

/// The routes of this file.
pub(crate) fn routes(purpose: Purpose) -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(purpose, self: log_in))
        .routes(routes!(purpose, self: new_code))
        .routes(routes!(purpose, self: log_out))
}

/// What a browser found in its address.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// What stands behind `#k=`.
    code: String,
}

/// What a page keeps.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoggedIn {
    /// Goes into the header `X-Rejoin-Secret` of every request, beside the cookie.
    secret: String,
}

/// A code for a browser.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewCode {
    /// Goes behind `#k=` into the address of the page. Good once.
    code: String,
    /// For so many seconds.
    expires_in: u64,
}

impl NewCode {
    pub(crate) fn of(code: String) -> Self {
        Self { code, expires_in: CODE_GOOD_FOR.as_secs() }
    }
}

/// Exchanges a code for a cookie and a secret; the page needs both from then on.
#[utoipa::path(post, path = "/login", tag = "access", request_body = Login, security(()), responses(
    (status = 200, body = LoggedIn, description = "The cookie is set"),
    (status = 401, body = ProblemBody, description = "The code is wrong, used or too old"),
    (status = 429, body = ProblemBody, description = "Too many attempts failed"),
))]
pub(crate) async fn log_in(
    State(app): State<Shared>,
    peer: Option<Extension<Peer>>,
    Body(login): Body<Login>,
) -> Result<impl IntoResponse, Problem> {
    let let_in = on_disk(&app, move |auth| auth.log_in(&login.code)).await.map_err(|problem| {
        // Whoever asks is unknown yet, and is not told of our files.
        tracing::error!("cannot let a browser in: {}", problem.detail());
        Problem::new(Code::Internal, "nobody can be let in now; the daemon's log says why")
    })?;
    let Some(given) = let_in else {
        let peer = peer.map(|Extension(peer)| peer);
        return Err(app.auth.refuse(peer, "the code is wrong, or used, or too old").await);
    };
    tracing::info!("a browser was let in");
    let cookie = AppendHeaders([(SET_COOKIE, app.auth.cookie(&given.cookie))]);
    Ok((cookie, Json(LoggedIn { secret: given.secret })))
}

/// Makes a code that gives a browser the rights of the token that asks.
#[utoipa::path(post, path = "/login/code", tag = "access", responses(
    (status = 200, body = NewCode),
    (status = 403, body = ProblemBody, description = "Not with this token, or not from a browser"),
))]
pub(crate) async fn new_code(
    State(app): State<Shared>,
    caller: Caller,
    Extension(via): Extension<Via>,
) -> Result<Json<NewCode>, Problem> {
    caller.require(TokenScope::Admin)?;
    if via != Via::Bearer {
        return Err(Problem::new(Code::NotAllowed, "a browser cannot let another one in")
            .hint("`rejoin serve --url` prints an address that does"));
    }
    let code = on_disk(&app, move |auth| auth.code_for(&caller.token)).await?;
    Ok(Json(NewCode::of(code)))
}

/// Ends a browser's cookie and its secret.
#[utoipa::path(post, path = "/logout", tag = "access", responses(
    (status = 204, description = "Neither of them is good for anything any more"),
    (status = 422, body = ProblemBody, description = "Asked with a token, which is revoked instead"),
))]
pub(crate) async fn log_out(
    State(app): State<Shared>,
    Extension(via): Extension<Via>,
) -> Result<impl IntoResponse, Problem> {
    let Via::Browser(id) = via else {
        return Err(Problem::new(Code::Refused, "only a browser logs out")
            .hint("a token ends by `rejoin token revoke` or `rejoin token --rotate`"));
    };
    on_disk(&app, move |auth| auth.log_out(id)).await?;
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, app.auth.no_cookie())])))
}
