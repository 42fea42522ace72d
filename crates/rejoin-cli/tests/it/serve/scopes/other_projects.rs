//! A token that is kept to a project neither sees nor touches what is in others.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::auth::new_token;
use super::super::daemon::{Daemon, Reply};
use super::super::runs::{next, over, text, wanted};
use super::route_table::{Needs, SCOPES, Scene};
use crate::support::Bench;

fn kept_to(bench: &Bench, scene: &Scene) -> String {
    new_token(bench, "kept", &["--scope", &SCOPES.join(","), "--project", text(&scene.other)])
}

#[test]
fn no_route_tells_of_another_project_or_changes_anything_there() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let scene = Scene::set(&bench, &daemon);
    let token = kept_to(&bench, &scene);
    let before = daemon.get(&format!("/api/v1/conversations/{}", text(&scene.conversation))).is(200);
    for route in scene.routes().iter().filter(|route| route.needs != Needs::Nothing) {
        let reply = route.ask(&daemon, Some(&token)).send();
        if route.names(&scene) {
            assert!([403, 404].contains(&reply.status), "{route}: {} {}", reply.status, reply.text());
            assert!(!reply.text().contains("scope_missing"), "{route}: {}", reply.text());
        } else {
            for hidden in [&scene.project, &scene.conversation, &scene.turn, &json!("MARK-")] {
                assert!(!reply.text().contains(text(hidden)), "{route}: {}", reply.text());
            }
        }
    }
    for (list, path) in [
        ("conversations", "/conversations"),
        ("hits", "/search?q=MARK"),
        ("questions", "/questions"),
        ("runs", "/runs"),
        ("runs", "/flows/runs"),
        ("projects", "/projects"),
    ] {
        let path = format!("/api/v1{path}");
        assert_ne!(daemon.get(&path).is(200)[list], json!([]), "{path}");
        let told = daemon.ask_with(&token, "GET", &path).send().is(200);
        assert_eq!(told[list], json!([]), "{path}");
    }
    let session = over(&daemon, &scene.turn)["receipt"]["session"].clone();
    let body = json!({ "session": session, "prompt": "hello" });
    daemon.ask_with(&token, "POST", "/api/v1/runs").json(&body).send().is(404);
    let after = daemon.get(&format!("/api/v1/conversations/{}", text(&scene.conversation))).is(200);
    assert_eq!(after, before, "nothing was changed");
}

#[test]
fn what_waits_in_another_project_is_not_told_of_either() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let scene = Scene::set(&bench, &daemon);
    let token = kept_to(&bench, &scene);
    daemon.post("/api/v1/runs", &next(&scene.conversation, "SLOW 100000")).is(202);
    let waits = daemon.post("/api/v1/runs", &next(&scene.conversation, "waits")).is(202);
    assert_eq!(waits["status"], "queued");
    let conversation = format!("/api/v1/conversations/{}", text(&scene.conversation));
    let queue = format!("{conversation}/queue");
    let run = format!("/api/v1/runs/{}", text(&waits["run"]));
    for (method, path, body) in [
        ("DELETE", conversation.clone(), Value::Null),
        ("GET", queue.clone(), Value::Null),
        ("PATCH", queue, json!({ "delete": waits["run"] })),
        ("GET", run.clone(), Value::Null),
        ("POST", format!("{run}/cancel"), Value::Null),
        ("GET", format!("{run}/events"), Value::Null),
    ] {
        let ask = daemon.ask_with(&token, method, &path);
        let reply = if body.is_null() { ask.send() } else { ask.json(&body).send() };
        assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text());
    }
    assert_eq!(daemon.get(&run).is(200)["status"], "queued");
}

#[test]
fn an_id_that_is_taken_does_not_tell_by_which_conversation() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let scene = Scene::set(&bench, &daemon);
    let token = kept_to(&bench, &scene);
    let mut own = next(&scene.conversation, "MARK-own");
    own["turn"] = json!("7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111");
    let run = daemon.post("/api/v1/runs", &own).is(202)["run"].clone();
    let body = json!({ "project": scene.other, "agent": "demo", "prompt": "hello", "turn": run });
    let refused = |reply: Reply| {
        let problem = reply.is(422);
        assert_eq!((&problem["code"], &problem["run"]), (&json!("key_reused"), &run), "{problem}");
        problem
    };
    let told = || refused(daemon.ask_with(&token, "POST", "/api/v1/runs").json(&body).send()).to_string();
    for told in [told(), {
        over(&daemon, &run);
        told()
    }] {
        for hidden in [&scene.conversation, &scene.project, &json!("MARK-")] {
            assert!(!told.contains(text(hidden)), "{told}");
        }
    }
    // Whoever asked is told.
    assert_eq!(refused(daemon.post("/api/v1/runs", &body))["conversation"], scene.conversation);
}

#[test]
fn a_stream_tells_of_the_tokens_own_project_only() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let scene = Scene::set(&bench, &daemon);
    let token = kept_to(&bench, &scene);
    let mut everything = daemon.ask("GET", "/api/v1/stream").events();
    let mut stream = daemon.ask_with(&token, "GET", "/api/v1/stream").events();
    let theirs = daemon.post("/api/v1/runs", &wanted(&bench, "MARK-theirs")).is(202);
    over(&daemon, &theirs["run"]);
    while everything.hears("change").data["conversation"] != theirs["conversation"] {}
    let body = json!({ "project": scene.other, "agent": "demo", "prompt": "MARK-own" });
    let own = daemon.ask_with(&token, "POST", "/api/v1/runs").json(&body).send().is(202);
    let first = stream.hears("change");
    assert_eq!(first.data["conversation"], own["conversation"], "{first:?}");
    over(&daemon, &own["run"]);
    while let Some(told) = stream.next_within(Duration::from_millis(500)) {
        assert!(!told.data.to_string().contains(text(&theirs["conversation"])), "{told:?}");
    }
}
