//! `GET /conversations/{id}/why`: the decision the next turn would take, before it is paid.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use rejoin::{Agent, Why};
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::{conversation_id, open};
use super::body::{Params, Path};
use super::etag;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::Problem;

/// What the turn would say.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhyParams {
    /// Who would do it; else who took the last turn.
    agent: Option<String>,
    /// With this model.
    model: Option<String>,
    /// In this directory.
    #[param(value_type = Option<String>)]
    cwd: Option<PathBuf>,
    /// In a fresh session.
    #[serde(default)]
    fresh: bool,
    /// From the turn of this message instead of the head.
    checkpoint: Option<String>,
}

/// What the next turn would do, and each guard of resuming with its two values. Nothing is run.
#[utoipa::path(
    get, path = "/conversations/{id}/why", tag = "conversations", params(("id" = String, Path), WhyParams),
    responses((status = 200, body = Why))
)]
pub(crate) async fn why(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<WhyParams>,
) -> Result<(HeaderMap, Json<Why>), Problem> {
    caller.require(TokenScope::Read)?;
    let id = conversation_id(&id)?;
    let shared = Shared::clone(&app);
    let (tag, why) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?;
            let dir = view.info().map_or_else(|| PathBuf::from("/"), |info| PathBuf::from(&info.dir));
            let mut turn = rejoin.project(dir).in_conversation(id);
            if let Some(agent) = params.agent {
                turn = turn.agent(Agent::named(agent));
            }
            if let Some(model) = params.model {
                turn = turn.model(model);
            }
            if let Some(cwd) = params.cwd {
                turn = turn.cwd(cwd);
            }
            if params.fresh {
                turn = turn.fresh();
            }
            if let Some(message) = params.checkpoint {
                turn = turn.checkpoint(message);
            }
            Ok((etag::tag(&view), turn.why()?))
        })
        .await?;
    Ok((etag::headers(&tag), Json(why)))
}
