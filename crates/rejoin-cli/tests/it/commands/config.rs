//! The user's configuration.

use serde_json::{Value, json};

use crate::support::{Bench, fake_claude};

/// What a dry run of a first turn says.
fn plan(bench: &Bench, args: &[&str]) -> Value {
    bench.rejoin(&["run", "--dry-run", "-o", "json", "hello"]).with(args).done().json()
}

fn argv(plan: &Value) -> Vec<&str> {
    plan["argv"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect()
}

#[test]
fn an_unknown_key_is_an_error_with_its_place_and_a_suggestion() {
    let bench = Bench::new();
    bench.config("agent = \"demo\"\n\n[agents.demo]\nmodle = \"x\"\n");
    let said = bench.rejoin(&["run", "hello"]).ends(2);
    said.tells(&["config.toml:4:1", "modle", "did you mean \"model\"?"]);
    bench.config("resmue = \"never\"\n");
    bench.rejoin(&["ls"]).ends(2).tells(&["config.toml:1:1", "resmue", "did you mean \"resume\"?"]);
    assert!(bench.journals().is_empty());
}

#[test]
fn a_wrong_value_is_an_error_with_its_place() {
    let bench = Bench::new();
    for (toml, words) in [
        ("resume = \"nevr\"", ["config.toml:1", "did you mean \"never\"?"]),
        ("agent = 7", ["config.toml:1", "string"]),
        ("[agents.demo]\npermissions = \"all\"", ["config.toml:2", "all"]),
        ("agent = \"demo", ["config.toml:1", "string"]),
        ("[agents.cluade]\nmodel = \"x\"", ["config.toml:1:9", "did you mean \"claude\"?"]),
        ("\nagent = \"cluade\"", ["config.toml:2:1", "did you mean \"claude\"?"]),
        ("[agents.demo]\n\ncommand = \"x\"", ["config.toml:3:1", "part of rejoin"]),
        ("[agents.pi]\nkey_env = \"x\"", ["config.toml:2:1", "[agents.openai]"]),
    ] {
        bench.config(toml);
        bench.rejoin(&["run", "-a", "demo", "hello"]).ends(2).tells(&words);
    }
}

#[test]
fn a_configuration_that_is_named_must_be_there() {
    let bench = Bench::new();
    let missing = bench.lab.root().join("missing.toml");
    let said = bench.first("hello").env("REJOIN_CONFIG", &missing).ends(4);
    said.tells(&["cannot read", missing.to_str().unwrap()]);
    bench.first("hello").done();
}

#[test]
fn a_named_configuration_replaces_the_usual_one() {
    let bench = Bench::new();
    bench.config("agent = \"demo\"\n");
    let named = bench.file("mine.toml", "agent = \"demo2\"\n");
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello"]).env("REJOIN_CONFIG", named).done();
    assert_eq!(said.text("agent"), "demo2");
}

#[test]
fn command_arguments_environment_model_and_permissions_of_an_agent_are_used() {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    let more =
        "args = [\"--brief\"]\nenv = { GREETING = \"hi there\" }\nmodel = \"opus\"\npermissions = \"edit\"\n";
    bench.claude_is(&command, more);
    let configured = plan(&bench, &[]);
    let args = argv(&configured);
    assert_eq!(args[0], command.to_str().unwrap());
    for expected in ["--brief", "--model=opus", "--permission-mode=acceptEdits"] {
        assert!(args.contains(&expected), "{expected} is not in {args:?}");
    }
    assert_eq!(configured["env"], json!(["GREETING"]), "names, never values");
    assert!(!configured.to_string().contains("hi there"), "{configured}");

    let named = plan(&bench, &["--model", "haiku", "--permissions", "full", "--", "--bare"]);
    let args = argv(&named);
    for expected in ["--brief", "--bare", "--model=haiku", "--permission-mode=bypassPermissions"] {
        assert!(args.contains(&expected), "{expected} is not in {args:?}");
    }
    assert!(!args.contains(&"--model=opus"), "{args:?}");
}

#[test]
fn a_configured_command_that_is_missing_is_told() {
    let bench = Bench::new();
    bench.config("[agents.claude]\ncommand = \"/nowhere/claude\"\n");
    let said = bench.rejoin(&["run", "-a", "claude", "hello"]).ends(4);
    said.tells(&["/nowhere/claude", "configur", "npm install"]);
}

#[test]
fn a_command_for_the_embedded_agent_is_not_silently_ignored() {
    let bench = Bench::new();
    bench.config("[agents.demo]\ncommand = \"/bin/true\"\n");
    bench.first("hello").ends(2).tells(&["demo", "command"]);
}

#[test]
fn environment_of_the_configuration_reaches_the_agent() {
    let bench = Bench::new();
    bench.config("[agents.demo]\nenv = { GREETING = \"hi there\" }\n");
    let said = bench.first("TOOL-RUN [echo $GREETING]").done();
    assert_eq!(said.events_of("tool_result")[0]["output"], "hi there\n");
}

#[test]
fn a_replay_budget_is_used() {
    let bench = Bench::new();
    bench.config("[agents.demo2]\nreplay_budget = 2000\n");
    bench.first(&format!("{} MARK-a", "long ".repeat(2000))).done();
    let plan = bench.rejoin(&["run", "-c", "-a", "demo2", "--dry-run", "-o", "json", "x"]).done().json();
    assert_eq!(plan["lossy"], true);
    assert!(plan["bytes"].as_u64().unwrap() < 4000, "{}", plan["bytes"]);
    assert!(plan["prompt"].as_str().unwrap().contains("bytes left out here by rejoin"));
}

#[test]
fn resuming_can_be_switched_off() {
    let bench = Bench::after_a_turn();
    bench.config("resume = \"never\"\n");
    bench.next("again MARK-b").done().fresh("disabled", 1).knows(&["a", "b"]);
    bench.next("again MARK-c").done().fresh("disabled", 2).knows(&["a", "b", "c"]);
}

#[test]
fn arguments_about_permissions_and_sessions_are_refused() {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    bench.claude_is(&command, "");
    for flag in ["--dangerously-skip-permissions", "--permission-mode=plan", "--allowedTools=Bash"] {
        bench.rejoin(&["run", "hello", "--", flag]).ends(5).tells(&[flag.split('=').next().unwrap()]);
    }
    for flag in ["--resume=x", "--continue", "--output-format=text"] {
        bench.rejoin(&["run", "hello", "--", flag]).ends(2).tells(&[flag.split('=').next().unwrap()]);
    }
    bench.first("hello").with(&["--", "--anything"]).ends(2).tells(&["--anything"]);
    assert!(bench.journals().is_empty());
}
