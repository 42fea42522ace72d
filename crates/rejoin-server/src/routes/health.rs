//! `/health`: whether the daemon answers. It needs no token, so it says nothing else.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// That it answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`: who cannot say so does not answer.
    status: &'static str,
    /// The version of rejoin.
    version: &'static str,
}

/// Whether the daemon answers.
#[utoipa::path(get, path = "/health", tag = "daemon", security(()), responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}
