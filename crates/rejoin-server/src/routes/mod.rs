//! One file per kind of thing that can be asked for.

pub(crate) mod body;
mod overview;
mod queue;
mod run_again;
mod run_view;
mod runs;
mod uploads;

use axum::Router;
use axum::extract::DefaultBodyLimit;
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
    let (router, _document) = OpenApiRouter::with_openapi(Document::openapi())
        .nest(API, OpenApiRouter::new().routes(routes!(overview::overview)).merge(runs_and_queues()))
        .split_for_parts();
    router.fallback(no_route).method_not_allowed_fallback(no_method).with_state(app)
}

/// The longest body that asks for a run: the longest prompt, written with escapes.
const LONGEST_RUN_BODY: usize = 16 << 20;

/// To ask for turns, and what waits.
fn runs_and_queues() -> OpenApiRouter<Shared> {
    let runs = OpenApiRouter::new()
        .routes(routes!(runs::post, runs::list))
        .routes(routes!(runs::get))
        .routes(routes!(run_again::cancel))
        .routes(routes!(run_again::retry))
        .routes(routes!(queue::get, queue::patch))
        .layer(DefaultBodyLimit::max(LONGEST_RUN_BODY));
    let uploads = OpenApiRouter::new().routes(routes!(uploads::post));
    runs.merge(uploads.layer(DefaultBodyLimit::max(uploads::LARGEST)))
}

async fn no_route(uri: Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route"))
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("{} does not take {method}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route with its methods"))
}
