//! Looking for flow files in a project, without getting lost in it.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// So deep below the project.
const DEPTH: usize = 4;
/// So many entries of directories are looked at.
const ENTRIES: usize = 5_000;
/// So many files are given.
const FILES: usize = 200;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    /// By their paths inside the project, in their order.
    pub(super) files: Vec<PathBuf>,
    /// Not everything was looked at.
    pub(super) cut: bool,
}

/// The flow files of a project. Links are not followed; hidden directories and those of dependencies and builds are
/// passed over, and so is what cannot be read.
pub(super) fn flow_files(project: &Path) -> FoundFiles {
    let mut found = FoundFiles::default();
    let mut left = ENTRIES;
    let mut level = vec![PathBuf::new()];
    for _ in 0..=DEPTH {
        let mut below = Vec::new();
        for dir in std::mem::take(&mut level) {
            let Ok(entries) = fs::read_dir(project.join(&dir)) else { continue };
            for entry in entries.flatten() {
                if left == 0 || found.files.len() == FILES {
                    found.cut = true;
                    found.files.sort();
                    return found;
                }
                left -= 1;
                match what(&entry) {
                    What::Flow => found.files.push(dir.join(entry.file_name())),
                    What::Directory => below.push(dir.join(entry.file_name())),
                    What::Nothing => {}
                }
            }
        }
        below.sort();
        level = below;
    }
    found.files.sort();
    found
}

enum What {
    Flow,
    Directory,
    Nothing,
}

fn what(entry: &DirEntry) -> What {
    let name = entry.file_name();
    // A name that is no text could not be asked for.
    let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { return What::Nothing };
    if kind.is_file() && (name.ends_with(".flow.yaml") || name.ends_with(".flow.yml")) {
        What::Flow
    } else if kind.is_dir() && !name.starts_with('.') && !matches!(name, "node_modules" | "target") {
        What::Directory
    } else {
        What::Nothing
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(root: &Path, name: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "steps: { a: { run: x } }").unwrap();
    }

    #[test]
    fn flows_are_found_down_to_a_depth_and_not_where_nobody_keeps_them() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = project.path();
        for name in [
            "one.flow.yaml",
            "a/two.flow.yml",
            "a/b/c/d/deep.flow.yaml",
            "a/b/c/d/e/too-deep.flow.yaml",
            ".hidden/no.flow.yaml",
            "node_modules/no.flow.yaml",
            "target/no.flow.yaml",
            "a/plain.yaml",
        ] {
            file(root, name);
        }
        file(outside.path(), "foreign.flow.yaml");
        symlink(outside.path(), root.join("linked")).unwrap();
        symlink(outside.path().join("foreign.flow.yaml"), root.join("linked.flow.yaml")).unwrap();
        let found = flow_files(root);
        let names: Vec<&str> = found.files.iter().filter_map(|file| file.to_str()).collect();
        assert_eq!(names, ["a/b/c/d/deep.flow.yaml", "a/two.flow.yml", "one.flow.yaml"]);
        assert!(!found.cut);
    }

    #[test]
    fn a_project_of_too_many_files_is_looked_at_in_part_and_says_so() {
        let project = tempfile::tempdir().unwrap();
        file(project.path(), "top.flow.yaml");
        let many = project.path().join("many");
        fs::create_dir(&many).unwrap();
        for number in 0..=ENTRIES {
            fs::write(many.join(number.to_string()), "").unwrap();
        }
        let found = flow_files(project.path());
        assert_eq!(found.files, [PathBuf::from("top.flow.yaml")]);
        assert!(found.cut);
    }
}
