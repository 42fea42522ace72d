use std::fs;
use std::path::Path;
use std::sync::Arc;

use rejoin_core::compose::{Composed, Wording, compose};
use rejoin_core::{Event, Mark, MessageId, Pin, PinState, Plan, Reason, Scope};

use super::*;
use crate::{Exit, Line, Step, TurnRequest};

const SESSION: &str = "766fde6e-0724-4c4c-bed4-a8c19bfcc35e";

const RECORDED: &[&str] = &[
    r#"{"type":"session","id":"766fde6e-0724-4c4c-bed4-a8c19bfcc35e"}"#,
    r#"{"type":"asking"}"#,
    r#"{"type":"delta","text":"Let me "}"#,
    r#"{"type":"delta","text":"look."}"#,
    r#"{"type":"message","text":"Let me look."}"#,
    r#"{"type":"call","id":"c1","tool":"read","input":{"path":"a"}}"#,
    r#"{"type":"result","id":"c1","text":"b"}"#,
    r#"{"type":"weather"}"#,
    r#"{"type":"done","tokens_in":7,"tokens_out":3}"#,
];

fn composed(resumed: bool) -> Composed {
    let pin = || Pin {
        session: Parrot.session_id(SESSION).unwrap(),
        scope: Scope::Shared,
        dir: "/project".into(),
        store: String::new(),
        product: String::new(),
        home: String::new(),
        state: PinState::Live,
        seen: Mark::EMPTY,
        exposed: Mark::EMPTY,
        witness: None,
        at_least: None,
        lossy: false,
        total: None,
        failing: None,
    };
    let plan = if resumed {
        Plan::Resume { pin: Box::new(pin()), catch_up: Vec::new() }
    } else {
        Plan::Fresh { why: Reason::FirstTurn, history: Vec::new() }
    };
    let wording = Wording {
        told: Vec::new(),
        unread: std::collections::HashMap::new(),
        prompt: "hello",
        instructions: None,
        after_cut: false,
        after_question: false,
        budget: usize::MAX,
    };
    compose(plan, &wording, || "key".to_owned())
}

/// The process for a turn at a level, and what its driver makes of these lines and this end.
fn run(resumed: bool, level: Permissions, lines: &[&str], exit: &Exit<'_>) -> (Vec<OsString>, Vec<Step>) {
    let help = "  --resume <id>\n  --session-id <id>\n  --tools <list>\n  --no-plugins\n  --no-store\n";
    let answer = |text: &str| ProbeAnswer { answered: true, stdout: text.to_owned(), stderr: String::new() };
    let capabilities = Parrot.learn(&[answer("1.4.0\n"), answer(help)]);
    let composed = composed(resumed);
    let turn = TurnRequest {
        composed: &composed,
        attachments: &[],
        copies: Path::new("/copies"),
        model: Some("big"),
        permissions: level,
        can_ask: false,
        total_before: Usage::default(),
        ids: Arc::new(|| MessageId::new(uuid::Uuid::nil())),
    };
    let request = ProcessRequest {
        turn: &turn,
        new_session: None,
        capabilities: &capabilities,
        system_prompt: None,
        append_system_prompt: None,
        endpoint: None,
        extra_args: &[],
        ephemeral: false,
        dir: Path::new("/project"),
        store: None,
        env: &|_| None,
        own_dir: Path::new("/own"),
    };
    let mut process = Parrot.process(&request).unwrap();
    let mut steps = Vec::new();
    process.driver.begin_turn(&turn, &mut steps).unwrap();
    for line in lines {
        process.driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    process.driver.on_exit(exit, &mut steps);
    (process.args, steps)
}

const GOOD: Exit<'_> = Exit { code: Some(0), signal: None, stderr: "" };

#[test]
fn a_turn_is_told_and_ends_once() {
    let (args, steps) = run(true, Permissions::Read, RECORDED, &GOOD);
    let resume = format!("--resume={SESSION}");
    assert_eq!(args, ["--json", &resume, "--model=big", "--tools=read,grep", "--no-plugins"]);
    assert_eq!(steps[..2], [Step::Write(b"hello".to_vec()), Step::CloseStdin]);
    let told = |step: &Step| match step {
        Step::Emit(Event::Session { session, .. }) => format!("session {session}"),
        Step::Emit(Event::TextDelta { offset, text, .. }) => format!("delta {offset} {text}"),
        Step::Emit(Event::Message { offset, text, .. }) => format!("message {offset} {text}"),
        Step::Emit(Event::ToolUse { name, .. }) => format!("call {name}"),
        Step::Emit(Event::ToolResult { output, .. }) => format!("result {output}"),
        Step::Emit(Event::Usage { usage, .. }) => format!("usage {} {}", usage.input, usage.output),
        Step::Emit(Event::Diagnostic { text, .. }) => text.clone(),
        Step::Stored => "stored".to_owned(),
        other => format!("{other:?}"),
    };
    let told: Vec<String> = steps[2..].iter().map(told).collect();
    assert_eq!(
        told,
        [
            &format!("session {SESSION}"),
            "stored",
            "delta 0 Let me ",
            "delta 7 look.",
            "message 0 Let me look.",
            "call read",
            "result b",
            r#"{"type":"weather"}"#,
            "usage 7 3",
            "Ended(Completed)",
        ]
    );
}

#[test]
fn what_it_refuses_and_how_it_fails() {
    let last =
        |resumed, lines: &[&str], exit: &Exit<'_>| run(resumed, Permissions::Agent, lines, exit).1.pop();
    let unknown = Exit { code: Some(1), signal: None, stderr: "No session with id 7\n" };
    assert_eq!(last(true, &[], &unknown), Some(Step::Rejected("No session with id 7".into())));
    let failed = |class, words: &str| Some(Step::Ended(Outcome::failed(class, words)));
    assert_eq!(last(false, &[], &unknown), failed(FailureClass::Launch, "No session with id 7"));
    let overflow = r#"{"type":"failed","status":400,"text":"The prompt is too long."}"#;
    assert_eq!(last(true, &[overflow], &GOOD), failed(ContextOverflow, "The prompt is too long."));
    let cut = last(true, &RECORDED[..4], &Exit { code: None, signal: Some(9), stderr: "" });
    let words = "Parrot ended without a result (signal 9) and without a word";
    assert_eq!(cut, failed(FailureClass::NoResult, words));
}

#[test]
fn the_document_shows_this_agent() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("src/parrot/mod.rs")).unwrap();
    let code = text.split("\n#[cfg(test)]").next().unwrap();
    let document = fs::read_to_string(root.join("../../docs/adding-an-agent.md")).unwrap();
    assert!(document.contains(&format!("```rust\n{code}```\n")), "put src/parrot/mod.rs into the document");
}
