//! `$REJOIN_HOME`.

use std::fs;

use rejoin_journal::{Home, JournalError};

#[test]
fn a_home_keeps_its_id() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("a/b/home");
    let id = Home::open(&root).unwrap().id().to_owned();
    assert_eq!(Home::open(&root).unwrap().id(), id);
    assert_ne!(Home::open(directory.path().join("other")).unwrap().id(), id);
    let copy = directory.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(root.join("home-id"), copy.join("home-id")).unwrap();
    assert_eq!(Home::open(copy).unwrap().id(), id, "a restored snapshot is the same home");
}

#[test]
fn a_damaged_id_is_told_and_never_replaced() {
    let directory = tempfile::tempdir().unwrap();
    for damaged in [&b""[..], b"\n", b"not an id", b"\xff\xff", b"4f1c2a9e"] {
        fs::write(directory.path().join("home-id"), damaged).unwrap();
        let error = Home::open(directory.path()).unwrap_err();
        assert!(matches!(error, JournalError::DamagedHomeId { .. }), "{error}");
        assert_eq!(fs::read(directory.path().join("home-id")).unwrap(), damaged);
    }
}

#[test]
fn a_relative_home_does_not_move_with_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let up = "../".repeat(std::env::current_dir().unwrap().components().count());
    let relative = format!("{up}{}", directory.path().strip_prefix("/").unwrap().display());
    let home = Home::open(relative).unwrap();
    assert!(home.root().is_absolute());
    assert!(directory.path().join("home-id").exists());
}
