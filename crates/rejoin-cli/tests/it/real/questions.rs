//! The agent asks something in the middle of a turn.

use std::process::Command;

use rejoin_testkit::Outcome;

use super::stage::Stage;

on_all!(with_nobody_there: []);
on_claude!(
    answered_on_a_terminal,
    answered_on_a_resumed_turn,
    leave_is_given_on_a_terminal,
    leave_is_refused_on_a_terminal
);

fn with_nobody_there(stage: &Stage) {
    let first = stage.first("first MARK-one ASKUSER").go().done().remembered(1, ["one"]);
    let second = stage.next("second MARK-two").go().done().resumed(&first.session(), 0);
    second.remembered(2, ["one", "two"]);
}

/// Runs a turn on a terminal of its own; what is typed is waiting there already.
fn on_a_terminal(stage: &Stage, options: &str, prompt: &str, typed: &str) -> Option<Outcome> {
    let mut script = Command::new("/usr/bin/script");
    if !std::path::Path::new("/usr/bin/script").exists() {
        eprintln!("skipped: there is no `script` to make a terminal with");
        return None;
    }
    let command =
        format!("{} run {options} -a {} '{prompt}'", env!("CARGO_BIN_EXE_rejoin"), stage.who.name());
    script.env_clear().envs(stage.lab.env()).env("REJOIN_HOME", stage.rejoin_home());
    script.args(["-qec", &command, "/dev/null"]).current_dir(stage.lab.project());
    Some(stage.lab.run(&mut script, typed))
}

fn answered_on_a_terminal(stage: &Stage) {
    let Some(turn) = on_a_terminal(stage, "", "first MARK-one ASKUSER", "2\n") else { return };
    let turn = turn.assert_success();
    assert!(turn.stdout.contains("? Which colour?") && turn.stdout.contains("2  Blue"), "{}", turn.stdout);
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(
        last.verdict.starts_with("SEEN n=1 marks=MARK-one tool=") && last.verdict.contains("Blue"),
        "{last:?}"
    );
}

/// The first turn of a session is not like the others: this one is asked in a session that was resumed.
fn answered_on_a_resumed_turn(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done().remembered(1, ["one"]);
    let Some(turn) = on_a_terminal(stage, "-c", "second MARK-two ASKUSER", "2\n") else { return };
    let turn = turn.assert_success();
    assert!(turn.stdout.contains("resumed") && turn.stdout.contains("? Which colour?"), "{}", turn.stdout);
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(
        last.verdict.starts_with("SEEN n=2 marks=MARK-one,MARK-two tool=") && last.verdict.contains("Blue"),
        "{last:?}"
    );
    let third = stage.next("third MARK-three").go().done().resumed(&first.session(), 0);
    third.remembered(3, ["one", "two", "three"]);
}

fn leave_is_given_on_a_terminal(stage: &Stage) {
    let file = stage.lab.project().join("new.txt");
    let prompt = format!("first MARK-one TOOL-WRITE {}", file.display());
    let Some(turn) = on_a_terminal(stage, "", &prompt, "allow\n") else { return };
    let turn = turn.assert_success();
    assert!(turn.stdout.contains("? Claude wants to use Write"), "{}", turn.stdout);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written\n");
}

fn leave_is_refused_on_a_terminal(stage: &Stage) {
    let file = stage.lab.project().join("new.txt");
    let prompt = format!("first MARK-one TOOL-WRITE {}", file.display());
    let Some(turn) = on_a_terminal(stage, "", &prompt, "deny\n") else { return };
    let turn = turn.assert_success();
    assert!(!file.exists(), "{}", turn.stdout);
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(last.verdict.contains("does not allow"), "the model is told: {last:?}");
}
