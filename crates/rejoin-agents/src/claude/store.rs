//! Where Claude keeps its sessions: one file each, in a directory named after the project's.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rejoin_core::SessionId;

use crate::Found;

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
    let entries = match fs::read_dir(projects) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut matching = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            matching.push(entry.path());
        }
    }
    Ok(matching)
}

/// The name Claude gives to a project: every UTF-16 unit that is no ASCII letter or digit as `-`.
fn mangled(dir: &Path) -> String {
    let units = dir.to_string_lossy().encode_utf16().collect::<Vec<u16>>();
    let plain = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
    units.into_iter().map(|unit| plain(unit).map_or('-', char::from)).collect()
}

/// Claude itself does not find a session into which no prompt was written.
fn holds_a_prompt(file: &Path) -> io::Result<bool> {
    const FARTHEST: u64 = 64 << 20;
    const CHUNK: usize = 64 << 10;
    const PROMPT: &[u8] = br#""type":"user""#;
    let mut file = match File::open(file) {
        Ok(file) => file.take(FARTHEST),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let finder = memmem::Finder::new(PROMPT);
    let mut buffer = Vec::with_capacity(CHUNK + PROMPT.len());
    loop {
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)?;
        if finder.find(&buffer).is_some() {
            return Ok(true);
        }
        if read == 0 {
            // So much without a prompt is not what an unused session looks like.
            return Ok(file.limit() == 0);
        }
        let keep = buffer.len().saturating_sub(PROMPT.len());
        buffer.drain(..keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_projects_are_mangled_as_claude_does() {
        assert_eq!(mangled(Path::new("/home/me/my_app.v2")), "-home-me-my-app-v2");
        assert_eq!(mangled(Path::new("/é/😀")), "-----");
    }
}
