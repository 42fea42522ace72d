//! The agent's session is gone: noticed before launch, or told by the agent itself.

use std::fs::{self, File};

use super::run::Run;
use super::stage::Stage;
use super::turn::Turn;
use super::who::Who;

on_all!(
    gone_at_the_last_moment: ["unknown id"],
    a_lost_store: ["store lost"],
    a_session_of_zeros: []
);
on_both!(
    a_deleted_session,
    a_store_that_is_elsewhere_now,
    refused_at_run_time,
    refused_in_unknown_words,
    a_journal_in_another_home,
    resuming_switched_off
);
on_codex!(an_archived_session, a_provider_that_is_gone);

fn a_deleted_session(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    fs::remove_file(stage.session_file(&session)).unwrap();
    let second = stage.next("second MARK-two").go().done().fresh("session_missing", 1);
    let second = second.remembered(1, ["one", "two"]);
    assert_eq!(
        (&second.receipt()["plan"]["session"], &second.receipt()["runs"]),
        (&session.into(), &1.into())
    );
    // The new session takes over.
    let third = stage.next("third MARK-three").go().done().resumed(&second.session(), 0);
    third.remembered(2, ["one", "two", "three"]).verbatim("third MARK-three");
}

fn a_lost_store(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    stage.lose_store(stage.who);
    let second = stage.next("second MARK-two").go().done().fresh("session_missing", 1);
    second.remembered(1, ["one", "two"]);
}

/// After a loss of power: the size and the time of what was there, and zeros.
fn a_session_of_zeros(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.next("second MARK-two").go().done().resumed(&session, 0);
    let file = match stage.who {
        // A database without its log is one, and may be all that was synced.
        Who::OpenCode => stage.store(stage.who).join("opencode.db-wal"),
        _ => stage.session_file(&session),
    };
    let before = fs::metadata(&file).unwrap();
    fs::write(&file, vec![0; before.len() as usize]).unwrap();
    File::options().append(true).open(&file).unwrap().set_modified(before.modified().unwrap()).unwrap();
    let third = stage.next("third MARK-three").go().done().fresh("session_missing", 2);
    let third = third.remembered(1, ["one", "two", "three"]);
    assert_ne!(third.session(), session);
    let fourth = stage.next("fourth MARK-four").go().done().resumed(&third.session(), 0);
    fourth.remembered(2, ["one", "two", "three", "four"]);
}

fn a_store_that_is_elsewhere_now(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let moved = stage.lab.root().join("moved");
    fs::create_dir(&moved).unwrap();
    let config = stage.store(Who::Codex).join("config.toml");
    fs::copy(config, moved.join("config.toml")).unwrap();
    let variable = if stage.who == Who::Claude { "CLAUDE_CONFIG_DIR" } else { "CODEX_HOME" };
    let second = stage.next("second MARK-two").env(variable, moved.to_str().unwrap()).go().done();
    second.fresh("store_changed", 1).remembered(1, ["one", "two"]);
    // With the old store the old session is there again, and told what it missed.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    third.remembered(2, ["one", "two", "three"]);
}

/// A file that is there, but that the agent itself does not take for a session.
fn refused_at_run_time(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let file = stage.session_file(&session);
    let size = fs::metadata(&file).unwrap().len() as usize;
    fs::write(file, format!("{:size$}\n", "{\"type\":\"user\"}")).unwrap();
    is_replaced(stage, &session, stage.next("second MARK-two").go());
}

/// There when rejoin looked, unknown to the agent when it was asked for it.
fn gone_at_the_last_moment(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let config = with_a_wrapper(stage, &format!("{}; rm $0.acts", stage.deletion(&session)));
    let second = stage.next("second MARK-two").env("REJOIN_CONFIG", &config).go();
    is_replaced(stage, &session, second);
}

/// The agent did not know the session it was asked for: one fresh run with the history, and that one is resumed.
#[track_caller]
fn is_replaced(stage: &Stage, session: &str, second: Turn) {
    let second = second.done().fresh("session_rejected", 1).remembered(1, ["one", "two"]);
    let receipt = second.receipt();
    assert_eq!((&receipt["runs"], &receipt["asked"]), (&2.into(), &session.into()));
    assert_ne!(second.session(), session);
    assert_eq!(second.calls.len(), 1, "the model saw one run only: {second}");
    let rejected = second.events_of("resume_rejected");
    assert_eq!((rejected.len(), &rejected[0]["session"]), (1, &session.into()), "{second}");
    let pins = stage.show()["pins"].clone();
    let dead = pins.as_array().unwrap().iter().find(|pin| pin["session"] == session).unwrap();
    assert_eq!(dead["state"], "retired", "{pins}");
    let third = stage.next("third MARK-three").go().done().resumed(&second.session(), 0);
    third.remembered(2, ["one", "two", "three"]).verbatim("third MARK-three");
}

/// Configures a command of the agent's name that does something before a turn, while the file
/// `bin/<agent>.acts` is there. Returns the configuration.
fn with_a_wrapper(stage: &Stage, something: &str) -> String {
    let (who, bin) = (stage.who.name(), stage.lab.root().join("bin"));
    fs::create_dir(&bin).unwrap();
    let wrapper = bin.join(who);
    let real = stage.lab.command(who).get_program().to_owned();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*--help|*--version) ;;\n*) if [ -e $0.acts ]; then {something}; fi ;;\nesac\nexec {} \"$@\"\n",
        real.display()
    );
    rejoin_testkit::write_program(&wrapper, &script).unwrap();
    fs::write(wrapper.with_extension("acts"), "").unwrap();
    let config = stage.lab.root().join("config.toml");
    fs::write(&config, format!("[agents.{who}]\ncommand = \"{}\"\n", wrapper.display())).unwrap();
    config.to_str().unwrap().to_owned()
}

/// A refusal nobody knows the words of is a failure; the second one in a row ends the session.
fn refused_in_unknown_words(stage: &Stage) {
    stage.first("first MARK-one").go().done();
    stage.next("second MARK-two").go().done().remembered(2, ["one", "two"]);
    let config = with_a_wrapper(stage, "echo 'Error: new words' >&2; exit 1");
    let refused = |run: Run<'_>| run.env("REJOIN_CONFIG", &config).go().failed("launch");
    let third = refused(stage.next("third MARK-three"));
    assert!(third.receipt()["error"].as_str().unwrap().contains("new words"), "{third}");
    refused(stage.next("fourth MARK-four"));
    let fifth = stage.next("fifth MARK-five").go().done().fresh("session_retired", 4);
    fifth.remembered(1, ["one", "two", "three", "four", "five"]);
}

/// A copied journal's pins are inert in another home, even if the agent has the session.
fn a_journal_in_another_home(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    fs::remove_file(stage.rejoin_home().join("home-id")).unwrap();
    let second = stage.next("second MARK-two").go().done().fresh("store_changed", 1);
    assert_ne!(second.remembered(1, ["one", "two"]).session(), session);
}

fn resuming_switched_off(stage: &Stage) {
    let config = stage.lab.root().join("config.toml");
    fs::write(&config, "resume = \"never\"\n").unwrap();
    let config = config.to_str().unwrap();
    let session = stage.first("first MARK-one").go().done().session();
    let second = stage.next("second MARK-two").env("REJOIN_CONFIG", config).go().done();
    second.fresh("disabled", 1).remembered(1, ["one", "two"]);
    let third = stage.next("third MARK-three").with(["--fresh-session"]).go().done();
    let third = third.fresh("forced", 2).remembered(1, ["one", "two", "three"]);
    assert_ne!(third.session(), session);
}

/// Put away with Codex's own command.
fn an_archived_session(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.lab.run(stage.lab.command("codex").args(["archive", &session]), "").assert_success();
    let second = stage.next("second MARK-two").go().done().remembered(1, ["one", "two"]);
    assert_eq!(second.receipt()["plan"]["decision"], "fresh", "{second}");
    assert_ne!(second.session(), session);
}

/// Codex does not resume what another provider began.
fn a_provider_that_is_gone(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let config = stage.store(stage.who).join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("scripted", "renamed")).unwrap();
    let second = stage.next("second MARK-two").go().done().fresh("session_rejected", 1);
    let second = second.remembered(1, ["one", "two"]);
    assert_eq!((&second.receipt()["runs"], &second.receipt()["asked"]), (&2.into(), &session.into()));
}
