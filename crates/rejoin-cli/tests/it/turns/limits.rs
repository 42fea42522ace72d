//! A limit of the agent was reached, as the command tells it.

use serde_json::Value;

use crate::support::{Bench, Call, Screen};

const LIMITED: &str = "[agents.demo.env]\nREJOIN_DEMO_LIMIT = \"usage limit, try again in 2 hours\"\n";

fn limited(settings: &str) -> Bench {
    let bench = Bench::new();
    bench.config(&format!("{settings}\n{LIMITED}"));
    bench
}

/// A turn of the agent whose limit is reached, as a person runs it.
fn turn<'a>(bench: &'a Bench, args: &[&str]) -> Call<'a> {
    bench.rejoin(&["run", "-a", "demo"]).with(args)
}

#[test]
fn a_limit_is_told_with_the_time_of_its_reset() {
    let bench = limited("");
    turn(&bench, &["hello"]).ends(1).tells(&[
        "✗ failed: limit reached, resets ",
        "(in 2 h)",
        "try again in 2 hours",
    ]);
    let receipt = bench.show()["turns"][0]["receipt"].clone();
    assert!(receipt["resets"].as_str().unwrap().ends_with('Z'), "{receipt}");
    assert!(bench.rejoin(&["show"]).done().stdout().contains(" · resets "));
    let json = turn(&bench, &["hello", "-o", "json"]).ends(1).json();
    assert_eq!((&json["class"], json["resets"].is_string()), (&Value::from("quota"), true), "{json}");
}

#[test]
fn the_configured_agent_goes_on_and_it_is_said_in_one_line() {
    let bench = limited("fallback = [\"demo2\"]\nhandover = \"allow\"");
    let said = turn(&bench, &["hello MARK-a"]).done();
    said.tells(&["! demo: limit reached, resets ", "; demo2 goes on", "○ demo2 · fresh"]);
    assert_eq!(said.stderr().matches("limit reached").count(), 1, "{}", said.stderr());
    assert!(said.stdout().contains("MARK-a"), "{}", said.stdout());
    assert!(bench.rejoin(&["show"]).done().stdout().contains("instead of demo"));
    // One turn without it; then by another command.
    turn(&bench, &["hello", "--fallback="]).ends(1);
    bench.rejoin(&["retry"]).done().tells(&["; demo2 goes on"]);
}

#[test]
fn the_stream_has_an_init_for_each_and_one_result() {
    let bench = limited("handover = \"allow\"");
    let said = bench.first("hello").with(&["--fallback", "demo2"]).done();
    let agents: Vec<Value> = said.events_of("init").iter().map(|init| init["agent"].clone()).collect();
    assert_eq!(agents, ["demo", "demo2"]);
    assert_eq!(said.result()["stands_in"]["for"], "demo");
}

#[test]
fn where_nobody_can_be_asked_the_turn_fails_as_it_did_and_says_how_to_allow_it() {
    let bench = limited("");
    let said = turn(&bench, &["hello", "--fallback", "demo2"]).ends(1);
    said.tells(&[
        "! not handed over to demo2: nobody is there",
        "rejoin config set handover allow",
        "✗ failed",
    ]);
    bench.rejoin(&["config", "set", "handover", "allow"]).done();
    bench.first("hello").with(&["--fallback", "demo2"]).done();
}

#[test]
fn a_person_is_asked_once() {
    let bench = limited("");
    let Some(mut screen) = Screen::open(&bench, "run -a demo --fallback demo2 hello") else { return };
    screen.shows("may a history go from Demo agent to Second demo agent").shows("[y/N]").types("y\r");
    screen.shows("demo2 goes on").shows("✓");
    screen.ends(0);
    // Remembered, also where nobody is.
    bench.first("hello").with(&["--fallback", "demo2"]).done();
}

#[test]
fn a_live_conversation_has_no_such_flag() {
    let bench = limited("");
    let Some(mut screen) = Screen::open(&bench, "chat -a demo --fallback demo2") else { return };
    screen.shows("use `rejoin run --fallback`");
    screen.ends(2);
}
