//! `/agents`: what is known of the agents on this machine.

use axum::Json;
use axum::extract::State;
use rejoin::{AgentCheckup, AgentReport, known_agents, suggestion};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::body::Params;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};

/// The agents.
#[derive(Serialize, ToSchema)]
pub(crate) struct Agents {
    /// Every one this version knows, installed or not, as `rejoin agents --json` prints it.
    agents: Vec<AgentReport>,
}

/// Every agent this version knows, and what it can do here.
#[utoipa::path(get, path = "/agents", tag = "agents", responses(
    (status = 200, body = Agents),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn agents(State(app): State<Shared>, caller: Caller) -> Result<Json<Agents>, Problem> {
    caller.require(TokenScope::Read)?;
    app.blocking(|rejoin| Ok(Json(Agents { agents: rejoin.agents() }))).await
}

/// Which agents to check.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DoctorParams {
    /// Only this one.
    agent: Option<String>,
}

/// The check-up.
#[derive(Serialize, ToSchema)]
pub(crate) struct Checkups {
    /// One for every agent that is installed, as `rejoin doctor --json` prints it.
    checkups: Vec<AgentCheckup>,
}

/// A check-up of the installed agents. No turn is spent on it.
#[utoipa::path(get, path = "/agents/doctor", tag = "agents", params(DoctorParams), responses(
    (status = 200, body = Checkups),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn doctor(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<DoctorParams>,
) -> Result<Json<Checkups>, Problem> {
    caller.require(TokenScope::Read)?;
    if let Some(wanted) = &params.agent {
        check_known(wanted)?;
    }
    app.blocking(move |rejoin| {
        let mut checkups = rejoin.doctor(false);
        checkups
            .retain(|checkup| params.agent.as_deref().is_none_or(|wanted| checkup.agent.as_str() == wanted));
        Ok(Json(Checkups { checkups }))
    })
    .await
}

fn check_known(wanted: &str) -> Result<(), Problem> {
    let known = || known_agents().map(|(agent, _)| agent.as_str().to_owned());
    if known().any(|agent| agent == wanted) {
        return Ok(());
    }
    let near = suggestion(wanted, known());
    Err(Problem::not_found(format!("there is no agent {wanted:?}{near}"))
        .hint(format!("known are {}", known().collect::<Vec<_>>().join(", "))))
}
