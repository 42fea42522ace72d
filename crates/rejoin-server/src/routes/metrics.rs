//! `/metrics`: figures of the daemon, as Prometheus reads them.

use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};

/// Figures of the daemon, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "daemon", responses(
    (status = 200, body = String, content_type = "text/plain"),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn metrics(State(app): State<Shared>, caller: Caller) -> Result<impl IntoResponse, Problem> {
    caller.require(TokenScope::Read)?;
    if caller.projects.is_some() {
        let text = "the figures are of all projects, and this token is kept to some";
        return Err(Problem::new(Code::NotAllowed, text).hint(
            "ask with a token without a list of projects; GET /api/v1/stats?project=DIR counts turns of one",
        ));
    }
    let shared = Shared::clone(&app);
    let text = app
        .blocking(move |rejoin| {
            let conversations = rejoin.ids(None).map(|ids| ids.len())?;
            Ok(shared.metrics.text(
                &shared.queue.counts(),
                shared.hubs.open_streams(),
                conversations,
                shared.flow_runs.count(),
            ))
        })
        .await?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

/// Counts answers by the class of their status.
pub(crate) async fn count(State(app): State<Shared>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    app.metrics.answered(response.status());
    response
}
