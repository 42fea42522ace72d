//! The check-up of the real programs.

use std::fs;

use serde_json::Value;

use super::stage::{Stage, play};
use super::who::Who;

fn doctor(stage: &Stage) -> Vec<Value> {
    stage.ask(["doctor", "--json"]).as_array().unwrap().clone()
}

/// The findings of one check of one agent, with what is said about them.
fn found<'a>(checkups: &'a [Value], agent: &str, check: &str) -> Vec<(&'a str, &'a str, &'a str)> {
    let checkup = checkups.iter().find(|checkup| checkup["agent"] == agent).unwrap();
    let text = |value: &'a Value| value.as_str().unwrap_or_default();
    let checks = checkup["checks"].as_array().unwrap().iter().filter(|one| one["name"] == check);
    checks.map(|one| (text(&one["finding"]), text(&one["text"]), text(&one["next"]))).collect()
}

#[test]
fn the_tested_versions_have_all_that_is_wanted() {
    play(Who::Claude, |stage| {
        let checkups = doctor(stage);
        for agent in ["claude", "codex", "gemini", "opencode", "pi", "qwen"] {
            for check in ["version", "shape", "flags", "store"] {
                let found = found(&checkups, agent, check);
                assert!(matches!(found[..], [("fine", _, "")]), "{agent} {check}: {found:?}");
            }
        }
        for (agent, variable) in
            [("claude", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY"), ("qwen", "OPENAI_API_KEY")]
        {
            assert_eq!(found(&checkups, agent, "login"), [("fine", &*format!("{variable} is set"), "")]);
        }
        // The laboratory's Codex has its key in a variable that only its settings name.
        let found = found(&checkups, "codex", "login");
        assert!(
            matches!(found[..], [("note", _, "if turns fail: run `codex login`, or set CODEX_API_KEY")]),
            "{found:?}"
        );
    });
}

#[test]
fn hazards_come_with_their_cure() {
    play(Who::Claude, |stage| {
        let settings = stage.lab.home().join(".gemini/settings.json");
        let set = |value: &Value| fs::write(&settings, value.to_string()).unwrap();
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        value["general"]["sessionRetention"] = Value::Null;
        set(&value);
        let checkups = doctor(stage);
        let [("note", what, next)] = found(&checkups, "gemini", "hazard")[..] else { panic!("{checkups:?}") };
        assert!(what.contains("clean-up is on (its default)"), "{what}");
        let cure = r#"{"general":{"sessionRetention":{"enabled":false}}}"#;
        assert_eq!(next, format!("put {cure} into {}", settings.display()));
        value["general"]["sessionRetention"]["enabled"] = false.into();
        set(&value);
        assert!(found(&doctor(stage), "gemini", "hazard").is_empty());

        value["security"] = Value::Null;
        set(&value);
        let claude = stage.lab.home().join(".claude/settings.json");
        fs::create_dir_all(claude.parent().unwrap()).unwrap();
        fs::write(claude, r#"{"cleanupPeriodDays": 2}"#).unwrap();
        let qwen = stage.lab.home().join(".qwen/settings.json");
        let mut recorded: Value = serde_json::from_str(&fs::read_to_string(&qwen).unwrap()).unwrap();
        recorded["general"]["chatRecording"] = false.into();
        fs::write(qwen, recorded.to_string()).unwrap();
        fs::write(stage.lab.home().join(".config/opencode/opencode.json"), "{}").unwrap();
        let checkups = doctor(stage);
        for (agent, word) in [
            ("gemini", "exit code 41"),
            ("claude", "after 2 days"),
            ("qwen", "stores no session"),
            ("opencode", "no model is chosen"),
        ] {
            let found = found(&checkups, agent, "hazard");
            assert!(matches!(found[..], [("note", what, _)] if what.contains(word)), "{agent}: {found:?}");
        }
    });
}
