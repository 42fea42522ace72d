//! What a project is known by, as it is now: a few small files are read, nothing is run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rejoin_core::{DirectoryMark, Kinship, ProjectMarks};
use sha2::{Digest, Sha256};

use crate::before::git::Repository;

/// A project's root, looked at to tell whether it is one that was seen before.
pub struct SeenProject {
    marks: ProjectMarks,
    repository: Option<Repository>,
}

impl SeenProject {
    /// The project with this root (real path).
    pub fn look(project: &Path) -> Self {
        let repository = Repository::of(project);
        let found = repository.as_ref();
        let marks = ProjectMarks {
            directory: directory_mark(project),
            git_common_dir: found.and_then(|git| git.common_dir.to_str()).map(str::to_owned),
            work_tree: found.and_then(|git| git.work_tree.clone()),
            first_commit: found.and_then(Repository::first_logged_commit),
            remote: found.and_then(Repository::origin).as_deref().map(hash_of_address),
        };
        Self { marks, repository }
    }

    /// What is worth writing down, where this was written down last: the same, as long as it holds.
    pub(crate) fn marks(self, last: Option<&ProjectMarks>) -> ProjectMarks {
        let Self { mut marks, repository } = self;
        if let Some(repository) = &repository {
            let known = last.and_then(|last| last.first_commit.as_ref());
            if let Some(known) = known.filter(|known| Some(*known) != marks.first_commit.as_ref())
                && repository.holds(known)
            {
                marks.first_commit = Some(known.clone());
            }
            if marks.first_commit.is_none() {
                marks.first_commit = repository.some_commit();
            }
        }
        marks
    }

    /// It is a work tree of git.
    pub fn is_in_git(&self) -> bool {
        self.repository.is_some()
    }

    /// How a project that was seen once is related to this one.
    pub fn kinship(&self, was: &ProjectMarks) -> Option<Kinship> {
        let holds = |commit: &str| self.repository.as_ref().is_some_and(|git| git.holds(commit));
        was.kinship(&self.marks, holds)
    }
}

fn directory_mark(project: &Path) -> Option<DirectoryMark> {
    let metadata = fs::metadata(project).ok()?;
    let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(DirectoryMark { inode: metadata.ino(), born: i64::try_from(born.as_nanos()).ok()? })
}

/// Of where a repository was cloned from: the same for all ways to write one address, and for whoever logs in.
fn hash_of_address(url: &str) -> String {
    let digest = Sha256::digest(address(url).as_bytes());
    let hex: Vec<String> = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    hex.concat()
}

/// `https://ann:secret@Host/a/b.git?token=x` and `git@host:a/b` are `host/a/b`.
fn address(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        // A path on this machine has no colon before its first slash.
        None => match url.split_once(':').filter(|(host, _)| !host.contains('/')) {
            Some((host, path)) => (host, path),
            None => ("", url),
        },
    };
    let host = host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let path = if host.is_empty() { path } else { path.trim_start_matches('/') };
    let path = path.trim_end_matches('/').trim_end_matches(".git").trim_end_matches('/');
    if host.is_empty() { path.to_owned() } else { format!("{host}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_place_are_one_and_hold_no_login() {
        for url in [
            "https://example.org/ann/app.git",
            "https://ann:s3cret@Example.org/ann/app",
            "https://oauth2:glpat-x@example.org/ann/app.git/",
            "https://example.org/ann/app?access_token=s3cret#x",
            "git@example.org:ann/app.git",
            "ssh://git@example.org/ann/app.git",
        ] {
            assert_eq!(address(url), "example.org/ann/app", "{url}");
        }
        assert_eq!(address("/srv/git/app.git"), "/srv/git/app");
        assert_eq!(address("file:///srv/git/app.git"), "srv/git/app");
        assert_eq!(address("https://example.org:8443/app"), "example.org:8443/app");
        assert_eq!(address(""), "");
        assert_ne!(hash_of_address("git@example.org:a"), hash_of_address("git@example.org:b"));
        assert_eq!(hash_of_address("x").len(), 32);
    }

    #[test]
    fn a_renamed_directory_is_known_again_and_a_copy_is_not() {
        let place = tempfile::tempdir().unwrap();
        let (old, new) = (place.path().join("old"), place.path().join("new"));
        fs::create_dir(&old).unwrap();
        let was = SeenProject::look(&old).marks(None);
        if was.directory.is_none() {
            eprintln!("skipped: this file system does not say when a directory was made");
            return;
        }
        fs::rename(&old, &new).unwrap();
        assert_eq!(SeenProject::look(&new).kinship(&was), Some(Kinship::SameDirectory));
        fs::create_dir(&old).unwrap();
        assert_eq!(SeenProject::look(&old).kinship(&was), None);
    }
}
