//! The steps of a run and how they hang together.

use axum::Json;
use axum::extract::State;
use rejoin_flow::{FlowError, FlowGraph};

use super::run_id::NamedRun;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};

/// The steps of a run as they stood when it was begun, and which waits for which, goes on from which, forks from which.
#[utoipa::path(get, path = "/runs/{id}/graph", operation_id = "flow_run_graph", tag = "flows",
    params(("id" = Uuid, Path, description = "The run.")), responses(
    (status = 200, body = FlowGraph),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn graph(
    State(app): State<Shared>,
    caller: Caller,
    named: NamedRun,
) -> Result<Json<FlowGraph>, Problem> {
    caller.require(TokenScope::Read)?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let id = named.seen_by(&shared, &caller, rejoin)?;
        let flow = rejoin_flow::open(rejoin, id)?.begun.source.flow().map_err(FlowError::Wrong)?;
        Ok(Json(flow.graph()))
    })
    .await
}
