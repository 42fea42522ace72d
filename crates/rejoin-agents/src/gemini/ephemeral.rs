//! A turn that leaves nothing behind.
//!
//! Gemini always stores its session (0.61.0), so such a turn gets a home of its own that is thrown away with
//! it. The user's settings, instructions and rules go along; a login that is kept in the real home
//! does not, and then the turn is refused. A copied login would be worse than none: the copy is
//! renewed, and the original is then worth nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;
use serde_json::Value;

use super::launch::missing;
use crate::{Capabilities, Refusal, jsonc};

/// Files of the user's that matter to a turn and hold no login.
const TAKEN: &[&str] = &["settings.json", "GEMINI.md"];
/// What does not go along.
const LEFT: &[&str] = &["agents", "commands", "extensions", "skills"];
/// Larger ones are not taken.
const LARGEST: u64 = 4 << 20;

/// A home that is thrown away.
pub(super) struct Home {
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(String, String)>,
    pub(super) files: Vec<(PathBuf, String)>,
    pub(super) warning: Option<String>,
    /// All of it.
    pub(super) dir: PathBuf,
}

/// Makes ready a home below `dir`, which is new.
pub(super) fn home(
    dir: PathBuf,
    store: Option<&Path>,
    capabilities: &Capabilities,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Result<Home, Refusal> {
    if !capabilities.ephemeral {
        return Err(missing(capabilities, "--session-id", "cannot run without storing the session"));
    }
    let settings = store.and_then(|store| jsonc::file(&store.join("settings.json")));
    if let Some(login) = lost_login(settings.as_ref(), env) {
        return Err(Refusal::Unsupported(format!(
            "gemini can run without storing anything only in a home of its own, and {login}; set GEMINI_API_KEY (and \
             choose it in gemini), or run the turn without --ephemeral"
        )));
    }
    let Some(path) = dir.to_str() else {
        return Err(Refusal::Unsupported(format!(
            "{} is not valid Unicode, and has to be for gemini",
            dir.display()
        )));
    };

    let gemini = dir.join(".gemini");
    let temporary = dir.join("tmp");
    let mut files = vec![(temporary.join(".keep"), String::new())];
    let mut args = Vec::new();
    // Reports of failed turns hold the conversation and are written to the temporary directory.
    let mut additions = vec![
        ("GEMINI_CLI_HOME".to_owned(), path.to_owned()),
        ("TMPDIR".to_owned(), temporary.to_string_lossy().into_owned()),
    ];
    let mut missing = Vec::new();
    if let Some(store) = store {
        for name in TAKEN {
            let file = store.join(name);
            let text = read_regular_text(&file, LARGEST).ok();
            files.extend(text.map(|text| (gemini.join(name), text)));
        }
        let folders = store.join("trustedFolders.json");
        let unnamed = env("GEMINI_CLI_TRUSTED_FOLDERS_PATH").is_none();
        if let Some(folders) = folders.to_str().filter(|_| unnamed && folders.exists()) {
            additions.push(("GEMINI_CLI_TRUSTED_FOLDERS_PATH".to_owned(), folders.to_owned()));
        }
        let rules = store.join("policies");
        if rules.is_dir() {
            if !capabilities.has("--policy") {
                let text = "this gemini would run without your policies in a home of its own; update gemini";
                return Err(Refusal::Permissions(text.into()));
            }
            let mut flag = OsString::from("--policy=");
            flag.push(&rules);
            args.push(flag);
        }
        let filled =
            |name: &&&str| fs::read_dir(store.join(name)).is_ok_and(|mut entries| entries.next().is_some());
        missing = LEFT.iter().filter(filled).copied().collect();
    }
    let warning = (!missing.is_empty())
        .then(|| format!("your Gemini {} are not there in an ephemeral turn", missing.join(", ")));
    Ok(Home { args, env: additions, files, warning, dir })
}

/// Why Gemini would not be logged in elsewhere.
fn lost_login(settings: Option<&Value>, env: &dyn Fn(&str) -> Option<OsString>) -> Option<String> {
    let set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let is = |name: &str, value: &str| env(name).is_some_and(|it| it == value);
    let chosen = settings.and_then(|settings| settings.pointer("/security/auth/selectedType")?.as_str());
    let kind = chosen.unwrap_or(if is("GOOGLE_GENAI_USE_GCA", "true") {
        "oauth-personal"
    } else if is("GOOGLE_GENAI_USE_VERTEXAI", "true") {
        "vertex-ai"
    } else {
        "gemini-api-key"
    });
    let there = match kind {
        "vertex-ai" => set("GOOGLE_API_KEY") || (set("GOOGLE_CLOUD_PROJECT") && set("GOOGLE_CLOUD_LOCATION")),
        "compute-default-credentials" | "cloud-shell" => true,
        "oauth-personal" => return Some("your login with Google is kept in the real one".to_owned()),
        _ => set("GEMINI_API_KEY"),
    };
    (!there).then(|| format!("nothing in the environment logs it in there ({kind})"))
}
