//! Output that is wild, large, or both.

use std::process::Stdio;

use crate::support::{Bench, eventually};

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

/// Runs a turn whose output nobody keeps, and gives the most memory rejoin had, in KiB, without the pages of its
/// executable: of a debug build they are many, and no flood makes them more.
fn peak(bench: &Bench, prompt: &str) -> u64 {
    let mut command = bench.first(prompt).command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let status = eventually("the end of a flood", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let told = |what| status.lines().find_map(|line| line.strip_prefix(what));
        let kib = |what| told(what).and_then(|size| size.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        if let (Some(peak), Some(executable)) = (kib("VmHWM:"), kib("RssFile:")) {
            most = peak.saturating_sub(executable);
        }
        child.try_wait().unwrap()
    });
    assert!(status.success(), "{prompt}: {status}");
    most
}

#[test]
fn floods_and_giant_lines_are_taken_in_with_little_memory() {
    let bench = Bench::new();
    for flood in ["FLOOD 50m", "FLOOD 2m 100", "FLOOD 10m 64k tools", "BIGLINE 200m", "BIGEND 200m"] {
        let peak = peak(&bench, &format!("{flood} MARK-a"));
        assert!(peak > 1000 && peak < 48 << 10, "{flood}: {peak} KiB");
        let turn = bench.show()["turns"][0].clone();
        assert_eq!(turn["state"], "completed", "{flood}");
        let answer = turn["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(answer.contains("marks=MARK-a"), "{flood}: {}", &answer[answer.len().min(500)..]);
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
    let prompt = format!("FLOOD 10m\nMARK-a {}", "x".repeat(5 << 20));
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
