//! A check-up of the agents on this machine: what is there, what is missing, what it means.

use std::path::Path;

use rejoin_agents::Definition;
use rejoin_core::Agent;
use rejoin_engine::Installation;
use serde::Serialize;

use crate::{Error, Rejoin};

/// How one point stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// As it should be.
    Fine,
    /// It works, with something lost or something to know.
    Note,
    /// It does not work.
    Broken,
}

/// One point of a check-up.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// A stable word.
    pub name: &'static str,
    /// How it stands.
    pub finding: Finding,
    /// What was found.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next: String,
}

/// The check-up of one installed agent.
#[derive(Clone, Debug, Serialize)]
pub struct Checkup {
    /// Which.
    pub agent: Agent,
    /// Its name for people.
    pub title: &'static str,
    /// Point by point.
    pub checks: Vec<Check>,
}

impl Checkup {
    /// The worst of its findings.
    pub fn worst(&self) -> Finding {
        let has = |finding| self.checks.iter().any(|check| check.finding == finding);
        if has(Finding::Broken) {
            Finding::Broken
        } else if has(Finding::Note) {
            Finding::Note
        } else {
            Finding::Fine
        }
    }
}

impl Rejoin {
    /// Checks every agent that is installed; with `turn` it spends two real, tiny turns on each to
    /// prove that the second remembers the first.
    pub fn doctor(&self, turn: bool) -> Vec<Checkup> {
        let mut checkups = Vec::new();
        for agent in rejoin_agents::registry().iter().copied() {
            let setup = self.setup(&agent.agent());
            if agent.takes_messages() && setup.endpoint.is_none() {
                continue;
            }
            let Some(installation) = self.engine.find_agent(agent, &setup) else { continue };
            let mut checks = vec![version(agent, &installation)];
            checks.extend(flags(agent, &installation));
            let store = self.engine.agent_store(agent, &setup.env);
            checks.extend(store.as_deref().map(store_check));
            let env = |name: &str| setup.env.get(name).map(Into::into).or_else(|| std::env::var_os(name));
            checks.extend(agent.hazards(&env, store.as_deref()).into_iter().map(|hazard| Check {
                name: "hazard",
                finding: Finding::Note,
                text: hazard.what,
                next: hazard.next,
            }));
            if turn {
                checks.push(self.two_turns(&agent.agent()));
            }
            checkups.push(Checkup { agent: agent.agent(), title: agent.title(), checks });
        }
        checkups
    }

    /// Two turns in a conversation of their own: the word told in the first must come back.
    fn two_turns(&self, agent: &Agent) -> Check {
        let check = |finding, text: String, next: &str| Check {
            name: "memory",
            finding,
            text,
            next: next.to_owned(),
        };
        match self.try_two_turns(agent) {
            Ok(text) => check(Finding::Fine, text, ""),
            Err(text) => check(Finding::Broken, text, "run it by hand: rejoin run -a, then rejoin run -c"),
        }
    }

    fn try_two_turns(&self, agent: &Agent) -> Result<String, String> {
        let place = std::env::temp_dir().join(format!("rejoin-doctor-{}", std::process::id()));
        std::fs::create_dir_all(&place)
            .map_err(|error| format!("cannot make {}: {error}", place.display()))?;
        let outcome = self.remember(agent, &place).map_err(|error| error.to_string());
        let _ = std::fs::remove_dir_all(&place);
        outcome?
    }

    fn remember(&self, agent: &Agent, place: &Path) -> Result<Result<String, String>, Error> {
        let word = format!("MARK-{:x}", std::process::id());
        let first = format!("Remember this word: {word}. Do nothing else and answer with one word.");
        let name = format!("doctor {agent} {word}");
        let turn = |prompt: &str| {
            self.project(place).agent(agent.clone()).conversation(name.as_str()).prompt(prompt).run(|_| {})
        };
        let one = turn(&first)?;
        if *one.outcome() != rejoin_core::Outcome::Completed {
            return Ok(Err(format!("the first turn did not complete: {:?}", one.outcome())));
        }
        let two = turn("Which word did I ask you to remember? Answer with that word alone.")?;
        if *two.outcome() != rejoin_core::Outcome::Completed {
            return Ok(Err(format!("the second turn did not complete: {:?}", two.outcome())));
        }
        let how =
            if two.receipt().plan.resumes() { "resumed its own session" } else { "was told the history" };
        Ok(if two.text().contains(&word) {
            Ok(format!("the second turn {how} and remembered"))
        } else {
            Err(format!("the second turn {how} but did not remember: {:?}", two.text()))
        })
    }
}

fn version(agent: &dyn Definition, installation: &Installation) -> Check {
    let (tested, found) = (agent.tested_version(), installation.capabilities.version.as_deref());
    let path = installation.path.display();
    let (finding, text, next) = match found {
        None => (Finding::Broken, format!("{path} does not tell its version"), agent.install_hint()),
        Some(found) if tested.is_empty() || found == tested => {
            (Finding::Fine, format!("{found}, {path}"), "")
        }
        Some(found) => (Finding::Note, format!("{found}, {path}; rejoin is tested with {tested}"), ""),
    };
    Check { name: "version", finding, text, next: next.to_owned() }
}

fn flags(agent: &dyn Definition, installation: &Installation) -> Vec<Check> {
    let wanted = agent.wanted_flags();
    let missing: Vec<_> = wanted.iter().filter(|(flag, _)| !installation.capabilities.has(flag)).collect();
    if missing.is_empty() {
        let text = match wanted.len() {
            0 => return Vec::new(),
            count => format!("all {count} flags it is used with are in its help"),
        };
        return vec![Check { name: "flags", finding: Finding::Fine, text, next: String::new() }];
    }
    let check = |(flag, lost): &&(&str, &str)| Check {
        name: "flags",
        finding: Finding::Note,
        text: format!("its help has no {flag}: {lost}"),
        next: format!("update it: {}", agent.install_hint()),
    };
    missing.iter().map(check).collect()
}

fn store_check(store: &Path) -> Check {
    let shown = store.display();
    let (finding, text) = match std::fs::read_dir(store) {
        Ok(_) => (Finding::Fine, format!("sessions in {shown}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            (Finding::Fine, format!("no session yet ({shown} is made with the first one)"))
        }
        Err(error) => (Finding::Broken, format!("{shown} cannot be read: {error}")),
    };
    let next = if finding == Finding::Broken { "correct its permissions".to_owned() } else { String::new() };
    Check { name: "store", finding, text, next }
}
