//! The agent embedded in rejoin itself: no model, no network, real sessions.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, Attachment, SessionId};
use serde_json::{Value, json};

use crate::{
    About, Attached, Capabilities, Definition, Found, Media, ProbeAnswer, Process, ProcessRequest, Refusal,
    TurnRequest, embedded,
};

/// The demo agent. There are two of them, so that handing work over can be tried without any other.
pub(crate) struct Demo {
    name: &'static str,
    title: &'static str,
}

impl Demo {
    /// The one.
    pub(crate) const FIRST: Demo = Demo { name: "demo", title: "Demo agent" };
    /// The other.
    pub(crate) const SECOND: Demo = Demo { name: "demo2", title: "Second demo agent" };
}

/// Where sessions are kept, if not in rejoin's own home.
const STORE: &str = "REJOIN_DEMO_STORE";

impl Definition for Demo {
    fn agent(&self) -> Agent {
        Agent::named(self.name)
    }

    fn about(&self) -> About<'_> {
        About {
            title: self.title,
            command: "rejoin",
            install_hint: "it is part of rejoin",
            takes: &[Media::Image, Media::Pdf, Media::Text],
            ..About::default()
        }
    }

    fn embedded(&self) -> Option<&'static str> {
        Some("__demo-agent")
    }

    fn learn(&self, _answers: &[ProbeAnswer]) -> Capabilities {
        Capabilities {
            product: "rejoin demo".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            resume: true,
            fork: false,
            ephemeral: true,
            choose_id: true,
            ask: true,
            flags: BTreeSet::new(),
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        let named = env(STORE).filter(|dir| !dir.is_empty());
        let home = || env("REJOIN_HOME").map(|home| Path::new(&home).join(format!("{}-agent", self.name)));
        named.map(PathBuf::from).or_else(home)
    }

    fn foreign_env(&self) -> Vec<&str> {
        Vec::new()
    }

    fn takes_instructions(&self, _capabilities: &Capabilities) -> bool {
        true
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        if let Some(extra) = request.extra_args.first() {
            return Err(Refusal::Unsupported(format!(
                "the demo agent takes no arguments of its own: {extra:?}"
            )));
        }
        let Some(store) = request.store else {
            let text = "the demo agent has no place for its sessions: set REJOIN_HOME or REJOIN_DEMO_STORE";
            return Err(Refusal::Unsupported(text.into()));
        };
        let mut args: Vec<OsString> = Vec::new();
        match (request.turn.composed.session(), request.new_session) {
            (Some(session), _) => args.extend(["--resume".into(), session.as_str().into()]),
            (None, Some(session)) => args.extend(["--session-id".into(), session.as_str().into()]),
            (None, None) => {}
        }
        args.extend(["--store".into(), store.into()]);
        if request.ephemeral {
            args.push("--no-store".into());
        }
        if let Some(model) = request.turn.model {
            args.push(format!("--model={model}").into());
        }
        args.push(format!("--permissions={}", request.turn.permissions.name()).into());

        let instructions: Vec<&str> =
            [request.system_prompt, request.append_system_prompt].into_iter().flatten().collect();
        let instructions = Some(instructions.join("\n\n")).filter(|_| !instructions.is_empty());
        let words = Box::new(move |turn: &TurnRequest<'_>| line(turn, instructions.as_deref()));
        Ok(Process::new(args, embedded::driver(self.agent(), words)))
    }

    fn session_dir(&self, _: &Capabilities, dir: &str) -> Result<(String, String), Refusal> {
        Ok((STORE.to_owned(), dir.to_owned()))
    }

    fn find_session(&self, store: &Path, _dir: &Path, session: &SessionId) -> Found {
        Found::file(store.join(format!("{session}.jsonl")))
    }
}

/// A turn as the program reads it.
fn line(turn: &TurnRequest<'_>, instructions: Option<&str>) -> Value {
    let mut line = json!({ "type": "prompt", "text": turn.composed.prompt() });
    if let Some(instructions) = instructions {
        line["instructions"] = instructions.into();
    }
    let file = |attached: &Attached| {
        let Attachment { name, media_type, .. } = &attached.about;
        json!({ "name": name, "type": media_type, "data": attached.base64() })
    };
    if !turn.attachments.is_empty() {
        line["files"] = turn.attachments.iter().map(file).collect();
    }
    line
}
