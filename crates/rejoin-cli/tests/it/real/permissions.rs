//! What an agent may do, tried with a real tool call.

use std::path::PathBuf;

use super::stage::{Stage, Who};

on_both!(
    read_changes_nothing,
    edit_writes_files,
    full_runs_commands,
    the_ceiling_stays,
    the_ceiling_stays_through_a_hand_over,
    a_wider_level_must_be_named,
    flags_about_permissions_are_refused
);

fn file(stage: &Stage) -> PathBuf {
    stage.lab.project().join("new.txt")
}

fn write_it(stage: &Stage, mark: &str) -> String {
    format!("MARK-{mark} TOOL-WRITE {}", file(stage).display())
}

fn read_changes_nothing(stage: &Stage) {
    let turn = stage.first(&write_it(stage, "one")).with(["--permissions", "read"]).go().done();
    assert!(!file(stage).exists(), "{turn}");
    let outside = stage.lab.home().join("outside.txt");
    let run = format!("MARK-two TOOL-RUN [echo x > {0}; echo x > /tmp/rejoin-must-not; echo x > {1}]", file(stage).display(), outside.display());
    let turn = stage.next(&run).go().done().remembered(2, ["one", "two"]);
    assert!(!file(stage).exists() && !outside.exists(), "{turn}");
    assert!(!PathBuf::from("/tmp/rejoin-must-not").exists(), "{turn}");
}

fn edit_writes_files(stage: &Stage) {
    stage.first(&write_it(stage, "one")).with(["--permissions", "edit"]).go().done().remembered(1, ["one"]);
    assert_eq!(std::fs::read_to_string(file(stage)).unwrap(), "written\n");
    // On a resumed turn, too, and not outside of the project.
    std::fs::remove_file(file(stage)).unwrap();
    stage.next(&write_it(stage, "two")).go().done().remembered(2, ["one", "two"]);
    assert_eq!(std::fs::read_to_string(file(stage)).unwrap(), "written\n");
    let outside = stage.lab.home().join("outside.txt");
    let turn = stage.next(&format!("MARK-three TOOL-WRITE {}", outside.display())).go().done();
    assert!(!outside.exists(), "{turn}");
}

fn full_runs_commands(stage: &Stage) {
    let outside = stage.lab.home().join("outside.txt");
    let run = |mark: &str| format!("MARK-{mark} TOOL-RUN [echo {mark} >> {}]", outside.display());
    stage.first(&run("one")).with(["--permissions", "full"]).go().done();
    stage.next(&run("two")).go().done().remembered(2, ["one", "two"]);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "one\ntwo\n");
}

fn the_ceiling_stays(stage: &Stage) {
    let session = stage.first("first MARK-one").with(["--permissions", "read"]).go().done().session();
    let second = stage.next(&write_it(stage, "two")).go().done().resumed(&session, 0);
    assert!(!file(stage).exists(), "{second}");
    let third = stage.next(&write_it(stage, "three")).with(["--fresh-session"]).go().done();
    assert!(!file(stage).exists(), "{third}");
}

fn the_ceiling_stays_through_a_hand_over(stage: &Stage) {
    stage.first("first MARK-one").with(["--permissions", "read"]).go().done();
    let second = stage.next(&write_it(stage, "two")).by(stage.who.other()).go().done();
    assert!(!file(stage).exists(), "{second}");
}

fn a_wider_level_must_be_named(stage: &Stage) {
    let session = stage.first("first MARK-one").with(["--permissions", "read"]).go().done().session();
    let second = stage.next(&write_it(stage, "two")).with(["--permissions", "edit"]).go().done();
    second.resumed(&session, 0);
    assert_eq!(std::fs::read_to_string(file(stage)).unwrap(), "written\n");
}

fn flags_about_permissions_are_refused(stage: &Stage) {
    let flags: &[&'static str] = match stage.who {
        Who::Claude => &["--dangerously-skip-permissions", "--permission-mode=bypassPermissions", "--allowedTools=Bash"],
        Who::Codex => &["--yolo", "--sandbox=danger-full-access", "-csandbox_mode=\"danger-full-access\"", "--full-auto"],
    };
    for flag in flags {
        let turn = stage.first("first MARK-one").for_the_agent(flag).plainly();
        assert_eq!(turn.code(), Some(5), "{flag}: {}", turn.stderr);
    }
    assert_eq!(stage.lab.model().calls().len(), 0);
    assert!(stage.records().is_empty());
}
