//! A session lives in a directory: here, below it, elsewhere, outside git.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::stage::Stage;

on_all!(a_subdirectory: ["subdirectory"], another_directory_and_back: ["other directory"]);
on_both!(outside_git, a_worktree_of_the_same_project, through_a_link, odd_names, a_very_long_path);

/// Wherever in the project the user stands, the conversation goes on in its own directory.
fn a_subdirectory(stage: &Stage) {
    let deep = stage.lab.project().join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two").from(&deep).go().done().resumed(&session, 0);
    let second = second.remembered(2, ["one", "two"]).verbatim("second MARK-two");
    assert_eq!(second.events[0]["cwd"], stage.lab.project().to_str().unwrap());
    // A conversation that begins there lives there.
    let below = stage.first("below MARK-three").from(&deep).go().done();
    let session = below.session();
    assert_eq!(below.events[0]["cwd"], deep.to_str().unwrap());
    let again = stage.next("below again MARK-four").go().done().resumed(&session, 0);
    assert_eq!(again.remembered(2, ["three", "four"]).events[0]["cwd"], deep.to_str().unwrap());
}

fn another_directory_and_back(stage: &Stage) {
    let elsewhere = stage.lab.make_project("elsewhere").unwrap();
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two").with(["--cwd", elsewhere.to_str().unwrap()]).go().done();
    let second = second.fresh("workdir_changed", 1).remembered(1, ["one", "two"]);
    let plan = &second.receipt()["plan"];
    assert_eq!(plan["was"], stage.lab.project().to_str().unwrap());
    assert_eq!(plan["now"], elsewhere.to_str().unwrap());
    let there = second.session();
    assert_ne!(there, session);
    // Back home, the session there was never left; it is told what it missed.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    third.remembered(2, ["one", "two", "three"]);
    let fourth = stage.next("fourth MARK-four").with(["--cwd", elsewhere.to_str().unwrap()]).go().done();
    fourth.resumed(&there, 1).remembered(2, ["one", "two", "three", "four"]);
}

fn outside_git(stage: &Stage) {
    let plain = stage.lab.root().join("plain");
    fs::create_dir_all(&plain).unwrap();
    let session = stage.first("first MARK-one").from(&plain).go().done().session();
    let second = stage.next("second MARK-two").from(&plain).go().done().resumed(&session, 0);
    second.remembered(2, ["one", "two"]);
}

fn a_worktree_of_the_same_project(stage: &Stage) {
    let tree = stage.lab.root().join("tree");
    let mut git = stage.lab.command("git");
    stage.lab.run(git.args(["worktree", "add", "-q"]).arg(&tree), "").assert_success();
    stage.first("first MARK-one").go().done();
    let second = stage.next("second MARK-two").with(["--cwd", tree.to_str().unwrap()]).go().done();
    second.fresh("workdir_changed", 1).remembered(1, ["one", "two"]);
}

fn through_a_link(stage: &Stage) {
    let link = stage.lab.root().join("link");
    symlink(stage.lab.project(), &link).unwrap();
    let session = stage.first("first MARK-one").from(&link).go().done().session();
    let second = stage.next("second MARK-two").go().done().resumed(&session, 0).remembered(2, ["one", "two"]);
    assert_eq!(second.events[0]["cwd"], stage.lab.project().to_str().unwrap());
    stage.next("third MARK-three").from(&link).go().done().resumed(&session, 0);
}

/// The stored session is found there, and its loss is noticed before launch.
#[track_caller]
fn sessions_are_found_in(stage: &Stage, dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    let first = stage.first("first MARK-one").from(dir).go().done();
    let session = first.session();
    let pins = stage.ask(["show", "--json", &first.conversation()])["pins"].clone();
    assert_eq!(pins[0]["witness"]["path"], stage.session_file(&session).to_str().unwrap(), "{pins}");
    let second = stage.next("second MARK-two").from(dir).go().done().resumed(&session, 0);
    assert!(second.remembered(2, ["one", "two"]).warnings("advanced").is_empty());
    fs::remove_file(stage.session_file(&session)).unwrap();
    let third = stage.next("third MARK-three").from(dir).go().done();
    third.fresh("session_missing", 2).remembered(1, ["one", "two", "three"]);
}

fn odd_names(stage: &Stage) {
    sessions_are_found_in(stage, &stage.lab.root().join("prøjekt \u{1f980} (x)_1.2"));
}

fn a_very_long_path(stage: &Stage) {
    let deep = stage.lab.root().join("a-long-name-of-a-directory-".repeat(4)).join("another-one-".repeat(12));
    assert!(deep.as_os_str().len() > 250);
    sessions_are_found_in(stage, &deep);
}
