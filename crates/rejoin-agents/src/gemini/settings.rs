//! Keeping Gemini's clean-up away from live sessions.
//!
//! At every start Gemini (0.61.0) deletes stored sessions it takes for old or broken. A session that was
//! resumed in a later minute than it began looks broken: the resume leaves a second file without
//! messages behind, and the clean-up then removes all files of that session, the real one too. So
//! the clean-up is switched off for our runs, by a settings file of our own that stands where an
//! administrator's would; where there is a real one, or Gemini would not accept ours, the user is
//! told what to do.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Hazard, jsonc};

const SETTINGS: &str = "{\"general\":{\"sessionRetention\":{\"enabled\":false}}}\n";
const PATH: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
const DEFAULTS_PATH: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

/// What is put in force for a run.
#[derive(Default)]
pub(super) struct Retention {
    pub(super) env: Vec<(String, String)>,
    pub(super) file: Option<(PathBuf, String)>,
    pub(super) warning: Option<String>,
}

/// Where an administrator's settings and policies are.
pub(super) fn system_dir() -> &'static Path {
    Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/GeminiCli"
    } else {
        "/etc/gemini-cli"
    })
}

/// The settings of an administrator, or of whoever set the environment up.
fn of_the_system(system: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = env(PATH).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(system.join("settings.json")).filter(|file| file.exists()))
}

/// Whether Gemini cleans up when the user runs it.
fn in_force(theirs: Option<&Path>, user: Option<&Path>) -> bool {
    // What the system's settings say goes; where they say nothing, the user's own do.
    let says = |file: Option<&Path>| file.and_then(jsonc::file).and_then(|settings| cleans(&settings));
    says(theirs).or_else(|| says(user)).unwrap_or(true)
}

/// What the clean-up does to sessions when Gemini is run without rejoin, and how to stop it.
pub(super) fn hazard(store: &Path, system: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Hazard> {
    let (theirs, user) = (of_the_system(system, env), store.join("settings.json"));
    if !in_force(theirs.as_deref(), Some(&user)) {
        return None;
    }
    let told = theirs.filter(|file| jsonc::file(file).is_some_and(|settings| cleans(&settings).is_some()));
    let (whose, file) = match &told {
        Some(file) => ("the system's settings", file),
        None => ("its default", &user),
    };
    Some(Hazard {
        what: format!(
            "Gemini's clean-up is on ({whose}): a gemini that starts in a project deletes old sessions, and those that \
             were resumed later than the minute they began in; rejoin then replays the history"
        ),
        next: format!("put {} into {}", SETTINGS.trim_end(), file.display()),
    })
}

/// An address of its own makes Gemini take the service for a gateway, unless a login is chosen.
pub(super) fn gateway(store: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Option<Hazard> {
    const ADDRESS: &str = "GOOGLE_GEMINI_BASE_URL";
    let file = store.join("settings.json");
    let chosen = jsonc::file(&file).is_some_and(|it| it.pointer("/security/auth/selectedType").is_some());
    (env(ADDRESS).is_some() && !chosen).then(|| Hazard {
        what: format!("{ADDRESS} is set and no kind of login is chosen: gemini ends with exit code 41"),
        next: format!(
            "put {{\"security\":{{\"auth\":{{\"selectedType\":\"gemini-api-key\"}}}}}} into {}",
            file.display()
        ),
    })
}

/// Switches the clean-up off, or says why it stays on.
pub(super) fn keep_sessions(
    own_dir: &Path,
    store: Option<&Path>,
    system: &Path,
    env: &dyn Fn(&str) -> Option<OsString>,
) -> Retention {
    let ours = own_dir.join("settings.json");
    let theirs = of_the_system(system, &|name| env(name).filter(|path| Path::new(path) != ours));
    let user = store.map(|store| store.join("settings.json"));
    if let Some(theirs) = theirs {
        let on = in_force(Some(&theirs), user.as_deref());
        let why = format!("the system settings in {} are in force", theirs.display());
        return Retention { warning: on.then(|| warning(&why)), ..Retention::default() };
    }
    let Some(path) = ours.to_str() else {
        let why = "the path of a settings file of rejoin's is not valid Unicode".to_owned();
        return Retention { warning: Some(warning(&why)), ..Retention::default() };
    };
    let mut additions = vec![(PATH.to_owned(), path.to_owned())];
    // The administrator's defaults are looked for next to the settings, unless they are named.
    let defaults = system.join("system-defaults.json");
    if let Some(defaults) = defaults.to_str().filter(|_| env(DEFAULTS_PATH).is_none() && defaults.exists()) {
        additions.push((DEFAULTS_PATH.to_owned(), defaults.to_owned()));
    }
    let refused = unacceptable(&ours).filter(|_| in_force(None, user.as_deref()));
    let warning = refused.map(|place| {
        warning(&format!(
            "it obeys a settings file like ours only below directories of root that nobody else may write to, unlike {}",
            place.display()
        ))
    });
    Retention { env: additions, file: Some((ours.clone(), SETTINGS.to_owned())), warning }
}

fn warning(why: &str) -> String {
    format!(
        "Gemini's clean-up cannot be switched off for this turn ({why}): it deletes old sessions, and one that is being \
         resumed if another gemini starts in the same directory meanwhile. To keep them, put {} into \
         ~/.gemini/settings.json",
        SETTINGS.trim_end()
    )
}

fn cleans(settings: &Value) -> Option<bool> {
    settings.pointer("/general/sessionRetention/enabled")?.as_bool()
}

/// The first place on the way to a file because of which Gemini would not accept it. What does not
/// exist yet will belong to whoever owns the place it is made in.
fn unacceptable(file: &Path) -> Option<PathBuf> {
    let spelled = file.ancestors().map(Path::to_owned);
    let existing = file.ancestors().find(|place| place.exists());
    let real = existing.and_then(|place| place.canonicalize().ok());
    let real = real.iter().flat_map(|place| place.ancestors().map(Path::to_owned));
    spelled.chain(real).find(|place| {
        let of_root = |meta: Metadata| safe(&meta);
        let link = fs::symlink_metadata(place).is_ok_and(|meta| meta.is_symlink() && !is_of_root(&meta));
        link || !fs::metadata(place).map_or(true, of_root)
    })
}

#[cfg(unix)]
fn is_of_root(meta: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(meta) == 0
}

#[cfg(unix)]
fn safe(meta: &Metadata) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    is_of_root(meta) && std::os::unix::fs::MetadataExt::mode(meta) & OTHERS_WRITE == 0
}

#[cfg(not(unix))]
fn is_of_root(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn safe(_: &Metadata) -> bool {
    false
}
