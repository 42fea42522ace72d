//! Every recording with a line that is missing, doubled, moved or changed by a byte: the turn ends once, is
//! done only if the agent said so, and no session is named by a line that reports an error.

use std::collections::BTreeSet;

use rejoin_agents::{Line, Step};
use rejoin_core::{Agent, Event, Outcome};
use serde_json::Value;

use crate::pi::pi;
use crate::recording::{Recording, ends, names, shown};
use crate::requests::{Asked, gemini, opencode};

fn agents() -> [Asked; 6] {
    [Asked::claude(), Asked::codex(), Asked::gemini(), Asked::of(opencode()), pi(), Asked::of(Agent::Qwen)]
}

/// Says in its own way that the turn is done.
fn is_the_end(agent: &Agent, line: &Value) -> bool {
    let kind = &line["type"];
    match agent.as_str() {
        "codex" => kind == "turn.completed",
        "gemini" => kind == "result" && line["status"] == "success",
        // The process's end must follow, by which it is confirmed.
        "opencode" => {
            kind == "step_finish" && ["stop", "length"].iter().any(|why| line["part"]["reason"] == *why)
        }
        "pi" => kind == "agent_end" || kind == "agent_settled",
        _ => kind == "result" && line["is_error"] != true,
    }
}

fn is_an_error(line: &Value) -> bool {
    line["is_error"] == true
        || line["status"] == "error"
        || line["type"].as_str().is_some_and(|kind| kind == "error" || kind.ends_with(".failed"))
}

/// What never happens, whatever was printed.
fn check(asked: &Asked, lines: &[Vec<u8>], recording: &Recording, what: &str) {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    driver.start(&mut steps);
    for line in lines {
        driver.on_line(Line::whole(line), &mut steps);
    }
    driver.on_exit(&recording.exit(), &mut steps);
    assert_eq!(ends(&steps), 1, "{what}: {}", shown(&steps));
    let read = lines.iter().filter_map(|line| serde_json::from_str(&String::from_utf8_lossy(line)).ok());
    let read: Vec<Value> = read.collect();
    if steps.contains(&Step::Ended(Outcome::Completed)) {
        assert!(read.iter().any(|line| is_the_end(&asked.agent, line)), "{what}: {}", shown(&steps));
    }
    let sessions: BTreeSet<&str> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Emit(Event::Session { session, .. }) => Some(session.as_str()),
            _ => None,
        })
        .collect();
    for session in sessions {
        let names_it = |line: &&Value| line.to_string().contains(session);
        // OpenCode tells of a failure in the session it is about, and of a first one nowhere else.
        let said = |line: &Value| asked.agent == opencode() || !is_an_error(line);
        assert!(read.iter().filter(names_it).any(said), "{what}: {session} was named by an error");
    }
}

fn for_every_recording(mut mangle: impl FnMut(&Asked, &Recording, &[Vec<u8>], &str)) {
    for asked in agents() {
        let agent = asked.agent.as_str().to_owned();
        for name in names(&agent) {
            let recording = Recording::load(&agent, &name);
            let lines: Vec<Vec<u8>> = recording.stdout.iter().map(|line| line.clone().into_bytes()).collect();
            mangle(&asked, &recording, &lines, &format!("{agent} {name}"));
        }
    }
}

#[test]
fn lines_that_are_missing_doubled_or_moved() {
    for_every_recording(|asked, recording, lines, what| {
        check(asked, lines, recording, what);
        for at in 0..lines.len() {
            let mut missing = lines.to_vec();
            let line = missing.remove(at);
            check(asked, &missing, recording, &format!("{what} without line {at}"));
            let mut doubled = lines.to_vec();
            doubled.insert(at, line.clone());
            check(asked, &doubled, recording, &format!("{what} with line {at} twice"));
            let mut moved = missing;
            moved.insert(0, line);
            check(asked, &moved, recording, &format!("{what} with line {at} first"));
        }
        // Nothing but one line.
        for (at, line) in lines.iter().enumerate() {
            check(asked, std::slice::from_ref(line), recording, &format!("{what}, line {at} alone"));
        }
    });
}

#[test]
fn bytes_that_changed() {
    for_every_recording(|asked, recording, lines, what| {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            for place in (0..line.len()).step_by(line.len() / 3 + 1) {
                let mut changed = lines.to_vec();
                changed[at][place] ^= [0x01, 0x20, 0x80][(at + place) % 3];
                check(asked, &changed, recording, &format!("{what}, byte {place} of line {at}"));
            }
        }
    });
}

#[test]
fn the_recordings_of_all_agents_are_looked_at() {
    assert!(agents().iter().all(|asked| names(asked.agent.as_str()).len() > 10));
    assert!(agents().iter().any(|asked| asked.agent == gemini()));
}
