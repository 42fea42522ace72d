//! Keeping a turn from changing the user's configuration.
//!
//! A new session that may write makes Codex note the project as trusted in the user's
//! `config.toml`: from then on every session there may write, and the project's own configuration
//! is obeyed. A project whose trust is settled is left alone, so for the time of the run it is
//! settled by argument: as not trusted, which it is.

use std::path::{Path, PathBuf};

use rejoin_files::read_regular_text;
use toml::{Table, Value};

use crate::jsonc::LONGEST;

/// The argument (for `-c`) that keeps a project as it is; `None` if the user has settled it.
pub(super) fn unchanged(config: &Table, dir: &Path) -> Option<String> {
    let projects = config.get("projects").and_then(Value::as_table);
    let is_settled = |place: &PathBuf| {
        place.to_str().is_some_and(|place| projects.is_some_and(|all| all.contains_key(place)))
    };
    if places(dir).iter().any(is_settled) {
        return None;
    }
    let name = Value::String(dir.to_str()?.to_owned());
    Some(format!("projects={{{name}={{trust_level=\"untrusted\"}}}}"))
}

/// Whether the user's configuration starts servers of its own: they run outside of the sandbox.
pub(super) fn has_servers(config: &Table) -> bool {
    config.get("mcp_servers").and_then(Value::as_table).is_some_and(|servers| !servers.is_empty())
}

/// The user's configuration; what cannot be read says nothing, and Codex does not start with it.
pub(super) fn configuration(store: Option<&Path>) -> Table {
    let text = store.and_then(|store| read_regular_text(&store.join("config.toml"), LONGEST).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Where Codex looks for the trust of a directory: itself, the root of its work tree, and the root
/// of the repository that work tree belongs to.
fn places(dir: &Path) -> Vec<PathBuf> {
    let mut places = vec![dir.to_owned()];
    let Some(root) = dir.ancestors().find(|place| place.join(".git").exists()) else {
        return places;
    };
    places.push(root.to_owned());
    // In a linked work tree `.git` is a file: "gitdir: <repository>/.git/worktrees/<name>".
    if let Ok(link) = read_regular_text(&root.join(".git"), LONGEST)
        && let Some(target) = link.strip_prefix("gitdir:")
    {
        let target = root.join(target.trim());
        let repository =
            target.ancestors().find(|place| place.file_name().is_some_and(|name| name == ".git"));
        places.extend(repository.and_then(Path::parent).map(Path::to_owned));
    }
    places
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::pipes;

    fn unchanged(config: &str, dir: &Path) -> Option<String> {
        super::unchanged(&config.parse().unwrap(), dir)
    }

    #[test]
    fn servers_are_seen_however_they_are_written() {
        for config in [
            "[mcp_servers.docs]\ncommand = \"x\"\n",
            "mcp_servers.docs.command = \"x\"\n",
            "mcp_servers = { docs = { command = \"x\" } }\n",
        ] {
            assert!(has_servers(&config.parse().unwrap()), "{config}");
        }
        for config in ["", "# [mcp_servers.docs]\n", "notes = \"\"\"\n[mcp_servers.docs]\n\"\"\"\n"] {
            assert!(!has_servers(&config.parse().unwrap()), "{config}");
        }
    }

    #[test]
    fn a_project_may_be_settled_in_any_way_of_writing_it() {
        for config in [
            "[projects]\n\"/x\" = { trust_level = \"trusted\" }\n",
            "projects.\"/x\".trust_level = \"untrusted\"\n",
            "[projects.\"\\u002fx\"]\n",
        ] {
            assert_eq!(unchanged(config, Path::new("/x")), None, "{config}");
        }
        assert!(unchanged("# [projects.\"/x\"]\n", Path::new("/x")).is_some());
    }

    #[test]
    fn a_settled_project_is_left_alone() {
        let dir = Path::new("/x/my \"app\"");
        let argument = unchanged("model = \"m\"\n", dir).unwrap();
        let read: Table = argument.parse().unwrap();
        assert_eq!(
            read["projects"]["/x/my \"app\""]["trust_level"].as_str(),
            Some("untrusted"),
            "{argument}"
        );
        assert_eq!(unchanged("", Path::new("/x")).unwrap(), r#"projects={"/x"={trust_level="untrusted"}}"#);
        assert_eq!(unchanged("[projects.\"/x/my \\\"app\\\"\"]\ntrust_level = \"trusted\"\n", dir), None);
        assert_eq!(unchanged("[projects.'/x']\n", Path::new("/x")), None);
        assert!(unchanged("[projects.\"/x\"]\n", Path::new("/x/y")).is_some());
    }

    #[test]
    fn a_linked_work_tree_shares_the_trust_of_its_repository() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("main/.git/worktrees/side")).unwrap();
        fs::create_dir_all(root.join("side/deep")).unwrap();
        let link = format!("gitdir: {}\n", root.join("main/.git/worktrees/side").display());
        fs::write(root.join("side/.git"), link).unwrap();
        let config = format!("[projects.\"{}\"]\n", root.join("main").display());
        assert_eq!(unchanged(&config, &root.join("side/deep")), None);
        assert!(unchanged(&config, &root.join("other")).is_some());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_work_tree_is_not_waited_for() {
        let project = tempfile::tempdir().unwrap();
        let dir = project.path().to_owned();
        pipes::put(&dir.join(".git"));
        assert!(pipes::not_waited_for(move || unchanged("", &dir)).is_some());
    }
}
