//! The agent's session is gone: noticed before launch, or told by the agent itself.

use std::fs;

use super::stage::{Stage, Who};

on_both!(
    a_deleted_session,
    a_lost_store,
    a_store_that_is_elsewhere_now,
    refused_at_run_time,
    a_journal_in_another_home,
    resuming_switched_off
);
on_codex!(an_archived_session);

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
    let store = stage.store(stage.who);
    let config = fs::read(store.join("config.toml")).ok();
    fs::remove_dir_all(&store).unwrap();
    if let Some(config) = config {
        fs::create_dir(&store).unwrap();
        fs::write(store.join("config.toml"), config).unwrap();
    }
    let second = stage.next("second MARK-two").go().done().fresh("session_missing", 1);
    second.remembered(1, ["one", "two"]);
}

fn a_store_that_is_elsewhere_now(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    let moved = stage.lab.root().join("moved");
    fs::create_dir(&moved).unwrap();
    let config = stage.store(Who::Codex).join("config.toml");
    fs::copy(config, moved.join("config.toml")).unwrap();
    let variable = match stage.who {
        Who::Claude => "CLAUDE_CONFIG_DIR",
        Who::Codex => "CODEX_HOME",
    };
    let second = stage.next("second MARK-two").env(variable, moved.to_str().unwrap()).go().done();
    second.fresh("store_changed", 1).remembered(1, ["one", "two"]);
    // With the old store the old session is there again, and told what it missed.
    let third = stage.next("third MARK-three").go().done().resumed(&session, 1);
    third.remembered(2, ["one", "two", "three"]);
}

/// A file that is there, but that the agent itself does not take for a session.
fn refused_at_run_time(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    fs::write(stage.session_file(&session), "damaged \"type\":\"user\"\n").unwrap();
    let second = stage.next("second MARK-two").go().done().fresh("session_rejected", 1);
    let second = second.remembered(1, ["one", "two"]);
    let receipt = second.receipt();
    assert_eq!((&receipt["runs"], &receipt["asked"]), (&2.into(), &session.as_str().into()));
    assert_ne!(second.session(), session);
    assert_eq!(second.calls.len(), 1, "the model saw one run only: {second}");
    let rejected = second.events_of("resume_rejected");
    assert_eq!((rejected.len(), &rejected[0]["session"]), (1, &session.as_str().into()), "{second}");
    let pins = stage.show()["pins"].clone();
    let dead = pins.as_array().unwrap().iter().find(|pin| pin["session"] == session.as_str()).unwrap();
    assert_eq!(dead["state"], "retired", "{pins}");
    let third = stage.next("third MARK-three").go().done().resumed(&second.session(), 0);
    third.remembered(2, ["one", "two", "three"]).verbatim("third MARK-three");
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
    stage.next("fourth MARK-four").go().done().resumed(&third.session(), 0);
}

/// Put away with Codex's own command.
fn an_archived_session(stage: &Stage) {
    let session = stage.first("first MARK-one").go().done().session();
    stage.lab.run(stage.lab.command("codex").args(["archive", &session]), "").assert_success();
    let second = stage.next("second MARK-two").go().done().remembered(1, ["one", "two"]);
    assert_eq!(second.receipt()["plan"]["decision"], "fresh", "{second}");
    assert_ne!(second.session(), session);
}
