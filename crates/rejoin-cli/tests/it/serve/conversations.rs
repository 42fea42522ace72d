//! Conversations over HTTP: listed, read, changed as their caller saw them, taken along.

use serde_json::{Value, json};

use super::daemon::{Daemon, Reply};
use super::runs::{next, over, text, wanted};
use crate::support::Bench;

/// A conversation of some turns by `demo`; gives its address.
fn conversation(bench: &Bench, daemon: &Daemon<'_>, prompts: &[&str]) -> (Value, String) {
    let first = daemon.post("/api/v1/runs", &wanted(bench, prompts[0])).is(202);
    over(daemon, &first["run"]);
    for prompt in &prompts[1..] {
        let run = daemon.post("/api/v1/runs", &next(&first["conversation"], prompt)).is(202);
        over(daemon, &run["run"]);
    }
    let path = format!("/api/v1/conversations/{}", text(&first["conversation"]));
    (first["conversation"].clone(), path)
}

fn etag(reply: &Reply) -> String {
    reply.header("etag").expect("every read of a conversation has a tag").to_owned()
}

#[track_caller]
fn changed(daemon: &Daemon<'_>, path: &str, tag: &str, body: &Value) -> Reply {
    daemon.ask("POST", path).header("If-Match", tag).json(body).send()
}

#[test]
fn a_conversation_is_listed_page_by_page_shown_named_and_marked_as_read() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let ids: Vec<Value> =
        (0..3).map(|number| conversation(&bench, &daemon, &[&format!("topic {number} MARK-a")]).0).collect();
    let first = daemon.get("/api/v1/conversations?limit=2").is(200);
    let listed: Vec<&Value> =
        first["conversations"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(listed, [&ids[2], &ids[1]], "newest first");
    let rest = daemon.get(&format!("/api/v1/conversations?limit=2&cursor={}", text(&first["next"]))).is(200);
    assert_eq!(rest["conversations"][0]["id"], ids[0]);
    assert!(rest.get("next").is_none(), "{rest}");
    let idle = |query: &str| daemon.get(&format!("/api/v1/conversations?{query}")).is(200);
    assert_eq!(idle("state=idle")["conversations"].as_array().unwrap().len(), 3);
    assert_eq!(idle("state=running")["conversations"], json!([]));
    let found = daemon.get("/api/v1/conversations?text=topic%201").is(200);
    assert_eq!(found["conversations"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["conversations"][0]["id"], ids[1]);

    let path = format!("/api/v1/conversations/{}", text(&ids[0]));
    assert_eq!(daemon.get(&path).is(200)["unread"], true);
    let wish = json!({ "name": "release", "tags": { "add": ["v2"] }, "read": true });
    let shown = daemon.ask("PATCH", &path).json(&wish).send().is(200);
    assert_eq!(
        (&shown["name"], &shown["tags"], &shown["unread"]),
        (&json!("release"), &json!(["v2"]), &json!(false))
    );
    assert_eq!(
        bench.rejoin(&["show", "release", "--json"]).done().json()["id"],
        ids[0],
        "the command sees it"
    );
    let problem = daemon.ask("PATCH", &path).json(&json!({ "nam": "x" })).send().is(400);
    assert_eq!(problem["code"], "unknown_field");
    assert!(text(&problem["detail"]).contains("did you mean \"name\""), "{problem}");
    daemon.get("/api/v1/conversations/4f1c2a9e-0000-4000-8000-000000000000").is(404);
}

#[test]
fn turns_come_in_windows_from_the_end_and_one_comes_whole() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let long = format!("MARK-a {}", "word ".repeat(8000));
    let (_, path) = conversation(&bench, &daemon, &[&long, "two MARK-b", "three MARK-c"]);
    let window = daemon.get(&format!("{path}/turns?limit=2")).is(200);
    let numbers: Vec<u64> =
        window["turns"].as_array().unwrap().iter().map(|turn| turn["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 3]);
    assert_eq!(window["turns"][1]["status"], "completed");
    assert_eq!(window["turns"][1]["receipt"]["plan"]["decision"], "resume");
    let before = daemon.get(&format!("{path}/turns?limit=2&before={}", text(&window["before"]))).is(200);
    assert_eq!(before["turns"].as_array().unwrap().len(), 1);
    assert!(before.get("before").is_none());
    let said = |turn: &Value| text(&turn["messages"][0]["parts"][0]["text"]).len();
    assert!(said(&before["turns"][0]) < long.len(), "cut in a window");
    let whole = daemon.get(&format!("{path}/turns/1")).is(200);
    assert_eq!(said(&whole), long.len());
    let tree = daemon.get(&format!("{path}/tree")).is(200);
    assert_eq!(tree["all"], 3);
    assert_eq!(tree["rows"][2]["is_head"], true);
    assert_eq!(tree["rows"][1]["title"], "two MARK-b");
}

#[test]
fn a_change_names_what_was_seen_and_whoever_was_slower_is_told_so() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (id, path) = conversation(&bench, &daemon, &["one MARK-a", "two MARK-b"]);
    let seen = etag(&daemon.get(&path));
    let rewind = format!("{path}/rewind");
    let problem = daemon.post(&rewind, &json!({ "turns": 1 })).is(428);
    assert_eq!(problem["etag"], json!(seen));
    let moved = changed(&daemon, &rewind, &seen, &json!({ "turns": 1 }));
    let now = etag(&moved);
    assert_ne!(now, seen);
    assert_eq!(moved.is(200)["turns"], 1);
    let problem =
        changed(&daemon, &format!("{path}/edit"), &seen, &json!({ "message": "1", "text": "x" })).is(412);
    assert_eq!((&problem["code"], &problem["etag"]), (&json!("changed"), &json!(now)));

    let edited =
        changed(&daemon, &format!("{path}/edit"), &now, &json!({ "message": "1", "text": "one MARK-z" }));
    let now = etag(&edited);
    assert_eq!(edited.is(200)["changed"], true);
    let said = daemon.get(&format!("{path}/turns")).is(200)["turns"][0]["messages"].clone();
    let wordings = (&said[0]["parts"][0]["text"], &said[0]["original"][0]["text"]);
    assert_eq!(wordings, (&json!("one MARK-z"), &json!("one MARK-a")), "{said}");
    assert_eq!(said[1].get("original"), None, "the answer was not amended");
    let why = daemon.get(&format!("{path}/why")).is(200);
    assert_eq!(why["plan"]["reason"], "history_changed", "{why}");
    let guard =
        |name: &str| why["checks"].as_array().unwrap().iter().find(|check| check["guard"] == name).cloned();
    assert_eq!(guard("history_unchanged").unwrap()["ok"], false);
    assert!(why["history_bytes"].as_u64().unwrap() > 0);
    assert_eq!(why["history_bytes"], why["replay_bytes"], "all of it is told again");
    let run = daemon.post("/api/v1/runs", &next(&id, "three")).is(202);
    let ended = over(&daemon, &run["run"]);
    assert_eq!(ended["sessionResumed"], false);
    assert!(bench.show()["turns"].to_string().contains("SEEN n=1 marks=MARK-z"), "told the new wording");
    changed(&daemon, &format!("{path}/branch"), &now, &json!({ "at": "1" })).is(412);
    let now = etag(&daemon.get(&path));
    changed(&daemon, &format!("{path}/branch"), &now, &json!({ "at": "1", "name": "other" })).is(200);
    assert_eq!(daemon.get(&path).is(200)["branch"], "other");
}

#[test]
fn while_a_turn_runs_nothing_is_moved_or_removed() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (id, path) = conversation(&bench, &daemon, &["one"]);
    let run = daemon.post("/api/v1/runs", &next(&id, "SLEEP 60")).is(202);
    super::runs::until(&daemon, &run["run"], "running");
    let running = daemon.get("/api/v1/conversations?state=running").is(200);
    assert_eq!((&running["conversations"][0]["id"], &running["conversations"][1]), (&id, &Value::Null));
    assert_eq!(daemon.get("/api/v1/conversations?state=interrupted").is(200)["conversations"], json!([]));
    assert_eq!(daemon.get("/api/v1/projects").is(200)["projects"][0]["running"], 1);
    let tag = etag(&daemon.get(&path));
    assert_eq!(
        changed(&daemon, &format!("{path}/rewind"), &tag, &json!({ "turns": 1 })).is(409)["code"],
        "busy"
    );
    daemon.ask("DELETE", &path).send().is(409);
    daemon.post(&format!("/api/v1/runs/{}/cancel", text(&run["run"])), &json!({})).is(200);
    over(&daemon, &run["run"]);
    let reply = daemon.ask("DELETE", &path).send();
    assert_eq!(reply.status, 204, "{}", reply.text());
    daemon.get(&path).is(404);
    assert!(bench.journals().is_empty());
}

#[test]
fn a_conversation_leaves_as_a_bundle_and_comes_back_to_the_byte() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (id, path) = conversation(
        &bench,
        &daemon,
        &["one MARK-a sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"],
    );
    let page = daemon.get(&format!("{path}/export?format=html"));
    assert!(
        page.header("content-disposition").unwrap().starts_with("attachment"),
        "never a page of this origin"
    );
    let etag = daemon.get(&path).header("etag").unwrap().to_owned();
    assert_eq!(page.header("etag"), Some(etag.as_str()));
    let redacted = daemon.get(&format!("{path}/export?redact=true"));
    assert!(!redacted.text().contains("sk-ant-api03"), "{}", redacted.text());
    let journal = std::fs::read(&bench.journals()[0]).unwrap();
    let bundle = daemon.get(&format!("{path}/export?format=bundle"));
    assert_eq!(bundle.status, 200);
    daemon.ask("DELETE", &path).send();
    let import = || daemon.ask("POST", "/api/v1/conversations/import");
    assert_eq!(import().json(&json!({})).send().is(415)["code"], "media_type");
    let kind = bundle.header("content-type").unwrap().to_owned();
    let imported = import().header("Content-Type", &kind).body(bundle.body.clone()).send().is(201);
    assert_eq!(imported["id"], id);
    assert_eq!(std::fs::read(&bench.journals()[0]).unwrap(), journal);
}
