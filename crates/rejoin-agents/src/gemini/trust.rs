//! Whether Gemini may be told to run in a directory it does not know.
//!
//! Without a terminal Gemini (0.61.0) refuses to run where the user has not said that they trust the
//! directory (exit code 55), unless `--skip-trust` says so for them. That flag does more than let
//! it run: the project's `.env` and `.gemini/.env` are put into its environment whole (so a cloned
//! repository could send the user's key to another server), and what other versions load of
//! `.gemini` is theirs to decide. So the flag is passed only where there is nothing to be trusted:
//! no such file in the directory or above it. Whatever the user has said about the directory, in
//! Gemini or in the environment, stands.

use std::ffi::OsString;
use std::path::Path;

use rejoin_files::read_regular_text;
use serde_json::Value;

use crate::jsonc::LONGEST;

/// Whether `--skip-trust` brings in nothing but the run itself.
pub(super) fn is_harmless(dir: &Path, store: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let decided =
        ["GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_RESTRICTED_MODE"].iter().any(|name| env(name).is_some());
    if decided || is_settled(dir, store, env) {
        return false;
    }
    let home = store.and_then(Path::parent);
    let here = [".gemini", ".agents", ".env"];
    let above = [".gemini/.env", ".env"];
    let brings = |place: &Path, names: &[&str]| names.iter().any(|name| place.join(name).exists());
    // What lies in the user's own home is theirs.
    let theirs = |place: &Path| home.is_some_and(|home| same(place, home));
    (theirs(dir) || !brings(dir, &here))
        && dir.ancestors().skip(1).all(|place| theirs(place) || !brings(place, &above))
}

fn same(one: &Path, other: &Path) -> bool {
    one == other || other.canonicalize().is_ok_and(|other| one == other)
}

/// Whether the user has told Gemini about the directory or one above it, be it yes or no. A list
/// that cannot be read counts as yes: nothing is decided in its place.
fn is_settled(dir: &Path, store: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> bool {
    let named = env("GEMINI_CLI_TRUSTED_FOLDERS_PATH").filter(|path| !path.is_empty());
    let file = named.map(Into::into).or_else(|| store.map(|store| store.join("trustedFolders.json")));
    let Some(text) = file.and_then(|file| read_regular_text(&file, LONGEST).ok()) else {
        return false;
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(folders)) => folders.iter().any(|(folder, level)| {
            let folder = Path::new(folder);
            let parent = folder.parent().filter(|_| level.as_str() == Some("TRUST_PARENT"));
            dir.starts_with(parent.unwrap_or(folder))
        }),
        _ => true,
    }
}
