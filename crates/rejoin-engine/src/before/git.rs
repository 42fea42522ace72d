//! The two facts about git that a turn needs, read from its files.

use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;

/// Longer than any path or name of a branch.
const LONGEST: u64 = 64 << 10;

/// The root of the enclosing work tree, or the directory itself outside git. Real paths.
pub fn project_of(dir: &Path) -> PathBuf {
    dir.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(dir).to_path_buf()
}

/// The branch that is checked out, if one is.
pub(crate) fn branch(project: &Path) -> Option<String> {
    let mut git = project.join(".git");
    if git.is_file() {
        // A linked work tree or a submodule: `gitdir: <path>`.
        let text = read_regular_text(&git, LONGEST).ok()?;
        git = project.join(text.strip_prefix("gitdir:")?.trim());
    }
    let head = read_regular_text(&git.join("HEAD"), LONGEST).ok()?;
    Some(head.strip_prefix("ref: refs/heads/")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_the_head_is_not_waited_for() {
        let project = tempfile::tempdir().unwrap();
        let git = project.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/some/branch\n").unwrap();
        assert_eq!(branch(project.path()).as_deref(), Some("some/branch"));
        std::fs::remove_file(git.join("HEAD")).unwrap();
        mknodat(CWD, git.join("HEAD"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let (done, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(branch(project.path())));
        assert_eq!(waiting.recv_timeout(std::time::Duration::from_mins(1)).ok(), Some(None));
    }
}
