//! Parrot, a program that does not exist: the agent of docs/adding-an-agent.md, compiled with the tests.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use FailureClass::{ContextOverflow, Login, Network, Other, RateLimit};
use rejoin_core::{Agent, FailureClass, Outcome, Permissions, SessionId, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::extra_args::Rules;
use crate::failures::Failures;
use crate::loose::{Number, Text};
use crate::one_shot::{Lines, OneShot};
use crate::turn_state::{Phase, Turn};
use crate::{
    About, Capabilities, Definition, Found, ProbeAnswer, Process, ProcessRequest, Refusal, help, places,
};

const NAME: &str = "parrot";

/// The arguments of each level; one that is not here is refused.
const LEVELS: &[(Permissions, &str)] =
    &[(Permissions::Read, "--tools=read,grep --no-plugins"), (Permissions::Full, "--yes")];

/// The user's own arguments.
const RULES: Rules = Rules {
    agent: NAME,
    switches: "--quiet --no-plugins",
    permissions: "tools yes plugins -y",
    reserved: "resume session json store --help --version -r -h",
    ..Rules::NONE
};

/// Seen with 1.4.0.
const FAILURES: Failures = Failures {
    rejections: "no session with id",
    classes: &[
        (Login, "401", ""),
        (RateLimit, "429", ""),
        (ContextOverflow, "400", "too long | context window"),
        (Login, "none", "run parrot login"),
        (Network, "none", "connection refused | timed out"),
    ],
    ..Failures::PLAIN
};

/// Parrot.
pub(crate) struct Parrot;

impl Definition for Parrot {
    fn agent(&self) -> Agent {
        Agent::named(NAME)
    }

    fn about(&self) -> About<'_> {
        About {
            title: "Parrot",
            vendor: "",
            command: NAME,
            install_hint: "npm install -g parrot",
            tested_version: "1.4.0",
            wanted_flags: &[("--resume", "no session can be resumed: every turn replays the history")],
            takes: &[],
        }
    }

    fn learn(&self, answers: &[ProbeAnswer]) -> Capabilities {
        let flags = help::flags_of(answers.get(1));
        Capabilities {
            product: NAME.to_owned(),
            version: help::version_line(answers.first()).map(str::to_owned),
            ..Capabilities::by_flags(flags, ["--resume", "", "--no-store", "--session-id"])
        }
    }

    fn store(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        places::named(env, "PARROT_HOME").or_else(|| places::at_home(env, ".parrot"))
    }

    fn find_session(&self, store: &Path, _dir: &Path, session: &SessionId) -> Found {
        Found::file(store.join("sessions").join(format!("{session}.jsonl")))
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        RULES.check(request.extra_args, request.turn.permissions)?;
        request.refuse_instructions(NAME)?;
        let mut args: Vec<OsString> = request.extra_args.iter().map(OsString::from).collect();
        args.push("--json".into());
        args.extend(request.session_arg(NAME)?);
        args.extend(request.ephemeral_arg(NAME, "--no-store")?);
        args.extend(request.model_arg()?);
        args.extend(request.level_args(NAME, LEVELS)?);
        Ok(Process::new(args, OneShot::driver(self.agent(), !request.ephemeral, ParrotLines)))
    }
}

/// One line; which fields are filled depends on its type.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Wire<'a> {
    #[serde(rename = "type")]
    kind: Text<'a>,
    id: Text<'a>,
    text: Text<'a>,
    tool: Text<'a>,
    input: Value,
    status: Number,
    tokens_in: Number,
    tokens_out: Number,
}

/// What its lines mean; there is nothing to keep in mind from one to the next.
struct ParrotLines;

impl Lines for ParrotLines {
    type Wire<'a> = Wire<'a>;
    const TITLE: &'static str = "Parrot";
    const FAILURES: Failures = FAILURES;

    fn line(&mut self, wire: Wire<'_>, turn: &mut Turn) -> bool {
        match wire.kind.as_str() {
            "session" => turn.name(wire.id.as_str(), None, None),
            // It writes the prompt down before it asks the model (1.4.0).
            "asking" => {
                turn.reach(Phase::Begun);
                turn.stored();
            }
            "delta" => turn.stream_text(wire.text.into_string()),
            "message" => {
                turn.finish_text(wire.text.into_string(), None);
                turn.close();
            }
            "call" => turn.call(wire.id.into_string(), wire.tool.into_string(), wire.input),
            "result" => turn.result(wire.id.into_string(), wire.text.into_string(), false),
            "done" => {
                let (input, output) = (wire.tokens_in.count(), wire.tokens_out.count());
                turn.count(Usage { input, output, cached: 0 }, 0.0);
                turn.end(Outcome::Completed);
            }
            "failed" => {
                let status = wire.status.0.map(|status| status as u16);
                let class = FAILURES.class("", status, wire.text.as_str()).unwrap_or(Other);
                turn.end(Outcome::failed(class, wire.text.into_string()));
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests;
