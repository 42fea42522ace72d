use rejoin_core::Agent;

use crate::Definition;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::demo::{DEMO, DEMO2};
use crate::gemini::Gemini;
use crate::openai::OpenAi;
use crate::opencode::OpenCode;
use crate::pi::Pi;
use crate::qwen::Qwen;

/// Every agent this version knows, in the order they are shown and tried.
pub fn registry() -> &'static [&'static dyn Definition] {
    static AGENTS: [&dyn Definition; 9] =
        [&Claude, &Codex, &Gemini, &OpenCode, &Pi, &Qwen, &OpenAi, &DEMO, &DEMO2];
    &AGENTS
}

/// The agent of that name.
pub fn find(agent: &Agent) -> Option<&'static dyn Definition> {
    registry().iter().copied().find(|definition| definition.agent() == *agent)
}
