//! The driver of Codex on recordings of Codex.

use insta::assert_snapshot;
use rejoin_agents::{Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, Usage};

use crate::recording::{Recording, names, shown};
use crate::requests::{Asked, CODEX_SESSION};

fn replay(name: &str, asked: &Asked) -> String {
    shown(&Recording::load("codex", name).replay(asked.driver()))
}

fn resumed() -> Asked {
    Asked::codex().resuming(CODEX_SESSION)
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("first", &Asked::codex()));
}

#[test]
fn the_total_of_the_session_is_told_and_the_turn_counted_by_difference() {
    let asked = Asked { total_before: Usage { input: 5000, cached: 0, output: 40 }, ..resumed() };
    assert_snapshot!(replay("resume", &asked));
}

#[test]
fn a_command_that_ran() {
    assert_snapshot!(replay("tool_call", &Asked::codex()));
}

#[test]
fn a_command_that_failed() {
    assert_snapshot!(replay("failed_command", &Asked::codex()));
}

#[test]
fn thinking_belongs_to_the_message_it_leads_to() {
    assert_snapshot!(replay("thinking", &Asked::codex()));
}

#[test]
fn a_changed_file() {
    assert_snapshot!(replay("patch", &Asked::codex()));
}

#[test]
fn a_tool_of_a_server() {
    assert_snapshot!(replay("mcp", &Asked::codex()));
}

#[test]
fn retries_are_warnings_and_the_last_error_is_the_failure() {
    assert_snapshot!(replay("error_401", &Asked::codex()));
}

#[test]
fn endless_retries_are_told_once() {
    assert_snapshot!(replay("error_connection", &Asked::codex()));
}

#[test]
fn a_session_that_is_not_there_is_rejected() {
    for name in ["unknown_session", "lost_lineage"] {
        let recording = Recording::load("codex", name);
        let steps = recording.replay(resumed().driver());
        assert!(matches!(steps.last(), Some(Step::Rejected(_))), "{name}: {}", shown(&steps));
        let fresh = recording.replay(Asked::codex().driver());
        assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { .. }))), "{name}");
    }
}

#[test]
fn other_refusals_to_resume_are_recognised() {
    for words in [
        "Error: thread/resume: session x is archived. Run `codex unarchive x`",
        "Error: thread/resume failed: failed to read session metadata /x: rollout is empty (code -32600)",
    ] {
        let recording = Recording { stdout: Vec::new(), stderr: words.into(), code: Some(1), signal: None };
        let steps = recording.replay(resumed().driver());
        assert!(matches!(steps.last(), Some(Step::Rejected(_))), "{words}");
    }
}

#[test]
fn a_session_in_use_is_busy_and_not_rejected() {
    let steps = Recording::load("codex", "busy").replay(resumed().driver());
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class: FailureClass::Busy, .. }))));
}

#[test]
fn failures_are_classified() {
    let failures = names("codex").into_iter().filter_map(|name| {
        let steps = Recording::load("codex", &name).replay(Asked::codex().driver());
        match steps.last() {
            Some(Step::Ended(Outcome::Failed { class, message })) => {
                Some(format!("{name}: {class:?}: {message}"))
            }
            _ => None,
        }
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_interrupt_is_by_signal_and_ends_as_cancelled() {
    let recording = Recording::load("codex", "tool_call");
    let mut driver = Asked::codex().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout[..4] {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    let before = steps.len();
    driver.interrupt(&mut steps);
    assert_eq!(steps.len(), before);
    driver.on_exit(&recording.exit(), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Cancelled)));
}

#[test]
fn older_versions_name_the_model_and_stream() {
    let mut driver = Asked::codex().driver();
    let mut steps = Vec::new();
    for line in [
        r#"{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}"#,
        r#"{"type":"session.created","id":"sess_x","model":"gpt-5-codex"}"#,
        r#"{"type":"turn.started"}"#,
        r#"{"type":"message.output_text.delta","delta":"Hel"}"#,
        r#"{"type":"message.output_text.delta","delta":"lo"}"#,
        r#"{"type":"item.completed","item":{"id":"item_0","item_type":"assistant_message","text":"Hello"}}"#,
        r#"{"type":"item.started","item":{"id":"item_1","type":"todo_list","items":[{"text":"one","completed":false}]}}"#,
        r#"{"type":"item.updated","item":{"id":"item_1","type":"todo_list","items":[{"text":"one","completed":true}]}}"#,
        r#"{"type":"item.completed","item":{"id":"item_1","type":"todo_list","items":[{"text":"one","completed":true}]}}"#,
        r#"{"type":"item.completed","item":{"id":"item_2","type":"web_search","query":"weather"}}"#,
        r#"{"type":"item.completed","item":{"id":"item_3","type":"hologram"}}"#,
        r#"{"type":"error","message":"something, but it goes on"}"#,
        r#"{"type":"turn.completed"}"#,
        r#"{"type":"turn.failed","error":{"message":"too late"}}"#,
    ] {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    assert_snapshot!(shown(&steps));
}

/// What the driver does not know is kept as a line, and is no sign of life.
#[test]
fn an_update_of_something_unknown_is_not_understood() {
    let mut driver = Asked::codex().driver();
    let mut steps = Vec::new();
    let mut take = |line: &str| {
        steps.clear();
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        steps.iter().any(|step| matches!(step, Step::Emit(Event::Diagnostic { .. })))
    };
    assert!(take(r#"{"type":"item.updated","item":{"id":"z","type":"hologram"}}"#));
    assert!(!take(r#"{"type":"item.updated","item":{"id":"z","type":"command_execution"}}"#));
}
