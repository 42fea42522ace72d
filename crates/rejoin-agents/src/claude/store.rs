//! Where Claude (2.1.197) keeps its sessions: one file each, in a directory named after the project's.

use std::io;
use std::path::{Path, PathBuf};

use rejoin_core::SessionId;

use crate::Found;
use crate::places::entries;
use crate::transcript::{holds_a_prompt, mangled};

/// Longer names of directories are cut here, and a hash we cannot compute is added.
const LONGEST_NAME: usize = 200;

/// Looks for the file of a session that was run in `dir`.
pub(super) fn find(store: &Path, dir: &Path, session: &SessionId) -> Found {
    let found = directories(&store.join("projects"), dir).and_then(|directories| {
        for directory in directories {
            let file = directory.join(format!("{session}.jsonl"));
            if holds_a_prompt(&file)? {
                return Ok(Found::At(file));
            }
        }
        Ok(Found::Nowhere)
    });
    found.unwrap_or(Found::CannotTell)
}

fn directories(projects: &Path, dir: &Path) -> io::Result<Vec<PathBuf>> {
    let name = mangled(dir);
    if name.len() <= LONGEST_NAME {
        return Ok(vec![projects.join(name)]);
    }
    let prefix = format!("{}-", &name[..LONGEST_NAME]);
    let is_it =
        |dir: &PathBuf| dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
    Ok(entries(projects)?.into_iter().filter(is_it).collect())
}
