//! `GET /api/v1`: what answers here.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

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
}

/// What answers here, and what it can do.
#[utoipa::path(get, path = "", tag = "daemon", responses((status = 200, body = Overview)))]
pub(crate) async fn overview() -> Json<Overview> {
    Json(Overview {
        name: "rejoin",
        version: env!("CARGO_PKG_VERSION"),
        schema: rejoin_core::SCHEMA_VERSION,
        capabilities: &[],
    })
}
