//! A ceiling holds for whatever a request says, and a token's rights are those it has when its run begins.

use serde_json::{Value, json};

use super::super::auth::new_token;
use super::super::daemon::Daemon;
use super::super::runs::{next, over, text, until, wanted};
use crate::support::Bench;

const ALL: &str = "read,prompt,answer";

fn limited(bench: &Bench, ceiling: &str) -> String {
    new_token(bench, ceiling, &["--scope", ALL, "--ceiling", ceiling])
}

fn with_level(mut body: Value, level: &str) -> Value {
    body["permissions"] = json!(level);
    body
}

#[test]
fn a_run_is_never_wider_than_the_ceiling() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    for (ceiling, wider) in
        [("read", &["edit", "full", "agent"][..]), ("edit", &["full", "agent"]), ("full", &["agent"])]
    {
        let token = limited(&bench, ceiling);
        let post = |body: &Value| daemon.ask_with(&token, "POST", "/api/v1/runs").json(body).send();
        for level in wider {
            for ephemeral in [false, true] {
                let mut body = with_level(wanted(&bench, "hello"), level);
                body["ephemeral"] = json!(ephemeral);
                let problem = post(&body).is(403);
                assert_eq!(problem["code"], "ceiling_exceeded", "{level} under {ceiling}: {problem}");
            }
        }
        let within = post(&with_level(wanted(&bench, "hello"), ceiling)).is(202);
        assert_eq!(over(&daemon, &within["run"])["status"], "completed");
    }
    assert_eq!(bench.journals().len(), 3, "what is refused leaves nothing");
}

/// `demo` uses no tool at the level `read`, and leaves a file with one else.
#[test]
fn a_run_for_which_no_level_is_said_runs_at_the_ceiling() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let sign = bench.project().join("sign");
    let run = |token: &str, body: &Value| {
        let taken = daemon.ask_with(token, "POST", "/api/v1/runs").json(body).send().is(202);
        assert_eq!(over(&daemon, &taken["run"])["status"], "completed");
        taken
    };
    let token = limited(&bench, "read");
    let prompt = "TOOL-RUN [echo x > sign]";
    run(&token, &wanted(&bench, prompt));
    assert!(!sign.exists(), "a first turn");
    // A conversation that somebody else let do everything.
    let free = run(&daemon.token, &with_level(wanted(&bench, "hello"), "full"));
    run(&token, &next(&free["conversation"], prompt));
    assert!(!sign.exists(), "a turn of a conversation that may do more");
    run(&daemon.token, &next(&free["conversation"], prompt));
    assert!(sign.exists(), "its own level is what it was");
    std::fs::remove_file(&sign).unwrap();
    run(&limited(&bench, "edit"), &wanted(&bench, prompt));
    assert!(sign.exists());
}

#[test]
fn to_have_a_wider_run_again_is_not_a_way_around_the_ceiling() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let sign = bench.project().join("sign");
    let body = with_level(wanted(&bench, "TOOL-RUN [echo x > sign]"), "full");
    let free = daemon.post("/api/v1/runs", &body).is(202);
    over(&daemon, &free["run"]);
    std::fs::remove_file(&sign).unwrap();
    let retry = format!("/api/v1/runs/{}/retry", text(&free["run"]));
    let reply = daemon.ask_with(&limited(&bench, "read"), "POST", &retry).send();
    if reply.status == 202 {
        over(&daemon, &reply.is(202)["run"]);
    } else {
        assert_eq!(reply.is(403)["code"], "ceiling_exceeded");
    }
    assert!(!sign.exists());
}

#[test]
fn a_flow_with_a_shell_step_is_not_begun_under_a_ceiling() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    bench.file("shell.flow.yaml", "steps: { a: { run: 'echo x > sign' } }");
    bench.file("level.flow.yaml", "steps: { a: { agent: demo, prompt: MARK-a, permissions: full } }");
    bench.file("fits.flow.yaml", "steps: { a: { agent: demo, prompt: MARK-a, permissions: edit } }");
    let begin = |token: &str, file: &str| {
        let body = json!({ "project": bench.project(), "file": file });
        daemon.ask_with(token, "POST", "/api/v1/flows/runs").json(&body).send()
    };
    let (edit, full) = (limited(&bench, "edit"), limited(&bench, "full"));
    for (token, file) in [(&edit, "shell.flow.yaml"), (&full, "shell.flow.yaml"), (&edit, "level.flow.yaml")]
    {
        let problem = begin(token, file).is(403);
        assert_eq!((&problem["code"], &problem["step"]), (&json!("ceiling_exceeded"), &json!("a")));
    }
    assert!(!bench.project().join("sign").exists());
    assert_eq!(daemon.get("/api/v1/flows/runs").is(200)["runs"], json!([]));
    begin(&edit, "fits.flow.yaml").is(202);
    begin(&full, "level.flow.yaml").is(202);
}

/// A run that waits behind another one.
fn queued(daemon: &Daemon<'_>, bench: &Bench, token: &str) -> (Value, Value) {
    let first = daemon.post("/api/v1/runs", &wanted(bench, "first SLOW 100000")).is(202);
    until(daemon, &first["run"], "running");
    let body = next(&first["conversation"], "second MARK-second");
    let waits = daemon.ask_with(token, "POST", "/api/v1/runs").json(&body).send().is(202);
    assert_eq!(waits["status"], "queued");
    (first, waits)
}

/// Lets what waits go on, and expects that the run fails because its token is good for nothing any more.
#[track_caller]
fn is_not_allowed(daemon: &Daemon<'_>, token: &str, first: &Value, waits: &Value) {
    let ask = |method: &str, path: String| daemon.ask_with(token, method, &path);
    ask("POST", format!("/api/v1/runs/{}/cancel", text(&first["run"]))).send().is(200);
    let queue = format!("/api/v1/conversations/{}/queue", text(&first["conversation"]));
    ask("PATCH", queue).json(&json!({ "pause": false })).send().is(200);
    let shown = crate::support::eventually("the end of the run", || {
        let shown = ask("GET", format!("/api/v1/runs/{}", text(&waits["run"]))).send().is(200);
        (shown["status"] != "queued").then_some(shown)
    });
    assert_eq!(
        (&shown["status"], &shown["problem"]["code"]),
        (&json!("failed"), &json!("not_allowed")),
        "{shown}"
    );
}

#[test]
fn a_queued_run_of_a_token_that_was_revoked_does_not_begin() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let phone = new_token(&bench, "phone", &["--scope", ALL]);
    let (first, waits) = queued(&daemon, &bench, &phone);
    bench.rejoin(&["token", "revoke", "phone"]).done();
    is_not_allowed(&daemon, &daemon.token, &first, &waits);
    assert!(!std::fs::read_to_string(&bench.journals()[0]).unwrap().contains("MARK-second"));
}

#[test]
fn a_queued_run_of_a_main_token_that_was_replaced_does_not_begin() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let (first, waits) = queued(&daemon, &bench, &daemon.token);
    let new = bench.rejoin(&["token", "--rotate"]).done().stdout().trim().to_owned();
    is_not_allowed(&daemon, &new, &first, &waits);
    assert!(!std::fs::read_to_string(&bench.journals()[0]).unwrap().contains("MARK-second"));
}
