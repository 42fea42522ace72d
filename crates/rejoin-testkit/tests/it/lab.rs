//! The laboratory.

use std::process::Command;
use std::time::Duration;

use rejoin_testkit::{Lab, run_to_end};

#[test]
fn a_command_gets_nothing_of_the_callers_environment() {
    let lab = Lab::new();
    let outcome = lab.run(&mut lab.command("env"), "").assert_success();
    let home = format!("HOME={}", lab.home().display());
    assert!(outcome.stdout.lines().any(|line| line == home), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("CARGO"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains(&format!("ANTHROPIC_BASE_URL={}", lab.model().url())));
}

#[test]
fn every_agent_is_pointed_at_the_model_and_at_nothing_else() {
    let lab = Lab::new();
    let url = lab.model().url();
    let told =
        |agent: &str, name: &str, value: &str| lab.agent_env(agent).contains(&(name.into(), value.into()));
    let file = |name: &str| std::fs::read_to_string(lab.home().join(name)).unwrap();
    assert!(told("claude", "ANTHROPIC_BASE_URL", &url));
    assert!(file(".codex/config.toml").contains(&url));
    assert!(told("gemini", "GOOGLE_GEMINI_BASE_URL", &url));
    assert!(file(".gemini/settings.json").contains("gemini-api-key"));
    assert!(file(".config/opencode/opencode.json").contains(&url));
    assert!(file(".pi/agent/models.json").contains(&url));
    assert!(told("qwen", "OPENAI_BASE_URL", &format!("{url}/v1")));
    assert!(lab.agent_env("demo").is_empty());
}

#[test]
fn the_project_is_a_clean_git_work_tree_of_its_own() {
    let lab = Lab::new();
    let git = |args: &[&str]| lab.run(lab.command("git").args(args), "").assert_success().stdout;
    assert_eq!(git(&["rev-parse", "--show-toplevel"]).trim(), lab.project().to_str().unwrap());
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["log", "--format=%an %s"]), "Tester Begin\n");
    assert_eq!(lab.make_project("second").unwrap(), lab.root().join("second"));
}

#[test]
fn everything_is_gone_afterwards() {
    let lab = Lab::new();
    let root = lab.root();
    assert!(root.exists());
    drop(lab);
    assert!(!root.exists());
}

#[test]
fn a_hanging_program_is_ended_with_its_group() {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo begun; sleep 300 & sleep 300"]);
    let outcome = run_to_end(&mut command, b"", Duration::from_millis(300)).unwrap();
    assert!(outcome.timed_out);
    assert_eq!(outcome.code(), None);
    assert_eq!(outcome.stdout, "begun\n");
}

#[test]
fn input_is_given_and_output_is_collected() {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "cat; echo talk >&2; exit 3"]);
    let large = "line\n".repeat(100_000);
    let outcome = run_to_end(&mut command, large.as_bytes(), Duration::from_mins(1)).unwrap();
    assert_eq!(outcome.stdout, large);
    assert_eq!((outcome.stderr.as_str(), outcome.code()), ("talk\n", Some(3)));
}
