//! What stands in an agent's pipes when it ends, and who goes on writing into them.

use std::time::{Duration, Instant};

use rejoin_core::{Event, Outcome};

use super::scripted::Place;

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

#[test]
fn a_child_that_goes_on_writing_does_not_make_a_cancel_dead() {
    let place = Place::new();
    let canceller = place.canceller();
    // It ends without a result, and the first words of the child tell that it is gone.
    let script = "(sleep 0.1; while :; do echo say gone; sleep 0.02; done & echo $! > child) ; exit 0";
    let ran = place.watch(
        script,
        |event| {
            if matches!(event, Event::TextDelta { .. }) {
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
    let place = Place::new();
    let gone = place.path().join("gone");
    // One line of more than may wait for anybody, and when it was read the end, which then stands in the pipe.
    let script = format!(
        "echo say first; printf 'say '; head -c 5000000 /dev/zero | tr '\\0' x; echo; sleep 0.5; \
         (while kill -0 $$ 2>/dev/null; do sleep 0.01; done; touch '{}') >/dev/null 2>&1 & echo end",
        gone.display()
    );
    let mut held = false;
    let ran = place.watch(
        &script,
        |event| {
            if matches!(event, Event::TextDelta { .. }) && !held {
                held = true;
                // Until it is gone, and then for longer than a stream is kept open for others.
                let since = Instant::now();
                while !gone.exists() && since.elapsed() < Duration::from_secs(10) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                std::thread::sleep(Duration::from_millis(600));
            }
        },
        None,
    );
    ran.completed();
}
