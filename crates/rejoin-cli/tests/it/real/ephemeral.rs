//! `--ephemeral` leaves nothing behind.

use std::fs;
use std::path::PathBuf;

use super::files::{files_below, files_with};
use super::stage::Stage;

on_all!(nothing_is_left: ["ephemeral"]);
on_both!(it_knows_the_history_and_adds_nothing);

fn nothing_is_left(stage: &Stage) {
    // At its first run an agent sets itself up.
    stage.first("settle in MARK-first").with(["--ephemeral"]).go().done();
    let before = lasting_files(stage);
    let turn = stage.first("a secret MARK-secret").with(["--ephemeral"]).go().done().fresh("ephemeral", 0);
    let turn = turn.remembered(1, ["secret"]);
    assert!(turn.receipt()["conversation"].is_null() && turn.events[0]["conversation"].is_null(), "{turn}");
    assert_eq!(lasting_files(stage), before);
    assert!(stage.stored_sessions(stage.who).is_empty());
    assert_eq!(stage.ask(["ls", "--json"]), serde_json::json!([]));
    assert!(stage.records().is_empty());
    assert_eq!(files_with(&stage.lab.root(), "MARK-"), [""; 0]);
}

/// All files in the home but what the agent makes anew at each of its starts.
fn lasting_files(stage: &Stage) -> Vec<PathBuf> {
    let mut files = files_below(&stage.lab.home());
    let is_scrap = |file: &str| stage.who.scraps().iter().any(|scrap| file.contains(scrap));
    files.retain(|file| !is_scrap(&file.to_string_lossy()));
    files
}

fn it_knows_the_history_and_adds_nothing(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let before = fs::read(stage.session_file(&session)).unwrap();
    let aside = stage.next("aside MARK-secret").with(["--ephemeral"]).go().done().fresh("ephemeral", 1);
    aside.remembered(1, ["one", "secret"]);
    assert_eq!(fs::read(stage.session_file(&session)).unwrap(), before);
    assert_eq!(stage.stored_sessions(stage.who).len(), 1);
    let second = stage.next("second MARK-two").go().done().resumed(&session, 0);
    second.verbatim("second MARK-two").remembered(2, ["one", "two"]);
    assert_eq!(files_with(&stage.lab.root(), "MARK-secret"), [""; 0]);
}
