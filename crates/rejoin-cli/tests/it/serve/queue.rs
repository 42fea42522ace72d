//! Prompts that wait: their order, what becomes of them, and who goes first.

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::runs::{next, over, text, until, wanted};
use crate::support::{Bench, eventually};

fn patch(daemon: &Daemon<'_>, conversation: &Value, change: &Value) -> super::daemon::Reply {
    daemon.ask("PATCH", &format!("/api/v1/conversations/{}/queue", text(conversation))).json(change).send()
}

fn queue(daemon: &Daemon<'_>, conversation: &Value) -> Value {
    daemon.get(&format!("/api/v1/conversations/{}/queue", text(conversation))).is(200)
}

/// The prompts that wait, in their order.
fn waiting(queue: &Value) -> Vec<String> {
    queue["runs"].as_array().unwrap().iter().map(|run| text(&run["prompt"]).to_owned()).collect()
}

/// What the user said in the only conversation, in the order of the journal.
fn said(bench: &Bench) -> Vec<String> {
    let users = bench.records().into_iter().filter(|record| record["type"] == "user");
    users.map(|record| text(&record["message"]["parts"][0]["text"]).to_owned()).collect()
}

fn cancel(daemon: &Daemon<'_>, run: &Value) -> Value {
    daemon.post(&format!("/api/v1/runs/{}/cancel", text(run)), &json!({})).is(200)
}

#[test]
fn what_waits_is_ordered_edited_and_deleted_and_stays_so_over_a_kill() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = daemon.post("/api/v1/runs", &wanted(&bench, "first SLOW 100000")).is(202);
    let conversation = &first["conversation"];
    let runs: Vec<Value> = ["a", "b", "c", "d"]
        .iter()
        .map(|prompt| daemon.post("/api/v1/runs", &next(conversation, prompt)).is(202)["run"].clone())
        .collect();
    let shown = queue(&daemon, conversation);
    assert_eq!(
        (waiting(&shown), &shown["paused"]),
        (["a", "b", "c", "d"].map(String::from).to_vec(), &json!(false))
    );
    let shown = patch(&daemon, conversation, &json!({ "order": [runs[3], runs[1]] })).is(200);
    assert_eq!(waiting(&shown), ["d", "b", "a", "c"]);
    patch(&daemon, conversation, &json!({ "edit": { "run": runs[1], "prompt": "B" } })).is(200);
    patch(&daemon, conversation, &json!({ "delete": runs[2] })).is(200);
    patch(&daemon, conversation, &json!({ "pause": true })).is(200);
    for (change, status) in [
        (json!({ "edit": { "run": first["run"], "prompt": "other" } }), 409),
        (json!({ "delete": runs[2] }), 409),
        (json!({ "delete": "7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111" }), 404),
        (json!({ "order": [first["run"]] }), 409),
        (json!({ "edit": { "run": runs[1], "prompt": "" } }), 400),
        (json!({ "stop": true }), 400),
    ] {
        patch(&daemon, conversation, &change).is(status);
    }
    daemon.kill();

    let daemon = Daemon::start(&bench);
    assert_eq!(over(&daemon, &first["run"])["status"], "interrupted");
    let shown = queue(&daemon, conversation);
    assert_eq!(
        (waiting(&shown), &shown["paused"]),
        (["d", "B", "a"].map(String::from).to_vec(), &json!(true))
    );
    assert_eq!(daemon.get(&format!("/api/v1/runs/{}", text(&runs[2]))).is(200)["status"], "cancelled");
    patch(&daemon, conversation, &json!({ "pause": false })).is(200);
    for run in [&runs[3], &runs[1], &runs[0]] {
        assert_eq!(over(&daemon, run)["status"], "completed");
    }
    assert_eq!(said(&bench), ["first SLOW 100000", "d", "B", "a"]);
}

#[test]
fn who_cancels_a_run_stops_that_one_and_what_waits_behind_it_is_paused() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = daemon.post("/api/v1/runs", &wanted(&bench, "first SLOW 100000")).is(202);
    let second = daemon.post("/api/v1/runs", &next(&first["conversation"], "second")).is(202);
    let third = daemon.post("/api/v1/runs", &next(&first["conversation"], "third")).is(202);
    assert_eq!((&second["position"], &third["position"]), (&json!(1), &json!(2)));
    let shown = cancel(&daemon, &first["run"]);
    assert_eq!(shown["queuePaused"], true);
    assert_eq!(over(&daemon, &first["run"])["status"], "cancelled");
    assert_eq!(cancel(&daemon, &first["run"])["status"], "cancelled", "twice is once");
    let shown = queue(&daemon, &first["conversation"]);
    assert_eq!(waiting(&shown), ["second", "third"]);
    assert!(text(&shown["why"]).contains(text(&first["run"])), "{shown}");
    assert_eq!(cancel(&daemon, &second["run"])["status"], "cancelled");
    let fourth = daemon.post("/api/v1/runs", &next(&first["conversation"], "fourth")).is(202);
    assert_eq!((&fourth["status"], &fourth["queuePaused"]), (&json!("queued"), &json!(true)));
    patch(&daemon, &first["conversation"], &json!({ "pause": false })).is(200);
    assert_eq!(over(&daemon, &fourth["run"])["status"], "completed");
    assert_eq!(said(&bench), ["first SLOW 100000", "third", "fourth"]);

    // With nothing behind it there is nothing to pause.
    let alone = daemon.post("/api/v1/runs", &next(&first["conversation"], "alone SLOW 100000")).is(202);
    until(&daemon, &alone["run"], "running");
    assert_eq!(cancel(&daemon, &alone["run"])["queuePaused"], Value::Null);
    over(&daemon, &alone["run"]);
    assert_eq!(queue(&daemon, &first["conversation"])["paused"], false);
}

#[test]
fn two_prompts_for_a_name_that_is_not_there_yet_are_one_conversation() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let named = |prompt: &str| {
        let mut body = wanted(&bench, prompt);
        body["name"] = json!("release");
        body["scope"] = json!("own");
        daemon.post("/api/v1/runs", &body).is(202)
    };
    let both: Vec<Value> = std::thread::scope(|scope| {
        let sent: Vec<_> =
            ["one", "two"].map(|prompt| scope.spawn(move || named(prompt))).into_iter().collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    assert_eq!(both[0]["conversation"], both[1]["conversation"]);
    for taken in &both {
        let shown = over(&daemon, &taken["run"]);
        assert_eq!(shown["status"], "completed", "{shown}");
    }
    assert_eq!(bench.conversations().len(), 1);
    assert_eq!(bench.conversations()[0]["name"], "release");
    assert_eq!(said(&bench).len(), 2);
}

#[test]
fn if_the_first_of_a_new_conversation_is_refused_the_next_one_begins_it() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    // All places are taken, so that both wait.
    let places = std::thread::available_parallelism().unwrap().get() * 2;
    let hanging: Vec<Value> = (0..places)
        .map(|_| daemon.post("/api/v1/runs", &wanted(&bench, "SLOW 100000")).is(202)["run"].clone())
        .collect();
    let mut body = wanted(&bench, "never");
    body["name"] = json!("release");
    body["agent"] = json!("clod");
    let refused = daemon.post("/api/v1/runs", &body).is(202);
    let second = daemon
        .post(
            "/api/v1/runs",
            &json!({ "conversation": refused["conversation"], "agent": "demo", "prompt": "begins" }),
        )
        .is(202);
    assert_eq!((&second["status"], &second["position"]), (&json!("queued"), &json!(2)));
    for run in &hanging {
        cancel(&daemon, run);
    }
    let shown = over(&daemon, &refused["run"]);
    assert_eq!(
        (&shown["status"], &shown["problem"]["code"]),
        (&json!("failed"), &json!("refused")),
        "{shown}"
    );
    assert_eq!(over(&daemon, &second["run"])["status"], "completed");
    let listed = bench.conversations();
    let begun = listed.iter().find(|listed| listed["id"] == refused["conversation"]).unwrap();
    assert_eq!(begun["name"], "release");
}

#[test]
fn a_turn_of_a_terminal_goes_first() {
    let bench = Bench::after_a_turn();
    let conversation = bench.conversations()[0]["id"].clone();
    let daemon = Daemon::start(&bench);
    let mut terminal = bench.next("MARK-terminal SLOW 100000").start();
    terminal.hears("text_delta");
    let waits = daemon.post("/api/v1/runs", &next(&conversation, "MARK-queued")).is(202);
    assert_eq!(waits["status"], "queued");
    // The turn of the terminal is a run, too, and can be stopped from here.
    let running = bench.show()["turns"][1]["id"].clone();
    let seen = daemon.get(&format!("/api/v1/runs/{}", text(&running))).is(200);
    assert_eq!((&seen["status"], &seen["runner"]), (&json!("running"), &json!("elsewhere")));
    patch(&daemon, &conversation, &json!({ "pause": true })).is(200);
    let seen = std::thread::scope(|scope| {
        let watched = scope.spawn(|| daemon.get(&format!("/api/v1/runs/{}?wait=30", text(&running))).is(200));
        cancel(&daemon, &running);
        watched.join().unwrap()
    });
    assert_eq!(seen["status"], "cancelled", "whoever waits for its end hears of it");
    terminal.ends(130);
    patch(&daemon, &conversation, &json!({ "pause": false })).is(200);
    assert_eq!(over(&daemon, &waits["run"])["status"], "completed");

    // One that waits at the terminal comes between two that wait in the queue.
    let slow = daemon.post("/api/v1/runs", &next(&conversation, "MARK-slow SLOW 100000")).is(202);
    until(&daemon, &slow["run"], "running");
    let last = daemon.post("/api/v1/runs", &next(&conversation, "MARK-last")).is(202);
    let patient = bench.rejoin(&["run", "-o", "stream-json", "-c", "--wait=60s", "MARK-patient"]).start();
    eventually("somebody who waits", || (bench.processes().len() >= 3).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    cancel(&daemon, &slow["run"]);
    patch(&daemon, &conversation, &json!({ "pause": false })).is(200);
    patient.ends(0);
    assert_eq!(over(&daemon, &last["run"])["status"], "completed");
    let order: Vec<String> = said(&bench).into_iter().skip(3).collect();
    assert_eq!(order, ["MARK-slow SLOW 100000", "MARK-patient", "MARK-last"]);
}

#[test]
fn a_queue_has_an_end() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = daemon.post("/api/v1/runs", &wanted(&bench, "SLOW 100000")).is(202);
    for number in 0..100 {
        daemon.post("/api/v1/runs", &next(&first["conversation"], &format!("prompt {number}"))).is(202);
    }
    let full = daemon.post("/api/v1/runs", &next(&first["conversation"], "one too many")).is(429);
    assert_eq!(full["code"], "too_many");
    assert_eq!(queue(&daemon, &first["conversation"])["runs"].as_array().unwrap().len(), 100);
}
