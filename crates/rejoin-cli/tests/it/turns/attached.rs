//! Files that go along with a prompt.

use std::fs;

use serde_json::{Value, json};

use crate::support::Bench;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot really";
const PNG_HASH: &str = "320bd18ca9559e3b54e1cbe84ad0bac7b660478bb4922cd1b7a5f93cdd12b882";

/// A bench with a picture and a text in its project.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("diagram.png", PNG);
    bench.file("notes.txt", "what I know");
    bench
}

#[test]
fn a_file_reaches_the_agent_and_everybody_is_told() {
    let bench = bench();
    let said = bench.first("look MARK-a").with(&["--attach", "diagram.png", "--attach", "notes.txt"]).done();
    let text = said.text("text");
    assert!(text.contains("diagram.png (image/png, 18 bytes), notes.txt (text/plain, 11 bytes)"), "{text}");
    said.calm().sent_only("look MARK-a");

    let picture = json!({"name": "diagram.png", "type": "image/png", "size": 18, "sha256": PNG_HASH});
    let listed = said.events()[0]["attachments"].clone();
    assert_eq!((&listed[0], &listed[1]["name"]), (&picture, &json!("notes.txt")));
    assert_eq!(said.result()["attachments"], listed);
    let parts = bench.show()["turns"][0]["messages"][0]["parts"].clone();
    assert_eq!(parts, json!([{"text": "look MARK-a"}, {"attachment": listed[0]}, {"attachment": listed[1]}]));
    let shown = bench.rejoin(&["show"]).done();
    let lines =
        "> look MARK-a\n> + diagram.png · image/png · 18 bytes\n> + notes.txt · text/plain · 11 bytes\n";
    assert!(shown.stdout().contains(lines), "{}", shown.stdout());
    let journal = fs::read_to_string(&bench.journals()[0]).unwrap();
    assert!(!journal.contains("what I know"), "the bytes are not kept");
}

#[test]
fn people_and_scripts_see_it_beforehand_and_after() {
    let bench = bench();
    let said = bench.rejoin(&["run", "-a", "demo", "--attach", "diagram.png", "--dry-run", "look"]).done();
    assert!(said.stdout().contains("attached   diagram.png · image/png · 18 bytes\n"), "{}", said.stdout());
    let plan =
        bench.rejoin(&["run", "-a", "demo", "--attach", "diagram.png", "--dry-run", "-o", "json", "look"]);
    assert_eq!(plan.done().json()["attachments"][0]["sha256"], PNG_HASH);
    bench
        .rejoin(&["run", "-a", "demo", "--attach", "diagram.png", "look"])
        .done()
        .tells(&["  + diagram.png · "]);
    let done = bench.rejoin(&["run", "-c", "--attach", "notes.txt", "-o", "json", "look"]).done().json();
    assert_eq!(done["attachments"][0]["name"], "notes.txt");
}

#[test]
fn a_resumed_session_holds_it_and_is_not_sent_it_again() {
    let bench = bench();
    let first = bench.first("look MARK-a").with(&["--attach", "diagram.png"]).done();
    let said = bench.next("and? MARK-b").done();
    said.resumed(&first.session(), 0).sent_only("and? MARK-b").calm();
    assert!(said.text("text").contains("Files I got from you: diagram.png"), "{}", said.text("text"));
    assert!(said.result()["attachments"].is_null());
}

#[test]
fn a_replay_names_it_and_warns() {
    let bench = bench();
    bench.first("look MARK-a").with(&["--attach", "diagram.png"]).done();
    let said = bench.hand_to("demo2", "and you? MARK-b").done();
    let words =
        format!("[attachment diagram.png, image/png, 18 bytes, sha256 {PNG_HASH}: not available to you]");
    said.fresh("no_session", 1).knows(&["a", "b"]).sent_with(&[&words]);
    assert!(said.warned("attachments").contains("not sent again: diagram.png"));
    assert!(!said.text("text").contains("Files I got"), "{}", said.text("text"));
    assert!(said.result()["lossy"].is_null());
}

#[test]
fn the_second_run_of_a_rejected_resume_sends_those_of_its_own_turn() {
    let bench = bench();
    bench.first("look MARK-a").with(&["--attach", "diagram.png"]).done();
    let said = bench.next("REJECT MARK-b").with(&["--attach", "notes.txt"]).done();
    said.fresh("session_rejected", 1).knows(&["a", "b"]);
    assert!(said.text("text").contains("Files I got from you: notes.txt (text/plain, 11 bytes)."));
    assert!(said.warned("attachments").contains("diagram.png"));
}

#[test]
fn after_a_failed_turn_it_is_named() {
    let bench = bench();
    bench.first("hello MARK-a").done();
    bench.next("FAIL server MARK-b").with(&["--attach", "diagram.png"]).ends(1);
    let said = bench.next("again MARK-c").done();
    said.sent_with(&["[attachment diagram.png, ", ": not sent again]"]);
    said.warned("attachments");
}

#[test]
fn what_cannot_be_attached_is_refused_before_anything_is_written() {
    let bench = bench();
    bench.file("empty.txt", "");
    bench.file("blob.bin", b"\0\x01\x02");
    bench.file("large.txt", vec![b'x'; (10 << 20) + 1]);
    bench.subdir("directory");
    let before = bench.files();
    for (file, code, words) in [
        ("missing.png", 4, &["no file missing.png"][..]),
        ("notes.txt/x", 2, &["cannot read notes.txt/x"]),
        ("directory", 2, &["directory is not a file"]),
        ("empty.txt", 2, &["empty.txt is empty"]),
        ("large.txt", 2, &["larger than 10 MiB"]),
        (
            "blob.bin",
            2,
            &[
                "blob.bin (application/octet-stream) cannot be",
                "demo takes images, PDF, text",
                "no agent takes",
            ],
        ),
    ] {
        bench.first("look").with(&["--attach", file]).ends(code).tells(words);
        bench.first("look").with(&["--dry-run", "--attach", file]).ends(code).tells(words);
    }
    let written: Vec<_> =
        bench.files().difference(&before).filter(|path| !path.starts_with("locks")).cloned().collect();
    assert!(bench.journals().is_empty(), "{written:?}");
}

#[test]
fn a_name_that_looks_like_a_flag_is_a_name() {
    let bench = Bench::new();
    bench.file("--help", "text");
    let said = bench.first("look").with(&["--attach=--help"]).done();
    assert!(said.text("text").contains("--help (text/plain, 4 bytes)"), "{}", said.text("text"));
}

#[test]
fn one_that_cannot_be_read_leaves_a_mark() {
    let part: Value = json!({"attachment": {"unknown": true}});
    let bench = Bench::after_a_turn();
    let journal = bench.journals().remove(0);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(
        &journal,
        text.replacen("{\"text\":\"hello MARK-a\"}", &format!("{{\"text\":\"hello MARK-a\"}},{part}"), 1),
    )
    .unwrap();
    bench.hand_to("demo2", "x MARK-b").done().knows(&["a", "b"]).sent_with(&["something that is not text"]);
}
