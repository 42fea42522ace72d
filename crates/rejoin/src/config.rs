//! The user's configuration, and what a project may say.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, Permissions, Scope};
use rejoin_engine::TurnError;
use rejoin_files::read_regular_text;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// `$REJOIN_CONFIG`, else `rejoin/config.toml` in the XDG configuration directory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The agent for new conversations.
    pub agent: Option<String>,
    /// Whether sessions are resumed.
    #[serde(default)]
    pub resume: Resume,
    /// Settings per agent.
    #[serde(default)]
    pub agents: BTreeMap<String, AgentConfig>,
}

/// Whether sessions are resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Whenever it is safe.
    #[default]
    Auto,
    /// Never: every turn replays the history.
    Never,
}

/// How one agent is set up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The command, by name or path.
    pub command: Option<String>,
    /// Arguments for every turn.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment additions.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The model, if none is named.
    pub model: Option<String>,
    /// The permission level, if none is named.
    pub permissions: Option<Permissions>,
    /// How many bytes of history may be replayed.
    pub replay_budget: Option<usize>,
    /// `openai` only: where the model answers, e.g. `http://127.0.0.1:11434/v1`.
    pub base_url: Option<String>,
    /// `openai` only: the environment variable that holds the key.
    pub key_env: Option<String>,
}

/// `.rejoin.toml` in a project: it may choose among what the user allows, nothing else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectConfig {
    /// The agent for new conversations.
    pub agent: Option<String>,
    /// The model, if none is named.
    pub model: Option<String>,
    /// Which turns agents should know, in new conversations.
    pub scope: Option<Scope>,
    /// A narrower permission level.
    pub permissions: Option<Permissions>,
}

impl Config {
    /// Reads the user's configuration; a file that is not there is an empty one, unless
    /// `$REJOIN_CONFIG` names it.
    pub fn load() -> Result<Self, Error> {
        let (path, required) = match std::env::var_os("REJOIN_CONFIG") {
            Some(path) if !path.is_empty() => (PathBuf::from(path), true),
            _ => match default_path() {
                Some(path) => (path, false),
                None => return Ok(Self::default()),
            },
        };
        let config: Self = read(&path, required)?.unwrap_or_default();
        let known = rejoin_agents::registry();
        let names = || known.iter().map(|agent| agent.agent().as_str().to_owned());
        for name in config.agents.keys().chain(&config.agent) {
            if !names().any(|known| known == *name) {
                let hint = suggestion(name, names());
                return Err(Error::Config(format!("{}: unknown agent {name:?}{hint}", path.display())));
            }
        }
        for agent in known.iter().filter(|agent| agent.embedded().is_some()).map(|agent| agent.agent()) {
            if config.agents.get(agent.as_str()).is_some_and(|setup| setup.command.is_some()) {
                let text = format!(
                    "{}: {agent} is part of rejoin and has no command of its own; leave `command` out",
                    path.display()
                );
                return Err(Error::Config(text));
            }
        }
        for (name, agent) in &config.agents {
            if name != Agent::OpenAi.as_str() && (agent.base_url.is_some() || agent.key_env.is_some()) {
                let text =
                    format!("{}: base_url and key_env are for [agents.openai], not {name:?}", path.display());
                return Err(Error::Config(text));
            }
        }
        Ok(config)
    }
}

impl ProjectConfig {
    /// Reads the project's own file, if it has one.
    pub fn load(project: &Path) -> Result<Self, Error> {
        let path = project.join(".rejoin.toml");
        let config: Self = read(&path, false)?.unwrap_or_default();
        if let Some(level @ (Permissions::Full | Permissions::Agent)) = config.permissions {
            let text = format!(
                "{}: a project can only narrow what an agent may do: permissions {:?} is not narrower than anything, use \"read\" or \"edit\"",
                path.display(),
                level.name()
            );
            return Err(TurnError::Permission(text).into());
        }
        Ok(config)
    }

    /// The level a project asks for.
    pub(crate) fn level_of(project: &Path) -> Result<Option<Permissions>, TurnError> {
        Ok(Self::load(project)?.permissions)
    }
}

/// Longer files are no configuration.
const LONGEST: u64 = 1 << 20;

fn default_path() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("rejoin/config.toml"))
}

fn read<T: DeserializeOwned>(path: &Path, required: bool) -> Result<Option<T>, Error> {
    // A project can make its file a link to anything: a pipe, an endless device.
    let text = match read_regular_text(path, LONGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && !required => return Ok(None),
        // A usual way to say "none".
        Err(_) if path.canonicalize().is_ok_and(|real| real == Path::new("/dev/null")) => String::new(),
        Err(error) => return Err(Error::Config(format!("cannot read {}: {error}", path.display()))),
    };
    parse(&text).map(Some).map_err(|message| Error::Config(format!("{}{message}", path.display())))
}

/// Parses TOML; an error says line, column and, for a mistyped key, what was probably meant.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(String::new, |span| {
            let before = &text[..text.floor_char_boundary(span.start)];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            format!(":{line}:{column}")
        });
        let message = error.message().lines().next().unwrap_or_default();
        format!("{place}: {message}{}", key_hint(message))
    })
}

/// serde says "unknown field `x`, expected one of `a`, `b`": find the nearest.
fn key_hint(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown field") || message.starts_with("unknown variant"), quoted.next()) {
        (true, Some(wrong)) => suggestion(wrong, quoted.map(str::to_owned)),
        _ => String::new(),
    }
}

/// "; did you mean …?" for the nearest of some words, if one is near.
pub fn suggestion(wrong: &str, words: impl Iterator<Item = String>) -> String {
    let near = words.map(|word| (strsim::jaro_winkler(wrong, &word), word)).filter(|(near, _)| *near > 0.7);
    match near.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, word)) => format!("; did you mean {word:?}?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a file says, reading it ends with a configuration or one line that says where and what.
    #[test]
    fn fuzz() {
        let corpus =
            rejoin_testkit::fuzz::corpus(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/config"));
        rejoin_testkit::fuzz::fuzz(corpus, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            for error in
                [parse::<Config>(&text).err(), parse::<ProjectConfig>(&text).err()].into_iter().flatten()
            {
                assert!(!error.is_empty() && !error.contains('\n'), "{error:?}");
            }
        });
    }

    #[test]
    fn a_mistyped_key_is_an_error_with_its_place_and_a_suggestion() {
        let text = "agent = \"claude\"\n\n[agents.claude]\nmodle = \"opus\"\n";
        let error = parse::<Config>(text).unwrap_err();
        assert!(error.starts_with(":4:1: unknown field `modle`"), "{error}");
        assert!(error.ends_with("did you mean \"model\"?"), "{error}");
    }

    #[test]
    fn a_project_cannot_name_a_command_arguments_or_an_environment() {
        for text in
            ["command = \"x\"", "args = [\"-x\"]", "env = { A = \"b\" }", "[agents.claude]\nmodel = \"x\""]
        {
            assert!(parse::<ProjectConfig>(text).is_err(), "{text}");
        }
    }
}
