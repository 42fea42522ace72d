use rejoin_core::Agent;

use crate::Definition;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::demo::{DEMO, DEMO2};
use crate::opencode::OpenCode;

/// Every agent this version knows, in the order they are shown and tried.
pub fn registry() -> &'static [&'static dyn Definition] {
    static AGENTS: [&dyn Definition; 5] = [&Claude, &Codex, &OpenCode, &DEMO, &DEMO2];
    &AGENTS
}

/// The agent of that name.
pub fn find(agent: &Agent) -> Option<&'static dyn Definition> {
    registry().iter().copied().find(|definition| definition.agent() == *agent)
}
