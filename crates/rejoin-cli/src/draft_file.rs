//! A file that is written beside the one it will replace. Whoever writes it holds a lock on it, so that one without a
//! lock was left by somebody who was killed: the next one who writes beside it removes it.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

const PREFIX: &str = ".rejoin-export-";

/// A draft of a file, readable by its owner alone; gone unless it is kept.
pub(crate) struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Draft {
    /// Begins a draft of the file at `path`, and removes what others left there.
    pub(crate) fn of(path: PathBuf) -> io::Result<Self> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        remove_left_behind(directory);
        loop {
            let file = NamedTempFile::with_prefix_in(PREFIX, directory)?;
            // Where there are no locks, nobody removes what others left.
            let _ = file.as_file().lock();
            // Somebody may have taken it for left behind before it was locked.
            if file.as_file().metadata()?.nlink() > 0 {
                return Ok(Self { file, path });
            }
        }
    }

    /// All is written: it takes the place of the file.
    pub(crate) fn keep(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(self.path)?;
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Removes drafts that nobody writes any more. One that cannot be removed is no reason to write nothing.
fn remove_left_behind(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_draft(&entry.file_name())) {
        // Neither a link is followed nor a pipe waited for.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let opened = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(entry.path());
        let Ok(file) = opened else { continue };
        let is_ours = file
            .metadata()
            .is_ok_and(|there| there.is_file() && there.uid() == rustix::process::geteuid().as_raw());
        if is_ours && file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_written_now_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let there = |name: &str| directory.path().join(name);
        fs::write(there(".rejoin-export-killed"), "half").unwrap();
        fs::create_dir(there(".rejoin-export-directory")).unwrap();
        std::os::unix::fs::symlink(there("kept.md"), there(".rejoin-export-link")).unwrap();
        fs::write(there("kept.md"), "whole").unwrap();
        let mut first = Draft::of(there("first.md")).unwrap();
        let second = Draft::of(there("second.md")).unwrap();
        first.write_all(b"first").unwrap();
        first.keep().unwrap();
        second.keep().unwrap();
        let kept = [".rejoin-export-directory", ".rejoin-export-link", "first.md", "kept.md", "second.md"];
        assert_eq!(names(directory.path()), kept);
        assert_eq!(fs::read_to_string(there("first.md")).unwrap(), "first");
    }

    #[test]
    fn a_draft_that_is_not_kept_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        drop(Draft::of(directory.path().join("talk.md")).unwrap());
        assert_eq!(names(directory.path()), [""; 0]);
    }
}
