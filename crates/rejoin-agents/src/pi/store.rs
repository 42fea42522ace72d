//! Where Pi (0.74.2) keeps its sessions: one file each, in a directory named after the project's, or all of
//! them in one directory that the user named.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rejoin_core::SessionId;
use serde::Deserialize;

use crate::loose::Text;
use crate::{Damage, Found, damage, places};

/// Looks for the file of a session that was run in `dir`. The store is Pi's own directory, or one
/// for sessions alone.
pub(super) fn find(store: &Path, dir: &Path, session: &SessionId) -> Found {
    let own = is_own_directory(store)
        .then(|| configured(store, dir).unwrap_or_else(|| store.join("sessions").join(mangled(dir))));
    // One for sessions alone may hold other things, too, that make it look like Pi's own.
    let places = own.into_iter().chain([store.to_owned()]);
    let found = places.map(|place| in_place(&place, dir, session)).find(|found| !matches!(found, Ok(None)));
    match found {
        Some(Ok(Some(file))) => Found::At(file),
        Some(Err(_)) => Found::CannotTell,
        Some(Ok(None)) | None => Found::Nowhere,
    }
}

/// Whether this is Pi's own directory: it puts its logins there as soon as it is started.
pub(super) fn is_own_directory(store: &Path) -> bool {
    ["auth.json", "settings.json", "sessions"].iter().any(|name| store.join(name).exists())
}

/// The directory for sessions that the project's settings name, or else the user's.
pub(super) fn configured(store: &Path, dir: &Path) -> Option<PathBuf> {
    places::configured(&[project_settings(dir), store.join("settings.json")], "/sessionDir", dir)
}

/// Where a project has settings of its own.
pub(super) fn project_settings(dir: &Path) -> PathBuf {
    dir.join(".pi/settings.json")
}

/// The name Pi gives to the directory of a project.
fn mangled(dir: &Path) -> String {
    let name = dir.to_string_lossy();
    let name = name.strip_prefix(['/', '\\']).unwrap_or(&name);
    format!("--{}--", name.replace(['/', '\\', ':'], "-"))
}

fn in_place(place: &Path, dir: &Path, session: &SessionId) -> io::Result<Option<PathBuf>> {
    let end = format!("_{session}.jsonl");
    for file in places::entries(place)? {
        let named = file.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&end));
        if named && is_it(&file, dir, session)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    cwd: Option<String>,
}

/// Whether the file holds this session, begun in this directory (Pi would go to another one
/// without a word), and a prompt.
fn is_it(file: &Path, dir: &Path, session: &SessionId) -> io::Result<bool> {
    const BEGINNING: u64 = 1 << 20;
    const PROMPT: &[u8] = br#""role":"user""#;
    let mut beginning = Vec::new();
    File::open(file)?.take(BEGINNING).read_to_end(&mut beginning)?;
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(header) = serde_json::from_slice::<Header>(first) else {
        return Ok(false);
    };
    let ours = header.kind == "session" && header.id == session.as_str();
    let here = header.cwd.is_none_or(|cwd| Path::new(&cwd) == dir);
    // So much without a prompt is not what an unused session looks like.
    let long = beginning.len() as u64 == BEGINNING;
    Ok(ours && here && (long || memmem::find(&beginning, PROMPT).is_some()))
}

/// An entry's place in the tree.
#[derive(Deserialize, Default)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Entry<'a> {
    id: Text<'a>,
    #[serde(rename = "parentId")]
    parent: Text<'a>,
}

/// What is wrong with a session's file. Pi remembers what leads from its last entry to the first, and
/// nothing above an entry that cannot be read.
pub(super) fn damage(file: &Path) -> io::Result<Option<Damage>> {
    let link = |line: &[u8]| {
        let entry: Entry<'_> = serde_json::from_slice(line).ok()?;
        Some((entry.id.into_filled()?, entry.parent.into_string()))
    };
    Ok(damage::of_lines(file)?.or(damage::of_chain(file, link)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_projects_are_mangled_as_pi_does() {
        assert_eq!(mangled(Path::new("/home/me/my_app.v2")), "--home-me-my_app.v2--");
        assert_eq!(mangled(Path::new("/a:b/é")), "--a-b-é--");
        assert_eq!(mangled(Path::new("/")), "----");
    }
}
