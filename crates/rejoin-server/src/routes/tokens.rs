//! `/api/v1/tokens`: tokens with names. Whoever manages them can give no more than he has, and sees no others.

use std::time::SystemTime;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use super::body::{Body, Path};
use super::login::NewCode;
use super::route_table::{Purpose, routes};
use crate::app::Shared;
use crate::auth::{NamedToken, Via, WantedToken, on_disk};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};

/// The routes of this file.
pub(crate) fn routes(purpose: Purpose) -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(purpose, self: list, create))
        .routes(routes!(purpose, self: revoke))
        .routes(routes!(purpose, self: login_code))
}

/// Tokens, without their secrets.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenList {
    tokens: Vec<NamedToken>,
}

/// A token that was made.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedToken {
    /// Shown this once: only a hash of it is kept.
    secret: String,
    token: NamedToken,
}

/// Lists the tokens that have names.
#[utoipa::path(get, path = "/tokens", operation_id = "list_tokens", tag = "access", responses(
    (status = 200, body = TokenList),
    (status = 403, body = ProblemBody, description = "The scope `admin` is missing"),
))]
pub(crate) async fn list(State(app): State<Shared>, caller: Caller) -> Result<Json<TokenList>, Problem> {
    caller.require(TokenScope::Admin)?;
    let mut tokens = on_disk(&app, |auth| auth.named.list()).await?;
    tokens.retain(|token| caller.covers(token));
    Ok(Json(TokenList { tokens }))
}

/// Makes a token. Its secret is shown in this answer and never again.
#[utoipa::path(post, path = "/tokens", operation_id = "make_token", tag = "access", request_body = WantedToken, responses(
    (status = 201, body = CreatedToken),
    (status = 403, body = ProblemBody, description = "The scope `admin` is missing, or it would be wider than the asking one, or a browser asks for one with `admin`"),
    (status = 422, body = ProblemBody, description = "The name is taken, or something else about it cannot be"),
))]
pub(crate) async fn create(
    State(app): State<Shared>,
    caller: Caller,
    Extension(via): Extension<Via>,
    Body(wanted): Body<WantedToken>,
) -> Result<(StatusCode, Json<CreatedToken>), Problem> {
    caller.require(TokenScope::Admin)?;
    not_passed_on(via, &wanted.scopes)?;
    let token = on_disk(&app, move |_| wanted.checked(SystemTime::now())).await?;
    if !caller.covers(&token) {
        return Err(Problem::new(Code::NotAllowed, "a token cannot give more than it has itself")
            .hint("leave out the scopes it lacks, and name a ceiling and projects within its own"));
    }
    tracing::info!(by = caller.token, token = %token.id, "a token was made");
    let (secret, token) = on_disk(&app, move |auth| Ok((auth.named.add(&token)?, token))).await?;
    Ok((StatusCode::CREATED, Json(CreatedToken { secret, token })))
}

/// Makes a code that lets one browser in with the rights of this token: for the address that a phone is shown.
#[utoipa::path(post, path = "/tokens/{id}/login-code", operation_id = "make_login_code_of_token", tag = "access",
    params(("id" = Uuid, Path, description = "The id of the token")), responses(
    (status = 200, body = NewCode),
    (status = 403, body = ProblemBody, description = "The scope `admin` is missing, or a browser asks for a token with `admin`"),
    (status = 404, body = ProblemBody),
))]
pub(crate) async fn login_code(
    State(app): State<Shared>,
    caller: Caller,
    Extension(via): Extension<Via>,
    Path(id): Path<String>,
) -> Result<Json<NewCode>, Problem> {
    caller.require(TokenScope::Admin)?;
    let token = find(&app, &caller, &id).await?;
    not_passed_on(via, &token.scopes)?;
    tracing::info!(by = caller.token, token = %token.id, "a code for a browser was made");
    let code = on_disk(&app, move |auth| auth.code_for(&token.id.to_string())).await?;
    Ok(Json(NewCode::of(code)))
}

/// Who came into a browser, by whatever hole, shall not stay when its cookie ends: a browser makes nothing that could
/// make tokens in turn.
fn not_passed_on(via: Via, scopes: &[TokenScope]) -> Result<(), Problem> {
    if via == Via::Bearer || !scopes.contains(&TokenScope::Admin) {
        return Ok(());
    }
    Err(Problem::new(Code::NotAllowed, "a browser cannot pass the scope `admin` on")
        .hint("leave it out, or make that token with `rejoin token new`"))
}

/// A token with a name, if the caller has all the rights it has: others do not exist for him.
async fn find(app: &Shared, caller: &Caller, id: &str) -> Result<NamedToken, Problem> {
    let known = on_disk(app, |auth| auth.named.list()).await?;
    let is_it = |token: &NamedToken| token.id.to_string() == id && caller.covers(token);
    known.into_iter().find(is_it).ok_or_else(|| {
        Problem::not_found(format!("there is no token {id:?}"))
            .hint("GET /api/v1/tokens lists them with their ids")
    })
}

/// Takes a token away; it is good for nothing from then on.
#[utoipa::path(delete, path = "/tokens/{id}", operation_id = "revoke_token", tag = "access", params(("id" = Uuid, Path, description = "The id of the token")), responses(
    (status = 204, description = "It is gone"),
    (status = 403, body = ProblemBody, description = "The scope `admin` is missing"),
    (status = 404, body = ProblemBody),
))]
pub(crate) async fn revoke(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    caller.require(TokenScope::Admin)?;
    let by = caller.token.clone();
    find(&app, &caller, &id).await?;
    let gone = on_disk(&app, move |auth| auth.named.revoke(&id)).await?;
    tracing::info!(by, token = %gone.id, "a token was revoked");
    Ok(StatusCode::NO_CONTENT)
}
