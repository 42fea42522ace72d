//! Processes an agent leaves behind on purpose.

use std::time::{Duration, Instant};

use crate::support::{Bench, eventually, kill};

/// The sleeper a turn left, which must be the only process of the bench.
#[track_caller]
fn sleeper(bench: &Bench) -> u32 {
    eventually("the sleeper alone", || match bench.processes().as_slice() {
        [one] if one.command.contains("sleep 300") => Some(one.pid),
        _ => None,
    })
}

#[test]
fn after_a_clean_turn_they_live_on_and_are_named() {
    for word in ["CHILD", "CHILD-HOLD"] {
        let bench = Bench::new();
        let begun = Instant::now();
        let said = bench.first(&format!("{word} 300 MARK-a")).done();
        assert!(begun.elapsed() < Duration::from_secs(8), "{word} did not hold it up");
        said.came_to("completed", None).knows(&["a"]);
        let pid = sleeper(&bench);
        // Asked early enough, it is still about to become `sleep`.
        let named = said.warned("background").replace("setsid (", "sleep (");
        assert_eq!(named, format!("still running in the background: sleep ({pid})"));
        let next = bench.next("on MARK-b").done();
        next.resumed(&said.session(), 0).sent_only("on MARK-b").calm();
        assert_eq!(sleeper(&bench), pid, "the next turn leaves it alone");
        kill(pid);
        bench.comes_to_rest();
    }
}

#[test]
fn one_that_goes_on_writing_to_the_agents_streams_does_not_keep_the_turn() {
    let bench = Bench::new();
    let chatter = "(for i in $(seq 3000); do echo more; sleep 0.02; done > /proc/$PPID/fd/2 2>/dev/null &) >/dev/null 2>&1";
    let begun = Instant::now();
    let said = bench.first(&format!("TOOL-RUN [{chatter}] MARK-a")).done();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    said.came_to("completed", None).knows(&["a"]);
    assert!(said.warned("background").starts_with("still running"));
    for process in bench.processes() {
        kill(process.pid);
    }
    bench.comes_to_rest();
}

#[test]
fn after_a_failed_turn_they_are_ended() {
    let bench = Bench::new();
    bench.first("CHILD 300\nFAIL server x").ends(1);
    bench.comes_to_rest();
    bench.first("CHILD 300 DIE").ends(1);
    bench.comes_to_rest();
}

#[test]
fn after_a_timeout_they_are_ended() {
    let bench = Bench::new();
    bench.first("CHILD-HOLD 300 SLOW 3000").with(&["--timeout", "500ms"]).ends(3);
    bench.comes_to_rest();
}
