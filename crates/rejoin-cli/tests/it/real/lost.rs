//! The agent's session is gone: noticed before launch, or told by the agent itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::run::Run;
use super::stage::{Stage, Who};

on_both!(
    a_deleted_session,
    a_lost_store,
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

/// A refusal nobody knows the words of is a failure; the second one in a row ends the session.
fn refused_in_unknown_words(stage: &Stage) {
    let (who, bin) = (stage.who.name(), stage.lab.root().join("bin"));
    fs::create_dir(&bin).unwrap();
    let (wrapper, refuse) = (bin.join(who), bin.join("refuse"));
    let real = stage.lab.command(who).get_program().to_owned();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*--help) ;;\n*resume*) if [ -e {0} ]; then echo 'Error: new words' >&2; exit 1; fi ;;\nesac\nexec {1} \"$@\"\n",
        refuse.display(),
        real.display()
    );
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let config = stage.lab.root().join("config.toml");
    fs::write(&config, format!("[agents.{who}]\ncommand = \"{}\"\n", wrapper.display())).unwrap();
    let with_it = |run: Run<'_>| run.env("REJOIN_CONFIG", config.to_str().unwrap()).go();
    with_it(stage.first("first MARK-one")).done();
    with_it(stage.next("second MARK-two")).done().remembered(2, ["one", "two"]);
    fs::write(refuse, "").unwrap();
    let third = with_it(stage.next("third MARK-three")).failed("launch");
    assert!(third.receipt()["error"].as_str().unwrap().contains("new words"), "{third}");
    with_it(stage.next("fourth MARK-four")).failed("launch");
    let fifth = with_it(stage.next("fifth MARK-five")).done().fresh("session_retired", 4);
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
