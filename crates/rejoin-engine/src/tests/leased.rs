//! One turn at a time, by leases that the engine is given.

use std::path::Path;

use rejoin_core::{Decision, Outcome};
use rejoin_journal::LeaseName;

use super::scripted::Place;
use crate::{CancelWatch, TurnError};

/// The lock files of a home, without those by which the home itself is set up.
fn lock_files(home: &Path) -> Vec<String> {
    let files = std::fs::read_dir(home.join("locks")).into_iter().flatten().flatten();
    let names = files.map(|file| file.file_name().into_string().unwrap());
    names.filter(|name| !["home.lock", "origins.lock"].contains(&name.as_str())).collect()
}

#[test]
fn a_turn_is_alone_and_its_session_resumed_with_leases_and_store_in_memory() {
    let place = Place::new().keeping_sessions();
    let engine = place.engine();
    let start = |order| engine.start(order, CancelWatch::pair().unwrap().1);
    let script =
        "echo '{\"a\":1}' >> sessions/s1; echo session s1; until [ -e go ]; do sleep 0.01; done; echo end";
    let first = place.start(&engine, script);

    let refused = start(place.next("echo end")).err();
    let Some(TurnError::Busy { owner: Some(owner), .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(owner.what, "a turn of scripted");
    assert_eq!(owner.marks, [first.turn().to_string()]);
    let other = place.engine();
    assert!(other.hold(place.id, "an edit").is_err(), "leases are those of all engines that were given them");

    std::fs::write(place.path().join("go"), "").unwrap();
    assert_eq!(*first.join().unwrap().outcome(), Outcome::Completed);
    assert_eq!(engine.leases().holder(&LeaseName::conversation(place.id)).unwrap(), None);

    let second = start(place.next("echo '{\"a\":1}' >> sessions/s1; echo session s1; echo end"))
        .unwrap()
        .join()
        .unwrap();
    let decision = &second.receipt().plan;
    assert!(matches!(decision, Decision::Resume { session, catch_up: 0 } if session == "s1"), "{decision:?}");
    assert_eq!(lock_files(engine.home()), [""; 0]);
}
