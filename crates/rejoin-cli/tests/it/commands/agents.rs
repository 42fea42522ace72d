//! Which agent does it.

use crate::support::{Bench, Call, fake_claude};

#[test]
fn without_any_agent_it_says_how_to_install_one_and_offers_the_demo() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "hello"]).without_agents().ends(4);
    said.tells(&["no coding agent is installed", "@anthropic-ai/claude-code", "@openai/codex", "-a demo"]);
    assert!(bench.journals().is_empty());
    bench.rejoin(&["run", "-a", "demo", "hello"]).without_agents().done();
}

#[test]
fn a_named_agent_that_is_missing_says_how_to_install_it() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "claude", "hello"]).without_agents().ends(4);
    said.tells(&["Claude Code is not installed", "npm install -g @anthropic-ai/claude-code", "-a demo"]);
    assert!(bench.journals().is_empty());
}

#[test]
fn an_unknown_agent_suggests_the_nearest() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "calude", "hello"]).ends(2);
    said.tells(&["unknown agent \"calude\"", "known are claude, codex, ", "did you mean \"claude\"?"]);
    bench.rejoin(&["run", "-a", "zzzzzz", "hello"]).ends(2).tells(&["known are claude, codex, "]);
}

#[test]
fn the_first_one_installed_is_taken() {
    let bench = Bench::new();
    let bin = bench.outside("bin");
    fake_claude(&bin, "claude");
    let call = bench.rejoin(&["run", "--dry-run", "-o", "json", "hi"]).env("PATH", &bin);
    let plan = call.done().json();
    assert_eq!(plan["agent"], "claude");
    assert_eq!(plan["argv"][0], bin.join("claude").to_str().unwrap());
}

#[test]
fn the_conversations_last_agent_goes_on() {
    let bench = Bench::after_a_turn();
    bench.hand_to("demo2", "take over MARK-b").done();
    let said = bench.next("and on MARK-c").done();
    assert_eq!(said.text("agent"), "demo2");
    said.knows(&["a", "b", "c"]);
}

#[test]
fn the_configured_agent_begins_and_a_named_one_wins() {
    let bench = Bench::new();
    bench.config("agent = \"demo2\"\n");
    let agent = |args: &[&str]| {
        let said = bench.rejoin(&["run", "-o", "stream-json", "hi"]).with(args).done();
        said.text("agent")
    };
    assert_eq!(agent(&[]), "demo2");
    assert_eq!(agent(&["-a", "demo"]), "demo");
    assert_eq!(agent(&["-c"]), "demo", "a conversation keeps its last one");
}

#[test]
fn the_executable_may_have_another_name() {
    let bench = Bench::new();
    let copy = bench.outside("bin").join("rj");
    rejoin_testkit::copy_program(env!("CARGO_BIN_EXE_rejoin").as_ref(), &copy).unwrap();
    let call = Call::of(&bench, &copy, &["run", "-o", "stream-json", "-a", "demo", "hello"]);
    let said = call.without_agents().done();
    said.calm();
}

#[test]
fn marks_of_an_outer_agent_do_not_reach_an_inner_one() {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    bench.claude_is(&command, "");
    let call = bench.rejoin(&["run", "-o", "stream-json", "-a", "claude", "hello"]);
    let said = call.env("CLAUDECODE", "1").done();
    assert!(said.text("text").contains("marker=none"), "{}", said.text("text"));
}
