//! One file per kind of thing that can be asked for.

pub(crate) mod access;
mod agents;
pub(crate) mod body;
mod flows;
mod health;
mod metrics;
mod overview;
mod paging;
mod project_dir;
mod projects;
#[cfg(test)]
mod restricted;
mod search;
mod stats;
mod who;

use axum::Router;
use axum::http::{Method, Uri};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::problem::{Code, Problem};

/// Where the API begins.
pub(crate) const API: &str = "/api/v1";

#[derive(OpenApi)]
#[openapi(info(
    title = "rejoin",
    description = "Coding agents that remember: one history, whichever agent does the work. See docs/http.md."
))]
struct Document;

/// Every route, behind the gate.
pub(crate) fn router(app: Shared) -> Router {
    let (router, _document) =
        OpenApiRouter::with_openapi(Document::openapi()).nest(API, api()).split_for_parts();
    router
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(axum::middleware::from_fn_with_state(Shared::clone(&app), metrics::count))
        .with_state(app)
}

fn api() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(overview::overview))
        .routes(routes!(agents::agents))
        .routes(routes!(agents::doctor))
        .routes(routes!(projects::projects))
        .routes(routes!(search::search))
        .routes(routes!(stats::stats))
        .routes(routes!(health::health))
        .routes(routes!(metrics::metrics))
        .nest("/flows", flows::router())
}

async fn no_route(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route"))
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("{} does not take {method}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route with its methods"))
}
