//! What rejoin knows of git repositories, read from their files: nothing is run, because a repository may say in its
//! configuration what git runs.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rejoin_files::{open_regular_file, read_regular_text};

/// Longer than any path or name of a branch.
const LONGEST: u64 = 64 << 10;
/// More than any configuration has.
const LONGEST_CONFIG: u64 = 1 << 20;
/// More than the packed references of most repositories; of larger ones, none is looked up.
const LONGEST_REFERENCES: u64 = 4 << 20;
/// The first lines of a log are looked at.
const LOG_BEGINNING: u64 = 8 << 10;

/// The root of the enclosing work tree, or the directory itself outside git. Real paths.
pub fn project_of(dir: &Path) -> PathBuf {
    dir.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(dir).to_path_buf()
}

/// The branch that is checked out, if one is.
pub(crate) fn branch(project: &Path) -> Option<String> {
    let head = read_regular_text(&git_dir(project)?.join("HEAD"), LONGEST).ok()?;
    Some(head.strip_prefix("ref: refs/heads/")?.trim().to_owned())
}

fn git_dir(project: &Path) -> Option<PathBuf> {
    let git = project.join(".git");
    if git.is_file() {
        // A linked work tree or a submodule: `gitdir: <path>`.
        let text = read_regular_text(&git, LONGEST).ok()?;
        return Some(project.join(text.strip_prefix("gitdir:")?.trim()));
    }
    Some(git)
}

/// The repository a work tree belongs to.
pub(crate) struct Repository {
    /// Where it is kept (real path).
    pub(crate) common_dir: PathBuf,
    /// What it calls this work tree, unless it is the main one.
    pub(crate) work_tree: Option<String>,
}

impl Repository {
    /// The repository of the work tree with this root, if it is one.
    pub(crate) fn of(project: &Path) -> Option<Self> {
        let git = git_dir(project)?.canonicalize().ok()?;
        let Ok(common) = read_regular_text(&git.join("commondir"), LONGEST) else {
            return git.join("HEAD").is_file().then_some(Self { common_dir: git, work_tree: None });
        };
        let common_dir = git.join(common.trim()).canonicalize().ok()?;
        Some(Self { common_dir, work_tree: Some(git.file_name()?.to_string_lossy().into_owned()) })
    }

    /// Where it was cloned from, as its configuration has it.
    pub(crate) fn origin(&self) -> Option<String> {
        let text = read_regular_text(&self.common_dir.join("config"), LONGEST_CONFIG).ok()?;
        let mut inside = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                inside = line == r#"[remote "origin"]"#;
            } else if let Some((name, value)) = line.split_once('=').filter(|_| inside)
                && name.trim().eq_ignore_ascii_case("url")
            {
                return Some(value.trim().trim_matches('"').to_owned()).filter(|url| !url.is_empty());
            }
        }
        None
    }

    /// The commit it began with, as its log has it: of a clone, the one that was checked out first. Logs are cut some
    /// day: `None` where this one no longer begins at the beginning.
    pub(crate) fn first_logged_commit(&self) -> Option<String> {
        let (file, _) = open_regular_file(&self.common_dir.join("logs/HEAD")).ok()?;
        let mut bytes = Vec::new();
        file.take(LOG_BEGINNING).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut first: Option<&str> = None;
        for line in text.lines() {
            let (was, rest) = line.split_once(' ')?;
            let (now, about) = rest.split_once(' ')?;
            let goes_on = match first {
                None => was.bytes().all(|byte| byte == b'0'),
                // The first commit was made anew.
                Some(first) => was == first && about.contains("\tcommit (amend)"),
            };
            if !goes_on {
                break;
            }
            first = Some(now).filter(|now| is_object_name(now));
            first?;
        }
        first.map(str::to_owned)
    }

    /// A commit that others have, too: that of the branch the origin shows first, else the one that is checked out.
    pub(crate) fn some_commit(&self) -> Option<String> {
        self.resolve("refs/remotes/origin/HEAD").or_else(|| self.resolve("HEAD"))
    }

    fn resolve(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..5 {
            let told = read_regular_text(&self.common_dir.join(&name), LONGEST).ok();
            let told = match told {
                Some(told) => told.trim().to_owned(),
                None => self.packed_reference(&name)?,
            };
            match told.strip_prefix("ref:").map(str::trim) {
                // What it says may lead anywhere.
                Some(next) if next.starts_with("refs/") && !next.contains("..") => next.clone_into(&mut name),
                Some(_) => return None,
                None => return Some(told).filter(|told| is_object_name(told)),
            }
        }
        None
    }

    fn packed_reference(&self, name: &str) -> Option<String> {
        let text = read_regular_text(&self.common_dir.join("packed-refs"), LONGEST_REFERENCES).ok()?;
        text.lines().find_map(|line| Some(line.strip_suffix(name)?.strip_suffix(' ')?.to_owned()))
    }

    /// Whether it holds a commit, or any object of that name.
    pub(crate) fn holds(&self, object: &str) -> bool {
        let objects = self.common_dir.join("objects");
        if !is_object_name(object) {
            return false;
        }
        let alternates = read_regular_text(&objects.join("info/alternates"), LONGEST).unwrap_or_default();
        let lines = alternates.lines().filter(|line| !line.is_empty()).take(8);
        lines.map(|line| objects.join(line)).chain([objects.clone()]).any(|all| stored_in(&all, object))
    }
}

fn stored_in(objects: &Path, object: &str) -> bool {
    if objects.join(&object[..2]).join(&object[2..]).is_file() {
        return true;
    }
    let Ok(packs) = objects.join("pack").read_dir() else { return false };
    let indexes = packs.flatten().map(|entry| entry.path());
    let mut indexes = indexes.filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
    indexes.any(|index| packed_in(&index, object).unwrap_or(false))
}

/// Whether the index of a pack (version 2) names an object: it has a table of how many names begin with at most each
/// byte, then all names, sorted.
fn packed_in(index: &Path, object: &str) -> Option<bool> {
    const TABLE: u64 = 8;
    const NAMES: u64 = TABLE + 256 * 4;
    let name: Vec<u8> = (0..object.len() / 2)
        .map(|at| u8::from_str_radix(&object[2 * at..2 * at + 2], 16).ok())
        .collect::<Option<_>>()?;
    let (file, _) = open_regular_file(index).ok()?;
    if read_at::<8>(&file, 0)? != *b"\xfftOc\0\0\0\x02" {
        return None;
    }
    let up_to = |byte: u8| Some(u32::from_be_bytes(read_at(&file, TABLE + 4 * u64::from(byte))?));
    let first = *name.first()?;
    let mut from = if first == 0 { 0 } else { up_to(first - 1)? };
    let mut to = up_to(first)?;
    let mut found = vec![0; name.len()];
    while from < to {
        let middle = from + (to - from) / 2;
        file.read_exact_at(&mut found, NAMES + u64::from(middle) * name.len() as u64).ok()?;
        match found.cmp(&name) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => to = middle,
        }
    }
    Some(false)
}

fn read_at<const N: usize>(file: &File, place: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, place).ok()?;
    Some(bytes)
}

/// SHA-1 or SHA-256.
fn is_object_name(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

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

    /// The real git, in a directory, untouched by whoever runs the tests.
    fn git(dir: &Path, args: &[&str]) -> String {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
        let output = Command::new("git")
            .args(who)
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn a_repository_is_read_as_git_wrote_it() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(at("app")).unwrap();
        let app = at("app");
        git(&app, &["init", "-q", "-b", "main"]);
        let empty = Repository::of(&app).unwrap();
        assert_eq!((empty.first_logged_commit(), empty.some_commit(), empty.origin()), (None, None, None));
        let commit = |words: &str, more: &[&str]| {
            git(&app, &[&["commit", "-q", "--allow-empty", "-m", words], more].concat());
            git(&app, &["rev-parse", "HEAD"])
        };
        let wrong = commit("zero", &[]);
        let first = commit("one", &["--amend"]);
        let second = commit("two", &[]);
        let repository = Repository::of(&app).unwrap();
        assert_eq!(repository.first_logged_commit().as_deref(), Some(&*first));
        assert_eq!(repository.some_commit().as_deref(), Some(&*second));
        assert!([&wrong, &first, &second].into_iter().all(|commit| repository.holds(commit)), "loose");
        // Everything in one pack, references too.
        git(&app, &["-c", "gc.pruneExpire=now", "gc", "-q"]);
        git(&app, &["worktree", "add", "-q", "../tree", "-b", "side"]);
        assert!(repository.holds(&first) && repository.holds(&second), "packed");
        assert_eq!(repository.some_commit().as_deref(), Some(&*second));
        for no in ["", "main", "../../../etc/passwd", &"0".repeat(40), &"f".repeat(40), &"é".repeat(20)] {
            assert!(!repository.holds(no), "{no}");
        }
        git(&at("."), &["clone", "-q", "-s", "app", "clone"]);
        let clone = Repository::of(&at("clone")).unwrap();
        assert_eq!(clone.first_logged_commit().as_deref(), Some(&*second), "the one that was checked out");
        assert!(clone.holds(&first), "in the other one's objects");
        assert_eq!(clone.origin().as_deref(), at("app").to_str());
        let tree = Repository::of(&at("tree")).unwrap();
        assert_eq!((&tree.common_dir, tree.work_tree.as_deref()), (&repository.common_dir, Some("tree")));
        assert_eq!(branch(&at("tree")).as_deref(), Some("side"));
        std::fs::remove_dir_all(app.join(".git/logs")).unwrap();
        assert_eq!(repository.first_logged_commit(), None);
        assert!(Repository::of(place.path()).is_none());
    }
}
