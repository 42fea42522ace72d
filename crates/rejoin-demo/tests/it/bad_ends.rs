//! How it goes wrong when told to.

use std::os::unix::process::ExitStatusExt as _;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::demo::{Demo, eventually, lives, signal};

#[test]
fn a_failure_has_its_class_and_message() {
    let demo = Demo::new();
    let ran = demo.run(&["--session-id", "s"], "MARK-a FAIL rate_limit try later");
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.one("end"),
        json!({ "type": "end", "ok": false, "class": "rate_limit", "message": "try later" })
    );
    assert_eq!(
        demo.run(&["--resume", "s"], "again").seen(),
        "SEEN n=1 marks=MARK-a",
        "the prompt was stored"
    );
}

#[test]
fn exit_leaves_half_a_text_and_no_end() {
    let ran = Demo::new().turn("EXIT 7");
    assert_eq!(ran.code, Some(7));
    assert_eq!(ran.events().last().unwrap()["type"], "delta");
}

#[test]
fn death_comes_in_the_middle_or_before_anything_is_stored() {
    let demo = Demo::new();
    let mut running = demo.start(&["--session-id", "s"], "MARK-a DIE");
    running.until("delta");
    assert_eq!(running.child.wait().unwrap().signal(), Some(9));
    assert_eq!(demo.run(&["--resume", "s"], "MARK-b").seen(), "SEEN n=2 marks=MARK-a,MARK-b");

    let mut running = demo.start(&["--session-id", "t"], "DIE-EARLY");
    running.until("session");
    assert_eq!(running.child.wait().unwrap().signal(), Some(9));
    assert!(!demo.stored("t").exists());
}

#[test]
fn hanging_is_silent_and_deaf_to_interrupts() {
    let demo = Demo::new();
    let mut running = demo.start(&["--session-id", "s"], "HANG");
    running.until("stored");
    running.send(&json!({ "type": "interrupt" }));
    drop(running.stdin.take());
    thread::sleep(Duration::from_millis(100));
    assert!(!running.is_over());
    running.kill();

    let mut early = demo.start(&["--session-id", "t"], "HANG-EARLY");
    thread::sleep(Duration::from_millis(100));
    assert!(!early.is_over());
    early.child.kill().unwrap();
    assert!(early.finish().stdout.is_empty());
    assert!(!demo.stored("t").exists());
}

#[test]
fn a_flood_has_the_size_that_was_asked_for() {
    let demo = Demo::new();
    let ran = demo.turn("FLOOD 1m 1k");
    ran.assert_ok();
    let flood: Vec<_> =
        ran.stdout.split_inclusive(|&byte| byte == b'\n').filter(|line| line.len() == 1024).collect();
    assert_eq!(flood.len(), 1024);
    assert_eq!(ran.all("delta").iter().filter(|delta| delta["message"] == "m1").count(), 1024);

    let ran = demo.turn("FLOOD 1m 2k tools");
    ran.assert_ok();
    let (calls, results) = (ran.all("tool"), ran.all("tool_result"));
    assert!(calls.len() > 450 && calls.len() == results.len());
    assert_eq!(calls[0]["id"], "f000000001");
    let last = format!("f{:09}", calls.len());
    assert_eq!(
        (&calls[calls.len() - 1]["id"], &results[calls.len() - 1]["id"]),
        (&json!(last), &json!(last))
    );
}

#[test]
fn an_endless_flood_can_be_interrupted() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "FLOOD 100g");
    running.until("delta");
    running.send(&json!({ "type": "interrupt" }));
    assert_eq!(running.until("end"), json!({ "type": "end", "interrupted": true }));
}

#[test]
fn big_lines_have_their_exact_size() {
    let ran = Demo::new().turn("BIGLINE 300k BIGEND 200k");
    let lines: Vec<_> = ran.stdout.split_inclusive(|&byte| byte == b'\n').collect();
    let big = lines.iter().find(|line| line.len() == 300 * 1024).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(big).unwrap()["type"], "tool_result");
    let end = lines.last().unwrap();
    assert_eq!(end.len(), 200 * 1024);
    assert!(end.starts_with(br#"{"type":"end","ok":true,"pad":"xx"#));
    assert_eq!(serde_json::from_slice::<Value>(end).unwrap()["ok"], true);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn garbage_stands_between_good_lines() {
    let ran = Demo::new().turn("MARK-a GARBAGE");
    ran.assert_ok();
    assert_eq!(ran.seen(), "SEEN n=1 marks=MARK-a");
    assert!(std::str::from_utf8(&ran.stdout).is_err());
    assert!(ran.stdout.contains(&0));
    assert!(ran.stdout.windows(2).any(|pair| pair == b"\r\n"));
    assert_eq!(ran.all("from_the_future").len(), 1);
    assert_eq!(ran.all("thinking").len(), 1, "the CRLF line is good");
}

#[test]
fn the_last_newline_can_be_missing() {
    let ran = Demo::new().turn("NOEOL");
    assert!(ran.stdout.ends_with(b"\"ok\":true}"));
    assert_eq!(ran.code, Some(0));
}

#[test]
fn lingering_is_deaf_to_everything_but_kill() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "LINGER 30");
    assert_eq!(running.until("end"), json!({ "type": "end", "ok": true }));
    let pid = running.child.id().to_string();
    assert!(signal("-TERM", &pid) && signal("-INT", &pid));
    drop(running.stdin.take());
    thread::sleep(Duration::from_millis(50));
    assert!(!running.is_over());
    running.kill();

    let start = Instant::now();
    assert_eq!(Demo::new().turn("LINGER 0.2 NOEOL").code, Some(0));
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert_eq!(Demo::new().turn("LINGER 0.01 BIGEND 1k").all("end").len(), 1);
}

#[test]
fn children_outlive_it() {
    let demo = Demo::new();
    let start = Instant::now();
    let ran = demo.turn("CHILD 20");
    ran.assert_ok();
    assert!(start.elapsed() < Duration::from_secs(5), "the output is closed");
    let output = ran.one("tool_result")["output"].as_str().unwrap().to_owned();
    let pid = output.strip_prefix("pid ").unwrap();
    assert!(lives(pid));
    signal("-KILL", pid);
}

#[test]
fn a_child_can_hold_the_output_open() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "CHILD-HOLD 30");
    let output = running.until("tool_result")["output"].clone();
    let pid = output.as_str().unwrap().strip_prefix("pid ").unwrap();
    running.until("end");
    drop(running.stdin.take());
    eventually("its end", || running.is_over());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(running.finish().code));
    assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err(), "the output is still open");
    signal("-KILL", pid);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(5)), Ok(Some(0)));
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "FLOOD 100g");
    running.until("delta");
    drop(running.stdout);
    let output = running.child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]));
}
