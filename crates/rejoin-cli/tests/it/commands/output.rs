//! What is printed: stdout is data, stderr is talk.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Bench, Call};

#[test]
fn text_is_the_answer_and_nothing_else() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "demo", "THINK TOOL-RUN [echo hi] MARK-a"]).done();
    let answer = bench.show()["turns"][0]["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(said.stdout(), format!("{}\n", answer["parts"][0]["text"].as_str().unwrap()));
    let lines: Vec<&str> = said.stderr().lines().collect();
    assert!(lines[0].starts_with("○ demo · new conversation "), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("✓ "), "{lines:?}");
}

#[test]
fn a_resumed_turn_says_so_in_one_line() {
    let bench = Bench::after_a_turn();
    let said = bench.rejoin(&["run", "-c", "more"]).done();
    let session = bench.show()["pins"][0]["session"].as_str().unwrap()[..8].to_owned();
    said.tells(&[&format!("● demo · resumed {session} · turn 2 · 4 bytes sent")]);
    let said = bench.rejoin(&["run", "-c", "--fresh-session", "more"]).done();
    said.tells(&["○ demo · fresh: a fresh session was asked for · 2 turns replayed, "]);
    let said = bench.rejoin(&["run", "-c", "-a", "demo2", "more"]).done();
    said.tells(&["○ demo2 · fresh: no session of this agent here yet · 3 turns replayed, "]);
    let said = bench.rejoin(&["run", "-c", "-a", "demo", "more"]).done();
    said.tells(&["turn 5 · told 1 turn it missed · "]);
}

#[test]
fn json_is_one_object_with_the_answer_and_the_receipt() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "demo", "-o", "json", "hello MARK-a"]).done();
    let object = said.json();
    assert!(object["text"].as_str().unwrap().ends_with("SEEN n=1 marks=MARK-a"), "{object}");
    assert_eq!(object["outcome"], "completed");
    assert_eq!(object["plan"]["reason"], "first_turn");
    assert_eq!(object["bytes"], 12);
    assert_eq!(said.stderr(), "");
    for key in ["conversation", "turn", "agent", "session", "model", "runs", "usage", "milliseconds"] {
        assert!(!object[key].is_null(), "{key} is missing: {object}");
    }
}

#[test]
fn a_failed_turn_is_json_too() {
    let bench = Bench::new();
    let object = bench.rejoin(&["run", "-a", "demo", "-o", "json", "FAIL quota no more"]).ends(1).json();
    assert_eq!(object["outcome"], "failed");
    assert_eq!((&object["class"], &object["error"]), (&"quota".into(), &"no more".into()));
}

#[test]
fn the_stream_has_one_first_and_one_last_line_and_known_types() {
    let bench = Bench::new();
    let prompt = "THINK TOOL-RUN [echo hi] ASK COMPACT GARBAGE\nSTDERR careful\nMARK-a";
    let said = bench.first(prompt).done();
    let events = said.events();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[1]), ("init", "session"));
    assert_eq!(*kinds.last().unwrap(), "result");
    for once in ["init", "result", "session"] {
        assert_eq!(kinds.iter().filter(|kind| **kind == once).count(), 1, "{once} in {kinds:?}");
    }
    for expected in
        ["thinking", "tool_use", "tool_result", "question", "text_delta", "message", "usage", "diagnostic"]
    {
        assert!(kinds.contains(&expected), "{expected} is missing in {kinds:?}");
    }
    assert_eq!((&events[0]["schema"], &events[0]["number"]), (&1.into(), &1.into()));
    let (init, result) = (&events[0], said.result());
    for shared in ["conversation", "turn", "agent", "plan", "bytes"] {
        assert_eq!(init[shared], result[shared], "{shared}");
    }
    assert_eq!(events[1]["session"], result["session"]);
    assert_eq!(said.stderr(), "", "the stream has everything");
}

#[test]
fn pieces_of_text_make_up_the_messages() {
    let bench = Bench::new();
    let said = bench.first("SLOW 3 and “ünïcode”").done();
    let mut pieces: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    for event in said.events() {
        let message = event["message"].as_str().unwrap_or_default().to_owned();
        let text = event["text"].as_str().unwrap_or_default();
        if event["type"] == "text_delta" {
            let sofar = pieces.entry(message).or_default();
            assert_eq!(event["offset"], sofar.len());
            sofar.push_str(text);
        } else if event["type"] == "message" {
            assert_eq!(pieces[&message], text);
        }
    }
    assert_eq!(pieces.len(), 2);
    assert_eq!(said.result()["text"], *said.events_of("message").last().unwrap()["text"].as_str().unwrap());
}

#[test]
fn the_stream_of_a_refused_turn_is_empty() {
    let bench = Bench::after_a_turn();
    let said = bench.rejoin(&["run", "-o", "stream-json", "-r", "4f1c2a9e", "x"]).ends(4);
    assert_eq!(said.stdout(), "");
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_turn() {
    let bench = Bench::new();
    for output in ["text", "stream-json"] {
        let mut command = bench.lab.command(env!("CARGO_BIN_EXE_rejoin"));
        command.args(["run", "-a", "demo", "-o", output, "SLOW 20 MARK-a"]);
        command.env("REJOIN_HOME", bench.home()).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 1]).unwrap();
        drop(stdout);
        assert!(child.wait().unwrap().success(), "{output}");
        let turn = bench.show()["turns"][0].clone();
        assert_eq!(turn["state"], "completed", "{output}");
        assert!(turn["messages"].to_string().contains("SEEN n=1 marks=MARK-a"), "{output}: {turn}");
    }
}

#[test]
fn listings_end_quietly_when_nobody_reads() {
    let bench = Bench::after_a_turn();
    let rejoin = env!("CARGO_BIN_EXE_rejoin");
    for command in ["ls", "show", "agents", "--help"] {
        let said = Call::of(&bench, "sh", &["-c", &format!("{rejoin} {command} | head -c1; :")]).done();
        assert_eq!(said.stderr(), "", "{command}");
    }
}

#[test]
fn a_terminal_event_counts_and_not_the_exit_code() {
    let bench = Bench::new();
    bench.first("FAIL server overloaded").ends(1).came_to("failed", Some("server"));
    let said = bench.first("EXIT 0").ends(1);
    said.came_to("failed", Some("no_result"));
    assert_eq!(said.result()["exit_code"], 0);
}

#[test]
fn failures_are_shown_in_words_with_what_the_agent_printed() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "demo", "STDERR it is on fire\nFAIL login no key"]).ends(1);
    said.tells(&["it is on fire", "✗ failed: not logged in · no key", "rejoin run -r "]);
    assert_eq!(said.stdout(), "");
}

#[test]
fn what_the_agent_did_is_in_the_journal() {
    let bench = Bench::new();
    bench.first("THINK TOOL-RUN [echo hi] COMPACT MARK-a").done();
    let kinds: Vec<Value> = bench.records().iter().map(|record| record["type"].clone()).collect();
    for kind in ["user", "assistant", "tool_result", "system"] {
        assert!(kinds.contains(&kind.into()), "{kind} in {kinds:?}");
    }
    assert_eq!(bench.notes("compaction").len(), 1);
    assert_eq!(bench.notes("receipt").len(), 1);
    assert_eq!(bench.notes("intent").len(), 1);
}
