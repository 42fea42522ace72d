//! What agents do.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::demo::{Demo, eventually, lives};

#[test]
fn a_command_is_run_as_a_tool() {
    let demo = Demo::new();
    let ran = demo.turn("TOOL-RUN [echo out; echo err >&2; touch made]");
    ran.assert_ok();
    assert_eq!(
        ran.one("tool"),
        json!({ "type": "tool", "message": "m1", "id": "t1", "name": "shell",
            "input": { "command": "echo out; echo err >&2; touch made" } })
    );
    assert_eq!(
        ran.one("tool_result"),
        json!({ "type": "tool_result", "id": "t1", "output": "out\nerr\n", "error": false })
    );
    assert!(demo.path("made").exists());
    let failed = demo.turn("TOOL-RUN exit 3").one("tool_result");
    assert_eq!((&failed["output"], &failed["error"]), (&json!("[exit code 3]"), &json!(true)));
}

#[test]
fn a_tool_that_leaves_a_process_behind_does_not_hold_the_turn() {
    let start = Instant::now();
    Demo::new().turn("TOOL-RUN [echo before; sleep 3 &]").assert_ok();
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_file_is_written() {
    let demo = Demo::new();
    demo.turn("WRITE note.txt some words").assert_ok();
    assert_eq!(fs::read_to_string(demo.path("note.txt")).unwrap(), "some words\n");
    assert_eq!(demo.turn("WRITE no/such/place x").one("tool_result")["error"], true);
}

#[test]
fn read_permissions_refuse_tools_and_others_do_not() {
    let demo = Demo::new();
    let ran = demo.run(&["--permissions", "read"], "TOOL-RUN [touch a] WRITE b x");
    ran.assert_ok();
    assert_eq!(ran.one("session")["permissions"], "read");
    assert!(ran.all("tool_result").iter().all(|result| result["error"] == true));
    assert_eq!(ran.all("tool_result").len(), 2);
    assert!(!demo.path("a").exists() && !demo.path("b").exists());
    for level in ["edit", "full", "agent"] {
        assert_eq!(demo.run(&["--permissions", level], "WRITE b x").one("tool_result")["error"], false);
    }
}

#[test]
fn thoughts_compactions_and_talk_are_told_apart() {
    let ran = Demo::new().run(&["--model", "big"], "THINK COMPACT STDERR some talk\nMARK-a");
    ran.assert_ok();
    assert_eq!(ran.one("session")["model"], "big");
    assert!(ran.one("thinking")["text"].is_string());
    assert!(ran.one("compaction")["text"].is_string());
    assert_eq!(ran.stderr, "some talk\n");
    assert_eq!(ran.seen(), "SEEN n=1 marks=MARK-a");
}

#[test]
fn slow_text_comes_in_pieces_over_time() {
    let start = Instant::now();
    let ran = Demo::new().turn("SLOW 5");
    ran.assert_ok();
    assert!(start.elapsed() >= Duration::from_millis(100));
    let slow = |event: &&Value| event["message"] == "m1";
    assert_eq!(ran.all("delta").iter().filter(slow).count(), 5);
    assert_eq!(ran.all("message").len(), 2);
}

#[test]
fn each_piece_of_clock_says_when_it_was_written() {
    let ran = Demo::new().turn("CLOCK 3");
    ran.assert_ok();
    let pieces = ran.all("delta");
    let times =
        pieces.iter().filter_map(|event| event["text"].as_str()?.trim().strip_prefix('@')?.parse().ok());
    let times: Vec<u128> = times.collect();
    assert_eq!(times.len(), 3);
    assert!(times.is_sorted() && times[0] > 1_700_000_000_000_000, "{times:?}");
}

#[test]
fn a_file_is_recited_piece_by_piece() {
    let ran = Demo::new().turn("RECITE /dev/null/nothing");
    ran.assert_ok();
    assert!(ran.all("message")[0]["text"].as_str().unwrap().starts_with("I cannot read /dev/null/nothing: "));
    let ran = Demo::new().turn("RECITE Cargo.toml");
    assert!(ran.all("delta").iter().filter(|event| event["message"] == "m1").count() > 1);
}

#[test]
fn sleep_is_silent_with_a_tool_open() {
    let start = Instant::now();
    let ran = Demo::new().turn("SLEEP 0.1");
    ran.assert_ok();
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert_eq!(ran.one("tool")["id"], ran.one("tool_result")["id"]);
}

#[test]
fn a_question_waits_for_its_answer() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "ASK");
    assert_eq!(
        running.until("question"),
        json!({ "type": "question", "id": "q1", "text": "Tea or coffee?", "choices": ["tea", "coffee"] })
    );
    running.send(&json!({ "type": "answer", "id": "q0", "text": "coffee" }));
    running.send(&json!({ "type": "answer", "id": "q1", "text": "tea" }));
    assert!(running.until("message")["text"].as_str().unwrap().contains("You answered “tea”."));
    assert_eq!(running.finish().code, Some(0));

    let mut running = demo.start(&[], "ASK");
    running.until("question");
    running.send(&json!({ "type": "answer", "id": "q1", "text": null }));
    assert!(running.until("message")["text"].as_str().unwrap().contains("Nobody answered"));
    assert!(demo.turn("ASK").answer().contains("Nobody answered"), "a closed input declines");

    let mut running = demo.start(&[], r#"ASK {"text": "Now?", "choices": ["yes\u001b"]} MARK-a"#);
    let asked = running.until("question");
    assert_eq!((&asked["text"], &asked["choices"]), (&json!("Now?"), &json!(["yes\u{1b}"])));
}

#[test]
fn an_interrupt_ends_the_turn_at_once() {
    let demo = Demo::new();
    for words in ["SLEEP 60", "SLOW 6000", "ASK", "TOOL-RUN [echo $$ > pid; sleep 60; true]"] {
        let mut running = demo.start(&[], words);
        running.until("stored");
        if words.starts_with("TOOL-RUN") {
            eventually("the tool", || {
                fs::read_to_string(demo.path("pid")).is_ok_and(|pid| pid.ends_with('\n'))
            });
        }
        running.send(&json!({ "type": "interrupt" }));
        assert_eq!(running.until("end"), json!({ "type": "end", "interrupted": true }), "{words}");
        assert_eq!(running.finish().code, Some(0));
    }
    let pid = fs::read_to_string(demo.path("pid")).unwrap();
    eventually("the end of the tool", || !lives(pid.trim()));
}

#[test]
fn it_waits_for_its_input_to_be_closed_but_not_for_ever() {
    let demo = Demo::new();
    let mut running = demo.start(&[], "hello");
    running.until("end");
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(100));
    assert!(!running.is_over());
    eventually("its end", || running.is_over());
    assert!(start.elapsed() > Duration::from_secs(1) && start.elapsed() < Duration::from_secs(4));
}
