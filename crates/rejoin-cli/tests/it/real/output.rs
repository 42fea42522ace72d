//! What a user sees: text, one object, or a stream of events.

use super::stage::Stage;
use super::who::Who;

on_both!(as_text, as_one_object, as_a_stream, a_failure_as_text);

fn as_text(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let turn = stage.next("second MARK-two").plainly().assert_success();
    assert_eq!(turn.stdout, "SEEN n=2 marks=MARK-one,MARK-two\n");
    let who = stage.who.name();
    let headline = format!("● {who} · resumed {} · turn 2 · 15 bytes sent", &session[..8]);
    assert_eq!(turn.stderr.lines().next(), Some(headline.as_str()), "{}", turn.stderr);
    assert!(turn.stderr.lines().last().unwrap().starts_with("✓ "), "{}", turn.stderr);
    let shown = stage.lab.run(stage.rejoin().arg("show"), "").assert_success().stdout;
    assert!(shown.contains("> first MARK-one") && shown.contains("SEEN n=2"), "{shown}");
}

fn as_one_object(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let turn = stage.next("second MARK-two").with(["-o", "json"]).plainly().assert_success();
    let object: serde_json::Value = serde_json::from_str(&turn.stdout).unwrap();
    assert_eq!(object["text"], "SEEN n=2 marks=MARK-one,MARK-two");
    assert_eq!((&object["session"], &object["asked"]), (&session.as_str().into(), &session.as_str().into()));
    assert_eq!((&object["runs"], &object["bytes"], &object["exit_code"]), (&1.into(), &15.into(), &0.into()));
    assert_eq!(object["plan"]["decision"], "resume");
    let shown = stage.show()["turns"][1]["receipt"].clone();
    assert_eq!(shown["milliseconds"], object["milliseconds"]);
}

fn as_a_stream(stage: &Stage) {
    let turn = stage.first("first MARK-one").go().done();
    let kinds: Vec<&str> = turn.events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!((kinds[0], kinds[1]), ("init", "session"), "{turn}");
    assert_eq!(turn.events[0]["schema"], 1);
    assert_eq!(turn.events[1]["session"], turn.session().as_str());
    assert!(kinds.contains(&"message") && kinds.contains(&"usage"), "{turn}");
    if stage.who == Who::Claude {
        assert!(kinds.contains(&"text_delta"), "{turn}");
        assert!(turn.events[1]["model"].is_string(), "{turn}");
    }
    assert!(turn.events_of("diagnostic").iter().all(|event| event["stream"] == "stderr"), "{turn}");
    // Codex does not know the scripted model, and says so.
    let warnings = turn.events_of("warning").len() - turn.warnings("codex").len();
    assert_eq!(warnings, 0, "{turn}");
}

fn a_failure_as_text(stage: &Stage) {
    let turn = stage.first("first MARK-one RATE429").plainly();
    assert_eq!((turn.code(), turn.stdout.as_str()), (Some(1), ""), "{}", turn.stderr);
    assert!(turn.stderr.lines().any(|line| line.starts_with("✗ failed: ")), "{}", turn.stderr);
    // The last line says how to go on, and that works.
    let last = turn.stderr.lines().last().unwrap();
    let hint = last.split("`rejoin run -r ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a hint");
    let second = stage.run("second MARK-two").with(["-r", hint]).go().done();
    assert_eq!(second.calls[0].marks, ["MARK-one", "MARK-two"], "{second}");
    let shown = stage.lab.run(stage.rejoin().arg("show"), "").assert_success().stdout;
    assert!(shown.contains("> first MARK-one RATE429") && shown.contains("failed: "), "{shown}");
}
