//! `/stats`: turns, tokens, cost, and what resuming saved.

use std::path::PathBuf;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use rejoin::{Grouping, Stats, StatsFilter, parse_duration};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::access::sees;
use super::body::Params;
use super::project_dir::{project_dir, sees_all};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};

/// What to count by, besides all together.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum By {
    /// By agent.
    Agent,
    /// By model.
    Model,
    /// By project.
    Project,
    /// By day (UTC).
    Day,
}

impl From<By> for Grouping {
    fn from(by: By) -> Self {
        match by {
            By::Agent => Self::Agent,
            By::Model => Self::Model,
            By::Project => Self::Project,
            By::Day => Self::Day,
        }
    }
}

/// Which turns to count.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsParams {
    /// Only of the project this directory is in.
    #[param(value_type = Option<String>)]
    project: Option<PathBuf>,
    /// Only turns begun in the last while: `36h`, `3d`, `2w`.
    since: Option<String>,
    /// What they are counted by, besides all together.
    #[param(inline)]
    by: Option<By>,
    /// What those of each group are counted by, in turn: `by=day&then=agent`.
    #[param(inline)]
    then: Option<By>,
}

/// Counts turns: how many were resumed or fresh and why, tokens, cost, bytes sent and saved.
#[utoipa::path(get, path = "/stats", tag = "stats", params(StatsParams), responses(
    (status = 200, body = Stats),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn stats(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<StatsParams>,
) -> Result<Json<Stats>, Problem> {
    caller.require(TokenScope::Read)?;
    if params.then.is_some() && params.by.is_none() {
        return Err(Problem::bad_request("`then` divides the groups of `by`, which is missing")
            .hint("by=day&then=agent, say"));
    }
    let since = params.since.as_deref().map(since).transpose()?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let not_all = |what: String| {
            Problem::new(Code::NotAllowed, what)
                .hint("name one of the projects this token sees with project=…")
        };
        let project = match &params.project {
            Some(dir) => Some(project_dir(&shared, &caller, dir)?),
            None if sees_all(&shared, &caller) => None,
            None => return Err(not_all("this token does not see all projects".to_owned())),
        };
        if let Some(dir) = &project {
            let root = rejoin_engine::project_of(dir);
            if !sees(&shared, &caller, &root) {
                let words = format!("{} belongs to a project this token does not see", dir.display());
                return Err(not_all(words));
            }
        }
        let filter =
            StatsFilter { project, since, by: params.by.map(Into::into), then: params.then.map(Into::into) };
        Ok(Json(rejoin.stats(&filter)?))
    })
    .await
}

fn since(text: &str) -> Result<SystemTime, Problem> {
    let while_ = parse_duration(text).map_err(|why| Problem::bad_request(format!("since: {why}")))?;
    SystemTime::now()
        .checked_sub(while_)
        .ok_or_else(|| Problem::bad_request(format!("since: {text} ago is before all time")))
}
