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

/// What an agent starts to answer its own question: with the token of its user, or as a browser that it logs in.
const ANSWERS_ITSELF: &str = r#"
import json, os, sys, time, urllib.request, urllib.error
base, how, token = sys.argv[1] + "/api/v1", sys.argv[2], sys.argv[3]
bearer = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
def ask(path, headers, body=None):
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(base + path, data=data, headers=headers))
def questions():
    return json.load(ask("/questions", bearer))["questions"]
def log_in():
    code = json.load(ask("/login/code", bearer, {}))["code"]
    let_in = ask("/login", {"Content-Type": "application/json"}, {"code": code})
    cookie = let_in.headers["Set-Cookie"].split(";")[0]
    return {"Cookie": cookie, "X-Rejoin-Secret": json.load(let_in)["secret"], "Content-Type": "application/json"}
while not questions(): time.sleep(0.05)
headers = bearer if how == "bearer" else log_in()
json.load(ask("/questions", headers))
try:
    said = ask("/questions/" + questions()[0]["id"] + "/answer", headers, {"options": ["1"]}).status, None
except urllib.error.HTTPError as error:
    said = error.code, json.load(error)
open("said.new", "w").write(json.dumps(said))
os.rename("said.new", "said.json")
"#;

#[track_caller]
fn does_not_answer_itself(how: &str) {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let script = bench.file("answer.py", ANSWERS_ITSELF);
    let call = format!("python3 {} http://{} {how} {}", script.display(), daemon.address, daemon.token);
    let prompt = format!("TOOL-RUN [{call} >/dev/null 2>said.err &] {TEA}");
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

#[test]
fn an_agent_does_not_answer_its_own_question() {
    does_not_answer_itself("bearer");
}

#[test]
fn an_agent_that_logs_in_as_a_browser_does_not_either() {
    does_not_answer_itself("browser");
}
