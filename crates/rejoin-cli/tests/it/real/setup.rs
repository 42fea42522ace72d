//! Failures of the set-up: shown as what they are, and never held against the session.

use std::fs;

use super::stage::{Stage, play};
use super::who::Who;

/// A flag the agent does not know, twice: the session goes on afterwards.
fn a_mistyped_flag(stage: &Stage, agent: &str) {
    let by = |prompt: &str| stage.run(prompt).with(["-s", "work", "-a", agent]);
    let session = by("first MARK-one").go().done().session();
    for prompt in ["second MARK-two", "third MARK-three"] {
        let failed = by(prompt).for_the_agent("--frobnicate").go().failed("setup");
        let said = failed.receipt()["error"].as_str().unwrap().to_lowercase();
        assert!(
            ["unknown", "unexpected", "refused its arguments"].iter().any(|word| said.contains(word)),
            "{said}"
        );
        assert_eq!(failed.calls.len(), 0, "{failed}");
    }
    let next = by("fourth MARK-four").go().done().resumed(&session, 2);
    next.remembered(2, ["one", "two", "three", "four"]);
}

macro_rules! on_all {
    ($($agent:ident)+) => {$(
        #[test]
        fn $agent() {
            play(Who::Claude, |stage| a_mistyped_flag(stage, stringify!($agent)));
        }
    )+};
}

mod a_mistyped_flag_is_not_the_sessions_fault {
    use super::*;

    on_all!(claude codex gemini opencode pi qwen);
}

/// Gemini ends with exit code 55 where the user did not trust the directory.
#[test]
fn an_untrusted_directory_is_not_the_sessions_fault() {
    play(Who::Claude, |stage| {
        let by = |prompt: &str| stage.run(prompt).with(["-s", "work", "-a", "gemini"]);
        let session = by("first MARK-one").go().done().session();
        let trusted = stage.lab.home().join(".gemini/trustedFolders.json");
        let trust = fs::read_to_string(&trusted).unwrap();
        fs::write(&trusted, trust.replace("TRUST_FOLDER", "DO_NOT_TRUST")).unwrap();
        for prompt in ["second MARK-two", "third MARK-three"] {
            let failed = by(prompt).go().failed("setup");
            assert_eq!(failed.receipt()["exit_code"], 55, "{failed}");
            assert!(failed.receipt()["error"].as_str().unwrap().contains("does not trust"), "{failed}");
        }
        fs::write(&trusted, trust).unwrap();
        by("fourth MARK-four").go().done().resumed(&session, 2);
    });
}

/// OpenCode rejects by itself what it would have to ask for.
#[test]
fn a_permission_nobody_could_give_is_not_the_sessions_fault() {
    play(Who::Claude, |stage| {
        let by = |prompt: &str| {
            stage
                .run(prompt)
                .with(["-s", "work", "-a", "opencode"])
                .env("OPENCODE_PERMISSION", r#"{"bash":"ask"}"#)
        };
        let session = by("first MARK-one").go().done().session();
        for prompt in ["second MARK-two TOOL-ECHO hello", "third MARK-three TOOL-ECHO hello"] {
            let failed = by(prompt).go().failed("setup");
            assert!(failed.receipt()["error"].as_str().unwrap().contains("asked for leave"), "{failed}");
        }
        by("fourth MARK-four").go().done().resumed(&session, 2);
    });
}
