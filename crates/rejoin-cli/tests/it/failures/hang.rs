//! Agents that hang, linger, die and exit.

use std::time::{Duration, Instant};

use crate::support::Bench;

#[test]
fn silence_is_ended_and_said() {
    let bench = Bench::new();
    let said = bench.first("MARK-a HANG").with(&["--idle-timeout", "500ms"]).ends(3);
    said.came_to("timeout", None);
    assert!(said.text("error").contains("nothing came from the agent for 500 ms"), "{}", said.text("error"));
    bench.comes_to_rest();
    let again = bench.next("and now? MARK-b").done();
    again.resumed(&said.session(), 1).knows(&["a", "b"]);
}

#[test]
fn silence_before_the_first_line_is_ended_too() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("MARK-b HANG-EARLY").with(&["--idle-timeout", "500ms"]).ends(3);
    said.came_to("timeout", None);
    bench.comes_to_rest();
    bench.next("and now? MARK-c").done().resumed(&first.session(), 1).knows(&["a", "b", "c"]);
}

#[test]
fn a_turn_has_a_limit_of_its_own() {
    let bench = Bench::new();
    let begun = Instant::now();
    let said = bench.first("SLOW 3000").with(&["--timeout", "400ms"]).ends(3);
    assert!(begun.elapsed() < Duration::from_secs(5), "an agent that listens ends at once");
    assert!(said.text("error").contains("longer than 400 ms"), "{}", said.text("error"));
    bench.comes_to_rest();
}

#[test]
fn a_tool_that_runs_is_no_silence() {
    let bench = Bench::new();
    let said = bench.first("SLEEP 1.5 MARK-a").with(&["--idle-timeout", "300ms"]).done();
    said.knows(&["a"]);
    bench.first("TOOL-RUN [sleep 1] MARK-a").with(&["--idle-timeout", "300ms"]).done();
}

#[test]
fn a_tool_that_runs_is_still_ended_by_the_limit_of_the_turn() {
    let bench = Bench::new();
    bench.first("TOOL-RUN [sleep 300]").with(&["--timeout", "500ms"]).ends(3);
    bench.comes_to_rest();
}

#[test]
fn a_zero_means_no_limit_on_silence() {
    let bench = Bench::new();
    bench.first("SLOW 5").with(&["--idle-timeout", "0"]).done();
}

#[test]
fn an_agent_that_dies_has_failed() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "demo", "DIE"]).ends(1);
    said.tells(&["✗ failed: the agent ended without a result", "signal 9", "rejoin run -r "]);
    assert_eq!(said.stdout(), "This answer will not be fin\n", "what it said is shown");
    let shown = bench.show();
    assert_eq!(shown["turns"][0]["state"], "failed");
    assert!(shown.to_string().contains("This answer will not be fin"), "and kept");
}

#[test]
fn an_agent_that_exits_without_a_word_has_failed_whatever_its_code() {
    let bench = Bench::new();
    for code in [0, 7] {
        let said = bench.first(&format!("EXIT {code}")).ends(1);
        said.came_to("failed", Some("no_result"));
        assert_eq!(said.result()["exit_code"], code);
    }
}

#[test]
fn an_agent_that_lives_on_after_its_turn_is_stopped_and_the_turn_counts() {
    let bench = Bench::new();
    let said = bench.first("LINGER 120 MARK-a").done();
    said.came_to("completed", None).knows(&["a"]);
    assert!(said.warned("lingering").contains("was stopped"));
    bench.comes_to_rest();
    bench.next("on MARK-b").done().resumed(&said.session(), 0).sent_only("on MARK-b");
}

/// However it is stopped afterwards, a turn that failed has failed.
#[test]
fn an_agent_that_lives_on_after_it_failed_has_failed() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("MARK-b LINGER 120 FAIL quota no more").ends(1);
    said.came_to("failed", Some("quota"));
    assert!(said.warned("lingering").contains("was stopped"));
    bench.comes_to_rest();
    bench.next("on MARK-c").done().resumed(&first.session(), 1).knows(&["a", "b", "c"]);
}

/// Pi shortens its memory after the answer, which takes as long as its model does: then silence is what counts.
#[test]
fn an_agent_that_shortens_its_memory_after_the_turn_has_the_time_of_any_silence() {
    stops_what_shortens_its_memory("--idle-timeout", "500ms", Duration::from_secs(9));
}

#[test]
fn the_limit_of_a_turn_holds_for_an_agent_that_shortens_its_memory_after_it() {
    stops_what_shortens_its_memory("--timeout", "12s", Duration::from_secs(30));
}

fn stops_what_shortens_its_memory(limit: &str, time: &str, within: Duration) {
    const HELP: &str = include_str!("../../../../rejoin-agents/tests/recordings/pi/pi.help.txt");
    const RECORDED: &str = include_str!("../../../../rejoin-agents/tests/recordings/pi/compaction.log");
    let bench = Bench::new();
    let file = |name: &str, text: &str| {
        let path = bench.lab.root().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    file("pi.help", HELP);
    file("pi.out", RECORDED.split_once("exit: ").unwrap().0);
    let pi = bench.lab.root().join("pi");
    rejoin_testkit::write_program(
        &pi,
        "#!/bin/sh\ncase $1 in --version) echo 0.74.2 ;; --help) cat $0.help ;; *) cat $0.out; sleep 60 ;; esac\n",
    )
    .unwrap();
    bench.config(&format!("[agents.pi]\ncommand = {}\n", serde_json::json!(pi)));
    let begun = Instant::now();
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello", "-a", "pi", limit, time]).done();
    assert!(begun.elapsed() < within, "it took {:?}", begun.elapsed());
    assert!(said.warned("lingering").contains("was stopped"));
    assert_eq!(said.events_of("compaction").len(), 1);
    bench.comes_to_rest();
}
