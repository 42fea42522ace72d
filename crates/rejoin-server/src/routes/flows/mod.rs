//! `/flows`: files of flows, and their runs.

mod events;
mod files;
mod graph;
mod limits;
mod run_id;
mod runs;
mod walk;

#[cfg(test)]
pub(crate) use limits::check as limits_of;
#[cfg(test)]
pub(crate) use runs::{begin, list as list_runs, show as show_run};
use utoipa_axum::router::OpenApiRouter;

use super::route_table::{Purpose, routes};
use crate::app::Shared;

/// All of them.
pub(crate) fn router(purpose: Purpose) -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(purpose, files: files))
        .routes(routes!(purpose, files: validate))
        .routes(routes!(purpose, runs: list, begin))
        .routes(routes!(purpose, runs: show))
        .routes(routes!(purpose, graph: graph))
        .routes(routes!(purpose, runs: cancel))
        .routes(routes!(purpose, runs: resume))
        .routes(routes!(purpose, events: events))
}
