//! A loss of power: of what was written, only what was synced is left.
//!
//! Only journals and the logs of flows are cut, because everything is promised for them; caches may lose anything at
//! any time, and the agents' own files are theirs.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::report::{Lasting, Report};
use super::world::World;

/// How long the files were that must last.
pub(crate) type Lengths = HashMap<PathBuf, u64>;

/// What is there now, and counts as being on the disk.
pub(crate) fn lengths(world: &World) -> Lengths {
    let list = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
    let projects = list(&world.home().join("projects")).flat_map(|project| list(&project.path()));
    let files = projects.chain(list(&world.home().join("flows")));
    files.filter_map(|file| Some((file.path(), file.metadata().ok()?.len()))).collect()
}

/// Takes away what would not have survived a loss of power at the end of a command.
pub(crate) fn lose(world: &World, before: &Lengths, report: &Report) -> Result<()> {
    let lasting = lasting(before, &report.lasting);
    for (path, length) in lengths(world) {
        let kept = lasting.get(&path).copied();
        let undone = match (kept, origin(&path, before, &report.lasting)) {
            (Some(kept), _) if kept < length => {
                OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(kept))
            }
            (Some(_), _) => Ok(()),
            (None, Some(from)) => fs::rename(&path, from),
            (None, None) => fs::remove_file(&path),
        };
        undone.with_context(|| format!("cannot cut {}", path.display()))?;
    }
    Ok(())
}

/// Where a file was that was moved, if it had its name there before: a move that does not last is undone.
fn origin<'a>(path: &Path, before: &Lengths, events: &'a [Lasting]) -> Option<&'a Path> {
    events.iter().rev().find_map(|event| match event {
        Lasting::Moved { from, to } if Path::new(to) == path && before.contains_key(Path::new(from)) => {
            Some(Path::new(from))
        }
        _ => None,
    })
}

/// The files whose names are on the disk, and how much of each.
fn lasting(before: &Lengths, events: &[Lasting]) -> Lengths {
    let mut content = before.clone();
    let mut named: HashSet<PathBuf> = before.keys().cloned().collect();
    for event in events {
        match event {
            Lasting::Made { path } => {
                content.entry(PathBuf::from(path)).or_default();
            }
            Lasting::Synced { size, path } => {
                let path = PathBuf::from(path);
                // If it is a directory, the names in it last.
                named.extend(content.keys().filter(|file| file.parent() == Some(&path)).cloned());
                if let Some(synced) = content.get_mut(&path) {
                    *synced = *size;
                }
            }
            Lasting::Moved { from, to } => {
                if let Some(size) = content.get(Path::new(from)).copied() {
                    content.insert(PathBuf::from(to), size);
                }
            }
        }
    }
    content.retain(|path, _| named.contains(path));
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_synced_is_left() {
        let before = Lengths::from([(PathBuf::from("/h/old"), 10)]);
        let synced = |size, path: &str| Lasting::Synced { size, path: path.to_owned() };
        let events = [
            synced(25, "/h/old"),
            Lasting::Made { path: "/h/draft".to_owned() },
            synced(7, "/h/draft"),
            Lasting::Moved { from: "/h/draft".to_owned(), to: "/h/new".to_owned() },
        ];
        let left = lasting(&before, &events);
        assert_eq!(left.get(Path::new("/h/old")), Some(&25));
        assert_eq!(left.get(Path::new("/h/new")), None, "its name was not synced");
        let left = lasting(&before, &[&events[..], &[synced(0, "/h")]].concat());
        assert_eq!(left.get(Path::new("/h/new")), Some(&7));
    }
}
