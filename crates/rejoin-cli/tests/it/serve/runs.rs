//! Turns over HTTP: asked for once or twice, watched to their end, stopped, had again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::daemon::{Ask, Daemon, Reply};
use crate::support::{Bench, eventually};

/// Asks for a turn of `demo` in the project of the bench.
pub(super) fn wanted(bench: &Bench, prompt: &str) -> Value {
    json!({ "project": bench.project(), "agent": "demo", "prompt": prompt })
}

/// Asks for the next turn of a conversation.
pub(super) fn next(conversation: &Value, prompt: &str) -> Value {
    json!({ "conversation": conversation, "prompt": prompt })
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Waits until a run is over.
#[track_caller]
pub(super) fn over(daemon: &Daemon<'_>, run: &Value) -> Value {
    let path = format!("/api/v1/runs/{}?wait=20", text(run));
    eventually("the end of a run", || {
        let shown = daemon.get(&path).is(200);
        (!["queued", "running", "waiting"].contains(&text(&shown["status"]))).then_some(shown)
    })
}

/// Waits until a run stands like this.
#[track_caller]
pub(super) fn until(daemon: &Daemon<'_>, run: &Value, status: &str) -> Value {
    let path = format!("/api/v1/runs/{}", text(run));
    eventually(status, || {
        let shown = daemon.get(&path).is(200);
        (shown["status"] == status).then_some(shown)
    })
}

fn with_key(daemon: &Daemon<'_>, key: &str, body: &Value) -> Ask {
    daemon.ask("POST", "/api/v1/runs").header("Idempotency-Key", key).json(body)
}

/// How many prompts stand in all journals of the bench.
fn prompts(bench: &Bench) -> usize {
    let text: String = bench.journals().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter(|record| record["type"] == "user").count()
}

#[test]
fn two_turns_over_http_are_one_conversation_and_the_second_resumes() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = daemon.post("/api/v1/runs", &wanted(&bench, "hello MARK-a")).is(202);
    assert_eq!(first["run"], first["turn"]);
    assert_eq!(first["interactive"], false);
    let shown = over(&daemon, &first["run"]);
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!((&shown["sessionResumed"], &shown["reason"]), (&json!(false), &json!("first_turn")));
    assert_eq!((&shown["agent"], &shown["prompt"]), (&json!("demo"), &json!("hello MARK-a")));

    let second = daemon.post("/api/v1/runs", &next(&first["conversation"], "and MARK-b")).is(202);
    assert_eq!(second["conversation"], first["conversation"]);
    assert_ne!(second["cursor"], first["cursor"]);
    let shown = over(&daemon, &second["run"]);
    assert_eq!((&shown["status"], &shown["sessionResumed"]), (&json!("completed"), &json!(true)), "{shown}");
    assert_eq!(shown["receipt"]["plan"]["decision"], "resume");
    assert!(bench.show().to_string().contains("SEEN n=2 marks=MARK-a,MARK-b"), "the session knows both");

    let session = text(&shown["receipt"]["session"]).to_owned();
    let by_session = json!({ "session": session, "prompt": "MARK-c" });
    let third = daemon.post("/api/v1/runs", &by_session).is(202);
    assert_eq!(third["conversation"], first["conversation"]);
    assert_eq!(over(&daemon, &third["run"])["sessionResumed"], true);
    let none = json!({ "session": "00000000-aaaa-bbbb-cccc-000000000000", "prompt": "MARK-c" });
    daemon.post("/api/v1/runs", &none).is(404);

    let listed = daemon.get("/api/v1/runs?limit=2").is(200);
    let ids = |page: &Value| -> Vec<Value> {
        page["runs"].as_array().unwrap().iter().map(|run| run["run"].clone()).collect()
    };
    assert_eq!(ids(&listed), [third["run"].clone(), second["run"].clone()]);
    let page = format!("/api/v1/runs?limit=2&cursor={}", text(&listed["cursor"]));
    let rest = daemon.get(&page).is(200);
    assert_eq!((ids(&rest), rest.get("cursor")), (vec![first["run"].clone()], None));
    assert_eq!(ids(&daemon.get("/api/v1/runs?status=failed").is(200)), [] as [Value; 0]);
}

#[test]
fn a_request_that_is_sent_twice_is_one_turn_also_after_a_kill_and_a_restart() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let body = wanted(&bench, "hello MARK-a");
    let first = with_key(&daemon, "one", &body).send();
    assert_eq!(first.header("idempotent-replayed"), None);
    let first = first.is(202);
    let again = with_key(&daemon, "one", &body).send();
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let same = |again: Value| {
        for field in ["run", "conversation", "cursor", "interactive"] {
            assert_eq!(again[field], first[field], "{field}");
        }
    };
    same(again.is(202));
    over(&daemon, &first["run"]);
    same(with_key(&daemon, "one", &body).send().is(202));
    let reused = with_key(&daemon, "one", &wanted(&bench, "another MARK-b")).send().is(422);
    assert_eq!((&reused["code"], &reused["run"]), (&json!("key_reused"), &first["run"]));
    daemon.kill();

    let daemon = Daemon::start(&bench);
    same(with_key(&daemon, "one", &body).send().is(202));
    assert_eq!(
        with_key(&daemon, "one", &wanted(&bench, "another MARK-b")).send().is(422)["code"],
        "key_reused"
    );
    let other = with_key(&daemon, "two", &body).send().is(202);
    assert_ne!(other["run"], first["run"]);
    over(&daemon, &other["run"]);
    assert_eq!(prompts(&bench), 2);
}

#[test]
fn of_many_equal_requests_at_once_one_is_carried_out() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let body = wanted(&bench, "hello MARK-a");
    let asks: Vec<Ask> = (0..8).map(|_| with_key(&daemon, "race", &body)).collect();
    let other = with_key(&daemon, "race", &wanted(&bench, "another MARK-b"));
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let sent: Vec<_> = asks.into_iter().chain([other]).map(|ask| scope.spawn(|| ask.send())).collect();
        sent.into_iter().map(|reply| reply.join().unwrap()).collect()
    });
    let taken: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 202).collect();
    assert!([1, 8].contains(&taken.len()), "whoever came first: {replies:?}");
    assert!(replies.iter().all(|reply| [202, 422].contains(&reply.status)), "{replies:?}");
    let runs: Vec<Value> = taken
        .iter()
        .map(|reply| serde_json::from_slice::<Value>(&reply.body).unwrap()["run"].clone())
        .collect();
    assert!(runs.iter().all(|run| *run == runs[0]));
    over(&daemon, &runs[0]);
    assert_eq!(prompts(&bench), 1);
}

#[test]
fn a_callers_own_id_is_the_turns_and_is_taken_once() {
    let bench = Bench::after_a_turn();
    let daemon = Daemon::start(&bench);
    let id = "7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111";
    let mut body = wanted(&bench, "hello MARK-b");
    body["turn"] = json!(id);
    let first = daemon.post("/api/v1/runs", &body).is(202);
    assert_eq!(first["run"], id);
    assert_eq!(daemon.post("/api/v1/runs", &body).is(202)["conversation"], first["conversation"]);
    over(&daemon, &first["run"]);
    body["prompt"] = json!("something else");
    assert_eq!(daemon.post("/api/v1/runs", &body).is(422)["code"], "key_reused");
    let both = with_key(&daemon, "k", &body).send().is(400);
    assert_eq!(both["code"], "bad_request");

    // The id of a turn that a terminal made is nobody's to give away.
    let shown = bench.conversations();
    let terminal = shown.iter().find(|listed| listed["id"] != first["conversation"]).unwrap();
    let turn =
        bench.rejoin(&["show", "--json", text(&terminal["id"])]).done().json()["turns"][0]["id"].clone();
    let mut stolen = next(&terminal["id"], "again");
    stolen["turn"] = turn.clone();
    assert_eq!(daemon.post("/api/v1/runs", &stolen).is(422)["code"], "key_reused");
    // It can be looked at as a run.
    let seen = daemon.get(&format!("/api/v1/runs/{}", text(&turn))).is(200);
    assert_eq!((&seen["status"], &seen["conversation"]), (&json!("completed"), &terminal["id"]));
    assert_eq!(prompts(&bench), 2);
}

#[test]
fn what_cannot_begin_is_told_at_once_and_again_to_the_same_key() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let mut body = wanted(&bench, "hello");
    body["agent"] = json!("clod");
    let refused = with_key(&daemon, "k", &body).send().is(422);
    assert_eq!(refused["code"], "refused");
    assert!(text(&refused["detail"]).contains("unknown agent \"clod\""), "{refused}");
    assert_eq!(with_key(&daemon, "k", &body).send().is(422)["detail"], refused["detail"]);
    let shown = daemon.get(&format!("/api/v1/runs/{}", text(&refused["run"]))).is(200);
    assert_eq!((&shown["status"], &shown["problem"]["code"]), (&json!("failed"), &json!("refused")));

    // Without a key nobody can ask for it again, so nothing of it is kept.
    for _ in 0..2 {
        let mut body = body.clone();
        body["prompt"] = json!("another");
        let refused = daemon.post("/api/v1/runs", &body).is(422);
        assert_eq!((&refused["code"], refused.get("run")), (&json!("refused"), None), "{refused}");
    }
    assert_eq!(daemon.get("/api/v1/runs").is(200)["runs"].as_array().unwrap().len(), 1);
    assert_eq!(std::fs::read_dir(bench.home().join("queue")).unwrap().count(), 1);

    let post = |body: Value| daemon.post("/api/v1/runs", &body);
    let with = |field: &str, value: Value| {
        let mut body = wanted(&bench, "hello");
        body[field] = value;
        body
    };
    let code = |reply: Reply, status: u16| text(&reply.is(status)["code"]).to_owned();
    assert_eq!(code(post(with("project", json!("/nowhere/at/all"))), 404), "not_found");
    assert_eq!(code(post(with("project", json!("relative"))), 400), "bad_request");
    assert_eq!(code(post(with("cwd", json!("/nowhere/at/all"))), 404), "not_found");
    assert_eq!(code(post(with("prompt", json!("  "))), 400), "bad_request");
    assert_eq!(code(post(with("prompt", json!("x".repeat((4 << 20) + 1)))), 413), "too_large");
    assert_eq!(code(post(with("timeout", json!("soon"))), 400), "bad_request");
    assert_eq!(code(post(with("attachments", json!(["ab"]))), 404), "not_found");
    assert_eq!(code(post(with("attachments", json!(vec!["ab"; 21]))), 429), "too_many");
    assert_eq!(code(post(with("checkpoint", json!("1"))), 422), "refused");
    assert_eq!(code(post(with("promt", json!("x"))), 400), "unknown_field");
    assert_eq!(code(post(json!({ "prompt": "hello" })), 400), "bad_request");
    assert_eq!(code(post(json!({ "conversation": "4711", "prompt": "hello" })), 404), "not_found");
    assert_eq!(code(daemon.get("/api/v1/runs/4711"), 404), "not_found");
    assert_eq!(code(daemon.get("/api/v1/runs/7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111"), 404), "not_found");
    assert_eq!(prompts(&bench), 0);
}

#[test]
fn an_ephemeral_run_leaves_nothing_and_takes_no_key() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let mut body = wanted(&bench, "hello MARK-a");
    body["ephemeral"] = json!(true);
    let refused = with_key(&daemon, "k", &body).send().is(400);
    assert!(text(&refused["detail"]).contains("not kept"), "{refused}");
    let taken = daemon.post("/api/v1/runs", &body).is(202);
    assert_eq!((&taken["conversation"], &taken["cursor"]), (&Value::Null, &Value::Null));
    let shown = over(&daemon, &taken["run"]);
    assert_eq!(shown["status"], "completed", "{shown}");
    assert!(text(&shown["text"]).contains("marks=MARK-a"), "{shown}");
    let events = daemon.get(&format!("/api/v1/runs/{}/events", text(&taken["run"]))).is(409);
    assert_eq!(events["code"], "conflict");
    assert!(text(&events["detail"]).contains("ephemeral"), "{events}");
    assert!(!bench.home().join("queue").exists());
    assert_eq!(bench.journals(), [] as [std::path::PathBuf; 0]);
    daemon.post(&format!("/api/v1/runs/{}/retry", text(&taken["run"])), &json!({})).is(409);

    // Where no place is free it cannot wait.
    let places = std::thread::available_parallelism().unwrap().get() * 2;
    let hanging: Vec<Value> = (0..places)
        .map(|_| daemon.post("/api/v1/runs", &wanted(&bench, "HANG")).is(202)["run"].clone())
        .collect();
    let full = daemon.post("/api/v1/runs", &body);
    assert!(full.header("retry-after").is_some());
    assert_eq!(full.is(429)["code"], "too_many");
    let waits = daemon.post("/api/v1/runs", &wanted(&bench, "hello")).is(202);
    assert_eq!((&waits["status"], &waits["position"]), (&json!("queued"), &json!(1)));
    let cancel =
        |run: &Value, body: Value| daemon.post(&format!("/api/v1/runs/{}/cancel", text(run)), &body).is(200);
    for run in &hanging {
        cancel(run, json!({}));
        cancel(run, json!({ "force": true }));
    }
    for run in &hanging {
        assert_eq!(over(&daemon, run)["status"], "cancelled");
    }
    assert_eq!(over(&daemon, &waits["run"])["status"], "completed");
}

#[test]
fn an_ephemeral_run_is_never_asked_whatever_is_watched() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let _watching = daemon.ask("GET", "/api/v1/stream").events();
    let mut body = wanted(&bench, "ASK");
    body["ephemeral"] = json!(true);
    let taken = daemon.post("/api/v1/runs", &body).is(202);
    assert_eq!(taken["interactive"], false);
    let shown = over(&daemon, &taken["run"]);
    assert_eq!((&shown["status"], &shown["interactive"]), (&json!("completed"), &json!(false)), "{shown}");
    body["interactive"] = json!(true);
    let refused = daemon.post("/api/v1/runs", &body).is(422);
    assert_eq!(refused["code"], "refused");
    assert!(text(&refused["hint"]).contains("`interactive`"), "{refused}");
    // A run that is kept is asked, as somebody watches.
    let asked = daemon.post("/api/v1/runs", &wanted(&bench, "ASK")).is(202);
    assert_eq!(asked["interactive"], true);
    until(&daemon, &asked["run"], "waiting");
}

#[test]
fn a_long_poll_tells_of_the_end_when_it_comes() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "SLEEP 1 hello")).is(202);
    assert_eq!(taken["status"], "running");
    let begun = Instant::now();
    let shown = daemon.get(&format!("/api/v1/runs/{}?wait=30", text(&taken["run"]))).is(200);
    assert_eq!(shown["status"], "completed", "{shown}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let asks = daemon.post(
        "/api/v1/runs",
        &json!({ "project": bench.project(), "agent": "demo", "prompt": "ASK", "interactive": true }),
    );
    let asks = asks.is(202);
    assert_eq!(asks["interactive"], true);
    let shown = until(&daemon, &asks["run"], "waiting");
    assert_eq!(shown["questions"][0]["text"], "Tea or coffee?");
    daemon.post(&format!("/api/v1/runs/{}/cancel", text(&asks["run"])), &json!({})).is(200);
    assert_eq!(over(&daemon, &asks["run"])["status"], "cancelled");
}

#[test]
fn a_run_that_was_in_mid_air_is_interrupted_and_can_be_had_again() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "MARK-a SLOW 100000")).is(202);
    until(&daemon, &taken["run"], "running");
    let not_over = daemon.post(&format!("/api/v1/runs/{}/retry", text(&taken["run"])), &json!({})).is(409);
    assert_eq!(not_over["code"], "conflict");
    let waits = daemon.post("/api/v1/runs", &next(&taken["conversation"], "MARK-b")).is(202);
    assert_eq!(waits["status"], "queued");
    daemon.kill();

    let daemon = Daemon::start(&bench);
    let cut = over(&daemon, &taken["run"]);
    assert_eq!((&cut["status"], &cut["sessionResumed"]), (&json!("interrupted"), &json!(false)), "{cut}");
    assert_eq!((&cut["plan"]["decision"], &cut["reason"]), (&json!("fresh"), &json!("first_turn")), "{cut}");
    assert_eq!(over(&daemon, &waits["run"])["status"], "completed", "what waited goes on");
    let retry = |key: &str| {
        let path = format!("/api/v1/runs/{}/retry", text(&waits["run"]));
        daemon.ask("POST", &path).header("Idempotency-Key", key).send()
    };
    let again = retry("r").is(202);
    assert_eq!(retry("r").is(202)["run"], again["run"]);
    let shown = over(&daemon, &again["run"]);
    assert_eq!((&shown["status"], &shown["prompt"]), (&json!("completed"), &json!("MARK-b")), "{shown}");
    assert_eq!(prompts(&bench), 3);
    bench.rejoin(&["fsck"]).done();
    let listed = |daemon: &Daemon<'_>| {
        let listed = daemon.get("/api/v1/runs").is(200)["runs"].clone();
        let told = |run: &Value| (text(&run["prompt"]).to_owned(), run["agent"].clone());
        listed.as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    let told = ["MARK-b", "MARK-b", "MARK-a SLOW 100000"].map(|prompt| (prompt.to_owned(), json!("demo")));
    assert_eq!(listed(&daemon), told, "the real words and the real agent, also of what named none");
    daemon.kill();
    let daemon = Daemon::start(&bench);
    assert_eq!(listed(&daemon), told);
    // One that waits to be had again says with which words.
    let slow = daemon.post("/api/v1/runs", &next(&taken["conversation"], "SLOW 100000")).is(202);
    until(&daemon, &slow["run"], "running");
    daemon.post(&format!("/api/v1/runs/{}/retry", text(&waits["run"])), &json!({})).is(202);
    let queue = daemon.get(&format!("/api/v1/conversations/{}/queue", text(&taken["conversation"]))).is(200);
    assert_eq!(queue["runs"][0]["prompt"], "MARK-b");
}

#[test]
fn a_daemon_that_is_told_to_end_stops_what_runs_and_keeps_what_waits() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let taken = daemon.post("/api/v1/runs", &wanted(&bench, "MARK-a SLOW 100000")).is(202);
    let waits = daemon.post("/api/v1/runs", &next(&taken["conversation"], "MARK-b")).is(202);
    crate::support::signal(daemon.pid(), rustix::process::Signal::TERM);
    bench.comes_to_rest();
    let daemon = Daemon::start(&bench);
    assert_eq!(over(&daemon, &taken["run"])["status"], "cancelled");
    assert_eq!(over(&daemon, &waits["run"])["status"], "completed");
}

#[test]
fn an_upload_goes_along_and_is_gone_when_its_turn_has_completed() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let upload =
        daemon.ask("POST", "/api/v1/uploads?name=dir/notes.txt").header("Content-Type", "text/plain");
    let upload = upload.body("what was noted").send().is(201);
    assert_eq!(
        (&upload["name"], &upload["type"], &upload["size"]),
        (&json!("notes.txt"), &json!("text/plain"), &json!(14))
    );
    let blob = bench.home().join("blobs").join(text(&upload["id"]));
    assert!(blob.exists());
    let mut body = wanted(&bench, "read it");
    body["attachments"] = json!([upload["id"]]);
    let taken = daemon.post("/api/v1/runs", &body).is(202);
    let shown = over(&daemon, &taken["run"]);
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(shown["receipt"]["attachments"][0]["name"], "notes.txt");
    eventually("the end of the upload", || (!blob.exists()).then_some(()));
    daemon.post("/api/v1/runs", &body).is(404);
    let large = daemon.ask("POST", "/api/v1/uploads").header("Content-Type", "image/png");
    assert_eq!(large.body(vec![b'x'; (20 << 20) + 1]).send().is(413)["code"], "too_large");
    daemon.ask("POST", "/api/v1/uploads").body("").send().is(400);
}

#[test]
fn killed_at_any_time_a_prompt_is_in_one_turn_or_still_waits() {
    let bench = Bench::new();
    let mut daemon = Daemon::start(&bench);
    let mut taken = std::collections::BTreeSet::new();
    let rounds = 12_u64;
    for round in 0..rounds {
        let body = wanted(&bench, &format!("hello MARK-{round}"));
        let ask = with_key(&daemon, &format!("key {round}"), &body);
        let pid = daemon.pid();
        // From before the request is read to after its turn has ended.
        let after = Duration::from_micros(200 + round * round * 900);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(after);
            crate::support::kill(pid);
        });
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask.send()));
        killer.join().unwrap();
        daemon.kill();
        daemon = Daemon::start(&bench);
        let again = with_key(&daemon, &format!("key {round}"), &body).send().is(202);
        assert!(taken.insert(text(&again["run"]).to_owned()), "each is a run of its own");
        let shown = over(&daemon, &again["run"]);
        assert!(["completed", "interrupted"].contains(&text(&shown["status"])), "{shown}");
    }
    bench.rejoin(&["fsck"]).done();
    assert_eq!(prompts(&bench), usize::try_from(rounds).unwrap());
}

#[test]
fn wherever_the_log_of_a_queue_was_cut_the_turn_that_stands_is_the_answer() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let body = wanted(&bench, "hello MARK-a");
    let taken = with_key(&daemon, "one", &body).send().is(202);
    over(&daemon, &taken["run"]);
    daemon.kill();
    let log = bench.home().join("queue").join(format!("{}.jsonl", text(&taken["conversation"])));
    let whole = std::fs::read(&log).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').map(|at| at + 1).collect();
    assert_eq!(ends.len(), 3, "queued, begun, ended");
    // As a kill leaves it: behind each line, and in the middle of the next one.
    for cut in [ends[0], ends[0] + 20, ends[1], ends[1] + 20, ends[2]] {
        std::fs::write(&log, &whole[..cut]).unwrap();
        let daemon = Daemon::start(&bench);
        let again = with_key(&daemon, "one", &body).send().is(202);
        assert_eq!(again["run"], taken["run"]);
        let shown = over(&daemon, &taken["run"]);
        assert_eq!(
            (&shown["status"], &shown["prompt"]),
            (&json!("completed"), &json!("hello MARK-a")),
            "{shown}"
        );
        assert_eq!(prompts(&bench), 1, "cut at {cut}");
        daemon.kill();
    }
    // Even without the log the id is taken.
    std::fs::remove_file(&log).unwrap();
    let daemon = Daemon::start(&bench);
    let stands = with_key(&daemon, "one", &body).send().is(422);
    assert_eq!((&stands["code"], &stands["run"]), (&json!("key_reused"), &taken["run"]));
    assert_eq!(prompts(&bench), 1);
}
