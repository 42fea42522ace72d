//! By what a project is known again where it lies elsewhere: renamed, moved, copied, cloned anew.

use serde::{Deserialize, Serialize};

/// What was seen of a project when a turn ran in one of its conversations. Of a remote's address only a hash is kept,
/// of what is left without scheme and login: addresses hold passwords.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProjectMarks {
    /// Its directory on the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<DirectoryMark>,
    /// Where its repository is kept (real path); several work trees may share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_common_dir: Option<String>,
    /// What the repository calls this work tree, unless it is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<String>,
    /// A commit it holds from its beginning: the first one; of a clone, the one that was checked out first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_commit: Option<String>,
    /// A hash of where the repository was cloned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// A directory as the file system knows it: by whatever name, as long as it stays on that disk. Numbers of directories
/// that are gone are given to new ones, so it takes both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DirectoryMark {
    /// Its number.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970.
    pub born: i64,
}

/// How a project that was seen once is related to another directory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kinship {
    /// Another clone, or another work tree, of the same repository.
    OtherCheckout,
    /// The main work tree of a clone with the same beginning and the same origin: if the one that was seen is gone, it
    /// is that one, copied or cloned anew.
    SameRepository,
    /// This very directory, or this very work tree.
    SameDirectory,
}

impl ProjectMarks {
    /// How what was seen is related to what is `here`; `None` if it is not, as far as anybody can tell. `holds` says
    /// whether the repository here holds a commit.
    pub fn kinship(&self, here: &ProjectMarks, holds: impl Fn(&str) -> bool) -> Option<Kinship> {
        let same_store = self.git_common_dir.is_some() && self.git_common_dir == here.git_common_dir;
        let same_directory = self.directory.is_some() && self.directory == here.directory;
        let same_work_tree = same_store && self.work_tree.is_some() && self.work_tree == here.work_tree;
        if same_directory || same_work_tree {
            return Some(Kinship::SameDirectory);
        }
        let begins_alike = here.git_common_dir.is_some() && self.first_commit.as_deref().is_some_and(holds);
        // A work tree that was removed did not become another one.
        let both_main = self.work_tree.is_none() && here.work_tree.is_none();
        if begins_alike && self.remote == here.remote && both_main {
            return Some(Kinship::SameRepository);
        }
        (same_store || begins_alike && self.remote == here.remote).then_some(Kinship::OtherCheckout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(inode: u64, store: &str, root: Option<&str>, remote: Option<&str>) -> ProjectMarks {
        ProjectMarks {
            directory: Some(DirectoryMark { inode, born: 1 }),
            git_common_dir: Some(store.into()),
            work_tree: None,
            first_commit: root.map(Into::into),
            remote: remote.map(Into::into),
        }
    }

    #[test]
    fn a_directory_is_itself_by_whatever_name() {
        let was = marks(1, "/old/.git", None, None);
        let renamed = marks(1, "/new/.git", None, None);
        assert_eq!(was.kinship(&renamed, |_| false), Some(Kinship::SameDirectory));
        let plain = ProjectMarks { git_common_dir: None, ..was.clone() };
        let its_number_anew =
            ProjectMarks { directory: Some(DirectoryMark { inode: 1, born: 2 }), ..ProjectMarks::default() };
        assert_eq!(plain.kinship(&its_number_anew, |_| true), None);
        assert_eq!(ProjectMarks::default().kinship(&ProjectMarks::default(), |_| true), None);
    }

    #[test]
    fn a_clone_takes_the_same_beginning_and_the_same_origin() {
        let was = marks(1, "/old/.git", Some("c0"), Some("origin"));
        let holds = |commit: &str| commit == "c0";
        let clone = marks(2, "/new/.git", None, Some("origin"));
        assert_eq!(was.kinship(&clone, holds), Some(Kinship::SameRepository));
        assert_eq!(was.kinship(&clone, |_| false), None);
        let fork = marks(2, "/new/.git", None, Some("fork"));
        assert_eq!(was.kinship(&fork, holds), None);
        let unknown = ProjectMarks { first_commit: None, ..was };
        assert_eq!(unknown.kinship(&clone, |_| true), None);
    }

    #[test]
    fn a_work_tree_is_itself_where_it_was_moved_and_no_other_one() {
        let tree = |inode, name: &str| ProjectMarks {
            work_tree: Some(name.into()),
            ..marks(inode, "/app/.git", Some("c0"), None)
        };
        assert_eq!(tree(1, "a").kinship(&tree(2, "a"), |_| true), Some(Kinship::SameDirectory));
        assert_eq!(tree(1, "a").kinship(&tree(2, "b"), |_| true), Some(Kinship::OtherCheckout));
        let main = marks(3, "/app/.git", None, None);
        assert_eq!(tree(1, "a").kinship(&main, |_| true), Some(Kinship::OtherCheckout));
        let elsewhere = marks(3, "/copy/.git", None, None);
        assert_eq!(tree(1, "a").kinship(&elsewhere, |_| true), Some(Kinship::OtherCheckout));
    }
}
