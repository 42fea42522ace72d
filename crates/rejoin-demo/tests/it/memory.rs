//! What it remembers.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::demo::Demo;

#[test]
fn a_second_turn_remembers_the_first() {
    let demo = Demo::new();
    let first = demo.run(&["--session-id", "4f1c2a9e-1"], "diagnose the bug MARK-a1");
    first.assert_ok();
    assert_eq!(
        first.events()[..2],
        [
            json!({ "type": "session", "id": "4f1c2a9e-1", "model": "demo-1", "permissions": "agent" }),
            json!({ "type": "stored" })
        ]
    );
    assert_eq!(first.seen(), "SEEN n=1 marks=MARK-a1");

    let second = demo.run(&["--resume", "4f1c2a9e-1"], "fix it MARK-b2");
    second.assert_ok();
    assert!(
        second.answer().starts_with(
            "I am the demo agent. This is message 2 of session 4f1c2a9e; I remember 1 earlier message from you: “diagnose the bug MARK-a1”.\n"
        ),
        "{}",
        second.answer()
    );
    assert_eq!(second.seen(), "SEEN n=2 marks=MARK-a1,MARK-b2");
    let remembered = "diagnose the bug MARK-a1".len() + first.answer().len();
    assert_eq!(
        second.one("usage"),
        json!({ "type": "usage", "input": "fix it MARK-b2".len() / 4, "cached": remembered / 4, "output": second.answer().len() / 4 })
    );
}

#[test]
fn deltas_make_up_the_message() {
    let ran = Demo::new().turn("hello");
    let deltas: String = ran.all("delta").iter().map(|delta| delta["text"].as_str().unwrap()).collect();
    assert_eq!(deltas, ran.answer());
    assert!(!ran.answer().contains("SEEN"), "no mark was sent: {}", ran.answer());
}

#[test]
fn a_composed_prompt_is_known_by_the_users_own_words() {
    let demo = Demo::new();
    let prompt = "Told.\n<history-k>\n<turn-k number=\"1\">\n<user-k>\nDIE MARK-old\n</user-k>\n</turn-k>\n<turn-k>\n</turn-k>\n</history-k>\n\n\
        Answer.\n<message-k>\nand now MARK-new\n</message-k>\n";
    let first = demo.run(&["--session-id", "s"], prompt);
    first.assert_ok();
    assert!(first.answer().contains("and 2 turns I was told about"), "{}", first.answer());
    assert_eq!(first.seen(), "SEEN n=1 marks=MARK-old,MARK-new");
    let second = demo.run(&["--resume", "s"], "go on");
    assert!(
        second.answer().contains("from you: “and now MARK-new”, and 2 turns I was told about."),
        "{}",
        second.answer()
    );
}

#[test]
fn instructions_are_stated_and_are_no_message_of_the_user() {
    let demo = Demo::new();
    let mut running = demo.bare(&["--session-id", "s", "--store", "store"]);
    running.send(&json!({ "type": "prompt", "text": "hello", "instructions": "be brief MARK-i" }));
    let ran = running.finish();
    assert!(ran.answer().contains("My standing instructions: “be brief MARK-i”."), "{}", ran.answer());
    assert!(!ran.answer().contains("SEEN"), "{}", ran.answer());
}

#[test]
fn sessions_are_private_append_only_files() {
    let demo = Demo::new();
    demo.run(&["--session-id", "s"], "one");
    let before = fs::read_to_string(demo.stored("s")).unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(demo.stored("s")), 0o600);
    assert_eq!(mode(demo.path("store")), 0o700);
    let records: Vec<Value> = before.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[0]["type"], "session");
    assert_eq!(records[0]["id"], "s");
    assert!(records[0]["cwd"].is_string() && records[0]["created"].is_u64());
    assert_eq!(records[1], json!({ "type": "user", "text": "one" }));
    assert_eq!(records[2]["type"], "assistant");

    demo.run(&["--resume", "s"], "two");
    assert!(fs::read_to_string(demo.stored("s")).unwrap().starts_with(&before));
}

#[test]
fn a_torn_last_line_is_lost_and_nothing_else() {
    let demo = Demo::new();
    demo.run(&["--session-id", "s"], "MARK-a");
    let mut file = fs::OpenOptions::new().append(true).open(demo.stored("s")).unwrap();
    file.write_all(b"{\"type\":\"user\",\"text\":\"MARK-to").unwrap();
    assert_eq!(demo.run(&["--resume", "s"], "MARK-b").seen(), "SEEN n=2 marks=MARK-a,MARK-b");
    assert_eq!(demo.run(&["--resume", "s"], "MARK-c").seen(), "SEEN n=3 marks=MARK-a,MARK-b,MARK-c");
}

#[test]
fn without_a_store_nothing_is_written() {
    let demo = Demo::new();
    let mut running = demo.bare(&["--no-store", "--session-id", "s"]);
    running.send(&json!({ "type": "prompt", "text": "MARK-a" }));
    let ran = running.finish();
    ran.assert_ok();
    assert_eq!(ran.all("stored"), Vec::<Value>::new());
    assert!(!demo.path("store").exists());

    demo.run(&["--session-id", "s"], "MARK-a");
    let before = fs::read(demo.stored("s")).unwrap();
    assert_eq!(demo.run(&["--resume", "s", "--no-store"], "MARK-b").seen(), "SEEN n=2 marks=MARK-a,MARK-b");
    assert_eq!(fs::read(demo.stored("s")).unwrap(), before);
}

#[test]
fn a_large_prompt_is_read_whole() {
    let prompt = format!("MARK-a {} MARK-z", "x".repeat(400_000));
    assert_eq!(Demo::new().turn(&prompt).seen(), "SEEN n=1 marks=MARK-a,MARK-z");
}
