//! A check-up of the agents on this machine: what is there, what is missing, what it means.

use std::ffi::OsString;
use std::path::Path;

use rejoin_agents::{Definition, Login};
use rejoin_core::{Agent, Event, FailureClass, Outcome, Stream};
use rejoin_engine::Installation;
use serde::Serialize;

use crate::{Error, Rejoin};

/// How one point stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentCheck {
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
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AgentCheckup {
    /// Which.
    pub agent: Agent,
    /// Its name for people.
    pub title: &'static str,
    /// Point by point.
    pub checks: Vec<AgentCheck>,
}

impl AgentCheckup {
    /// The worst of its findings.
    pub fn worst(&self) -> Finding {
        Finding::worst_of(&self.checks)
    }
}

impl Finding {
    /// The worst of some points.
    pub(crate) fn worst_of(checks: &[AgentCheck]) -> Finding {
        let has = |finding| checks.iter().any(|check| check.finding == finding);
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
    pub fn doctor(&self, turn: bool) -> Vec<AgentCheckup> {
        let mut checkups = Vec::new();
        for agent in rejoin_agents::registry().iter().map(|agent| &**agent) {
            let setup = self.setup(&agent.agent());
            if agent.takes_messages() && setup.endpoint.is_none() {
                continue;
            }
            let Some(installation) = self.engine.find_agent(agent, &setup) else { continue };
            let mut checks = vec![version(agent, &installation)];
            checks.extend(shape(agent, &installation));
            checks.extend(flags(agent, &installation));
            let env = |name: &str| setup.env.get(name).map(Into::into).or_else(|| std::env::var_os(name));
            let key = setup.endpoint.as_ref().and_then(|endpoint| endpoint.key_env.as_deref());
            checks.extend(agent.login(&env).map(|login| login_check(&login, &env)));
            checks.extend(key.map(|key| key_check(key, &env)));
            let store = self.engine.agent_store(agent, &setup.env);
            checks.extend(store.as_deref().map(store_check));
            checks.extend(agent.hazards(&env, store.as_deref()).into_iter().map(|hazard| AgentCheck {
                name: "hazard",
                finding: Finding::Note,
                text: hazard.what,
                next: hazard.next,
            }));
            if turn {
                checks.extend(self.two_turns(&agent.agent()));
            }
            checkups.push(AgentCheckup { agent: agent.agent(), title: agent.title(), checks });
        }
        checkups
    }

    /// What to do about a failure of this kind, where that is known: how to log in, where to look.
    pub fn cure(&self, agent: &Agent, class: FailureClass) -> Option<String> {
        match class {
            FailureClass::Login => {
                let setup = self.setup(agent);
                if let Some(key) = setup.endpoint.as_ref().and_then(|endpoint| endpoint.key_env.as_deref()) {
                    return Some(format!("set {key} to a key that the endpoint takes"));
                }
                let env = |name: &str| setup.env.get(name).map(Into::into).or_else(|| std::env::var_os(name));
                let mut known = rejoin_agents::registry().iter();
                Some(known.find(|known| known.agent() == *agent)?.login(&env)?.how)
            }
            FailureClass::Launch | FailureClass::Setup => {
                Some("`rejoin doctor` tells what is installed, and what is missing".to_owned())
            }
            _ => None,
        }
    }

    /// Two turns in a conversation of their own: the word told in the first must come back, and
    /// every line must be understood.
    fn two_turns(&self, agent: &Agent) -> Vec<AgentCheck> {
        let mut odd = Vec::new();
        let memory = match self.try_two_turns(agent, &mut odd) {
            Ok(text) => AgentCheck::fine("memory", text),
            Err(text) => AgentCheck {
                name: "memory",
                finding: Finding::Broken,
                text,
                next: format!("run it by hand: rejoin run -a {agent}, then rejoin run -c"),
            },
        };
        let shape = match odd.first() {
            None => AgentCheck::fine("shape", "every line it printed was understood".into()),
            Some(line) => AgentCheck {
                name: "shape",
                finding: Finding::Note,
                text: format!("{} of its lines were not understood, the first: {line}", odd.len()),
                next: "the turn counts all the same; tell rejoin's makers which version this is".into(),
            },
        };
        vec![memory, shape]
    }

    fn try_two_turns(&self, agent: &Agent, odd: &mut Vec<String>) -> Result<String, String> {
        let place = std::env::temp_dir().join(format!("rejoin-doctor-{}", std::process::id()));
        std::fs::create_dir_all(&place)
            .map_err(|error| format!("cannot make {}: {error}", place.display()))?;
        let outcome = self.remember(agent, &place, odd).map_err(|error| error.to_string());
        let _ = std::fs::remove_dir_all(&place);
        outcome?
    }

    fn remember(
        &self,
        agent: &Agent,
        place: &Path,
        odd: &mut Vec<String>,
    ) -> Result<Result<String, String>, Error> {
        let word = format!("MARK-{:x}", std::process::id());
        let first = format!("Remember this word: {word}. Do nothing else and answer with one word.");
        let name = format!("doctor {agent} {word}");
        let mut turn = |prompt: &str| {
            let turn = self.project(place).agent(agent.clone()).conversation(name.as_str()).prompt(prompt);
            turn.run(|event| {
                if let Event::Diagnostic { stream: Stream::Stdout, text } = event {
                    odd.push(text.clone());
                }
            })
        };
        let one = turn(&first)?;
        if let Some(why) = unfinished(one.outcome()) {
            return Ok(Err(format!("the first turn {why}")));
        }
        let two = turn("Which word did I ask you to remember? Answer with that word alone.")?;
        if let Some(why) = unfinished(two.outcome()) {
            return Ok(Err(format!("the second turn {why}")));
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

impl AgentCheck {
    pub(crate) fn fine(name: &'static str, text: String) -> Self {
        Self { name, finding: Finding::Fine, text, next: String::new() }
    }
}

/// How a turn ended that was not done.
fn unfinished(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Completed => None,
        Outcome::Failed { class, message } => Some(format!("failed ({}): {message}", class.words())),
        Outcome::Timeout { message } => Some(format!("was stopped: {message}")),
        Outcome::Cancelled => Some("was cancelled".into()),
    }
}

fn version(agent: &dyn Definition, installation: &Installation) -> AgentCheck {
    let (tested, found) =
        (agent.tested_version().unwrap_or_default(), installation.capabilities.version.as_deref());
    let path = installation.path.display();
    let (finding, text, next) = match found {
        None => (Finding::Broken, format!("{path} does not tell its version"), agent.install_hint()),
        Some(found) if tested.is_empty() || found == tested => {
            (Finding::Fine, format!("{found}, {path}"), "")
        }
        Some(found) => (Finding::Note, format!("{found}, {path}; rejoin is tested with {tested}"), ""),
    };
    AgentCheck { name: "version", finding, text, next: next.to_owned() }
}

/// Whether its help is the one that rejoin knows: other programs have these names, too.
fn shape(agent: &dyn Definition, installation: &Installation) -> Option<AgentCheck> {
    if agent.probes().is_empty() {
        return None;
    }
    let product = &installation.capabilities.product;
    if !product.is_empty() {
        return Some(AgentCheck::fine("shape", format!("it says that it is {product}")));
    }
    Some(AgentCheck {
        name: "shape",
        finding: Finding::Broken,
        text: format!("its help is not one of {} that rejoin knows", agent.title()),
        next: format!("see what {} is; install: {}", installation.path.display(), agent.install_hint()),
    })
}

/// Whether a login is there. Whether it is still good only a turn can tell.
fn login_check(login: &Login, env: &dyn Fn(&str) -> Option<OsString>) -> AgentCheck {
    // What is there but empty holds nothing.
    const EMPTY: u64 = 3;
    let variable = login.variables.iter().find(|name| env(name).is_some_and(|value| !value.is_empty()));
    let file = login.files.iter().find(|file| file.metadata().is_ok_and(|meta| meta.len() > EMPTY));
    match (variable, file) {
        (Some(variable), _) => AgentCheck::fine("login", format!("{variable} is set")),
        (None, Some(file)) => AgentCheck::fine("login", format!("{} is there", file.display())),
        (None, None) => AgentCheck {
            name: "login",
            finding: Finding::Note,
            text: "no login was found where it usually is; one in a keychain or in the agent's own settings is not seen"
                .into(),
            next: format!("if turns fail: {}", login.how),
        },
    }
}

/// Whether the key of an endpoint is there.
fn key_check(variable: &str, env: &dyn Fn(&str) -> Option<OsString>) -> AgentCheck {
    if env(variable).is_some_and(|value| !value.is_empty()) {
        return AgentCheck::fine("login", format!("{variable} is set"));
    }
    AgentCheck {
        name: "login",
        finding: Finding::Broken,
        text: format!("{variable}, which is to hold the key, is not set"),
        next: format!("set {variable}, or take key_env out of the configuration if there is no key"),
    }
}

fn flags(agent: &dyn Definition, installation: &Installation) -> Vec<AgentCheck> {
    let wanted = agent.wanted_flags();
    let missing: Vec<_> = wanted.iter().filter(|(flag, _)| !installation.capabilities.has(flag)).collect();
    if missing.is_empty() {
        let text = match wanted.len() {
            0 => return Vec::new(),
            count => format!("all {count} flags it is used with are in its help"),
        };
        return vec![AgentCheck::fine("flags", text)];
    }
    let check = |(flag, lost): &&(&str, &str)| AgentCheck {
        name: "flags",
        finding: Finding::Note,
        text: format!("its help has no {flag}: {lost}"),
        next: format!("update it: {}", agent.install_hint()),
    };
    missing.iter().map(check).collect()
}

fn store_check(store: &Path) -> AgentCheck {
    let shown = store.display();
    let read = if store.is_file() {
        std::fs::File::open(store).map(drop)
    } else {
        std::fs::read_dir(store).map(drop)
    };
    match read {
        Ok(()) => AgentCheck::fine("store", format!("sessions in {shown}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            AgentCheck::fine("store", format!("no session yet ({shown} is made with the first one)"))
        }
        Err(error) => AgentCheck {
            name: "store",
            finding: Finding::Broken,
            text: format!(
                "{shown} cannot be read: {error}; a lost session is noticed only when the agent says so"
            ),
            next: "correct its permissions".into(),
        },
    }
}
