//! The run of a flow that an address names.

use std::str::FromStr;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use rejoin::Rejoin;
use rejoin_flow::{RunId, RunStart};

use crate::app::{App, Shared};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::routes::access::sees;
use crate::routes::body::Path;
use crate::routes::project_dir::sees_all;

/// The run of a flow that an address names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRun(pub(super) RunId);

impl FromRequestParts<Shared> for NamedRun {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Self, Problem> {
        let Path(named) = Path::<String>::from_request_parts(parts, app).await?;
        named.parse()
    }
}

impl FromStr for NamedRun {
    type Err = Problem;

    fn from_str(named: &str) -> Result<Self, Problem> {
        named.parse().map(Self).map_err(|_| unknown(named))
    }
}

impl NamedRun {
    /// Its id, if the caller may see where it runs; else it does not exist for him. Waits for the disk.
    pub(super) fn seen_by(self, app: &App, caller: &Caller, rejoin: &Rejoin) -> Result<RunId, Problem> {
        let start = RunStart::of(rejoin, self.0)?;
        if is_seen(app, caller, &start) { Ok(self.0) } else { Err(unknown(&self.0.to_string())) }
    }
}

/// Whether the caller may see where a run takes place. Where that is lost, only who sees everything does.
pub(super) fn is_seen(app: &App, caller: &Caller, start: &RunStart) -> bool {
    sees_all(app, caller) || (!start.dir.is_empty() && sees(app, caller, start.dir.as_ref()))
}

fn unknown(named: &str) -> Problem {
    Problem::not_found(format!("no run of a flow has the id {named:?}"))
        .hint("GET /api/v1/flows/runs lists them")
}
