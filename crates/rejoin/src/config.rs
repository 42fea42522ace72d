//! The user's configuration, and what a project may say.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rejoin_core::{Agent, Permissions, Scope};
use rejoin_engine::TurnError;
use rejoin_files::read_regular_text;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Error, Handovers, parse_duration};

/// `$REJOIN_CONFIG`, else `rejoin/config.toml` in the XDG configuration directory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The agent for new conversations.
    pub agent: Option<String>,
    /// Whether sessions are resumed.
    #[serde(default)]
    pub resume: Resume,
    /// How a person is told that a long turn of a live conversation ended.
    #[serde(default)]
    pub notify: Notify,
    /// How many seconds make a turn long.
    pub notify_after: Option<u64>,
    /// Who goes on, one after the other, where the limit of an agent is reached.
    #[serde(default)]
    pub fallback: Vec<String>,
    /// Whether a history may then go to another vendor.
    #[serde(default)]
    pub handover: Handovers,
    /// After how long of being told nothing but to try again later an agent is past a limit: `"5m"`.
    pub limit_after: Option<String>,
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

/// How a person is told that a long turn ended, or waits for them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "\"bell\", \"terminal\", \"off\", or a command as a list of words")]
pub enum Notify {
    /// A way that rejoin has.
    Built(BuiltNotify),
    /// By this command, which is given the message as its last argument.
    #[serde(deserialize_with = "some_words")]
    Command(Vec<String>),
}

/// A command has at least a name.
fn some_words<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let words = Vec::deserialize(from)?;
    if words.is_empty() { Err(serde::de::Error::invalid_length(0, &"a command")) } else { Ok(words) }
}

/// The ways of telling that need nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuiltNotify {
    /// Not at all.
    Off,
    /// The bell of the terminal.
    Bell,
    /// A notification that the terminal shows (OSC 9).
    Terminal,
}

impl Default for Notify {
    fn default() -> Self {
        Self::Built(BuiltNotify::Bell)
    }
}

impl Resume {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Resume::Auto => "auto",
            Resume::Never => "never",
        }
    }
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
    /// Seconds after which nobody is taken to watch a turn to its end, where the user does not say otherwise.
    pub const NOTIFY_AFTER: u64 = 10;

    /// Reads the user's configuration; a file that is not there is an empty one, unless
    /// `$REJOIN_CONFIG` names it.
    pub fn load() -> Result<Self, Error> {
        let Some(named) = NamedFile::of_user() else { return Ok(Self::default()) };
        let text = named.text()?;
        let config: Self = parse(&named.path, &text)?;
        config.check(&named.path, &text)?;
        Ok(config)
    }

    /// What one file cannot say although it is well formed.
    pub(crate) fn check(&self, path: &Path, text: &str) -> Result<(), Error> {
        let wrong = |keys: &[&str], words: String| {
            Err(Error::Config(format!("{}{}: {words}", path.display(), place_of(text, keys))))
        };
        let known = rejoin_agents::registry();
        let names = || known.iter().map(|agent| agent.agent().as_str().to_owned());
        let of_tables = self.agents.keys().map(|name| (vec!["agents", name], name));
        for (keys, name) in of_tables.chain(self.agent.iter().map(|name| (vec!["agent"], name))) {
            if !names().any(|known| known == *name) {
                return wrong(&keys, format!("unknown agent {name:?}{}", suggestion(name, names())));
            }
        }
        if let Some(name) = self.fallback.iter().find(|name| !names().any(|known| known == **name)) {
            let hint = suggestion(name, names());
            return wrong(&["fallback"], format!("unknown agent {name:?} in fallback{hint}"));
        }
        if let Some(Err(words)) = self.limit_after.as_deref().map(parse_duration) {
            return wrong(&["limit_after"], format!("limit_after: {words}"));
        }
        for agent in known.iter().filter(|agent| agent.embedded().is_some()).map(|agent| agent.agent()) {
            if self.agents.get(agent.as_str()).is_some_and(|setup| setup.command.is_some()) {
                let words =
                    format!("{agent} is part of rejoin and has no command of its own; leave `command` out");
                return wrong(&["agents", agent.as_str(), "command"], words);
            }
        }
        for (name, agent) in self.agents.iter().filter(|(name, _)| *name != Agent::OpenAi.as_str()) {
            let key = if agent.base_url.is_some() { "base_url" } else { "key_env" };
            if agent.base_url.is_some() || agent.key_env.is_some() {
                let words = format!("base_url and key_env are for [agents.openai], not {name:?}");
                return wrong(&["agents", name, key], words);
            }
        }
        Ok(())
    }
}

impl ProjectConfig {
    /// Reads the project's own file, if it has one.
    pub fn load(project: &Path) -> Result<Self, Error> {
        let named = NamedFile::of_project(project);
        let config: Self = parse(&named.path, &named.text()?)?;
        if let Some(level @ (Permissions::Full | Permissions::Agent)) = config.permissions {
            let text = format!(
                "a project can only narrow what an agent may do: permissions {:?} is not narrower than anything, use \"read\" or \"edit\"",
                level.name()
            );
            return Err(TurnError::Permission(Self::about(project, "permissions", &text)).into());
        }
        Ok(config)
    }

    /// What is to be said about a value of the project's file, after its place.
    pub(crate) fn about(project: &Path, key: &str, words: &str) -> String {
        let named = NamedFile::of_project(project);
        let place = place_of(&named.text().unwrap_or_default(), &[key]);
        format!("{}{place}: {words}", named.path.display())
    }

    /// The level a project asks for.
    pub(crate) fn level_of(project: &Path) -> Result<Option<Permissions>, TurnError> {
        Ok(Self::load(project)?.permissions)
    }
}

/// Longer files are no configuration.
const LONGEST: u64 = 1 << 20;

/// A file of settings.
pub(crate) struct NamedFile {
    pub(crate) path: PathBuf,
    /// Somebody said that it is there.
    required: bool,
}

impl NamedFile {
    /// The user's; `None` if nobody can tell where it would be.
    pub(crate) fn of_user() -> Option<Self> {
        use etcetera::BaseStrategy;
        match std::env::var_os("REJOIN_CONFIG") {
            Some(path) if !path.is_empty() => Some(Self { path: PathBuf::from(path), required: true }),
            _ => {
                let dir = etcetera::choose_base_strategy().ok()?.config_dir();
                Some(Self { path: dir.join("rejoin/config.toml"), required: false })
            }
        }
    }

    /// The project's.
    pub(crate) fn of_project(project: &Path) -> Self {
        Self { path: project.join(".rejoin.toml"), required: false }
    }

    /// What it says; nothing, if it need not be there.
    pub(crate) fn text(&self) -> Result<String, Error> {
        let Self { path, required } = self;
        // A project can make its file a link to anything: a pipe, an endless device.
        match read_regular_text(path, LONGEST) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == ErrorKind::NotFound && !required => Ok(String::new()),
            // A usual way to say "none".
            Err(_) if path.canonicalize().is_ok_and(|real| real == Path::new("/dev/null")) => {
                Ok(String::new())
            }
            Err(error) => {
                let text = format!("cannot read {}: {error}", path.display());
                let is_missing = error.kind() == ErrorKind::NotFound;
                Err(if is_missing { Error::not_found(text) } else { Error::Config(text) })
            }
        }
    }
}

/// What a file says.
pub(crate) fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, Error> {
    parse_text(text).map_err(|message| Error::Config(format!("{}{message}", path.display())))
}

/// `:line:column` of a byte of a text.
fn place_at(text: &str, byte: usize) -> String {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!(":{line}:{column}")
}

/// `:line:column` of a value, by its keys from the outside in; nothing if it is not there.
pub(crate) fn place_of(text: &str, keys: &[&str]) -> String {
    let find = || {
        let document = toml_edit::Document::parse(text).ok()?;
        let (last, tables) = keys.split_last()?;
        let mut table: &dyn toml_edit::TableLike = document.as_table();
        for key in tables {
            table = table.get(key)?.as_table_like()?;
        }
        let (key, item) = table.get_key_value(last)?;
        key.span().or_else(|| item.span()).map(|span| place_at(text, span.start))
    };
    find().unwrap_or_default()
}

/// Parses TOML; an error says line, column and, for a mistyped key, what was probably meant.
fn parse_text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(String::new, |span| place_at(text, span.start));
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
    let near =
        words.filter(|word| is_near(wrong, word)).map(|word| (strsim::jaro_winkler(wrong, &word), word));
    match near.max_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((_, word)) => format!("; did you mean {word:?}?"),
        None => String::new(),
    }
}

/// Whether somebody who typed one word can have meant another: a slip in every three letters, or only its beginning.
fn is_near(wrong: &str, word: &str) -> bool {
    let (wrong, word) = (wrong.to_lowercase(), word.to_lowercase());
    let slips = wrong.chars().count().max(word.chars().count()) / 3;
    let is_beginning = wrong.chars().count() >= 3 && word.starts_with(&wrong);
    is_beginning || strsim::osa_distance(&wrong, &word) <= slips
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
            for error in [parse_text::<Config>(&text).err(), parse_text::<ProjectConfig>(&text).err()]
                .into_iter()
                .flatten()
            {
                assert!(!error.is_empty() && !error.contains('\n'), "{error:?}");
            }
        });
    }

    #[test]
    fn a_mistyped_key_is_an_error_with_its_place_and_a_suggestion() {
        let text = "agent = \"claude\"\n\n[agents.claude]\nmodle = \"opus\"\n";
        let error = parse_text::<Config>(text).unwrap_err();
        assert!(error.starts_with(":4:1: unknown field `modle`"), "{error}");
        assert!(error.ends_with("did you mean \"model\"?"), "{error}");
    }

    #[test]
    fn a_sign_at_the_end_of_a_turn_is_one_that_there_is_or_a_command() {
        let notify = |text: &str| parse_text::<Config>(text).map(|config| config.notify);
        assert_eq!(notify(""), Ok(Notify::Built(BuiltNotify::Bell)));
        assert_eq!(notify("notify = \"off\""), Ok(Notify::Built(BuiltNotify::Off)));
        assert_eq!(notify("notify = [\"a\", \"b\"]"), Ok(Notify::Command(vec!["a".into(), "b".into()])));
        for wrong in ["notify = \"fanfare\"", "notify = []", "notify = 3"] {
            let error = notify(wrong).unwrap_err();
            assert!(error.contains("\"bell\", \"terminal\", \"off\", or a command"), "{wrong}: {error}");
        }
    }

    #[test]
    fn only_a_word_that_can_be_meant_is_suggested() {
        let agents =
            || ["claude", "codex", "gemini", "opencode", "pi", "qwen", "openai", "demo"].map(str::to_owned);
        let hint = |wrong| suggestion(wrong, agents().into_iter());
        for far in ["nope", "x", "po", "gpt", "cursor", "aider"] {
            assert_eq!(hint(far), "", "{far}");
        }
        for (wrong, meant) in
            [("cluade", "claude"), ("Codex", "codex"), ("clau", "claude"), ("open-code", "opencode")]
        {
            assert_eq!(hint(wrong), format!("; did you mean {meant:?}?"));
        }
    }

    #[test]
    fn a_project_cannot_name_a_command_arguments_or_an_environment() {
        for text in
            ["command = \"x\"", "args = [\"-x\"]", "env = { A = \"b\" }", "[agents.claude]\nmodel = \"x\""]
        {
            assert!(parse_text::<ProjectConfig>(text).is_err(), "{text}");
        }
    }
}
