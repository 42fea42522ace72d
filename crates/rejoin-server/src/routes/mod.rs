//! One file per kind of thing that can be asked for.

pub(crate) mod access;
mod agents;
pub(crate) mod body;
mod conversations;
mod edits;
mod etag;
mod events;
mod flows;
mod health;
mod login;
mod metrics;
mod overview;
mod paging;
mod project_dir;
mod projects;
mod questions;
mod queue;
mod responses;
#[cfg(test)]
mod restricted;
mod run_again;
mod run_view;
mod runs;
mod search;
mod stats;
mod tokens;
mod transfer;
mod turns;
mod uploads;
mod why;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::Shared;
use crate::auth;
use crate::page;
use crate::problem::{Code, Problem};

/// Where the API begins.
pub(crate) const API: &str = "/api/v1";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "rejoin",
        description = "Coding agents that remember: one history, whichever agent does the work. See docs/http.md."
    ),
    modifiers(&Tokens),
    security(("token" = []), ("cookie" = [], "page" = []))
)]
struct Document;

/// How a request says who sends it.
struct Tokens;

impl Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let header = |name: &str| ApiKey::Header(ApiKeyValue::new(name));
        let components = document.components.get_or_insert_default();
        let schemes = [
            ("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer))),
            ("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("rejoin_7717")))),
            ("page", SecurityScheme::ApiKey(header("X-Rejoin-Secret"))),
        ];
        for (name, scheme) in schemes {
            components.add_security_scheme(name, scheme);
        }
    }
}

/// Every route, behind the gate.
pub(crate) fn router(app: Shared) -> Router {
    let (router, document) = document();
    let document = Bytes::from(document);
    let openapi = move || async move { ([(header::CONTENT_TYPE, "application/json")], document) };
    let gate = axum::middleware::from_fn_with_state(Shared::clone(&app), auth::gate);
    router
        .route(&format!("{API}/openapi.json"), get(openapi))
        .fallback(elsewhere)
        .method_not_allowed_fallback(no_method)
        .layer(gate)
        .layer(axum::middleware::from_fn_with_state(Shared::clone(&app), metrics::count))
        .with_state(app)
}

/// All routes, and what is written of them.
fn document() -> (Router<Shared>, String) {
    let (router, mut document) =
        OpenApiRouter::with_openapi(Document::openapi()).nest(API, api()).split_for_parts();
    responses::complete(&mut document);
    (router, document.to_pretty_json().unwrap_or_default())
}

/// The OpenAPI document of the API, made from the types that are really used.
pub fn openapi() -> String {
    document().1
}

fn api() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(overview::overview))
        .routes(routes!(conversations::list))
        .routes(routes!(conversations::show, conversations::change, conversations::remove))
        .routes(routes!(transfer::export))
        .routes(routes!(turns::window))
        .routes(routes!(turns::whole))
        .routes(routes!(turns::tree))
        .routes(routes!(why::why))
        .routes(routes!(edits::branch))
        .routes(routes!(edits::rewind))
        .routes(routes!(edits::edit))
        .routes(routes!(questions::list))
        .routes(routes!(questions::answer))
        .routes(routes!(questions::tool_result))
        .routes(routes!(events::conversation_events))
        .routes(routes!(events::run_events))
        .routes(routes!(events::stream))
        .routes(routes!(agents::agents))
        .routes(routes!(agents::doctor))
        .routes(routes!(projects::projects))
        .routes(routes!(search::search))
        .routes(routes!(stats::stats))
        .routes(routes!(health::health))
        .routes(routes!(metrics::metrics))
        .nest("/flows", flows::router())
        .merge(runs_and_queues())
        .merge(login::routes())
        .merge(tokens::routes())
}

/// The longest body that asks for a run: the longest prompt, written with escapes.
const LONGEST_RUN_BODY: usize = 16 << 20;

/// To ask for turns, what waits, and what may be larger than other bodies.
fn runs_and_queues() -> OpenApiRouter<Shared> {
    let runs = OpenApiRouter::new()
        .routes(routes!(runs::post, runs::list))
        .routes(routes!(runs::get))
        .routes(routes!(run_again::cancel))
        .routes(routes!(run_again::retry))
        .routes(routes!(queue::get, queue::patch))
        .layer(DefaultBodyLimit::max(LONGEST_RUN_BODY));
    let files = OpenApiRouter::new().routes(routes!(uploads::post)).routes(routes!(transfer::import));
    runs.merge(files.layer(DefaultBodyLimit::max(uploads::LARGEST)))
}

/// Whatever is no route of the API: the page and its files, or nothing.
async fn elsewhere(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let of_the_page =
        (path != "/api" && !path.starts_with("/api/")).then(|| page::find(path, &headers)).flatten();
    match of_the_page {
        None => no_route(&uri).into_response(),
        Some(found) if method == Method::GET || method == Method::HEAD => found,
        Some(_) => ([(header::ALLOW, "GET,HEAD")], no_method(method, uri).await).into_response(),
    }
}

fn no_route(uri: &Uri) -> Problem {
    Problem::not_found(format!("there is nothing at {}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route"))
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    Problem::new(Code::MethodNotAllowed, format!("{} does not take {method}", uri.path()))
        .hint(format!("{API}/openapi.json lists every route with its methods"))
}
