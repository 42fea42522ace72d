//! Flows over HTTP: found, checked, run, watched, stopped, taken up again.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::daemon::{Daemon, Told};
use crate::support::{Bench, eventually, signal};

/// Waits in an agent's tool until the file `go` is there, and leaves a sign.
const WAITS: &str = "
steps:
  one: { agent: demo, prompt: MARK-one }
  two: { continue_from: one, prompt: 'MARK-two TOOL-RUN [echo x >> sign; until test -e go; do sleep 0.05; done]' }
";

#[track_caller]
pub(super) fn begin(daemon: &Daemon<'_>, body: &Value) -> String {
    let begun = daemon.post("/api/v1/flows/runs", body).is(202);
    begun["run"].as_str().unwrap().to_owned()
}

/// A run that waits in its second step.
fn waiting(bench: &Bench) -> (Daemon<'_>, String) {
    bench.file("test.flow.yaml", WAITS);
    let daemon = Daemon::start(bench);
    let run = begin(&daemon, &json!({ "project": bench.project(), "file": "test.flow.yaml" }));
    let sign = bench.project().join("sign");
    eventually("the step", || sign.exists().then_some(()));
    (daemon, run)
}

fn shown(daemon: &Daemon<'_>, run: &str) -> Value {
    daemon.get(&format!("/api/v1/flows/runs/{run}")).is(200)
}

#[track_caller]
pub(super) fn comes_to(daemon: &Daemon<'_>, run: &str, standing: &str) -> Value {
    eventually(standing, || Some(shown(daemon, run)).filter(|shown| shown["standing"] == standing))
}

#[test]
fn flow_files_are_found_with_what_they_ask_for_or_what_is_wrong_with_them() {
    let bench = Bench::new();
    bench.subdir("flows");
    bench.file(
        "flows/good.flow.yaml",
        "
name: good
description: does good
inputs: { area: { required: true, description: where }, level: { default: 2, enum: [1, 2] } }
steps: { a: { agent: demo, prompt: '{{ inputs.area }}' } }",
    );
    bench.file("bad.flow.yaml", "steps:\n  a: { agent: demo, promt: x }\n");
    let daemon = Daemon::start(&bench);
    let found = daemon.get(&format!("/api/v1/flows?project={}", bench.project().display())).is(200);
    assert_eq!(found["more"], false);
    let [bad, good] = found["flows"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(bad["file"], "bad.flow.yaml");
    let problem = &bad["problems"][0];
    assert_eq!((&problem["line"], &problem["column"]), (&json!(2), &json!(21)), "{bad}");
    assert!(problem["text"].as_str().unwrap().contains("did you mean \"prompt\"?"), "{bad}");
    assert_eq!(
        *good,
        json!({
            "file": "flows/good.flow.yaml", "name": "good", "description": "does good", "steps": ["a"],
            "inputs": [
                { "name": "area", "description": "where", "required": true },
                { "name": "level", "required": false, "default": 2, "one_of": [1, 2] },
            ],
        })
    );
}

#[test]
fn a_flow_is_checked_in_its_file_or_as_a_text() {
    let bench = Bench::new();
    bench.file("ask.md", "MARK-a");
    bench.file("good.flow.yaml", "steps: { a: { agent: demo, prompt_file: ask.md } }");
    let daemon = Daemon::start(&bench);
    let check = |mut body: Value| {
        body["project"] = json!(bench.project());
        daemon.post("/api/v1/flows/validate", &body)
    };
    assert_eq!(check(json!({ "file": "good.flow.yaml" })).is(200)["name"], "good");
    let text = "steps:\n  a: { agent: demo, prompt: x, needs: b }\n";
    let wrong = check(json!({ "text": text })).is(200);
    assert_eq!(wrong, json!({ "problems": [{ "line": 2, "column": 39, "text": "no step is named \"b\"" }] }));
    assert_eq!(check(json!({ "file": "none.flow.yaml" })).is(404)["code"], "not_found");
    assert_eq!(check(json!({})).is(400)["code"], "bad_request");
    assert_eq!(check(json!({ "flie": "good.flow.yaml" })).is(400)["code"], "unknown_field");
}

#[test]
fn nothing_outside_of_the_project_is_read() {
    let bench = Bench::new();
    let outside = bench.outside("secret");
    fs::write(outside.join("x.flow.yaml"), "steps: { a: { agent: demo, prompt: MARK-secret } }").unwrap();
    fs::write(outside.join("secret.md"), "MARK-secret").unwrap();
    symlink(outside.join("x.flow.yaml"), bench.project().join("link.flow.yaml")).unwrap();
    symlink(&outside, bench.project().join("linked")).unwrap();
    let prompt = outside.join("secret.md");
    bench.file(
        "prompt.flow.yaml",
        format!("steps: {{ a: {{ agent: demo, prompt_file: {} }} }}", prompt.display()),
    );
    let daemon = Daemon::start(&bench);
    let absolute = outside.join("x.flow.yaml");
    let files =
        ["link.flow.yaml", "linked/x.flow.yaml", "../outside/secret/x.flow.yaml", absolute.to_str().unwrap()];
    for file in files {
        for route in ["/api/v1/flows/runs", "/api/v1/flows/validate"] {
            let problem = daemon.post(route, &json!({ "project": bench.project(), "file": file }));
            assert!(matches!(problem.status, 403 | 404), "{file}: {}", problem.text());
        }
    }
    let begun = json!({ "project": bench.project(), "file": "prompt.flow.yaml" });
    let problem = daemon.post("/api/v1/flows/runs", &begun).is(422);
    assert_eq!(problem["code"], "refused");
    assert!(problem["problems"][0]["text"].as_str().unwrap().contains("outside"), "{problem}");
    assert_eq!(daemon.get("/api/v1/flows/runs").is(200)["runs"], json!([]));
}

#[test]
fn a_run_goes_to_its_end_in_one_conversation_and_every_record_is_told() {
    let bench = Bench::new();
    bench.file(
        "test.flow.yaml",
        "
inputs: { word: { required: true }, times: { default: [1] } }
steps:
  one: { agent: demo, prompt: 'MARK-{{ inputs.word }}' }
  two: { continue_from: one, prompt: 'MARK-two {{ inputs.times|length }}' }",
    );
    let daemon = Daemon::start(&bench);
    let body = json!({ "project": bench.project(), "file": "test.flow.yaml" });
    let problem = daemon.post("/api/v1/flows/runs", &body).is(422);
    assert!(problem["detail"].as_str().unwrap().contains("word"), "{problem}");
    let mut body = body;
    body["inputs"] = json!({ "word": "a", "times": [1, 2, 3] });
    let run = begin(&daemon, &body);
    let route = format!("/api/v1/flows/runs/{run}/events");
    let mut events = daemon.ask("GET", &route).events();
    let mut told: Vec<Told> = Vec::new();
    while told.last().is_none_or(|last| last.kind != "result") {
        told.push(events.next_within(crate::support::PATIENCE).expect("an event"));
    }
    assert_eq!(events.next_within(crate::support::PATIENCE), None, "the stream ends with the run");
    let kinds: Vec<&str> = told.iter().map(|told| told.kind.as_str()).collect();
    let step = ["step_begun", "turn", "step_ended"];
    assert_eq!(kinds, [&["run"][..], &step, &step, &["result"]].concat());
    let ids: Vec<String> = told.iter().filter_map(|told| told.id.clone()).collect();
    assert_eq!(ids, (1..=8).map(|id: usize| id.to_string()).collect::<Vec<_>>());
    assert_eq!(told[2].data["conversation"], told[5].data["conversation"]);
    let shown = comes_to(&daemon, &run, "done");
    assert_eq!(shown["results"][1]["receipt"]["plan"]["decision"], "resume");
    assert_eq!(shown["inputs"], json!({ "word": "a", "times": [1, 2, 3] }));
    assert_eq!(shown, bench.rejoin(&["flow", "show", &run, "--json"]).done().json());
    let mut rest = daemon.ask("GET", &route).header("Last-Event-ID", "6").events();
    let rest: Vec<Told> = std::iter::from_fn(|| rest.next_within(crate::support::PATIENCE)).collect();
    assert_eq!(rest, told[6..]);
    assert_eq!(daemon.ask("GET", &route).header("Last-Event-ID", "x").send().status, 400);
    let listed = daemon.get(&format!("/api/v1/flows/runs?project={}", bench.project().display())).is(200);
    assert_eq!(listed["runs"], bench.rejoin(&["flow", "ls", "--json"]).done().json());
    let elsewhere = bench.outside("elsewhere");
    let listed = daemon.get(&format!("/api/v1/flows/runs?project={}", elsewhere.display())).is(200);
    assert_eq!(listed["runs"], json!([]));
    assert_eq!(daemon.get("/api/v1/flows/runs/nothing").is(404)["code"], "not_found");
    let unknown = "/api/v1/flows/runs/00000000-0000-4000-8000-000000000000";
    assert_eq!(daemon.get(unknown).is(404)["code"], "not_found");
    assert_eq!(daemon.get(&format!("{unknown}/events")).is(404)["code"], "not_found");
}

#[test]
fn runs_are_listed_page_by_page() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", "steps: { one: { run: 'echo x' } }");
    for _ in 0..3 {
        bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    }
    let daemon = Daemon::start(&bench);
    let page = daemon.get("/api/v1/flows/runs?limit=2").is(200);
    let cursor = page["cursor"].as_str().unwrap();
    let rest = daemon.get(&format!("/api/v1/flows/runs?limit=2&cursor={cursor}")).is(200);
    assert_eq!(rest["cursor"], Value::Null);
    let runs: Vec<Value> =
        [&page, &rest].iter().flat_map(|page| page["runs"].as_array().unwrap().clone()).collect();
    assert_eq!(Value::from(runs), bench.rejoin(&["flow", "ls", "--json"]).done().json());
}

#[test]
fn a_run_is_cancelled_and_stays_so_however_often_it_is_asked() {
    let bench = Bench::new();
    let (daemon, run) = waiting(&bench);
    let mut events = daemon.ask("GET", &format!("/api/v1/flows/runs/{run}/events")).events();
    let problem = daemon.post(&format!("/api/v1/flows/runs/{run}/resume"), &json!({})).is(409);
    assert_eq!(problem["code"], "busy");
    for _ in 0..2 {
        let said = daemon.post(&format!("/api/v1/flows/runs/{run}/cancel"), &json!({})).is(202);
        assert_eq!(said["run"], run);
    }
    assert_eq!(events.hears("result").data["state"], "cancelled");
    comes_to(&daemon, &run, "cancelled");
    let said = daemon.post(&format!("/api/v1/flows/runs/{run}/cancel"), &json!({})).is(202);
    assert_eq!(said["standing"], "cancelled");
}

/// A signal to the process that holds the run would end the daemon.
#[test]
fn the_command_cancels_a_run_of_the_daemon_and_not_the_daemon() {
    let bench = Bench::new();
    let (daemon, run) = waiting(&bench);
    bench.rejoin(&["flow", "cancel", &run]).done();
    let shown = comes_to(&daemon, &run, "cancelled");
    assert_eq!(shown["results"][0]["state"], "done");
    bench.file("go", "");
    daemon.post(&format!("/api/v1/flows/runs/{run}/resume"), &json!({})).is(202);
    comes_to(&daemon, &run, "done");
}

#[test]
fn a_run_of_the_command_is_watched_and_cancelled_by_the_daemon() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", WAITS);
    let call = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join("sign");
    eventually("the step", || sign.exists().then_some(()));
    let daemon = Daemon::start(&bench);
    let listed = daemon.get("/api/v1/flows/runs").is(200);
    let run = listed["runs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed["runs"][0]["standing"], "running");
    let mut events = daemon.ask("GET", &format!("/api/v1/flows/runs/{run}/events")).events();
    daemon.post(&format!("/api/v1/flows/runs/{run}/cancel"), &json!({})).is(202);
    assert_eq!(events.hears("result").data["state"], "cancelled");
    call.ends(130);
}

#[test]
fn a_killed_daemon_leaves_a_run_interrupted_and_the_next_one_goes_on_with_it() {
    let bench = Bench::new();
    let (daemon, run) = waiting(&bench);
    daemon.kill();
    bench.comes_to_rest();
    let daemon = Daemon::start(&bench);
    assert_eq!(shown(&daemon, &run)["standing"], "interrupted");
    let route = format!("/api/v1/flows/runs/{run}/events");
    let mut events = daemon.ask("GET", &route).events();
    assert_eq!(events.hears("interrupted").id, None);
    bench.file("go", "");
    daemon.post(&format!("/api/v1/flows/runs/{run}/resume"), &json!({})).is(202);
    let mut events = daemon.ask("GET", &route).events();
    events.hears("resumed");
    assert_eq!(events.hears("result").data["state"], "done");
    let shown = comes_to(&daemon, &run, "done");
    assert_eq!(shown["results"][1]["receipt"]["plan"]["decision"], "resume");
    assert_eq!(bench.conversations().len(), 1);
    let again =
        daemon.post(&format!("/api/v1/flows/runs/{run}/resume"), &json!({ "from": "nothing" })).is(404);
    assert_eq!(again["code"], "not_found");
}

#[test]
fn a_run_goes_on_with_the_file_as_it_is_now_and_reads_nothing_outside_of_its_project() {
    let bench = Bench::new();
    let (daemon, run) = waiting(&bench);
    daemon.post(&format!("/api/v1/flows/runs/{run}/cancel"), &json!({})).is(202);
    comes_to(&daemon, &run, "cancelled");
    let route = format!("/api/v1/flows/runs/{run}/resume");
    let secret = bench.outside("elsewhere").join("secret.flow.yaml");
    fs::write(&secret, "steps: { one: { run: 'echo secret' } }").unwrap();
    let file = bench.project().join("test.flow.yaml");
    fs::remove_file(&file).unwrap();
    symlink(&secret, &file).unwrap();
    let problem = daemon.post(&route, &json!({ "updated": true })).text();
    assert!(!problem.contains("echo secret"), "{problem}");
    fs::remove_file(&file).unwrap();
    bench.file("test.flow.yaml", WAITS.replace("MARK-two", "MARK-new").replace("until test -e go", "true"));
    daemon.post(&route, &json!({ "updated": true })).is(202);
    let shown = comes_to(&daemon, &run, "done");
    let outputs: Vec<&str> =
        shown["results"].as_array().unwrap().iter().filter_map(|step| step["output"].as_str()).collect();
    assert!(outputs[1].contains("MARK-one,MARK-new"), "{outputs:?}");
}

#[test]
fn a_daemon_that_is_told_to_end_stops_its_runs_first() {
    let bench = Bench::new();
    let (daemon, run) = waiting(&bench);
    signal(daemon.pid(), Signal::TERM);
    let ended = eventually("its end", || {
        let shown = bench.rejoin(&["flow", "show", &run, "--json"]).done().json();
        (shown["standing"] == "cancelled").then_some(shown)
    });
    assert_eq!(ended["results"][0]["state"], "done");
}
