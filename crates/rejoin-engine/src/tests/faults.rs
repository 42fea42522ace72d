//! A disk that fails once, at any of its calls; and failures of our own. No turn is done without a receipt.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rejoin_core::{Event, FailureClass, Outcome};
use rejoin_journal::{JournalError, MemoryStore};

use super::hooked::Hooked;
use super::scripted::Place;
use crate::{Helper, TurnError};

/// A place whose store refuses the n-th of its writes and syncs, and no other.
fn place(nth: usize) -> (Place, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let hook = Arc::new(move || {
        if counted.fetch_add(1, Ordering::SeqCst) + 1 != nth {
            return Ok(());
        }
        let cause = io::Error::from(io::ErrorKind::StorageFull);
        Err(JournalError::Append { path: "journal".into(), kept: 0, records: 1, cause })
    });
    (Place::on(Arc::new(Hooked { store: MemoryStore::new(), hook })), calls)
}

#[test]
fn whatever_write_fails_a_turn_is_done_only_with_a_receipt_on_the_disk() {
    let script = "echo call 1; echo result 1; echo warn careful; echo say hello; echo end";
    for nth in 1.. {
        let (place, calls) = place(nth);
        let ran = place.run(script);
        let failed = calls.load(Ordering::SeqCst) >= nth;
        let told_as_done = ran.events.iter().any(|event| matches!(event, Event::Result { .. }));
        assert_eq!(told_as_done, ran.result.is_ok(), "call {nth}");
        match &ran.result {
            Ok(_) => {
                assert!(!failed, "call {nth} failed and nobody said so");
                assert_eq!(place.receipt().map(|receipt| receipt.outcome), Some(Outcome::Completed));
                // Write and sync at the beginning and at the end, and something between.
                assert!(nth >= 6, "{nth}");
                return;
            }
            Err(error) => {
                assert!(failed, "call {nth}: {error}");
                assert!(error.to_string().contains("free some space"), "{error}");
                // Two calls are made before the agent is launched: then there is nothing to tell of.
                if let TurnError::Unrecorded { .. } = error {
                    assert!(error.to_string().contains("the prompt is kept"), "{error}");
                } else {
                    assert!(nth <= 2, "call {nth}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_could_not_be_written_is_not_shown() {
    // The first two calls belong to the prompt.
    let (place, _) = place(3);
    let ran = place.run("echo call 1; echo say hello; echo end");
    assert!(matches!(ran.result, Err(TurnError::Unrecorded { .. })));
    assert!(!ran.events.iter().any(|event| matches!(event, Event::ToolUse { .. })), "{:?}", ran.events);
}

#[test]
fn a_supervisor_that_cannot_be_started_leaves_receipt_and_result() {
    let mut place = Place::new();
    place.helper = Helper::Executable("/dev/null/rejoin".into());
    failed_by_ourselves(&place, "echo end", "cannot start the supervisor");
}

#[test]
fn a_scratch_directory_that_cannot_be_made_leaves_receipt_and_result() {
    failed_by_ourselves(&Place::new(), "echo UNWRITABLE; echo end", "create the directory /dev/null");
}

#[track_caller]
fn failed_by_ourselves(place: &Place, script: &str, words: &str) {
    let ran = place.run(script);
    let Outcome::Failed { class: FailureClass::Internal, message } = ran.outcome() else {
        panic!("{:?}", ran.outcome());
    };
    assert!(message.contains(words), "{message}");
    assert_eq!(place.receipt().unwrap().outcome, *ran.outcome());
    let last = ran.events.last();
    assert!(
        matches!(last, Some(Event::Result { receipt, .. }) if receipt.outcome == *ran.outcome()),
        "{last:?}"
    );
}
