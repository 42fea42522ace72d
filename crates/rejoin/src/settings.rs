//! Every setting with its origin, and how the user's own are changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rejoin_core::Scope;
use rejoin_journal::private;
use serde::Serialize;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use crate::config::{NamedFile, parse, place_of, suggestion};
use crate::home::default_home;
use crate::{Config, Error, Handovers, ProjectConfig, Resume};

/// A setting in force, as `rejoin config show --json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Its name, with dots between the tables it is in.
    pub key: String,
    /// What it is; `null` if nothing says so.
    pub value: Value,
    /// Where that comes from.
    pub origin: SettingOrigin,
    /// The file and the place in it, where it comes from one; the variable, where it comes from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// Where a setting comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// Nothing says otherwise.
    Default,
    /// An environment variable.
    Environment,
    /// The user's configuration.
    User,
    /// The project's `.rejoin.toml`.
    Project,
}

impl SettingOrigin {
    /// The stable word for it.
    pub const fn name(self) -> &'static str {
        match self {
            SettingOrigin::Default => "default",
            SettingOrigin::Environment => "environment",
            SettingOrigin::User => "user",
            SettingOrigin::Project => "project",
        }
    }
}

/// The settings that stand in no table.
const TOP: [&str; 7] = ["agent", "resume", "notify", "notify_after", "fallback", "handover", "limit_after"];

/// The fields of `[agents.NAME]` that are one value.
const OF_AGENTS: [&str; 7] =
    ["command", "args", "model", "permissions", "replay_budget", "base_url", "key_env"];

impl Setting {
    /// All settings in force in the project a directory is in.
    pub fn all(dir: &Path) -> Result<Vec<Self>, Error> {
        let user = Said::by_user()?;
        let project = Said::by_project(&rejoin_engine::project_of(dir))?;
        let mut all = vec![home()?];
        let of_either = |key: &str, default: Value| {
            let found = project.setting(key).or_else(|| user.setting(key));
            found.unwrap_or_else(|| Self::default_of(key, default))
        };
        all.push(of_either("agent", Value::Null));
        let of_user =
            |key: &str, default: Value| user.setting(key).unwrap_or_else(|| Self::default_of(key, default));
        all.push(of_user("resume", json!(Resume::default().name())));
        all.push(of_user("notify", json!("bell")));
        all.push(of_user("notify_after", json!(Config::NOTIFY_AFTER)));
        all.push(of_user("fallback", json!([])));
        all.push(of_user("handover", json!(Handovers::default().name())));
        all.push(of_user("limit_after", json!("5m")));
        all.extend(["model", "permissions"].iter().filter_map(|key| project.setting(key)));
        let scope = project.setting("scope");
        all.push(scope.unwrap_or_else(|| Self::default_of("scope", json!(Scope::default()))));
        all.extend(user.of_agents());
        Ok(all)
    }

    fn default_of(key: &str, value: Value) -> Self {
        Self { key: key.to_owned(), value, origin: SettingOrigin::Default, place: None }
    }
}

/// Where all data is kept.
fn home() -> Result<Setting, Error> {
    let is_named = std::env::var_os("REJOIN_HOME").is_some_and(|home| !home.is_empty());
    let value = json!(default_home()?.display().to_string());
    let origin = if is_named { SettingOrigin::Environment } else { SettingOrigin::Default };
    let place = is_named.then(|| "REJOIN_HOME".to_owned());
    Ok(Setting { key: "home".to_owned(), value, origin, place })
}

/// What one file says.
struct Said {
    path: PathBuf,
    text: String,
    table: toml::Table,
    origin: SettingOrigin,
}

impl Said {
    fn by_user() -> Result<Self, Error> {
        // All of it is checked, as for every command.
        Config::load()?;
        match NamedFile::of_user() {
            Some(named) => Self::read(&named, SettingOrigin::User),
            None => Ok(Self {
                path: PathBuf::new(),
                text: String::new(),
                table: toml::Table::new(),
                origin: SettingOrigin::User,
            }),
        }
    }

    fn by_project(project: &Path) -> Result<Self, Error> {
        ProjectConfig::load(project)?;
        Self::read(&NamedFile::of_project(project), SettingOrigin::Project)
    }

    fn read(named: &NamedFile, origin: SettingOrigin) -> Result<Self, Error> {
        let text = named.text()?;
        Ok(Self { table: parse(&named.path, &text)?, path: named.path.clone(), text, origin })
    }

    fn setting(&self, key: &str) -> Option<Setting> {
        self.setting_in(&[key], self.table.get(key)?)
    }

    fn setting_in(&self, keys: &[&str], value: &toml::Value) -> Option<Setting> {
        let place = format!("{}{}", self.path.display(), place_of(&self.text, keys));
        let value = serde_json::to_value(value).ok()?;
        Some(Setting { key: keys.join("."), value, origin: self.origin, place: Some(place) })
    }

    fn of_agents(&self) -> Vec<Setting> {
        let mut all = Vec::new();
        let agents = self.table.get("agents").and_then(toml::Value::as_table);
        for (agent, fields) in agents.into_iter().flatten() {
            for (field, value) in fields.as_table().into_iter().flatten() {
                match value.as_table() {
                    Some(variables) => {
                        let setting = |(name, value): (&String, _)| {
                            self.setting_in(&["agents", agent, field, name], value)
                        };
                        all.extend(variables.iter().filter_map(setting));
                    }
                    None => all.extend(self.setting_in(&["agents", agent, field], value)),
                }
            }
        }
        all
    }
}

impl Config {
    /// The user's configuration file, whether or not it is there.
    pub fn path() -> Result<PathBuf, Error> {
        let none = || Error::usage("no home directory is known; set REJOIN_CONFIG to a file");
        NamedFile::of_user().map(|named| named.path).ok_or_else(none)
    }

    /// Changes one of the user's settings, and nothing else in the file; one that would be wrong is refused.
    pub fn set(key: &str, value: &str) -> Result<(), Error> {
        let path = Self::path()?;
        let text = if path.exists() { NamedFile::of_user().map(|named| named.text()) } else { None };
        let text = text.transpose()?.unwrap_or_default();
        let text = changed(&path, &text, key, value)?;
        // A link leads to where the file is kept.
        let real = path.canonicalize().unwrap_or(path);
        let mode = real.metadata().map(|metadata| metadata.permissions()).ok();
        let cannot = |cause| crate::error::cannot("write the configuration")(cause);
        if let Some(dir) = real.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            fs::create_dir_all(dir).map_err(cannot)?;
        }
        private::write_atomically(&real, text.as_bytes())?;
        mode.map_or(Ok(()), |mode| fs::set_permissions(&real, mode)).map_err(cannot)
    }
}

/// A file's text with another value of a setting.
fn changed(path: &Path, text: &str, key: &str, value: &str) -> Result<String, Error> {
    // Said first, so that what is reported below is about the change.
    parse::<Config>(path, text)?.check(path, text)?;
    let mut document = DocumentMut::from_str(text).map_err(|error| Error::usage(error.to_string()))?;
    let keys: Vec<&str> = key.splitn(4, '.').collect();
    let (last, tables) = match keys.as_slice() {
        [one] if TOP.contains(one) => (*one, &keys[..0]),
        ["agents", _, field] if OF_AGENTS.contains(field) => (*field, &keys[..2]),
        ["agents", _, "env", name] if !name.is_empty() => (*name, &keys[..3]),
        _ => return Err(unknown(key)),
    };
    let mut value = toml_value(key, last, tables.len() == 2, value)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, name) in tables.iter().enumerate() {
        let mut new = Table::new();
        new.set_implicit(depth == 0);
        let item = table.entry(name).or_insert(Item::Table(new));
        table = item.as_table_like_mut().ok_or_else(|| Error::usage(format!("{name:?} is no table")))?;
    }
    match table.get_mut(last) {
        Some(item) => {
            // Remarks before it and behind it stay.
            if let Some(old) = item.as_value() {
                value.decor_mut().clone_from(old.decor());
            }
            *item = Item::Value(value);
        }
        None => drop(table.insert(last, Item::Value(value))),
    }
    let text = document.to_string();
    parse::<Config>(path, &text)?.check(path, &text)?;
    Ok(text)
}

fn toml_value(key: &str, last: &str, of_agent: bool, text: &str) -> Result<toml_edit::Value, Error> {
    let wrong = |what: &str| Error::usage(format!("{key} must be {what}, not {text:?}"));
    match last {
        "replay_budget" if of_agent => {
            text.parse::<i64>().map(Into::into).map_err(|_| wrong("a whole number of bytes"))
        }
        "notify_after" if !of_agent => {
            text.parse::<i64>().map(Into::into).map_err(|_| wrong("a whole number of seconds"))
        }
        "fallback" if !of_agent => {
            let names = text.trim_matches(['[', ']']).split(',').map(|name| name.trim().trim_matches('"'));
            Ok(names.filter(|name| !name.is_empty()).collect::<toml_edit::Array>().into())
        }
        // A way that there is, or the words of a command.
        "notify" if !of_agent => {
            let value = toml_edit::Value::from_str(text).ok();
            Ok(value.filter(toml_edit::Value::is_array).unwrap_or_else(|| text.into()))
        }
        "args" if of_agent => {
            let value = toml_edit::Value::from_str(text).ok();
            value
                .filter(toml_edit::Value::is_array)
                .ok_or_else(|| wrong("a list like [\"--flag\", \"value\"]"))
        }
        _ => Ok(text.into()),
    }
}

fn unknown(key: &str) -> Error {
    let agent = key.split('.').nth(1).unwrap_or("NAME");
    let mut known: Vec<String> = TOP.map(str::to_owned).to_vec();
    known.extend(OF_AGENTS.map(|field| format!("agents.{agent}.{field}")));
    known.push(format!("agents.{agent}.env.VARIABLE"));
    let hint = suggestion(key, known.iter().cloned());
    Error::usage(format!("{key:?} cannot be set; these can: {}{hint}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn set(text: &str, key: &str, value: &str) -> String {
        changed(Path::new("config.toml"), text, key, value).unwrap()
    }

    #[test]
    fn only_what_is_set_changes() {
        let text = "# mine\nagent = \"claude\"  # for now\n\n[agents.codex]\nmodel = \"a\"\n";
        let text = set(text, "agent", "codex");
        assert_eq!(text, "# mine\nagent = \"codex\"  # for now\n\n[agents.codex]\nmodel = \"a\"\n");
        let text = set(&text, "agents.codex.env.CODEX_HOME", "/x");
        assert!(text.ends_with("model = \"a\"\n\n[agents.codex.env]\nCODEX_HOME = \"/x\"\n"), "{text}");
        let text = set("", "agents.pi.replay_budget", "4096");
        assert_eq!(text, "[agents.pi]\nreplay_budget = 4096\n");
        assert_eq!(
            set(&text, "agents.pi.args", "[\"-x\"]"),
            "[agents.pi]\nreplay_budget = 4096\nargs = [\"-x\"]\n"
        );
        assert_eq!(set("", "notify_after", "30"), "notify_after = 30\n");
        assert_eq!(set("", "notify", "terminal"), "notify = \"terminal\"\n");
        assert_eq!(set("", "notify", "[\"say\"]"), "notify = [\"say\"]\n");
        for list in ["codex,gemini", "[\"codex\", \"gemini\"]"] {
            assert_eq!(set("", "fallback", list), "fallback = [\"codex\", \"gemini\"]\n");
        }
        assert_eq!(set("", "handover", "allow"), "handover = \"allow\"\n");
        assert_eq!(set("", "limit_after", "90s"), "limit_after = \"90s\"\n");
    }

    #[test]
    fn what_would_be_wrong_is_refused() {
        for (key, value, words) in [
            ("agnet", "claude", "did you mean \"agent\"?"),
            ("agent", "cluade", "did you mean \"claude\"?"),
            ("resume", "sometimes", "unknown variant"),
            ("notify", "fanfare", "or a command"),
            ("notify_after", "soon", "whole number"),
            ("fallback", "codex,gemnii", "did you mean \"gemini\"?"),
            ("handover", "sometimes", "unknown variant"),
            ("limit_after", "soon", "limit_after"),
            ("agents.codex.permissions", "all", "unknown variant"),
            ("agents.codex.modle", "x", "agents.codex.model"),
            ("agents.codex.replay_budget", "much", "whole number"),
            ("agents.codex.args", "-x", "a list like"),
            ("agents.codex.base_url", "http://x", "[agents.openai]"),
            ("agents.demo.command", "x", "part of rejoin"),
            ("home", "/x", "cannot be set"),
        ] {
            let error = changed(Path::new("config.toml"), "", key, value).unwrap_err().to_string();
            assert!(error.contains(words), "{key}: {error}");
        }
    }
}
