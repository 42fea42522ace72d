//! `agents`, `ls` and `show`: enough to see what happened.

use serde_json::{Value, json};

use crate::support::Bench;

/// Snapshots without what differs from run to run.
pub(super) fn redacted(bench: &Bench) -> insta::internals::SettingsBindDropGuard {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&regex_free(bench.lab.root().to_str().unwrap()), "[LAB]");
    settings.add_filter(&regex_free(env!("CARGO_BIN_EXE_rejoin")), "[REJOIN]");
    settings.add_filter(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]");
    settings.add_filter(r"\b[0-9a-f]{8}\b", "[SHORTID]");
    settings.add_filter(r"\b\d+\.\d\d s\b", "[TIME]");
    settings.add_filter(r#"("(used|time|started)_ms": )\d+"#, "${1}0");
    settings.add_filter(r"projects/[A-Za-z0-9-]+/", "projects/[PROJECT]/");
    settings.bind_to_scope()
}

fn regex_free(text: &str) -> String {
    text.replace('.', r"\.").replace('-', r"\-")
}

pub(super) fn told_story() -> Bench {
    let bench = Bench::new();
    bench.first("find the bug MARK-a\nand tell me\u{1b}[31m").done();
    bench.hand_to("demo2", "TOOL-RUN [echo one; echo two] MARK-b").done();
    bench.next("FAIL quota come back tomorrow").ends(1);
    bench.first("bump the version").with(&["-s", "release"]).done();
    bench
}

#[test]
fn ls_lists_conversations_newest_first() {
    let bench = told_story();
    let _guard = redacted(&bench);
    insta::assert_snapshot!(bench.rejoin(&["ls"]).done().stdout());
}

#[test]
fn ls_of_an_empty_project_says_how_to_begin() {
    let bench = Bench::new();
    let said = bench.rejoin(&["ls"]).done();
    assert_eq!(said.stdout(), "");
    said.tells(&["no conversation here yet", "rejoin run"]);
    assert_eq!(bench.rejoin(&["ls", "--json"]).done().json(), json!([]));
}

#[test]
fn ls_can_list_all_projects() {
    let bench = told_story();
    let other = bench.lab.make_project("other").unwrap();
    assert_eq!(bench.rejoin(&["ls"]).within(&other).done().stdout(), "");
    let said = bench.rejoin(&["ls", "--all-projects"]).within(&other).done();
    assert_eq!(said.stdout().lines().count(), 2);
    assert!(said.stdout().lines().all(|line| line.ends_with(bench.project().to_str().unwrap())));
}

#[test]
fn ls_as_json_has_what_scripts_need() {
    let bench = told_story();
    let list = bench.conversations();
    assert_eq!(list.len(), 2);
    assert_eq!((&list[0]["name"], &list[0]["title"]), (&json!("release"), &json!("bump the version")));
    let story = &list[1];
    assert_eq!(story["title"], "find the bug MARK-a");
    assert_eq!(story["agents"], json!(["demo", "demo2"]));
    assert_eq!((&story["turns"], &story["state"]), (&json!(3), &json!("failed")));
    assert_eq!(story["project"], bench.project().to_str().unwrap());
    assert_eq!(story["dir"], story["project"]);
    assert!(story["usage"]["output"].as_u64().unwrap() > 0);
    assert!(story["used_ms"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(story["id"].as_str().unwrap().len(), 36);
    assert!(story["started_ms"].as_u64() <= story["used_ms"].as_u64());
    assert!(story["started_ms"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(story["messages"], 7, "prompts, answers and what a tool gave back");
    let file = std::path::Path::new(story["file"].as_str().unwrap());
    assert!(bench.journals().iter().any(|journal| journal == file), "{}", file.display());
}

#[test]
fn show_tells_what_was_said_and_done() {
    let bench = told_story();
    let story = bench.conversations()[1]["id"].as_str().unwrap().to_owned();
    let _guard = redacted(&bench);
    insta::assert_snapshot!(bench.rejoin(&["show", &story]).done().stdout());
}

#[test]
fn show_as_json_has_turns_pins_and_receipts() {
    let bench = told_story();
    let story = bench.conversations()[1]["id"].as_str().unwrap().to_owned();
    let shown = bench.rejoin(&["show", "--json", &story]).done().json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&shown), ["branches", "head", "id", "info", "name", "origin", "pins", "tags", "turns"]);
    assert_eq!(keys(&shown["info"]), ["dir", "project", "schema", "scope"]);
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(
        keys(&turns[0]),
        [
            "agent",
            "id",
            "messages",
            "parent",
            "receipt",
            "revision",
            "started",
            "state",
            "tool_calls",
            "usage"
        ]
    );
    let times: Vec<&str> = turns
        .iter()
        .flat_map(|turn| {
            std::iter::once(&turn["started"])
                .chain(turn["messages"].as_array().unwrap().iter().map(|message| &message["time"]))
        })
        .map(|time| time.as_str().unwrap())
        .collect();
    assert!(times.iter().all(|time| time.starts_with("20") && time.ends_with('Z')), "{times:?}");
    assert!(times.is_sorted(), "{times:?}");
    let call = &turns[1]["tool_calls"][0];
    assert_eq!(
        (&call["name"], &call["description"], &call["status"]),
        (&json!("shell"), &json!("echo one; echo two"), &json!("success"))
    );
    assert!(call["milliseconds"].is_u64() && call["timestamp"].is_string(), "{call}");
    assert_eq!(turns[1]["messages"][2]["parts"][0]["functionResponse"]["name"], "shell");
    let states: Vec<&Value> = turns.iter().map(|turn| &turn["state"]).collect();
    assert_eq!(states, ["completed", "completed", "failed"]);
    let kinds: Vec<Value> =
        turns[1]["messages"].as_array().unwrap().iter().map(|message| message["type"].clone()).collect();
    assert_eq!(kinds, ["user", "assistant", "tool_result", "assistant"]);
    assert_eq!(shown["pins"].as_array().unwrap().len(), 2);
}

#[test]
fn show_shows_the_newest_by_default_and_any_by_name() {
    let bench = told_story();
    assert!(bench.rejoin(&["show"]).done().stdout().contains("bump the version"));
    assert!(bench.rejoin(&["show", "release"]).done().stdout().contains(" · release · "));
    bench.rejoin(&["show", "nonsense"]).ends(4).tells(&["nonsense", "rejoin ls"]);
    bench.rejoin(&["show"]).within(bench.outside("new")).ends(4).tells(&["no conversation yet"]);
}

#[test]
fn show_names_messages_that_can_be_branched_from() {
    let bench = Bench::after_a_turn();
    bench.next("more MARK-b").done();
    let shown = bench.rejoin(&["show"]).done();
    let line = shown.stdout().lines().find(|line| line.starts_with("── turn 1")).unwrap().to_owned();
    let message = line.split(" · ").nth(2).unwrap();
    bench.next("other MARK-c").with(&["--checkpoint", message]).done().knows(&["a", "c"]);
}

#[test]
fn agents_are_listed_with_what_they_can_do() {
    let bench = Bench::new();
    let _guard = redacted(&bench);
    let said = bench.rejoin(&["agents"]).without_agents().done();
    let paragraphs =
        said.stdout().split("\n\n").filter(|text| text.contains(" claude ") || text.contains(" demo "));
    insta::assert_snapshot!(paragraphs.collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn agents_as_json_tell_the_same() {
    let bench = Bench::new();
    let list = bench.rejoin(&["agents", "--json"]).without_agents().done().json();
    let agent = |name: &str| {
        let list = list.as_array().unwrap();
        list.iter().find(|agent| agent["agent"] == name).unwrap_or_else(|| panic!("{name} is missing"))
    };
    for name in ["claude", "codex"] {
        assert_eq!(agent(name)["installed"], false);
        assert!(agent(name)["install"].as_str().unwrap().contains("npm install"));
    }
    for name in ["demo", "demo2"] {
        let agent = agent(name);
        assert_eq!(agent["installed"], true);
        assert_eq!(agent["store"], bench.home().join(format!("{name}-agent")).to_str().unwrap());
        for ability in ["resume", "ephemeral", "choose_id", "ask"] {
            assert_eq!(agent["capabilities"][ability], true, "{ability}");
        }
        assert_eq!(agent["capabilities"]["fork"], false);
    }
}
