//! `GET /api/v1`: what answers here.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::access::sees;
use crate::app::{App, Shared};
use crate::caller::Caller;

/// What came to the first version of the API: docs/http.md says what each one means.
const CAPABILITIES: &[&str] = &["instead_of", "strict_parameters", "terminal_runs"];

/// What answers here.
#[derive(Serialize, ToSchema)]
pub(crate) struct Overview {
    /// The program.
    name: &'static str,
    /// Its version.
    version: &'static str,
    /// The version of the event stream: it changes only when a reader would break.
    schema: u32,
    /// What this daemon can do beyond the first version of the API.
    capabilities: &'static [&'static str],
    /// The addresses under which other devices reach this daemon; empty if it is there for this machine alone.
    addresses: Vec<String>,
    /// The directory it works in: where somebody may begin who has no project yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
}

/// What answers here, and what it can do.
#[utoipa::path(get, path = "", tag = "daemon", responses((status = 200, body = Overview)))]
pub(crate) async fn overview(State(app): State<Shared>, caller: Caller) -> Json<Overview> {
    Json(Overview {
        name: "rejoin",
        version: env!("CARGO_PKG_VERSION"),
        schema: rejoin_core::SCHEMA_VERSION,
        capabilities: CAPABILITIES,
        addresses: app.elsewhere.clone(),
        directory: beginning(&app, &caller),
    })
}

/// Of no use for those who may not begin there.
fn beginning(app: &App, caller: &Caller) -> Option<String> {
    let dir =
        std::env::current_dir().ok().filter(|dir| sees(app, caller, &rejoin_engine::project_of(dir)))?;
    dir.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_stands_in_the_document() {
        let document = include_str!("../../../../docs/http.md");
        for name in CAPABILITIES {
            assert!(document.contains(&format!("| `{name}` |")), "docs/http.md has no row of {name}");
        }
    }
}
