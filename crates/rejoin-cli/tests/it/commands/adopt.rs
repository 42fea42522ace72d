//! `rejoin adopt`: sessions that agents keep become conversations.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Bench, fake_claude};

const ONE: &str = "00000001-0000-4000-8000-000000000000";
const TWO: &str = "00000002-0000-4000-8000-000000000000";

/// The file of a session of Claude Code in this project.
fn file(bench: &Bench, id: &str) -> PathBuf {
    let mangled: String = bench
        .project()
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let place = bench.lab.home().join(".claude/projects").join(mangled);
    fs::create_dir_all(&place).unwrap();
    place.join(format!("{id}.jsonl"))
}

/// Claude Code is asked, and answers, at the end of a session.
fn claude(bench: &Bench, id: &str, prompt: &str, time: &str) {
    let file = file(bench, id);
    let before = fs::read_to_string(&file).unwrap_or_default();
    let last: Option<Value> = before.lines().last().map(|line| serde_json::from_str(line).unwrap());
    let parent = last.map_or(Value::Null, |last| last["uuid"].clone());
    let number = before.lines().count();
    let record = |kind: &str, at: usize, parent: &Value, message: Value| {
        json!({"type": kind, "sessionId": id, "uuid": uuid(number + at), "parentUuid": parent,
            "cwd": bench.project(), "gitBranch": "main", "timestamp": time, "message": message})
    };
    let user = record("user", 1, &parent, json!({"role": "user", "content": prompt}));
    let answer = json!({"id": format!("msg_{number}"), "role": "assistant", "model": "m-1", "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 3},
        "content": [{"type": "text", "text": format!("answer to {prompt}")}]});
    let answer = record("assistant", 2, &user["uuid"], answer);
    fs::write(&file, format!("{before}{user}\n{answer}\n")).unwrap();
}

fn uuid(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn adopt(bench: &Bench, args: &[&str]) -> Value {
    bench.rejoin(&["adopt", "--json"]).with(args).done().json()
}

/// Outcome and turns of each session.
fn outcomes(report: &Value) -> Vec<(&str, u64)> {
    let sessions = report["sessions"].as_array().unwrap().iter();
    sessions.map(|one| (one["outcome"].as_str().unwrap(), one["turns"].as_u64().unwrap())).collect()
}

#[test]
fn a_session_becomes_a_conversation_and_only_what_is_new_comes_later() {
    let bench = Bench::new();
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    claude(&bench, ONE, "fix it MARK-a", "2026-01-01T00:00:00Z");
    let said = bench.rejoin(&["adopt", "claude:latest"]).done();
    assert!(said.stdout().starts_with("◇ claude 00000001: conversation "), "{}", said.stdout());
    assert!(said.stdout().contains(", 1 turn · fix it MARK-a"), "{}", said.stdout());
    assert_eq!(outcomes(&adopt(&bench, &["claude:1"])), [("known", 0)]);
    claude(&bench, ONE, "and test it MARK-b", "2026-01-02T00:00:00Z");
    assert_eq!(outcomes(&adopt(&bench, &["@", "--dry-run"])), [("longer", 1)]);
    assert_eq!(outcomes(&adopt(&bench, &["@"])), [("longer", 1)]);
    let shown = bench.rejoin(&["show"]).done();
    shown.tells(&[]);
    for words in ["in its own session 00000001", "> fix it MARK-a", "answer to and test it MARK-b"] {
        assert!(shown.stdout().contains(words), "{words}: {}", shown.stdout());
    }
    let listed = &bench.conversations()[0];
    assert_eq!(
        (&listed["turns"], &listed["agents"][0], &listed["usage"]["output"]),
        (&2.into(), &"claude".into(), &6.into())
    );
    let used = listed["used_ms"].as_u64().unwrap();
    assert_eq!(used, 1_767_312_000_000, "adopting is no use of it");
    assert_eq!(bench.rejoin(&["stats", "--json"]).done().json()["all"]["turns"], 2);
    bench.rejoin(&["fsck"]).done();
}

#[test]
fn another_agent_is_told_what_was_said_there() {
    let bench = Bench::new();
    claude(&bench, ONE, "hello MARK-a", "2026-01-01T00:00:00Z");
    let dry = bench.rejoin(&["run", "-r", "claude:latest", "-a", "demo", "--dry-run", "x"]).done();
    dry.tells(&["session 00000001 of claude would be conversation", "fresh"]);
    assert!(bench.journals().is_empty(), "nothing is written");
    let said = bench.rejoin(&["run", "-r", ONE, "-a", "demo", "-o", "stream-json", "go on MARK-b"]).done();
    said.fresh("no_session", 1).knows(&["a", "b"]);
    assert!(said.warned("adopted").contains("1 turn adopted"));
    claude(&bench, ONE, "by hand MARK-c", "2026-01-02T00:00:00Z");
    // Without Claude Code here nothing pins it.
    assert_eq!(outcomes(&adopt(&bench, &["@"])), [("left", 0)]);
    assert_eq!(outcomes(&adopt(&bench, &["claude:1"])), [("longer", 1)]);
    bench.hand_to("demo", "and you MARK-d").done().knows(&["a", "b", "c", "d"]);
}

#[test]
fn what_was_removed_stays_removed_until_it_is_named() {
    let bench = Bench::new();
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    claude(&bench, ONE, "one", "2026-01-01T00:00:00Z");
    claude(&bench, TWO, "two", "2026-01-02T00:00:00Z");
    assert_eq!(outcomes(&adopt(&bench, &["claude", "--all"])), [("new", 1), ("new", 1)]);
    let gone = adopt(&bench, &["claude:1"])["sessions"][0]["conversation"].as_str().unwrap().to_owned();
    bench.rejoin(&["rm", "--yes", &gone]).done();
    assert_eq!(outcomes(&adopt(&bench, &["--all"])), [("removed", 0), ("known", 0)]);
    bench.rejoin(&["adopt", "--all"]).done().tells(&["1 removed here before"]);
    let back = adopt(&bench, &[&format!("claude:{TWO}")]);
    assert_eq!(
        (outcomes(&back), &back["sessions"][0]["conversation"]),
        (vec![("new", 1)], &gone.as_str().into())
    );
}

#[test]
fn what_is_not_there_is_said_and_nothing_is_guessed() {
    let bench = Bench::new();
    bench.rejoin(&["adopt", "claude:latest"]).ends(4).tells(&["keeps no session of this project"]);
    bench.rejoin(&["run", "-r", "claude:latest", "x"]).ends(4).tells(&["keeps no session of this project"]);
    claude(&bench, ONE, "one", "2026-01-01T00:00:00Z");
    claude(&bench, TWO, "two", "2026-01-02T00:00:00Z");
    bench.rejoin(&["adopt", "claude:7"]).ends(4).tells(&["2 sessions of this project"]);
    bench.rejoin(&["adopt", "claude:beefbeef"]).ends(4).tells(&["rejoin sessions -A --agent claude"]);
    bench.rejoin(&["adopt", "claude:00000"]).ends(2).tells(&["the beginning of 2 sessions"]);
    bench.rejoin(&["adopt", "claude"]).ends(2).tells(&["claude:latest", "--all"]);
    bench.rejoin(&["adopt"]).ends(2);
    bench.rejoin(&["adopt", "nobody", "--all"]).ends(2).tells(&["unknown agent"]);
    for hostile in ["claude:--help", "claude:../../etc", "--", "claude:\u{1b}[2J", "no such thing"] {
        let said = bench.rejoin(&["adopt", "--", hostile]).ends(4);
        assert!(!said.stderr().contains('\u{1b}'), "{}", said.stderr());
    }
    bench.rejoin(&["run", "-r", ONE, "--ephemeral", "-a", "demo", "x"]).ends(2).tells(&["rejoin adopt"]);
    assert!(bench.journals().is_empty());
}

#[test]
fn a_session_that_cannot_be_read_costs_only_itself() {
    let bench = Bench::new();
    claude(&bench, ONE, "one", "2026-01-01T00:00:00Z");
    claude(&bench, TWO, "two", "2026-01-02T00:00:00Z");
    fs::File::options().write(true).open(file(&bench, TWO)).unwrap().set_len(600 << 20).unwrap();
    let report = bench.rejoin(&["adopt", "--all", "--json"]).ends(7).json();
    assert_eq!(outcomes(&report), [("failed", 0), ("new", 1)]);
    assert!(report["sessions"][0]["why"].as_str().unwrap().contains("larger than 512 MiB"), "{report:#}");
    assert_eq!(bench.journals().len(), 1);
}

#[test]
fn a_session_that_is_open_is_not_gone_on_with() {
    let bench = Bench::new();
    claude(&bench, ONE, "one", "2026-01-01T00:00:00Z");
    let mut open = Command::new("sleep").arg0("claude").arg("60").spawn().unwrap();
    let sessions = bench.lab.home().join(".claude/sessions");
    fs::create_dir_all(&sessions).unwrap();
    let told = json!({"pid": open.id(), "sessionId": ONE});
    fs::write(sessions.join(format!("{}.json", open.id())), told.to_string()).unwrap();
    let busy = bench.rejoin(&["run", "-r", "claude:latest", "-a", "demo", "x"]).ends(6);
    busy.tells(&["session 00000001 of claude is in use", &open.id().to_string()]);
    assert!(bench.journals().is_empty());
    bench.rejoin(&["adopt", "claude:latest"]).done().tells(&["is open in process"]);
    open.kill().unwrap();
    open.wait().unwrap();
    // What it left behind says nothing.
    bench.rejoin(&["run", "-r", "claude:latest", "-a", "demo", "x"]).done();
}

/// What is in each file below `$REJOIN_HOME` that is neither cache nor lock.
fn written(bench: &Bench) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let is_kept = |path: &PathBuf| !path.starts_with("cache") && !path.starts_with("locks");
    let files = bench.files().into_iter().filter(is_kept);
    files.map(|path| (path.clone(), fs::read(bench.home().join(path)).ok())).collect()
}

#[test]
fn what_is_refused_adopts_nothing() {
    let bench = Bench::new();
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    claude(&bench, ONE, "one MARK-a", "2026-01-01T00:00:00Z");
    let refused = |which: &[&str]| {
        let before = written(&bench);
        for (args, code) in [
            (["--scope", "own"], 2),
            (["--attach", "missing.txt"], 4),
            (["--agent", "nobody"], 2),
            (["--checkpoint", "nowhere"], 4),
            (["--cwd", "missing"], 4),
        ] {
            let said = bench.rejoin(&["run"]).with(which).with(&args).with(&["x"]).ends(code);
            assert!(!said.stderr().contains("adopted"), "{}", said.stderr());
            assert_eq!(written(&bench), before, "{which:?} {args:?}");
        }
    };
    refused(&["-r", "claude:latest"]);
    bench.rejoin(&["chat", "-r", "claude:latest", "--scope", "own"]).ends(2);
    assert!(bench.journals().is_empty());

    adopt(&bench, &["claude:latest"]);
    claude(&bench, ONE, "by hand MARK-b", "2026-01-02T00:00:00Z");
    refused(&["-c"]);
    refused(&["-r", "claude:latest"]);
    let said = bench.hand_to("demo", "on MARK-c").done();
    said.knows(&["a", "b", "c"]);
    assert!(said.warned("adopted").contains("went on outside rejoin"));
}

#[test]
fn a_session_never_says_what_an_agent_may_do() {
    let bench = Bench::new();
    claude(&bench, ONE, "one", "2026-01-01T00:00:00Z");
    let file = file(&bench, ONE);
    let mode = json!({"type": "permission-mode", "permissionMode": "bypassPermissions", "sessionId": ONE});
    fs::write(&file, format!("{mode}\n{}", fs::read_to_string(&file).unwrap())).unwrap();
    adopt(&bench, &["claude:latest"]);
    assert!(bench.notes("permissions").is_empty());
}
