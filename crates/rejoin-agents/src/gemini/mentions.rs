//! Whether a name after an `@` means something to Gemini.
//!
//! It (0.61.0) looks for a file or directory of that name, then for any file whose path contains it, and
//! before both for an agent or a resource of a server. Most prompts with an `@` (an address, a
//! decorator, a package) name nothing of the kind and go as they are.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;

use crate::jsonc::LONGEST;

/// So many entries are looked at; in a larger project every `@` counts.
const MOST_ENTRIES: usize = 20_000;
/// Gemini looks into none of these.
const SKIPPED: &[&str] = &[".git", "node_modules"];
/// Agents that are part of Gemini.
const AGENTS: &[&str] =
    &["browser_agent", "cli_help", "codebase_investigator", "codebase-investigator", "generalist"];

/// What names in a prompt may mean.
pub(super) struct Known<'a> {
    dir: &'a Path,
    /// The paths of the project's files, in lower case; `None` if there are too many.
    files: Option<Vec<String>>,
    has_agents: bool,
    has_servers: bool,
}

impl<'a> Known<'a> {
    /// Looks around in the directory of the turn and in Gemini's own.
    pub(super) fn around(dir: &'a Path, store: Option<&Path>) -> Self {
        let places = [Some(dir.join(".gemini")), store.map(Path::to_owned)];
        let some = |name: &str| places.iter().flatten().any(|place| place.join(name).exists());
        // What stands there and cannot be read may name some.
        let names_servers = |place: &PathBuf| match read_regular_text(&place.join("settings.json"), LONGEST) {
            Ok(text) => text.contains("mcpServers"),
            Err(error) => error.kind() != ErrorKind::NotFound,
        };
        let extended = some("extensions");
        Self {
            dir,
            files: files(dir),
            has_agents: some("agents") || extended,
            has_servers: extended || places.iter().flatten().any(names_servers),
        }
    }

    /// Whether Gemini would put something in the place of this name.
    pub(super) fn acts(&self, name: &str) -> bool {
        let bare = name.trim_matches('"');
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let agent = plain && (self.has_agents || AGENTS.contains(&name));
        let resource = self.has_servers && name.contains(':');
        agent
            || resource
            || [name, bare].iter().any(|name| self.dir.join(name).exists())
            || self.is_part(name)
    }

    fn is_part(&self, name: &str) -> bool {
        let Some(files) = &self.files else {
            return true;
        };
        let name = name.to_lowercase();
        // What looks like a pattern is one.
        name.contains(['*', '|', '+', '^', '$']) || files.iter().any(|file| file.contains(&name))
    }
}

/// The paths of all files below a directory, in lower case.
fn files(dir: &Path) -> Option<Vec<String>> {
    let mut files = Vec::new();
    let mut seen = 0;
    let mut left: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(place) = left.pop() {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let path = entry.path();
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_dir && SKIPPED.iter().any(|name| entry.file_name() == **name) {
                continue;
            }
            if is_dir {
                left.push(path);
            } else {
                let path = path.strip_prefix(dir).unwrap_or(&path);
                files.push(path.to_string_lossy().to_lowercase());
            }
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipes;

    #[test]
    fn files_agents_and_parts_of_paths_act() {
        let project = tempfile::tempdir().unwrap();
        let dir = project.path();
        fs::create_dir_all(dir.join("src/deep")).unwrap();
        fs::create_dir_all(dir.join("node_modules/left-pad")).unwrap();
        fs::write(dir.join("src/deep/Main.rs"), "x").unwrap();
        fs::write(dir.join("my file"), "x").unwrap();
        let known = Known::around(dir, None);
        for name in ["src", "src/deep/Main.rs", "main.rs", "deep/main", "\"my file\"", "generalist", "*"] {
            assert!(known.acts(name), "{name}");
        }
        for name in ["example.com", "app.route", "types/node", "left-pad", "git:x", "someone"] {
            assert!(!known.acts(name), "{name}");
        }
        fs::create_dir_all(dir.join(".gemini/agents")).unwrap();
        fs::write(dir.join(".gemini/settings.json"), r#"{"mcpServers":{}}"#).unwrap();
        let known = Known::around(dir, None);
        assert!(known.acts("someone") && known.acts("git:x") && !known.acts("example.com"));
    }

    /// A repository can put anything there; what it would name counts.
    #[test]
    fn settings_that_are_a_pipe_are_not_waited_for() {
        let project = tempfile::tempdir().unwrap();
        let dir = project.path().to_owned();
        pipes::put(&dir.join(".gemini/settings.json"));
        assert!(pipes::not_waited_for(move || Known::around(&dir, None).acts("git:x")));
    }
}
