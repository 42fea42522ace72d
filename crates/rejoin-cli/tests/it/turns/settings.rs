//! What goes along with every turn: instructions, model, permissions.

use crate::support::{Bench, fake_claude};

#[test]
fn instructions_go_with_each_turn_that_has_them_and_do_not_stop_resume() {
    let bench = Bench::new();
    let first = bench.first("hello").with(&["--append-system-prompt", "be brief"]).done();
    assert!(first.text("text").contains("My standing instructions: “be brief”."));
    let changed = bench.next("more").with(&["--system-prompt", "be long"]).done();
    changed.resumed(&first.session(), 0).sent_only("more");
    assert!(changed.text("text").contains("“be long”"), "{}", changed.text("text"));
    let without = bench.next("more").done();
    assert!(!without.text("text").contains("standing instructions"), "{}", without.text("text"));
}

#[test]
fn the_model_is_remembered_per_agent() {
    let bench = Bench::new();
    let model = |said: crate::support::Said| said.text("model");
    assert_eq!(model(bench.first("hello").with(&["--model", "big"]).done()), "big");
    assert_eq!(model(bench.next("on").done()), "big");
    assert_eq!(model(bench.hand_to("demo2", "you").done()), "demo-1");
    assert_eq!(model(bench.hand_to("demo", "back").done()), "big");
    assert_eq!(model(bench.next("on").with(&["--model", "small"]).done()), "small");
    assert_eq!(model(bench.next("on").done()), "small");
    assert_eq!(model(bench.first("a new one").done()), "demo-1");
}

#[test]
fn a_model_that_was_refused_is_not_remembered() {
    let bench = Bench::new();
    let model = |said: crate::support::Said| said.text("model");
    bench.first("FAIL invalid_request no such model").with(&["--model", "bgi"]).ends(1);
    assert_eq!(model(bench.next("on").done()), "demo-1");
    assert_eq!(model(bench.next("on").with(&["--model", "big"]).done()), "big");
    bench.next("FAIL invalid_request no such model").with(&["--model", "bgi"]).ends(1);
    assert_eq!(model(bench.next("on").done()), "big");
    bench.next("FAIL server overloaded").with(&["--model", "small"]).ends(1);
    assert_eq!(model(bench.next("on").done()), "small", "the model was not to blame");
}

#[test]
fn a_named_level_stays_the_ceiling_through_resume_and_hand_over() {
    let bench = Bench::new();
    let may_write = |said: crate::support::Said| said.events_of("tool_result")[0]["error"] != true;
    let first = bench.first("hello").with(&["--permissions", "read"]).done();
    let resumed = bench.next("TOOL-RUN [true]").done();
    resumed.resumed(&first.session(), 0);
    assert!(!may_write(resumed));
    assert!(!may_write(bench.hand_to("demo2", "TOOL-RUN [true]").done()));
    bench.config("[agents.demo]\npermissions = \"full\"\n");
    assert!(!may_write(bench.hand_to("demo", "TOOL-RUN [true]").done()), "not even by configuration");
    assert!(may_write(bench.next("TOOL-RUN [true]").with(&["--permissions", "full"]).done()));
    assert!(may_write(bench.next("TOOL-RUN [true]").done()), "until another one is named");
}

#[test]
fn a_level_that_cannot_be_enforced_is_refused_before_anything_happens() {
    let bench = Bench::new();
    let command = fake_claude(&bench.outside("bin"), "claude");
    let script = std::fs::read_to_string(&command).unwrap();
    std::fs::write(&command, script.replace("--permission-mode --tools --strict-mcp-config", "")).unwrap();
    bench.claude_is(&command, "");
    let said = bench.rejoin(&["run", "--permissions", "read", "hello"]).ends(5);
    said.tells(&["read", "cannot be enforced", "--tools"]);
    assert!(bench.journals().is_empty());
}

fn level(plan: &serde_json::Value) -> String {
    let words = plan["argv"].as_array().unwrap().iter().filter_map(|word| word.as_str());
    words.filter_map(|word| word.strip_prefix("--permissions=")).collect()
}

#[test]
fn who_takes_over_keeps_to_its_own_narrower_configuration() {
    let bench = Bench::new();
    bench.config("[agents.demo2]\npermissions = \"read\"\n[agents.demo]\npermissions = \"agent\"\n");
    bench.first("hello").with(&["--permissions", "edit"]).done();
    let plan = |agent: &str| bench.rejoin(&["run", "-c", "-a", agent, "--dry-run", "-o", "json", "on"]);
    assert_eq!(level(&plan("demo2").done().json()), "read");
    plan("demo").ends(5).tells(&["edit", "agent", "configuration", "--permissions"]);
}

#[test]
fn the_level_is_written_before_the_prompt_it_limits_and_a_damaged_one_is_the_narrowest() {
    let bench = Bench::new();
    bench.first("hello").with(&["--permissions", "edit"]).done();
    let kinds: Vec<String> = bench
        .records()
        .iter()
        .map(|record| record["subtype"].as_str().or(record["type"].as_str()).unwrap().to_owned())
        .collect();
    let at = |kind: &str| kinds.iter().position(|known| known == kind).unwrap();
    assert!(at("conversation") < at("permissions") && at("permissions") < at("user"), "{kinds:?}");
    let journal = bench.journals().remove(0);
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replace("\"ceiling\":\"edit\"", "\"ceiling\":\"network\"")).unwrap();
    let plan = bench.rejoin(&["run", "-c", "--dry-run", "-o", "json", "on"]).done().json();
    assert_eq!(level(&plan), "read");
    assert!(plan["warnings"].to_string().contains("narrowest level"), "{plan}");
    let named = bench.rejoin(&["run", "-c", "--permissions", "edit", "--dry-run", "-o", "json", "on"]);
    assert_eq!(level(&named.done().json()), "edit");
}
