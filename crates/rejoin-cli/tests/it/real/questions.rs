//! The agent asks something in the middle of a turn.

use std::process::{Command, Stdio};

use rejoin::{AnsweredBy, Config, Event, Helper, NextEvents, QuestionAnswer, Rejoin};
use rejoin_testkit::Outcome;

use super::processes::PATIENCE;
use super::stage::Stage;
use super::turn::Turn;

on_all!(with_nobody_there: []);
on_claude!(
    answered_on_a_terminal,
    answered_on_a_resumed_turn,
    answered_from_another_process_on_a_resumed_turn,
    leave_is_given_from_another_process_on_a_resumed_turn,
    leave_is_refused_from_another_process_on_a_resumed_turn,
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
    Some(stage.lab.run(&mut terminal(stage, options, prompt)?, typed))
}

fn terminal(stage: &Stage, options: &str, prompt: &str) -> Option<Command> {
    let mut script = Command::new("/usr/bin/script");
    if !std::path::Path::new("/usr/bin/script").exists() {
        eprintln!("skipped: there is no `script` to make a terminal with");
        return None;
    }
    let command =
        format!("{} run {options} -a {} '{prompt}'", env!("CARGO_BIN_EXE_rejoin"), stage.who.name());
    script.env_clear().envs(stage.lab.env()).env("REJOIN_HOME", stage.rejoin_home());
    script.args(["-qec", &command, "/dev/null"]).current_dir(stage.lab.project());
    Some(script)
}

/// Runs the next turn after `first` where nobody types anything, and gives its one question this answer from here:
/// by option, with the name of whoever gave it. Whether there is a terminal to do that.
fn answered_from_here(stage: &Stage, first: &Turn, prompt: &str, option: &str) -> bool {
    let Some(mut script) = terminal(stage, "-c", prompt) else { return false };
    let mut turn = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Held until its end: an empty line would be an answer.
    let typing = turn.stdin.take();
    let here = Rejoin::open_with(stage.rejoin_home(), Config::default(), Helper::Thread).unwrap();
    let conversation = first.receipt()["conversation"].as_str().unwrap().parse().unwrap();
    let mut watch = here.watch(conversation, None).unwrap();
    let (id, question) = 'asked: loop {
        let NextEvents::Events(happened) = watch.next_within(PATIENCE).unwrap() else {
            panic!("nothing was asked")
        };
        for event in happened.events() {
            if let (Event::Question(question), Some(turn)) = (event, happened.turn) {
                break 'asked (turn, question.clone());
            }
        }
    };
    let wrong = question.chosen(AnsweredBy::User, &["no such option".into()]);
    here.ask_to_answer(conversation, id, wrong).unwrap_err();
    let answer = question.chosen(AnsweredBy::User, &[option.into()]);
    let answer = QuestionAnswer { who: Some("phone".into()), ..answer };
    here.ask_to_answer(conversation, id, answer).unwrap();
    let ended = turn.wait_with_output().unwrap();
    drop(typing);
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && printed.contains("resumed"), "{printed}");
    let answered = stage.system_records("question_answered");
    let answered: Vec<_> = answered.iter().map(|one| [&one["by"], &one["who"], &one["option"]]).collect();
    assert_eq!(answered, [["user", "phone", option]]);
    true
}

fn answered_from_another_process_on_a_resumed_turn(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done().remembered(1, ["one"]);
    if !answered_from_here(stage, &first, "second MARK-two ASKUSER", "2") {
        return;
    }
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(
        last.verdict.starts_with("SEEN n=2 marks=MARK-one,MARK-two tool=") && last.verdict.contains("Blue"),
        "{last:?}"
    );
    let third = stage.next("third MARK-three").go().done().resumed(&first.session(), 0);
    third.remembered(3, ["one", "two", "three"]);
}

fn leave_is_given_from_another_process_on_a_resumed_turn(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done().remembered(1, ["one"]);
    let file = stage.lab.project().join("new.txt");
    let prompt = format!("second MARK-two TOOL-WRITE {}", file.display());
    if !answered_from_here(stage, &first, &prompt, "allow") {
        return;
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "written\n");
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(last.verdict.starts_with("SEEN n=2 marks=MARK-one,MARK-two tool="), "{last:?}");
    assert!(!last.verdict.contains("does not allow"), "{last:?}");
}

fn leave_is_refused_from_another_process_on_a_resumed_turn(stage: &Stage) {
    let first = stage.first("first MARK-one").go().done().remembered(1, ["one"]);
    let file = stage.lab.project().join("new.txt");
    let prompt = format!("second MARK-two TOOL-WRITE {}", file.display());
    if !answered_from_here(stage, &first, &prompt, "deny") {
        return;
    }
    assert!(!file.exists());
    let last = stage.lab.model().calls().pop().unwrap();
    assert!(last.verdict.starts_with("SEEN n=2 marks=MARK-one,MARK-two"), "{last:?}");
    assert!(last.verdict.contains("does not allow"), "the model is told: {last:?}");
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
