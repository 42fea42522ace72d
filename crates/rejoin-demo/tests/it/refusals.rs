//! What it refuses, and how it resumes badly.

use serde_json::{Value, json};

use crate::demo::Demo;

#[test]
fn arguments_are_checked() {
    let demo = Demo::new();
    let cases: [(&[&str], &str); 6] = [
        (&["--frob"], "demo: unknown argument --frob"),
        (&[], "demo: --store DIR is needed"),
        (&["--store"], "demo: --store needs a value"),
        (&["--store", "s", "--permissions", "all"], "demo: unknown permissions all"),
        (&["--store", "s", "--resume", "a", "--session-id", "b"], "exclude each other"),
        (&["--store", "s", "--session-id", "../a"], "demo: not a session id: ../a"),
    ];
    for (args, words) in cases {
        let ran = demo.bare(args).finish();
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.contains(words), "{args:?}: {}", ran.stderr);
        assert!(ran.stdout.is_empty());
    }
}

#[test]
fn version_and_help_are_printed() {
    let demo = Demo::new();
    let version = demo.bare(&["--version"]).finish();
    assert_eq!(version.stdout, format!("rejoin demo agent {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
    assert_eq!(version.code, Some(0));
    let help = String::from_utf8(demo.bare(&["--help"]).finish().stdout).unwrap();
    for word in [
        "--session-id",
        "--resume",
        "--store",
        "--no-store",
        "--model",
        "--permissions",
        "TOOL-RUN",
        "REISSUE",
    ] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn input_without_a_prompt_is_refused() {
    let demo = Demo::new();
    let silent = demo.bare(&["--store", "store"]).finish();
    assert_eq!(silent.code, Some(2));
    assert!(silent.stderr.contains("ended before a prompt"), "{}", silent.stderr);
    let mut running = demo.bare(&["--store", "store"]);
    running.send(&json!({ "type": "interrupt" }));
    let other = running.finish();
    assert_eq!(other.code, Some(2));
    assert!(other.stdout.is_empty() && !demo.path("store").exists());
}

#[test]
fn unknown_and_taken_ids_are_refused() {
    let demo = Demo::new();
    for id in ["nope", "../x", ""] {
        let ran = demo.run(&["--resume", id], "hello");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), format!("demo: no session {id}\n").as_str()));
        assert!(ran.stdout.is_empty());
    }
    demo.run(&["--session-id", "s"], "hello");
    let ran = demo.run(&["--session-id", "s"], "hello");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), "demo: session s already exists\n"));
    assert!(ran.stdout.is_empty());
}

#[test]
fn reject_refuses_a_stored_session() {
    for (demo, words) in [(Demo::new(), "REJECT"), (Demo::new().env("REJOIN_DEMO_REJECT"), "hello")] {
        demo.run(&["--session-id", "s"], "hello REJECT").assert_ok();
        let ran = demo.run(&["--resume", "s"], words);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), "demo: no session s\n"));
        assert!(ran.stdout.is_empty());
    }
}

#[test]
fn a_liar_starts_an_empty_session_under_another_id() {
    for (demo, words) in [(Demo::new(), "LIE MARK-b"), (Demo::new().env("REJOIN_DEMO_LIE"), "MARK-b")] {
        demo.run(&["--session-id", "s"], "MARK-a");
        let ran = demo.run(&["--resume", "s"], words);
        ran.assert_ok();
        assert_eq!(ran.seen(), "SEEN n=1 marks=MARK-b");
        let id = ran.one("session")["id"].clone();
        assert_eq!(id, "0efeb873-248a-4a69-b587-2bd6bd6fd1e6", "it is always the same");
        assert_ne!(
            demo.run(&["--resume", "s"], words).one("session")["id"],
            id,
            "but never one that is taken"
        );
    }
    let liar = Demo::new().env("REJOIN_DEMO_LIE");
    liar.run(&["--resume", "unknown"], "hello").assert_ok();
}

#[test]
fn a_reissued_session_keeps_the_history_under_a_new_id() {
    for (demo, words) in [(Demo::new(), "REISSUE MARK-b"), (Demo::new().env("REJOIN_DEMO_REISSUE"), "MARK-b")]
    {
        demo.run(&["--session-id", "s"], "MARK-a").assert_ok();
        let ran = demo.run(&["--resume", "s"], words);
        ran.assert_ok();
        let session = ran.one("session");
        assert_eq!(session["reissued_from"], "s");
        assert_eq!(ran.seen(), "SEEN n=2 marks=MARK-a,MARK-b");
        let id = session["id"].as_str().unwrap();
        assert_ne!(id, "s");
        let third = demo.run(&["--resume", id], "MARK-c");
        assert_eq!(third.seen(), "SEEN n=3 marks=MARK-a,MARK-b,MARK-c");
    }
}

#[test]
fn a_store_that_cannot_be_written_fails_the_turn() {
    let demo = Demo::new();
    std::fs::write(demo.path("store"), "a file").unwrap();
    let ran = demo.turn("hello");
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.all("stored"), Vec::<Value>::new());
    let end = ran.one("end");
    assert_eq!((&end["ok"], &end["class"]), (&json!(false), &json!("other")));
    assert!(end["message"].as_str().unwrap().starts_with("cannot store the session"));
}
