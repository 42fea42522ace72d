//! One file per kind of thing that can be asked for.

pub(crate) mod access;
mod agents;
pub(crate) mod body;
mod conversations;
mod edits;
mod etag;
mod events;
mod find_turn;
mod flows;
mod health;
pub(crate) mod known_params;
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
pub(crate) mod route_table;
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

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;

use self::known_params::KnownParams;
use self::route_table::{Purpose, routes};
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
    let gate = axum::middleware::from_fn_with_state(Shared::clone(&app), auth::gate);
    let (router, described) = OpenApiRouter::new().nest(API, api(Purpose::Serve)).split_for_parts();
    let known = Arc::new(KnownParams::of(&described));
    router
        .route(&format!("{API}/openapi.json"), get(document))
        .route_layer(axum::middleware::from_fn_with_state(known, known_params::check))
        .fallback(elsewhere)
        .method_not_allowed_fallback(no_method)
        .layer(gate)
        .layer(axum::middleware::from_fn_with_state(Shared::clone(&app), metrics::count))
        .with_state(app)
}

/// What is written of the routes, made when it is first asked for.
async fn document() -> impl IntoResponse {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    let document = DOCUMENT.get_or_init(|| Bytes::from(openapi())).clone();
    ([(header::CONTENT_TYPE, "application/json")], document)
}

/// The OpenAPI document of the API, made from the types that are really used.
pub fn openapi() -> String {
    let described = OpenApiRouter::with_openapi(Document::openapi()).nest(API, api(Purpose::Describe));
    let mut document = described.into_openapi();
    responses::complete(&mut document);
    document.to_pretty_json().unwrap_or_default()
}

fn api(purpose: Purpose) -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(purpose, overview: overview))
        .routes(routes!(purpose, conversations: list))
        .routes(routes!(purpose, conversations: show, change, remove))
        .routes(routes!(purpose, transfer: export))
        .routes(routes!(purpose, turns: window))
        .routes(routes!(purpose, turns: whole))
        .routes(routes!(purpose, turns: tree))
        .routes(routes!(purpose, why: why))
        .routes(routes!(purpose, edits: branch))
        .routes(routes!(purpose, edits: rewind))
        .routes(routes!(purpose, edits: edit))
        .routes(routes!(purpose, questions: list))
        .routes(routes!(purpose, questions: answer))
        .routes(routes!(purpose, questions: tool_result))
        .routes(routes!(purpose, events: conversation_events))
        .routes(routes!(purpose, events: run_events))
        .routes(routes!(purpose, events: stream))
        .routes(routes!(purpose, agents: agents))
        .routes(routes!(purpose, agents: doctor))
        .routes(routes!(purpose, projects: projects))
        .routes(routes!(purpose, search: search))
        .routes(routes!(purpose, stats: stats))
        .routes(routes!(purpose, health: health))
        .routes(routes!(purpose, metrics: metrics))
        .nest("/flows", flows::router(purpose))
        .merge(runs_and_queues(purpose))
        .merge(login::routes(purpose))
        .merge(tokens::routes(purpose))
}

/// The longest body that asks for a run: the longest prompt, written with escapes.
const LONGEST_RUN_BODY: usize = 16 << 20;

/// To ask for turns, what waits, and what may be larger than other bodies.
fn runs_and_queues(purpose: Purpose) -> OpenApiRouter<Shared> {
    let runs = OpenApiRouter::new()
        .routes(routes!(purpose, runs: post, list))
        .routes(routes!(purpose, runs: get))
        .routes(routes!(purpose, run_again: cancel))
        .routes(routes!(purpose, run_again: retry))
        .routes(routes!(purpose, queue: get, patch))
        .layer(DefaultBodyLimit::max(LONGEST_RUN_BODY));
    let files = OpenApiRouter::new()
        .routes(routes!(purpose, uploads: post))
        .routes(routes!(purpose, transfer: import));
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
