//! An OpenAI-compatible endpoint: no program of its own, no sessions.

use std::fs;

use super::files::files_below;
use super::stage::play;
use super::who::Who;

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
