//! An agent that does not name its session and cannot list its sessions: OpenCode before `session list`.

use std::fs;
use std::path::PathBuf;

use crate::support::{Bench, Call, old_opencode};

fn bench() -> Bench {
    let bench = Bench::new();
    let command = serde_json::json!(old_opencode(&bench.lab.root()));
    bench.config(&format!("agent = \"opencode\"\n[agents.opencode]\ncommand = {command}\nmodel = \"a/b\"\n"));
    bench
}

fn first<'a>(bench: &'a Bench, prompt: &str) -> Call<'a> {
    bench.rejoin(&["run", "-o", "stream-json", prompt])
}

fn storage(bench: &Bench) -> PathBuf {
    bench.lab.home().join(".local/share/opencode/storage")
}

/// A session of somebody else in the same directory.
fn somebody_elses(bench: &Bench, id: &str, title: &str, prompt: &str) {
    let storage = storage(bench);
    let write = |path: String, value: serde_json::Value| {
        let file = storage.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, value.to_string()).unwrap();
    };
    let session = serde_json::json!({ "id": id, "title": title, "directory": bench.project() });
    write(format!("session/p/{id}.json"), session);
    write(format!("message/{id}/msg_{id}.json"), serde_json::json!({ "role": "user" }));
    write(format!("part/msg_{id}/prt_1.json"), serde_json::json!({ "type": "text", "text": prompt }));
}

#[test]
fn the_session_that_holds_the_first_prompt_goes_on() {
    let bench = bench();
    somebody_elses(&bench, "ses_theirs00000000000000000000", "theirs", "hello MARK-x");
    let begun = first(&bench, "hello MARK-a").done();
    begun.fresh("first_turn", 0).knows(&["a"]).calm();
    // Newer than ours: what `-c` would continue.
    somebody_elses(&bench, "ses_newer000000000000000000000", "newer", "hello MARK-y");
    bench.next("more MARK-b").done().resumed(&begun.session(), 0).knows(&["a", "b"]);
    bench.next("more MARK-c").done().resumed(&begun.session(), 0).knows(&["a", "b", "c"]);
    let runs = fs::read_to_string(bench.lab.home().join("runs")).unwrap();
    assert!(!runs.contains(" -c") && !runs.contains("--continue"), "{runs}");
}

#[test]
fn without_that_proof_the_history_is_replayed_and_the_reason_is_shown() {
    let bench = bench();
    // It keeps its sessions elsewhere.
    let begun = first(&bench, "hello MARK-a").env("XDG_DATA_HOME", "/nowhere").done();
    assert!(begun.result()["session"].is_null());
    assert!(begun.warned("no_session").contains("replays the history"));
    bench.next("more MARK-b").done().fresh("no_session", 1).knows(&["a", "b"]);
}
