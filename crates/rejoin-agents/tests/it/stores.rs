//! Looking for stored sessions.

use std::fs;
use std::path::{Path, PathBuf};

use rejoin_agents::Found;
use rejoin_core::{Agent, SessionId, Usage};

use crate::requests::{CLAUDE_SESSION, CODEX_SESSION, definition};

fn session(agent: &Agent, id: &str) -> SessionId {
    definition(agent).session_id(id).unwrap()
}

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

fn claude(store: &Path, dir: &str) -> Found {
    let session = session(&Agent::Claude, CLAUDE_SESSION);
    definition(&Agent::Claude).find_session(store, Path::new(dir), &session)
}

#[test]
fn claude_keeps_a_session_under_the_name_of_its_directory() {
    let store = tempfile::tempdir().unwrap();
    let dir = "/home/dev/my_app.v2";
    assert_eq!(claude(store.path(), dir), Found::Nowhere);
    let file = store.path().join(format!("projects/-home-dev-my-app-v2/{CLAUDE_SESSION}.jsonl"));
    put(&file, "{\"type\":\"summary\"}\n{\"parentUuid\":null,\"type\":\"user\",\"message\":{}}\n");
    assert_eq!(claude(store.path(), dir), Found::At(file));
    assert_eq!(claude(store.path(), "/home/dev/other"), Found::Nowhere);
}

#[test]
fn a_session_of_claude_without_a_prompt_is_none() {
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join(format!("projects/-p/{CLAUDE_SESSION}.jsonl"));
    put(&file, "");
    assert_eq!(claude(store.path(), "/p"), Found::Nowhere);
    put(&file, "{\"type\":\"queue-operation\"}\n{\"type\":\"mode\"}\n");
    assert_eq!(claude(store.path(), "/p"), Found::Nowhere);
    // The mark may stand across the border of two reads.
    let long = format!("{}{}\n", "x".repeat((64 << 10) - 5), r#"{"type":"user"}"#);
    put(&file, &long);
    assert_eq!(claude(store.path(), "/p"), Found::At(file));
}

#[test]
fn claude_cuts_long_names_and_adds_something() {
    let store = tempfile::tempdir().unwrap();
    let dir = format!("/{}", "d".repeat(250));
    let name = format!("-{}-a1b2c3", "d".repeat(199));
    let file = store.path().join("projects").join(name).join(format!("{CLAUDE_SESSION}.jsonl"));
    assert_eq!(claude(store.path(), &dir), Found::Nowhere);
    put(&file, "{\"type\":\"user\"}\n");
    assert_eq!(claude(store.path(), &dir), Found::At(file));
}

fn codex(store: &Path, id: &str) -> Found {
    definition(&Agent::Codex).find_session(store, Path::new("/anywhere"), &session(&Agent::Codex, id))
}

#[test]
fn codex_keeps_a_session_under_the_day_it_began() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(codex(store.path(), CODEX_SESSION), Found::Nowhere);
    // The id says 2026-11-15 in UTC; local days may differ by one, and files may be moved.
    for (day, ending) in [("2026/11/15", "jsonl"), ("2026/11/16", "jsonl.zst"), ("2024/02/29", "jsonl")] {
        let name = format!("rollout-2026-11-15T19-08-29-{CODEX_SESSION}.{ending}");
        let file = put(&store.path().join("sessions").join(day).join(name), "{}\n");
        assert_eq!(codex(store.path(), CODEX_SESSION), Found::At(file.clone()), "{day}");
        assert_eq!(codex(store.path(), CLAUDE_SESSION), Found::Nowhere);
        fs::write(&file, "").unwrap();
        assert_eq!(codex(store.path(), CODEX_SESSION), Found::Nowhere, "an empty file is no session");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_session_of_codex_with_an_odd_id_is_found_by_walking() {
    let store = tempfile::tempdir().unwrap();
    let name = format!("rollout-2025-01-01T00-00-00-{CLAUDE_SESSION}.jsonl");
    let file = put(&store.path().join("sessions/2025/01/01").join(name), "{}\n");
    assert_eq!(codex(store.path(), CLAUDE_SESSION), Found::At(file));
}

/// A rewind goes on in a further file, perhaps on another day; the first one keeps what was taken back.
#[test]
fn the_newest_file_of_a_session_of_codex_is_the_one() {
    let store = tempfile::tempdir().unwrap();
    let put_on = |day: &str, name: &str| {
        put(&store.path().join("sessions").join(day).join(format!("rollout-{name}.jsonl")), "{}\n")
    };
    let first = put_on("2026/11/15", &format!("2026-11-15T19-08-29-{CODEX_SESSION}"));
    let other = "01a1e09c-6875-7203-a42d-c11166b3c879";
    put_on("2026/11/17", &format!("2026-11-17T00-00-00-{other}_01a1e340-b633-72f3-941f-5fea264d84cd"));
    put_on("2026/11/17", &format!("2026-11-17T00-00-00-{CODEX_SESSION}_notes"));
    assert_eq!(codex(store.path(), CODEX_SESSION), Found::At(first));
    for (day, segment) in [
        ("2026/11/15", "01a1e340-b633-72f3-941f-5fea264d84cd"),
        ("2026/11/16", "01a1e340-b633-72f3-941f-5fea264d84ce"),
        ("2026/11/16", "01a1e341-b633-72f3-941f-5fea264d84cd"),
        ("2027/01/01", "01a1f341-b633-72f3-941f-5fea264d84cd"),
    ] {
        let file = put_on(day, &format!("2026-11-16T07-27-11-{CODEX_SESSION}_{segment}"));
        assert_eq!(codex(store.path(), CODEX_SESSION), Found::At(file), "{segment}");
    }
}

#[test]
fn a_thread_of_codex_goes_on_in_another_only_if_that_holds_all_of_it() {
    let store = tempfile::tempdir().unwrap();
    let day = store.path().join("sessions/2026/11/15");
    let (old, new) = (CODEX_SESSION, "01a1e09c-6875-7203-a42d-c11166b3c879");
    let file_of = |id: &str| day.join(format!("rollout-2026-11-15T19-08-29-{id}.jsonl"));
    let record = |time: u32, kind: &str, payload: &str| {
        format!("{{\"timestamp\":\"{time}\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    let meta = |time: u32, id: &str| record(time, "session_meta", &format!("{{\"id\":\"{id}\"}}"));
    let said = |time: u32, text: &str| record(time, "event_msg", &format!("{{\"message\":\"{text}\"}}"));
    let whole = format!("{}{}{}", meta(1, old), said(2, "a"), said(3, "b"));
    put(&file_of(old), &whole);
    let codex = definition(&Agent::Codex);
    let continues = |text: &str| {
        put(&file_of(new), text);
        codex.continues(store.path(), &session(&Agent::Codex, old), &session(&Agent::Codex, new))
    };
    // As forks are written: with and without the first record of the other, times may be new.
    assert!(continues(&format!("{}{}{}{}", meta(9, new), meta(9, old), said(9, "a"), said(9, "b"))));
    assert!(continues(&format!("{}{}{}{}", meta(9, new), said(2, "a"), said(3, "b"), said(9, "c"))));
    let based = |id: &str, size: usize| {
        let base = format!("{{\"thread_id\":\"{id}\",\"end_byte_offset\":{size}}}");
        record(9, "session_meta", &format!("{{\"id\":\"{new}\",\"history_base\":{base}}}"))
    };
    assert!(continues(&based(old, whole.len())));
    for lacks in [
        String::new(),
        meta(9, new),
        format!("{}{}", meta(9, new), said(9, "a")),
        format!("{}{}", meta(9, new), said(9, "b")),
        format!("{}{}{}{}", meta(9, new), said(9, "a"), said(9, "x"), said(9, "b")),
        format!("{}{}", said(2, "a"), said(3, "b")),
        based(new, whole.len()),
        based(old, whole.len() - 1),
        record(9, "session_meta", &format!("{{\"id\":\"{new}\",\"forked_from_id\":\"{old}\"}}")),
    ] {
        assert!(!continues(&lacks), "{lacks}");
    }
    fs::remove_file(file_of(old)).unwrap();
    assert!(!continues(&based(old, whole.len())), "it went on with what is gone");
}

#[cfg(unix)]
#[test]
fn a_store_that_is_no_directory_holds_nothing() {
    let store = tempfile::tempdir().unwrap();
    put(&store.path().join("sessions"), "a file");
    assert_eq!(codex(store.path(), CODEX_SESSION), Found::Nowhere);
    put(&store.path().join("projects"), "a file");
    assert_eq!(claude(store.path(), "/p"), Found::Nowhere);
}

#[test]
fn the_total_of_a_stored_session_is_the_last_one() {
    let store = tempfile::tempdir().unwrap();
    let count = |n: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{n},"cached_input_tokens":10,"output_tokens":7,"total_tokens":9}}}}}}}}"#
        )
    };
    let later = format!(r#"{{"type":"response_item","payload":{{"text":"{}"}}}}"#, "x".repeat(1 << 20));
    let file = put(&store.path().join("r.jsonl"), &format!("{}\n{}\n{later}\n", count(100), count(250)));
    let total = definition(&Agent::Codex).stored_total(&file);
    assert_eq!(total, Some(Usage { input: 240, cached: 10, output: 7 }));
    assert_eq!(definition(&Agent::Codex).stored_total(&store.path().join("none")), None);
    assert_eq!(definition(&Agent::Claude).stored_total(&file), None);
}

#[test]
fn a_demo_session_is_a_file() {
    let store = tempfile::tempdir().unwrap();
    let find = || {
        definition(&Agent::Demo).find_session(
            store.path(),
            Path::new("/"),
            &session(&Agent::Demo, CLAUDE_SESSION),
        )
    };
    assert_eq!(find(), Found::Nowhere);
    let file = put(&store.path().join(format!("{CLAUDE_SESSION}.jsonl")), "{}\n");
    assert_eq!(find(), Found::At(file));
}
