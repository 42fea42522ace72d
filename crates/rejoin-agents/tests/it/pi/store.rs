//! What an installation tells, and where it keeps its sessions.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_debug_snapshot;
use rejoin_agents::{Capabilities, Found, ProbeAnswer};

use super::{SESSION, agent, capabilities, help, put, said};
use crate::recording::directory;
use crate::requests::{CLAUDE_SESSION, definition};

#[test]
fn what_the_installation_tells() {
    let mut known = capabilities();
    known.flags.retain(|flag| flag.starts_with("--no-"));
    assert_debug_snapshot!(known);
    assert!(definition(&agent()).takes_instructions(&capabilities()));
    // Older ones answer on standard output.
    let on_stdout = |text: &str| ProbeAnswer { answered: true, stdout: text.into(), stderr: String::new() };
    assert_eq!(definition(&agent()).learn(&[on_stdout("0.74.2\n"), on_stdout(&help())]), capabilities());
    // Others have the name, too.
    let other = definition(&agent()).learn(&[said("3.14159\n"), said("pi - digits\n  --session <x>  y\n")]);
    assert_eq!(other, Capabilities { version: Some("3.14159".into()), ..Capabilities::default() });
    let silent = ProbeAnswer { answered: false, stdout: help(), stderr: help() };
    for answers in [vec![], vec![silent.clone(); 2]] {
        assert_eq!(definition(&agent()).learn(&answers), Capabilities::default());
    }
}

#[test]
fn the_store_follows_the_environment() {
    let store = |variables: &[(&str, &str)]| {
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(*value))
        };
        definition(&agent()).store(&env)
    };
    let (home, dir) = (("HOME", "/h"), ("PI_CODING_AGENT_DIR", "~/own"));
    assert_eq!(store(&[home]), Some(PathBuf::from("/h/.pi/agent")));
    assert_eq!(store(&[home, dir]), Some(PathBuf::from("/h/own")));
    assert_eq!(store(&[home, dir, ("PI_CODING_AGENT_SESSION_DIR", "/s")]), Some(PathBuf::from("/s")));
    assert_eq!(store(&[home, ("PI_CODING_AGENT_SESSION_DIR", "")]), Some(PathBuf::from("/h/.pi/agent")));
    assert_eq!(store(&[]), None);
}

const DIR: &str = "/home/dev/my_app.v2";

fn stored(cwd: &str, prompt: bool) -> String {
    let header =
        format!(r#"{{"type":"session","version":3,"id":"{SESSION}","timestamp":"t","cwd":"{cwd}"}}"#);
    let message = r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":[]}}"#;
    if prompt { format!("{header}\n{message}\n") } else { format!("{header}\n") }
}

fn find(store: &Path, dir: &str, id: &str) -> Found {
    let session = definition(&agent()).session_id(id).unwrap();
    definition(&agent()).find_session(store, Path::new(dir), &session)
}

#[test]
fn a_session_is_kept_under_the_name_of_its_directory() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(find(store.path(), DIR, SESSION), Found::Nowhere);
    let name = format!("2026-11-15T19-12-52-280Z_{SESSION}.jsonl");
    let file = put(&store.path().join("sessions/--home-dev-my_app.v2--").join(&name), &stored(DIR, true));
    assert_eq!(find(store.path(), DIR, SESSION), Found::At(file.clone()));
    assert_eq!(find(store.path(), "/home/dev/other", SESSION), Found::Nowhere);
    assert_eq!(find(store.path(), DIR, CLAUDE_SESSION), Found::Nowhere);
    for none in [stored(DIR, false), stored("/home/dev-my_app.v2", true), String::new(), "{}\n".into()] {
        fs::write(&file, none).unwrap();
        assert_eq!(find(store.path(), DIR, SESSION), Found::Nowhere);
    }
}

#[test]
fn sessions_may_be_kept_in_a_directory_of_the_users() {
    let flat = tempfile::tempdir().unwrap();
    let file = put(&flat.path().join(format!("t_{SESSION}.jsonl")), &stored(DIR, true));
    assert_eq!(find(flat.path(), DIR, SESSION), Found::At(file.clone()));
    put(&flat.path().join("settings.json"), "{}");
    assert_eq!(find(flat.path(), DIR, SESSION), Found::At(file.clone()), "whatever else is there");

    let store = tempfile::tempdir().unwrap();
    let settings = format!(r#"{{"sessionDir":"{}"}}"#, flat.path().display());
    put(&store.path().join("settings.json"), &settings);
    assert_eq!(find(store.path(), DIR, SESSION), Found::At(file));
}

#[test]
fn a_recorded_session_is_found() {
    let store = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(directory("pi").join("stored.jsonl")).unwrap();
    let id = "01a1e0a2-61ca-7d67-ac4c-79d4f77c5128";
    let name = format!("sessions/--home-dev-basic-proj--/2026-11-15T19-15-00-682Z_{id}.jsonl");
    let file = put(&store.path().join(name), &text);
    assert_eq!(find(store.path(), "/home/dev/basic-proj", id), Found::At(file));
}
