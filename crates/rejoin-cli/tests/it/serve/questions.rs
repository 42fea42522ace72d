//! What agents ask, answered over HTTP.

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::runs::{next, over, text, until, wanted};
use crate::support::{Bench, eventually};

const TEA: &str = r#"MARK-a ASK {"text": "Tea?", "choices": ["yes", "no"]}"#;

fn interactive(mut body: Value) -> Value {
    body["interactive"] = json!(true);
    body
}

/// The question that is open, once it is.
#[track_caller]
fn asked(daemon: &Daemon<'_>) -> Value {
    eventually("a question", || {
        let all = daemon.get("/api/v1/questions").is(200);
        all["questions"].as_array().unwrap().first().cloned()
    })
}

fn answer_path(question: &Value) -> String {
    format!("/api/v1/questions/{}/answer", text(&question["id"]))
}

#[test]
fn a_question_is_answered_on_a_first_and_on_a_resumed_turn_and_the_first_answer_stands() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let first = daemon.post("/api/v1/runs", &interactive(wanted(&bench, TEA))).is(202);
    assert_eq!(first["interactive"], true);
    let question = asked(&daemon);
    assert_eq!(question["run"], first["run"]);
    assert_eq!(question["question"]["options"][1]["label"], "no");
    assert_eq!(until(&daemon, &first["run"], "waiting")["questions"].as_array().unwrap().len(), 1);
    let path = answer_path(&question);
    let problem = daemon.post(&path, &json!({ "options": ["99"] })).is(422);
    assert_eq!(problem["code"], "refused", "what was not offered is no answer: {problem}");
    let no = json!({ "options": [question["question"]["options"][1]["id"]] });
    assert_eq!(daemon.post(&path, &no).is(200)["answer"]["by"], "user");
    let problem = daemon.post(&path, &json!({ "text": "yes" })).is(409);
    assert_eq!(problem["code"], "not_open");
    assert_eq!(problem["answer"]["option"], question["question"]["options"][1]["id"]);
    over(&daemon, &first["run"]);
    assert!(bench.show().to_string().contains("You answered “no”"));

    let second = daemon.post("/api/v1/runs", &interactive(next(&first["conversation"], TEA))).is(202);
    let question = asked(&daemon);
    let result = format!("/api/v1/runs/{}/tool-result", text(&second["run"]));
    daemon.post(&result, &json!({ "question": question["id"], "text": "with milk" })).is(200);
    let ended = over(&daemon, &second["run"]);
    assert_eq!(ended["sessionResumed"], true);
    assert!(bench.show().to_string().contains("You answered “with milk”"));
}

#[test]
fn a_run_is_asked_if_somebody_is_there_and_declined_if_not() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let run = daemon.post("/api/v1/runs", &wanted(&bench, TEA)).is(202);
    assert_eq!(run["interactive"], false, "nobody watches");
    let ended = over(&daemon, &run["run"]);
    assert_eq!(ended["status"], "completed", "declined, never hung");
    let watched = daemon.ask("GET", "/api/v1/stream").events();
    let run = daemon.post("/api/v1/runs", &next(&run["conversation"], TEA)).is(202);
    assert_eq!(run["interactive"], true, "somebody holds a stream");
    let question = asked(&daemon);
    daemon.post(&answer_path(&question), &json!({})).is(200);
    over(&daemon, &run["run"]);
    drop(watched);
}

#[test]
fn of_two_answers_at_once_one_stands_and_the_other_is_told_which() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let run = daemon.post("/api/v1/runs", &interactive(wanted(&bench, TEA))).is(202);
    let path = answer_path(&asked(&daemon));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let both: Vec<_> = ["1", "2"]
            .into_iter()
            .map(|option| {
                let (daemon, path) = (&daemon, &path);
                scope.spawn(move || daemon.post(path, &json!({ "options": [option] })).status)
            })
            .collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut sorted = statuses.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [200, 409], "{statuses:?}");
    over(&daemon, &run["run"]);
}

#[test]
fn after_the_daemons_death_a_question_is_lost_and_no_dead_button() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    daemon.post("/api/v1/runs", &interactive(wanted(&bench, TEA))).is(202);
    let question = asked(&daemon);
    daemon.kill();
    bench.comes_to_rest();
    let daemon = Daemon::start(&bench);
    let problem = daemon.post(&answer_path(&question), &json!({ "options": ["1"] })).is(409);
    assert_eq!(problem["code"], "not_open");
    let all = daemon.get("/api/v1/questions").is(200);
    assert_eq!(all["questions"], json!([]));
    let path = format!("/api/v1/questions?open=false&conversation={}", text(&question["conversation"]));
    assert_eq!(daemon.get(&path).is(200)["questions"][0]["question"]["state"], "lost");
}

#[test]
fn an_agent_does_not_answer_its_own_question() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    // The agent asks, and something that it started answers with the token of its user.
    let script = bench.file(
        "answer.py",
        format!(
            r#"
import json, time, urllib.request, urllib.error
base, token = "http://{}/api/v1", "{}"
def ask(path, body=None):
    request = urllib.request.Request(base + path, data=None if body is None else json.dumps(body).encode(),
        headers={{"Authorization": "Bearer " + token, "Content-Type": "application/json"}})
    try:
        return urllib.request.urlopen(request).status, None
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
def questions():
    request = urllib.request.Request(base + "/questions", headers={{"Authorization": "Bearer " + token}})
    return json.load(urllib.request.urlopen(request))["questions"]
while not questions(): time.sleep(0.05)
open("said.json", "w").write(json.dumps(ask("/questions/" + questions()[0]["id"] + "/answer", {{"options": ["1"]}})))
"#,
            daemon.address, daemon.token
        ),
    );
    let prompt = format!("TOOL-RUN [python3 {} >/dev/null 2>&1 &] {TEA}", script.display());
    let run = daemon.post("/api/v1/runs", &interactive(wanted(&bench, &prompt))).is(202);
    let said = eventually("what the agent's own answer came to", || {
        let said = std::fs::read_to_string(bench.project().join("said.json")).ok()?;
        serde_json::from_str::<Value>(&said).ok()
    });
    assert_eq!(said[0], 403, "{said}");
    assert_eq!(said[1]["code"], "not_allowed");
    let question = asked(&daemon);
    daemon.post(&answer_path(&question), &json!({ "options": ["1"] })).is(200);
    over(&daemon, &run["run"]);
}
