//! The agents this version knows, and what is known of them on this machine.

use rejoin_agents::Capabilities;
use rejoin_core::Agent;
use serde::Serialize;

use crate::Rejoin;

/// What is known of one agent on this machine, as `rejoin agents --json` prints it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct AgentReport {
    /// Its name.
    pub agent: Agent,
    /// Its name for people.
    pub title: &'static str,
    /// It is there.
    pub installed: bool,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// Where it keeps its sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// How to install it.
    pub install: &'static str,
}

/// Every agent this version knows, with its name for people.
pub fn known_agents() -> impl Iterator<Item = (Agent, &'static str)> {
    rejoin_agents::registry().iter().map(|agent| (agent.agent(), agent.title()))
}

impl Rejoin {
    /// Every agent this version knows, installed or not.
    pub fn agents(&self) -> Vec<AgentReport> {
        let report = |agent: &'static std::sync::Arc<dyn rejoin_agents::Definition>| {
            let setup = self.setup(&agent.agent());
            let found = self.engine.find_agent(&**agent, &setup);
            AgentReport {
                agent: agent.agent(),
                title: agent.title(),
                installed: found.is_some(),
                path: found.as_ref().map(|found| found.path.to_string_lossy().into_owned()),
                store: self
                    .engine
                    .agent_store(&**agent, &setup.env)
                    .filter(|_| found.is_some())
                    .map(|store| store.to_string_lossy().into_owned()),
                capabilities: found.map(|found| found.capabilities),
                install: agent.install_hint(),
            }
        };
        rejoin_agents::registry().iter().map(report).collect()
    }
}
