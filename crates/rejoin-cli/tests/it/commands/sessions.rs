//! `rejoin sessions`: what the agents themselves keep.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Bench, fake_claude};

/// Puts a session of Claude Code into its store, as it would.
fn claude(bench: &Bench, number: u8, dir: &Path, prompt: &str, time: &str) -> PathBuf {
    let place = bench.lab.home().join(".claude/projects/-some-where");
    fs::create_dir_all(&place).unwrap();
    let file = place.join(format!("0000000{number}-0000-4000-8000-000000000000.jsonl"));
    fs::write(&file, record(&file, dir, prompt, time)).unwrap();
    file
}

fn record(file: &Path, dir: &Path, prompt: &str, time: &str) -> String {
    let id = file.file_stem().unwrap().to_str().unwrap();
    let message = json!({"role": "user", "content": prompt});
    let record = json!({"type": "user", "sessionId": id, "uuid": id, "cwd": dir, "gitBranch": "main",
        "timestamp": time, "message": message});
    format!("{record}\n")
}

/// Puts a session of Pi into its store.
fn pi(bench: &Bench, dir: &Path, prompt: &str) {
    let place = bench.lab.home().join(".pi/agent/sessions/--some-where--");
    fs::create_dir_all(&place).unwrap();
    let id = "01a1e363-c08a-7124-b456-44e710f60ac9";
    let lines = [
        json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-01-03T00:00:00Z", "cwd": dir}),
        json!({"type": "message", "id": "a", "timestamp": "2026-01-03T00:00:00Z",
            "message": {"role": "user", "content": prompt}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n") + "\n";
    fs::write(place.join(format!("2026-01-03T00-00-00-000Z_{id}.jsonl")), text).unwrap();
}

fn list(bench: &Bench, args: &[&str]) -> Value {
    bench.rejoin(&["sessions", "--json"]).with(args).done().json()
}

fn prompts(list: &Value) -> Vec<(&str, &str, Option<u64>)> {
    let sessions = list["sessions"].as_array().unwrap().iter();
    sessions
        .map(|session| {
            let text = |field: &str| session[field].as_str().unwrap();
            (text("agent"), text("first_prompt"), session["number"].as_u64())
        })
        .collect()
}

#[test]
fn sessions_of_this_project_are_listed_newest_first_with_numbers() {
    let bench = Bench::new();
    claude(&bench, 1, &bench.project(), "the oldest", "2026-01-01T00:00:00Z");
    claude(&bench, 2, &bench.subdir("deep"), "below it", "2026-01-04T00:00:00Z");
    claude(&bench, 3, Path::new("/elsewhere"), "of another project", "2026-01-02T00:00:00Z");
    pi(&bench, &bench.project(), "of Pi");
    let here = [("claude", "below it", Some(1)), ("pi", "of Pi", Some(1)), ("claude", "the oldest", Some(2))];
    let listed = list(&bench, &[]);
    assert_eq!(prompts(&listed), here);
    assert_eq!(listed["sessions"][0]["branch"], "main");
    assert_eq!(listed["sessions"][0]["messages"], 1);
    assert_eq!(prompts(&list(&bench, &["--agent", "pi"])), here[1..2]);
    let cut = list(&bench, &["--limit", "1"]);
    assert_eq!((prompts(&cut), &cut["more"]), (here[..1].to_vec(), &json!(true)));
    assert_eq!(prompts(&list(&bench, &["--since", "1m"])), []);
    let all = list(&bench, &["-A"]);
    assert_eq!(prompts(&all)[2], ("claude", "of another project", None));
    assert_eq!(prompts(&all).len(), 4);
    // The cache says the same.
    assert_eq!(list(&bench, &["-A"]), all);
    bench.rejoin(&["sessions", "--agent", "nobody"]).ends(2).tells(&["unknown agent"]);
}

#[test]
fn a_session_that_changed_is_read_again() {
    let bench = Bench::after_a_turn();
    let file = claude(&bench, 1, &bench.project(), "first wording", "2026-01-01T00:00:00Z");
    assert_eq!(prompts(&list(&bench, &[]))[0].1, "first wording");
    assert!(bench.home().join("cache/sessions/claude").is_file());
    // Of the same size.
    fs::write(&file, record(&file, &bench.project(), "other wording", "2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(prompts(&list(&bench, &[]))[0].1, "other wording");
    fs::remove_file(&file).unwrap();
    assert_eq!(prompts(&list(&bench, &[])), []);
}

#[test]
fn what_is_not_understood_costs_only_itself() {
    let bench = Bench::new();
    let file = claude(&bench, 1, &bench.project(), "good \u{1b}[2J", "2026-01-01T00:00:00Z");
    fs::write(file.with_file_name("00000002-0000-4000-8000-000000000000.jsonl"), "").unwrap();
    fs::write(file.with_file_name("00000003-0000-4000-8000-000000000000.jsonl"), [0; 100]).unwrap();
    let listed = list(&bench, &[]);
    assert_eq!((prompts(&listed).len(), listed["not_understood"].as_array().unwrap().len()), (1, 2));
    assert_eq!(listed["not_understood"][0]["why"], "it is empty");
    let said = bench.rejoin(&["sessions"]).done();
    assert!(said.stdout().contains("good") && !said.stdout().contains('\u{1b}'), "{}", said.stdout());
    said.tells(&["2 files could not be understood"]);
}

#[test]
fn a_session_of_a_conversation_is_known() {
    let bench = Bench::new();
    bench.claude_is(&fake_claude(&bench.outside("bin"), "claude"), "");
    let turn = bench.rejoin(&["run", "-o", "stream-json", "hello"]).done();
    let place =
        fs::read_dir(bench.lab.home().join(".claude/projects")).unwrap().next().unwrap().unwrap().path();
    let file = place.join(format!("{}.jsonl", turn.session()));
    fs::write(&file, record(&file, &bench.project(), "hello", "2026-01-02T00:00:00Z")).unwrap();
    claude(&bench, 1, &bench.project(), "not ours", "2026-01-01T00:00:00Z");
    let listed = list(&bench, &[]);
    assert_eq!(listed["sessions"][0]["known"], turn.conversation().as_str());
    assert_eq!(listed["sessions"][1]["known"], Value::Null);
}
