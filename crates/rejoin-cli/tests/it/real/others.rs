//! The other agents: the main job on each real program, one test a row.

use std::fs;

use super::files::files_below;
use super::stage::{Stage, Who, play};

/// Three turns in its own session, a turn of somebody else in between, and back with what it missed.
fn conversation(stage: &Stage, agent: &str) {
    let by = |prompt: &str| stage.run(prompt).with(["-s", "work", "-a", agent]);
    let first = by("first MARK-one").go().done().fresh("first_turn", 0).remembered(1, ["one"]);
    let session = first.session();
    let second = by("second MARK-two").go().done().resumed(&session, 0).remembered(2, ["one", "two"]);
    assert_eq!(second.receipt()["bytes"], "second MARK-two".len(), "nothing but the prompt is sent");
    by("third MARK-three").go().done().resumed(&session, 0).remembered(3, ["one", "two", "three"]);
    stage.run("elsewhere MARK-four").with(["-s", "work", "-a", "demo"]).go().done().fresh("no_session", 3);
    let back = by("back MARK-five").go().done().resumed(&session, 1);
    back.remembered(4, ["one", "two", "three", "four", "five"]);
}

/// A session that is gone is noticed before launch, and the history is replayed.
fn store_lost(stage: &Stage, agent: &str, store: &str) {
    let by = |prompt: &str| stage.run(prompt).with(["-s", "work", "-a", agent]);
    let session = by("first MARK-one").go().done().session();
    let stored = files_below(&stage.lab.home().join(store));
    let mut removed = 0;
    for file in stored.iter().filter(|file| file.to_string_lossy().contains(&session[..8])) {
        fs::remove_file(file).unwrap();
        removed += 1;
    }
    assert!(removed > 0, "no stored session {session} in {stored:?}");
    let second = by("second MARK-two").go().done();
    let second = second.fresh("session_missing", 1).remembered(1, ["one", "two"]);
    assert_ne!(second.session(), session);
}

mod gemini {
    use super::*;

    #[test]
    fn converses() {
        play(Who::Claude, |stage| conversation(stage, "gemini"));
    }

    #[test]
    fn notices_a_lost_session() {
        play(Who::Claude, |stage| store_lost(stage, "gemini", ".gemini"));
    }
}

mod pi {
    use super::*;

    #[test]
    fn converses() {
        play(Who::Claude, |stage| conversation(stage, "pi"));
    }

    #[test]
    fn notices_a_lost_session() {
        play(Who::Claude, |stage| store_lost(stage, "pi", ".pi"));
    }
}

mod qwen {
    use super::*;

    #[test]
    fn converses() {
        play(Who::Claude, |stage| conversation(stage, "qwen"));
    }

    #[test]
    fn notices_a_lost_session() {
        play(Who::Claude, |stage| store_lost(stage, "qwen", ".qwen"));
    }
}

mod opencode {
    use super::*;

    #[test]
    fn converses() {
        play(Who::Claude, |stage| conversation(stage, "opencode"));
    }
}

mod openai {
    use super::*;

    /// It keeps no session: the history goes along as messages of their own, every time.
    #[test]
    fn is_told_everything_as_messages() {
        play(Who::Claude, |stage| {
            let config = stage.lab.root().join("openai.toml");
            let url = stage.lab.model().url();
            let text = format!(
                "[agents.openai]\nbase_url = \"{url}/v1\"\nmodel = \"mock-model\"\nkey_env = \"CHAT_KEY\"\n"
            );
            fs::write(&config, text).unwrap();
            let by = |prompt: &str| {
                let run = stage.run(prompt).with(["-s", "work", "-a", "openai"]);
                run.env("REJOIN_CONFIG", config.to_str().unwrap()).env("CHAT_KEY", "sk-never-written-down")
            };
            by("first MARK-one").go().done().fresh("first_turn", 0).remembered(1, ["one"]);
            by("second MARK-two").go().done().fresh("unsupported", 1).remembered(2, ["one", "two"]);
            by("third MARK-three BAD400").go().failed("invalid_request");
            by("fourth MARK-four AUTH401").go().failed("login");
            let text = by("fifth MARK-five").go().done().answer().to_owned();
            assert!(text.contains("MARK-three,MARK-four,MARK-five"), "{text}");
            for file in files_below(&stage.rejoin_home()) {
                let bytes = fs::read(&file).unwrap();
                assert!(
                    !String::from_utf8_lossy(&bytes).contains("sk-never"),
                    "the key is in {}",
                    file.display()
                );
            }
        });
    }
}
