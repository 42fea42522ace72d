//! Output that is wild, large, or both.

use std::time::Instant;

use crate::support::{Bench, Call};

#[test]
fn lines_that_are_no_events_are_kept_counted_and_no_harm() {
    let bench = Bench::new();
    let said = bench.first("GARBAGE MARK-a").done();
    said.came_to("completed", None).knows(&["a"]);
    assert_eq!(said.result()["diagnostics"], said.events_of("diagnostic").len());
    assert_eq!(said.result()["diagnostics"], 7);
    assert_eq!(bench.notes("diagnostic").len(), 7);
    assert_eq!(said.events_of("thinking")[0]["text"], "This line ends in CRLF.");
    let shown = bench.rejoin(&["show"]).done();
    assert!(!shown.stdout().contains('\u{1b}'));
}

#[test]
fn a_last_line_without_its_end_counts() {
    let bench = Bench::new();
    bench.first("NOEOL MARK-a").done().came_to("completed", None).knows(&["a"]);
}

#[test]
fn a_line_of_20_megabytes_is_cut_visibly_and_the_turn_goes_on() {
    let bench = Bench::new();
    let said = bench.first("BIGLINE 20m MARK-a").done();
    said.came_to("completed", None).knows(&["a"]);
    let results = said.events_of("tool_result");
    let output = results[0]["output"].as_str().unwrap();
    assert!(output.len() <= 9 << 20 && output.len() > 1 << 20, "{}", output.len());
    assert!(output[output.len() - 200..].contains("cut"), "{}", &output[output.len() - 200..]);
    bench.next("on MARK-b").done().resumed(&said.session(), 0).knows(&["a", "b"]);
}

#[test]
fn an_end_of_20_megabytes_still_ends_the_turn() {
    let bench = Bench::new();
    bench.first("BIGEND 20m MARK-a").done().came_to("completed", None).knows(&["a"]);
    bench.first("BIGEND 20m NOEOL MARK-a").done().came_to("completed", None).knows(&["a"]);
}

#[test]
fn floods_are_taken_in_with_little_memory() {
    let bench = Bench::new();
    let rejoin = env!("CARGO_BIN_EXE_rejoin");
    for flood in ["FLOOD 50m", "FLOOD 50m 100", "FLOOD 50m 64k tools"] {
        // The largest process of the tree counts; what is printed is thrown away.
        let script =
            format!("ulimit -v 700000; exec {rejoin} run -o stream-json -a demo '{flood} MARK-a' | tail -n1");
        let begun = Instant::now();
        let said = Call::of(&bench, "sh", &["-c", &script]).done();
        said.came_to("completed", None).knows(&["a"]);
        eprintln!("{flood}: {:?}", begun.elapsed());
    }
}

#[test]
fn stderr_is_kept_apart() {
    let bench = Bench::new();
    let said = bench.first("STDERR something odd\nMARK-a").done();
    let lines = said.events_of("diagnostic");
    assert_eq!((&lines[0]["stream"], &lines[0]["text"]), (&"stderr".into(), &"something odd".into()));
    said.knows(&["a"]);
    let said = bench.rejoin(&["run", "-a", "demo", "STDERR something odd"]).done();
    assert!(
        !said.stderr().contains("odd") && !said.stdout().contains("odd"),
        "not in the way of a good turn"
    );
}

#[test]
fn a_long_prompt_and_a_flood_at_once_do_not_block_each_other() {
    let bench = Bench::new();
    let prompt = format!("FLOOD 20m\nFLOOD 20m\nMARK-a {}", "x".repeat(5 << 20));
    let said = bench.rejoin(&["run", "-o", "json", "-a", "demo"]).given(prompt).done();
    assert!(said.json()["text"].as_str().unwrap().ends_with("marks=MARK-a"));
}

#[test]
fn what_was_flooded_can_still_be_shown_and_replayed() {
    let bench = Bench::new();
    bench.first("FLOOD 5m MARK-a").done();
    let said = bench.hand_to("demo2", "and you? MARK-b").done();
    said.knows(&["a", "b"]);
    said.warned("lossy");
    assert!(said.sent().len() < 300 << 10);
    assert!(bench.rejoin(&["show"]).done().stdout().len() < 1 << 20);
}
