//! Codex CLI.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, InvalidSessionId, SessionId};

use crate::session_id::lower_case_uuid;
use crate::{Capabilities, Definition, Found, Launch, ProbeAnswer, Refusal, Request};

/// Codex CLI.
pub(crate) struct Codex;

impl Definition for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }
    fn title(&self) -> &'static str {
        "Codex CLI"
    }
    fn command(&self) -> &'static str {
        "codex"
    }
    fn install_hint(&self) -> &'static str {
        ""
    }
    fn probes(&self) -> &'static [&'static [&'static str]] {
        &[]
    }
    fn learn(&self, _answers: &[ProbeAnswer]) -> Capabilities {
        Capabilities::default()
    }
    fn store(&self, _env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        None
    }
    fn foreign_env(&self) -> &'static [&'static str] {
        &[]
    }
    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        lower_case_uuid(self.agent(), text)
    }
    fn choose_session(&self, _capabilities: &Capabilities, _fresh: uuid::Uuid) -> Option<SessionId> {
        None
    }
    fn takes_instructions(&self, _capabilities: &Capabilities) -> bool {
        false
    }
    fn launch(&self, _request: Request<'_>) -> Result<Launch, Refusal> {
        Err(Refusal::Unsupported("not written yet".into()))
    }
    fn find_session(&self, _store: &Path, _dir: &Path, _session: &SessionId) -> Found {
        Found::CannotTell
    }
}
