//! Turns that are made at a terminal are runs, too: listed while they run, watched, found long after.

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::runs::{text, until, wanted};
use crate::support::Bench;

fn runs(daemon: &Daemon<'_>, which: &str) -> Vec<Value> {
    daemon.get(&format!("/api/v1/runs{which}")).is(200)["runs"].as_array().unwrap().clone()
}

#[test]
fn a_turn_of_a_terminal_is_listed_while_it_runs_and_watched_to_its_end() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let mut terminal =
        bench.rejoin(&["run", "-a", "demo", "-o", "stream-json", "MARK-a SLOW 100000"]).start();
    terminal.hears("text_delta");
    let listed = runs(&daemon, "?status=running");
    assert_eq!(listed.len(), 1, "{listed:?}");
    let run = &listed[0];
    assert_eq!((&run["runner"], &run["agent"]), (&json!("elsewhere"), &json!("demo")), "{run}");
    assert_eq!(run["prompt"], "MARK-a SLOW 100000");
    assert_eq!(runs(&daemon, "")[0]["run"], run["run"]);
    assert_eq!(runs(&daemon, "?status=waiting"), [] as [Value; 0]);
    assert_eq!(runs(&daemon, &format!("?conversation={}", text(&run["conversation"]))).len(), 1);
    assert_eq!(runs(&daemon, "?project=/elsewhere"), [] as [Value; 0]);

    let path = format!("/api/v1/runs/{}", text(&run["run"]));
    let seen = daemon.get(&path).is(200);
    assert_eq!(
        (&seen["plan"]["decision"], &seen["reason"]),
        (&json!("fresh"), &json!("first_turn")),
        "{seen}"
    );
    assert_eq!(seen["sessionResumed"], false);
    let mut events = daemon.ask("GET", &format!("{path}/events")).events();
    assert_eq!(events.hears("prompt").data["run"], run["run"]);
    events.hears("text_delta");
    daemon.post(&format!("{path}/cancel"), &json!({})).is(200);
    events.hears("result");
    terminal.ends(130);
    assert_eq!(runs(&daemon, ""), [] as [Value; 0]);
    assert_eq!(until(&daemon, &run["run"], "cancelled")["conversation"], run["conversation"]);
}

#[test]
fn a_turn_of_a_terminal_that_asks_is_listed_as_one_that_waits() {
    let bench = Bench::new();
    let daemon = Daemon::start(&bench);
    let asks = daemon.post("/api/v1/runs", &{
        let mut body = wanted(&bench, "ASK");
        body["interactive"] = json!(true);
        body
    });
    let asks = asks.is(202);
    until(&daemon, &asks["run"], "waiting");
    let listed = runs(&daemon, "?status=waiting");
    assert_eq!((listed.len(), &listed[0]["run"]), (1, &asks["run"]), "none stands there twice: {listed:?}");
    daemon.kill();
}

#[test]
fn an_old_turn_of_a_terminal_is_found_by_its_id_alone() {
    let bench = Bench::after_a_turn();
    let shown = bench.show();
    let (conversation, turn) = (text(&shown["id"]).to_owned(), text(&shown["turns"][0]["id"]).to_owned());
    let journal = bench.journals().remove(0);
    let written = std::fs::read_to_string(&journal).unwrap();
    for number in 0..60 {
        let id = |before: &str| format!("{}{number:012}", &before[..24]);
        let copy = written.replace(&conversation, &id(&conversation)).replace(&turn, &id(&turn));
        let name = journal.to_str().unwrap().replace(&conversation, &id(&conversation));
        assert_ne!(name, journal.to_str().unwrap());
        std::fs::write(name, copy).unwrap();
    }
    let daemon = Daemon::start(&bench);
    for which in ["", &format!("?conversation={conversation}")] {
        let seen = daemon.get(&format!("/api/v1/runs/{turn}{which}")).is(200);
        assert_eq!((&seen["status"], &seen["conversation"]), (&json!("completed"), &json!(conversation)));
        let mut events = daemon.ask("GET", &format!("/api/v1/runs/{turn}/events{which}")).events();
        events.hears("result");
    }
    let nowhere = "7d0f4a4e-56a1-4c8e-9a64-0d0c2f6b1111";
    for path in [nowhere.to_owned(), format!("{nowhere}/events")] {
        let problem = daemon.get(&format!("/api/v1/runs/{path}")).is(404);
        assert!(text(&problem["hint"]).contains("?conversation=ID"), "{problem}");
        let problem = daemon.get(&format!("/api/v1/runs/{path}?conversation={conversation}")).is(404);
        assert!(text(&problem["detail"]).contains(&conversation), "{problem}");
    }
}
