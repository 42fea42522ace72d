//! The two facts about git that a turn needs, read from its files.

use std::path::{Path, PathBuf};

/// The root of the enclosing work tree, or the directory itself outside git. Real paths.
pub fn project_of(dir: &Path) -> PathBuf {
    dir.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(dir).to_path_buf()
}

/// The branch that is checked out, if one is.
pub(crate) fn branch(project: &Path) -> Option<String> {
    let mut git = project.join(".git");
    if git.is_file() {
        // A linked work tree or a submodule: `gitdir: <path>`.
        let text = std::fs::read_to_string(&git).ok()?;
        git = project.join(text.strip_prefix("gitdir:")?.trim());
    }
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    Some(head.strip_prefix("ref: refs/heads/")?.trim().to_owned())
}
