//! Runs of flows: begun, listed, shown, cancelled, taken up again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rejoin_flow::{
    Options, Overview, Prepared, ResumeOptions, Run, RunBy, RunId, RunStart, Source, Standing,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::limits;
use super::run_id::{NamedRun, is_seen};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};
use crate::routes::body::{Body, Params};
use crate::routes::paging::{from_cursor, page_size, to_cursor};
use crate::routes::project_dir::project_dir;

/// A run to begin.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BeginFlow {
    /// The directory it runs in.
    #[schema(value_type = String)]
    project: PathBuf,
    /// The flow file in it.
    #[schema(value_type = String)]
    file: PathBuf,
    /// What it is given.
    #[serde(default)]
    inputs: BTreeMap<String, Value>,
    /// Only this step and what it waits for.
    #[serde(default)]
    step: Option<String>,
    /// Only this step and those after it.
    #[serde(default)]
    from: Option<String>,
}

/// A run that began.
#[derive(Serialize, ToSchema)]
pub(crate) struct BegunFlow {
    /// Its id.
    run: Uuid,
}

/// Begins a run of a flow.
#[utoipa::path(post, path = "/runs", operation_id = "begin_flow", tag = "flows", request_body = BeginFlow, responses(
    (status = 202, body = BegunFlow),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn begin(
    State(app): State<Shared>,
    caller: Caller,
    Body(wanted): Body<BeginFlow>,
) -> Result<(StatusCode, Json<BegunFlow>), Problem> {
    caller.require(TokenScope::Prompt)?;
    let shared = Shared::clone(&app);
    let begun = app.flow_runs.begin(&app, move |rejoin| {
        let dir = project_dir(&shared, &caller, &wanted.project)?;
        let (source, flow) = Source::open_within(&dir, &wanted.file)?;
        limits::check(&shared, &caller, &flow, &dir)?;
        let inputs = wanted.inputs.into_iter().map(|(name, value)| (name, text(value))).collect();
        let options = Options { inputs, step: wanted.step, from: wanted.from, dir, by: RunBy::Daemon };
        Ok(Prepared::new(rejoin, (source, flow), &options)?)
    });
    Ok((StatusCode::ACCEPTED, Json(BegunFlow { run: begun.await? })))
}

/// As it would be given to the command.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Where to go on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResumeFlow {
    /// Run this step and those after it anew, whatever they came to.
    #[serde(default)]
    from: Option<String>,
    /// Take the file as it is now: steps that are done are kept if they, and all that they wait for, say the same as
    /// before.
    #[serde(default)]
    updated: bool,
}

/// Goes on with a run where it was cut; what is done is not run again.
#[utoipa::path(post, path = "/runs/{id}/resume", operation_id = "resume_flow", tag = "flows", request_body = ResumeFlow,
    params(("id" = Uuid, Path, description = "The run.")), responses(
    (status = 202, body = BegunFlow),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn resume(
    State(app): State<Shared>,
    caller: Caller,
    named: NamedRun,
    Body(wanted): Body<ResumeFlow>,
) -> Result<(StatusCode, Json<BegunFlow>), Problem> {
    caller.require(TokenScope::Prompt)?;
    let shared = Shared::clone(&app);
    let begun = app.flow_runs.begin(&app, move |rejoin| {
        let id = named.seen_by(&shared, &caller, rejoin)?;
        let dir = RunStart::of(rejoin, id)?.dir;
        let options = ResumeOptions { from: wanted.from, updated: wanted.updated, by: RunBy::Daemon };
        let prepared = Prepared::again(rejoin, id, &options)?;
        limits::check(&shared, &caller, prepared.flow(), Path::new(&dir))?;
        Ok(prepared)
    });
    Ok((StatusCode::ACCEPTED, Json(BegunFlow { run: begun.await? })))
}

/// Which runs.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsParams {
    /// Only those in this directory, or below it.
    #[param(value_type = Option<String>)]
    project: Option<PathBuf>,
    /// How many at most.
    limit: Option<usize>,
    /// Where the page before it ended.
    cursor: Option<String>,
}

/// Runs, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct FlowRunList {
    /// This page, as `rejoin flow ls --json` prints it.
    runs: Vec<Overview>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The runs of flows, newest first, whoever began them.
#[utoipa::path(get, path = "/runs", operation_id = "list_flow_runs", tag = "flows", params(RunsParams), responses(
    (status = 200, body = FlowRunList),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<RunsParams>,
) -> Result<Json<FlowRunList>, Problem> {
    caller.require(TokenScope::Read)?;
    let size = page_size(params.limit)?;
    let after: Option<(String, RunId)> = from_cursor(params.cursor.as_deref())?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let project = params.project.as_deref().map(|dir| project_dir(&shared, &caller, dir)).transpose()?;
        let mut starts = RunStart::all(rejoin)?;
        starts.retain(|start| {
            is_seen(&shared, &caller, start)
                && project.as_ref().is_none_or(|project| Path::new(&start.dir).starts_with(project))
                && after.as_ref().is_none_or(|(time, id)| (&start.time, start.id) < (time, *id))
        });
        let more = starts.len() > size;
        starts.truncate(size);
        let last = starts.last().filter(|_| more);
        let cursor = last.and_then(|last| to_cursor(&(&last.time, last.id)));
        let mut runs = Vec::new();
        for start in starts {
            runs.extend(start.overview(rejoin)?);
        }
        Ok(Json(FlowRunList { runs, cursor }))
    })
    .await
}

/// A run with all that its steps came to, as `rejoin flow show --json` prints it.
#[utoipa::path(get, path = "/runs/{id}", operation_id = "show_flow_run", tag = "flows",
    params(("id" = Uuid, Path, description = "The run.")), responses(
    (status = 200, body = Run),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn show(
    State(app): State<Shared>,
    caller: Caller,
    named: NamedRun,
) -> Result<Json<Run>, Problem> {
    caller.require(TokenScope::Read)?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let id = named.seen_by(&shared, &caller, rejoin)?;
        Ok(Json(rejoin_flow::open(rejoin, id)?))
    })
    .await
}

/// A run that was asked to stop.
#[derive(Serialize, ToSchema)]
pub(crate) struct CancelledFlow {
    /// Its id.
    run: Uuid,
    /// Where it stands: `running` as long as it is about to stop.
    standing: Standing,
}

/// Asks a run to stop, whoever carries it out. One that is over stays as it is.
#[utoipa::path(post, path = "/runs/{id}/cancel", operation_id = "cancel_flow", tag = "flows",
    params(("id" = Uuid, Path, description = "The run.")), responses(
    (status = 202, body = CancelledFlow),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn cancel(
    State(app): State<Shared>,
    caller: Caller,
    named: NamedRun,
) -> Result<(StatusCode, Json<CancelledFlow>), Problem> {
    caller.require(TokenScope::Prompt)?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let run = named.seen_by(&shared, &caller, rejoin)?;
        let standing = rejoin_flow::open(rejoin, run)?.standing;
        if standing == Standing::Running && !shared.flow_runs.cancel(run) {
            match rejoin_flow::cancel(rejoin, run) {
                // It ended meanwhile.
                Ok(_) | Err(rejoin_flow::FlowError::NotFound(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((StatusCode::ACCEPTED, Json(CancelledFlow { run, standing })))
    })
    .await
}
