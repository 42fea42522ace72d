use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a program that does the work.
///
/// A name, not a closed list: a journal may speak of agents this version has never heard of.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
#[serde(transparent)]
pub struct Agent(Cow<'static, str>);

#[allow(non_upper_case_globals, reason = "they read like the variants of an enum: Agent::Codex")]
impl Agent {
    /// Claude Code.
    pub const Claude: Agent = Agent(Cow::Borrowed("claude"));
    /// Codex CLI.
    pub const Codex: Agent = Agent(Cow::Borrowed("codex"));
    /// Gemini CLI.
    pub const Gemini: Agent = Agent(Cow::Borrowed("gemini"));
    /// OpenCode.
    pub const OpenCode: Agent = Agent(Cow::Borrowed("opencode"));
    /// Pi.
    pub const Pi: Agent = Agent(Cow::Borrowed("pi"));
    /// Qwen Code.
    pub const Qwen: Agent = Agent(Cow::Borrowed("qwen"));
    /// Any OpenAI-compatible chat endpoint.
    pub const OpenAi: Agent = Agent(Cow::Borrowed("openai"));
    /// The agent embedded in rejoin itself: no model, no network, real sessions.
    pub const Demo: Agent = Agent(Cow::Borrowed("demo"));
}

impl Agent {
    /// The agent of that name, known to this version or not.
    pub fn named(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The name as typed after `-a`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
