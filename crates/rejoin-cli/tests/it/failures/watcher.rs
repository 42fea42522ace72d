//! Whoever reads the events may be slow, stop, or go away.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Bench, eventually, interrupt};

fn unread(bench: &Bench, args: &[&str]) -> Child {
    let mut command: Command = bench.lab.command(env!("CARGO_BIN_EXE_rejoin"));
    command.args(["run", "-o", "stream-json", "-a", "demo"]).args(args).env("REJOIN_HOME", bench.home());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn agent_is_there(bench: &Bench) -> bool {
    bench.processes().iter().any(|process| process.command.contains("__demo-agent"))
}

/// The last line of what comes once it is read.
fn last_line(child: &mut Child) -> serde_json::Value {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn a_watcher_that_stops_does_not_keep_a_turn_from_being_cancelled() {
    let bench = Bench::new();
    let mut child = unread(&bench, &["FLOOD 1g"]);
    eventually("the agent", || agent_is_there(&bench).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    interrupt(child.id());
    eventually("the end of the agent", || (!agent_is_there(&bench)).then_some(()));
    assert!(child.try_wait().unwrap().is_none(), "it still has things to tell");
    assert_eq!(last_line(&mut child)["outcome"], "cancelled");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_watcher_that_stops_does_not_switch_off_the_limits() {
    let bench = Bench::new();
    let mut child = unread(&bench, &["FLOOD 1g", "--timeout", "500ms"]);
    eventually("the agent", || agent_is_there(&bench).then_some(()));
    eventually("the end of the agent", || (!agent_is_there(&bench)).then_some(()));
    assert_eq!(last_line(&mut child)["outcome"], "timeout");
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_slow_watcher_misses_nothing() {
    let bench = Bench::new();
    let mut child = unread(&bench, &["FLOOD 8m 4k MARK-a"]);
    let mut stdout = child.stdout.take().unwrap();
    let (mut text, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    while let Ok(count @ 1..) = stdout.read(&mut buffer) {
        text.extend_from_slice(&buffer[..count]);
        std::thread::sleep(Duration::from_millis(2));
    }
    let text = String::from_utf8(text).unwrap();
    let mut offset = 0;
    let events = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut message = None;
    for event in events.filter(|event| event["type"] == "text_delta") {
        if message.get_or_insert(event["message"].clone()) == &event["message"] {
            assert_eq!(event["offset"], offset);
            offset += event["text"].as_str().unwrap().len();
        }
    }
    assert!(offset > 7 << 20, "{offset}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_watcher_that_goes_away_in_a_flood_leaves_the_turn_to_its_end() {
    let bench = Bench::new();
    let mut child = unread(&bench, &["FLOOD 20m MARK-a"]);
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 100]).unwrap();
    drop(stdout);
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.show()["turns"][0]["state"], "completed");
}
