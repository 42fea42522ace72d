//! What stands in an agent's pipes when it ends, and who goes on writing into them.

use std::time::{Duration, Instant};

use rejoin_core::{Event, Outcome};

use super::pumped::{Pumped, eventually};
use super::scripted::Place;
use crate::Limits;
use crate::during::drain::QUIET;
use crate::during::launch_result::Verdict;

/// Something that would keep a turn for longer than any test waits.
const CHATTER: &str =
    "(i=0; while [ $i -lt 3000 ]; do echo say more; echo more >&2; sleep 0.02; i=$((i+1)); done) &";

#[test]
fn a_child_that_goes_on_writing_does_not_keep_the_turn() {
    let place = Place::new();
    let begun = Instant::now();
    place.run(&format!("{CHATTER} echo end")).completed();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Waits until the agent is gone, whoever took note of it.
const WHEN_IT_IS_GONE: &str = "while grep -q '^State:.[RSD]' /proc/$$/status; do sleep 0.01; done";

#[test]
fn a_child_that_goes_on_writing_does_not_make_a_cancel_dead() {
    let place = Place::new();
    let canceller = place.canceller();
    // It ends without a result, and then its child speaks.
    let script = format!(
        "({WHEN_IT_IS_GONE}; i=0; while [ $i -lt 1000 ]; do echo say gone; sleep 0.02; i=$((i+1)); done) & echo $! > child"
    );
    let mut heard = 0;
    let ran = place.watch(
        &script,
        |event| {
            if matches!(event, Event::TextDelta { .. }) {
                heard += 1;
            }
            // By then its end is known here, too.
            if heard == 3 {
                canceller.cancel();
            }
        },
        None,
    );
    let child = std::fs::read_to_string(place.path().join("child")).unwrap();
    let _ = std::process::Command::new("kill").arg(child.trim()).status();
    assert_eq!(*ran.outcome(), Outcome::Cancelled);
}

#[test]
fn what_stood_in_the_pipe_at_the_end_is_read_however_slow_the_watcher_is() {
    // A line of more than may wait for the watcher; when nothing is read any more, the end.
    let pumped = Pumped::new();
    let script = "printf 'say '; head -c 2000000 /dev/zero | tr '\\0' x; echo; \
                  until [ -e full ]; do sleep 0.01; done; echo $$ > agent; echo end";
    let verdict = pumped.run(script, &Limits::default(), |running| {
        running.until_nothing_is_read();
        running.touch("full");
        let agent = running.until_there("agent");
        eventually("its end", || rejoin_journal::birth(agent.trim().parse().unwrap()).is_none());
        // For longer than a silent stream is kept open for others.
        running.hold(3 * QUIET);
        running.take_all();
    });
    assert_eq!(verdict, Verdict::Ended(Outcome::Completed));
}
