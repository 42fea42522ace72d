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
use utoipa_axum::routes;

use crate::app::Shared;

/// All of them.
pub(crate) fn router() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(files::files))
        .routes(routes!(files::validate))
        .routes(routes!(runs::list, runs::begin))
        .routes(routes!(runs::show))
        .routes(routes!(graph::graph))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(events::events))
}
