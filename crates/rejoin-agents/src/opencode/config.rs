//! What the user's configuration of OpenCode says, as far as rejoin must know it: without a model
//! of the user's own, OpenCode sends the prompt to a service of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{Refusal, jsonc, places};

/// Holds configuration that wins over all files.
const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

/// Reads the environment of the run.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// All parts of the configuration that OpenCode would put together in a directory.
pub(super) struct Config {
    parts: Vec<Value>,
    /// The model that was last chosen in its terminal.
    recent: bool,
    /// There are plugins or tools, which are code.
    code: bool,
}

impl Config {
    pub(super) fn read(env: Env<'_>, dir: &Path) -> Self {
        let places = Places::of(env, dir);
        let code = places.folders.iter().any(|place| has_code(place));
        let mut parts: Vec<Value> = places.files.iter().filter_map(|file| jsonc::file(file)).collect();
        parts.extend(content(env).and_then(|text| jsonc::read(&text)));
        let recent = home(env, "XDG_STATE_HOME", ".local/state")
            .and_then(|state| jsonc::file(&state.join("model.json")));
        let recent =
            recent.and_then(|state| Some(!state.get("recent")?.as_array()?.is_empty())).unwrap_or(false);
        Self { parts, recent, code }
    }

    /// Whether the user chose a model, or at least a provider: its own service is used only if
    /// nothing was chosen at all. `profiles` tells whether the models of profiles count.
    pub(super) fn chooses_a_model(&self, profiles: bool) -> bool {
        let named =
            |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|model| !model.is_empty());
        let profile =
            self.parts.iter().rev().find_map(|part| part.get("default_agent")?.as_str()).unwrap_or("build");
        self.recent
            || self.parts.iter().any(|part| {
                let providers = part.get("provider").and_then(Value::as_object);
                let of_profile = part.get("agent").and_then(|all| all.get(profile)?.get("model"));
                named(part.get("model"))
                    || providers.is_some_and(|providers| !providers.is_empty())
                    || (profiles && named(of_profile))
            })
    }

    /// Whether code of the user's or the project's own runs inside of OpenCode.
    pub(super) fn runs_code(&self) -> bool {
        let plugins =
            |part: &Value| part.get("plugin").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        self.code || self.parts.iter().any(plugins)
    }

    /// The servers it would start.
    pub(super) fn servers(&self) -> Vec<&str> {
        let servers = self.parts.iter().filter_map(|part| part.get("mcp")?.as_object());
        let mut names: Vec<&str> = servers.flat_map(|servers| servers.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The variable that puts `ours` over all of the user's configuration, for this run only.
pub(super) fn over(env: Env<'_>, ours: Value) -> Result<(String, String), Refusal> {
    let mut all = match content(env) {
        None => json!({}),
        Some(text) => jsonc::read(&text).filter(Value::is_object).ok_or_else(|| {
            let words = format!("{CONTENT} in the environment is no JSON object: correct or unset it");
            Refusal::Unsupported(words)
        })?,
    };
    merge(&mut all, ours);
    Ok((CONTENT.to_owned(), all.to_string()))
}

/// Puts `ours` over `theirs`, object by object.
pub(super) fn merge(theirs: &mut Value, ours: Value) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (key, value) in ours {
                merge(theirs.entry(key).or_insert(Value::Null), value);
            }
        }
        (theirs, ours) => *theirs = ours,
    }
}

/// What the user gave by environment variable.
fn content(env: Env<'_>) -> Option<String> {
    env(CONTENT).and_then(|text| text.into_string().ok()).filter(|text| !text.is_empty())
}

fn home(env: Env<'_>, name: &str, below_home: &str) -> Option<PathBuf> {
    let base =
        places::named(env, name).or_else(|| places::named(env, "HOME").map(|home| home.join(below_home)));
    base.map(|base| base.join("opencode"))
}

/// Where configuration may lie.
struct Places {
    /// In the order in which they are put together.
    files: Vec<PathBuf>,
    /// Where plugins and tools may lie as well.
    folders: Vec<PathBuf>,
}

impl Places {
    fn of(env: Env<'_>, dir: &Path) -> Self {
        let in_dir = |dir: &Path| ["opencode.json", "opencode.jsonc"].map(|name| dir.join(name));
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        if let Some(config) = home(env, "XDG_CONFIG_HOME", ".config") {
            files.push(config.join("config.json"));
            files.extend(in_dir(&config));
            folders.push(config);
        }
        files.extend(places::named(env, "OPENCODE_CONFIG"));
        let switched_off = |name: &str| env(name).is_some_and(|value| value == "1" || value == "true");
        let mut hidden = Vec::new();
        if !switched_off("OPENCODE_DISABLE_PROJECT_CONFIG") {
            let root = dir.ancestors().position(|place| place.join(".git").exists());
            let mut places: Vec<&Path> =
                dir.ancestors().take(root.map_or(usize::MAX, |root| root + 1)).collect();
            places.reverse();
            files.extend(places.iter().flat_map(|place| in_dir(place)));
            hidden.extend(places.iter().map(|place| place.join(".opencode")));
        }
        hidden.extend(places::named(env, "HOME").map(|home| home.join(".opencode")));
        hidden.extend(places::named(env, "OPENCODE_CONFIG_DIR"));
        files.extend(hidden.iter().flat_map(|place| in_dir(place)));
        folders.extend(hidden);
        // What the administrator of the machine says.
        files.extend(in_dir(Path::new("/etc/opencode")));
        files.extend(in_dir(Path::new("/Library/Application Support/opencode")));
        Self { files, folders }
    }
}

fn has_code(folder: &Path) -> bool {
    let filled = |name: &str| folder.join(name).read_dir().is_ok_and(|mut entries| entries.next().is_some());
    ["plugin", "plugins", "tool", "tools"].into_iter().any(filled)
}

/// What cannot be read says nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A home, a project below it, and what is set in the environment.
    fn config(home: &Path, set: &[(&str, &str)]) -> Config {
        let env = |name: &str| {
            let given = set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(*value));
            given.or_else(|| (name == "HOME").then(|| home.into()))
        };
        Config::read(&env, &home.join("proj/sub"))
    }

    fn put(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    #[test]
    fn a_model_may_be_chosen_in_many_places() {
        for (file, text) in [
            (".config/opencode/opencode.json", r#"{"model":"a/b"}"#),
            (".config/opencode/opencode.jsonc", "{ // mine\n\"model\": \"a/b\", }"),
            (".config/opencode/config.json", r#"{"provider":{"a":{}}}"#),
            ("proj/opencode.json", r#"{"model":"a/b"}"#),
            ("proj/sub/opencode.jsonc", r#"{"model":"a/b"}"#),
            ("proj/.opencode/opencode.json", r#"{"model":"a/b"}"#),
            (".opencode/opencode.json", r#"{"model":"a/b"}"#),
            (".local/state/opencode/model.json", r#"{"recent":[{"providerID":"a","modelID":"b"}]}"#),
        ] {
            let home = tempfile::tempdir().unwrap();
            fs::create_dir_all(home.path().join("proj/.git")).unwrap();
            assert!(!config(home.path(), &[]).chooses_a_model(true));
            put(&home.path().join(file), text);
            assert!(config(home.path(), &[]).chooses_a_model(false), "{file}");
        }
    }

    #[test]
    fn what_chooses_nothing_counts_for_nothing() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("proj/.git")).unwrap();
        let file = home.path().join(".config/opencode/opencode.json");
        for text in
            ["", "{", "[]", r#"{"model":""}"#, r#"{"model":7}"#, r#"{"provider":{}}"#, r#"{"theme":"x"}"#]
        {
            put(&file, text);
            assert!(!config(home.path(), &[]).chooses_a_model(true), "{text}");
        }
        put(&home.path().join("opencode.json"), r#"{"model":"a/b"}"#);
        assert!(!config(home.path(), &[]).chooses_a_model(true), "beyond the root of the work tree");
        put(&home.path().join("proj/opencode.json"), r#"{"model":"a/b"}"#);
        let off = [("OPENCODE_DISABLE_PROJECT_CONFIG", "1")];
        assert!(!config(home.path(), &off).chooses_a_model(true));
    }

    #[test]
    fn the_environment_and_the_default_profile_may_choose() {
        let home = tempfile::tempdir().unwrap();
        let given = [("OPENCODE_CONFIG_CONTENT", r#"{"model":"a/b","mcp":{"y":{},"x":{}}}"#)];
        let found = config(home.path(), &given);
        assert!(found.chooses_a_model(false));
        assert_eq!(found.servers(), ["x", "y"]);
        let given = [("OPENCODE_CONFIG_CONTENT", r#"{"default_agent":"me","agent":{"me":{"model":"a/b"}}}"#)];
        let found = config(home.path(), &given);
        assert!(found.chooses_a_model(true) && !found.chooses_a_model(false));
        let other = home.path().join("other.json");
        put(&other, r#"{"model":"a/b"}"#);
        assert!(config(home.path(), &[("OPENCODE_CONFIG", other.to_str().unwrap())]).chooses_a_model(true));
    }
}
