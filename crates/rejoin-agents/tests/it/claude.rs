//! The driver of Claude on recordings of Claude.

use insta::assert_snapshot;
use rejoin_agents::{Answer, Driver, Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};

use crate::recording::{Recording, shown};
use crate::requests::{Asked, CLAUDE_SESSION};

fn replay(name: &str, asked: &Asked) -> String {
    shown(&Recording::load("claude", name).replay(asked.driver()))
}

fn resumed() -> Asked {
    Asked::claude().resuming(CLAUDE_SESSION)
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("plain_first", &Asked::claude()));
}

#[test]
fn a_tool_call_with_streamed_text() {
    assert_snapshot!(replay("tool_call", &resumed()));
}

#[test]
fn thinking_and_two_texts_of_one_message() {
    assert_snapshot!(replay("thinking", &Asked::claude()));
}

#[test]
fn a_subagent_is_folded_under_its_call() {
    assert_snapshot!(replay("subagent", &Asked::claude()));
}

#[test]
fn an_image_is_named_in_the_output_of_a_tool() {
    assert_snapshot!(replay("read_image", &Asked::claude()));
}

#[test]
fn text_of_a_broken_stream_is_withdrawn_and_the_tokens_come_from_the_models() {
    assert_snapshot!(replay("stream_broken", &Asked::claude()));
}

#[test]
fn a_denied_tool_does_not_fail_the_turn() {
    assert_snapshot!(replay("denied", &Asked::claude()));
}

#[test]
fn a_compaction_is_told() {
    assert_snapshot!(replay("compacted", &resumed()));
}

#[test]
fn a_move_to_another_session_is_seen() {
    assert_snapshot!(replay("clear", &resumed()));
}

#[test]
fn retries_are_warnings_and_an_error_message_is_no_answer() {
    assert_snapshot!(replay("error_500", &Asked::claude()));
}

#[test]
fn an_unknown_session_is_rejected_and_its_bogus_id_ignored() {
    for name in ["unknown_session", "unknown_session_chat", "garbage_session"] {
        let steps = Recording::load("claude", name).replay(resumed().driver());
        assert!(matches!(steps.last(), Some(Step::Rejected(_))), "{name}: {}", shown(&steps));
        assert!(!steps.iter().any(|step| matches!(step, Step::Emit(_) | Step::Stored)), "{name}");
    }
}

#[test]
fn a_rejection_on_standard_error_alone_is_heard() {
    let mut recording = Recording::load("claude", "unknown_session");
    recording.stdout.clear();
    let steps = recording.replay(resumed().driver());
    assert_snapshot!(shown(&steps[1..]), @r#"REJECTED "No conversation found with session ID: 11111111-2222-4333-8444-555555555555""#);
    let fresh = recording.replay(Asked::claude().driver());
    assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { class: FailureClass::Launch, .. }))));
}

fn outcome(name: &str) -> Outcome {
    let steps = Recording::load("claude", name).replay(Asked::claude().driver());
    match steps.last() {
        Some(Step::Ended(outcome)) => outcome.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn failures_are_classified() {
    let names = crate::recording::names("claude");
    let failures = names.iter().filter_map(|name| match outcome_or_rejection(name) {
        Some(Outcome::Failed { class, message }) => Some(format!("{name}: {class:?}: {message}")),
        _ => None,
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

fn outcome_or_rejection(name: &str) -> Option<Outcome> {
    let steps = Recording::load("claude", name).replay(Asked::claude().driver());
    steps.into_iter().rev().find_map(|step| match step {
        Step::Ended(outcome) => Some(outcome),
        _ => None,
    })
}

#[test]
fn no_output_at_all_is_a_failure() {
    assert!(matches!(outcome("empty_prompt"), Outcome::Failed { class: FailureClass::NoResult, .. }));
}

/// Feeds the lines, and does something once after the line that contains `mark`.
fn replay_and(
    name: &str,
    asked: &Asked,
    mark: &str,
    act: impl FnOnce(&mut dyn Driver, &mut Vec<Step>),
) -> Vec<Step> {
    let recording = Recording::load("claude", name);
    let mut driver = asked.driver();
    let (mut steps, mut act) = (Vec::new(), Some(act));
    driver.start(&mut steps);
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        if line.contains(mark)
            && let Some(act) = act.take()
        {
            act(&mut *driver, &mut steps);
        }
    }
    driver.on_exit(&recording.exit(), &mut steps);
    steps
}

#[test]
fn an_interrupt_is_asked_for_and_then_the_turn_is_cancelled() {
    let steps = replay_and("interrupted", &Asked::claude(), r#""text":"w2 ""#, |driver, steps| {
        driver.interrupt(steps);
        driver.interrupt(steps);
    });
    assert_snapshot!(shown(&steps));
}

#[test]
fn an_interrupt_by_somebody_else_is_a_failure() {
    assert!(matches!(outcome("interrupted"), Outcome::Failed { class: FailureClass::Other, .. }));
    assert!(matches!(outcome("sigint_in_tool"), Outcome::Failed { class: FailureClass::Other, .. }));
}

#[test]
fn before_its_first_line_claude_is_interrupted_by_signal() {
    let mut driver = Asked::claude().driver();
    let mut steps = Vec::new();
    driver.interrupt(&mut steps);
    assert!(steps.is_empty());
    driver.on_exit(&Recording::load("claude", "sigterm").exit(), &mut steps);
    assert_eq!(steps, [Step::Ended(Outcome::Cancelled)]);
}

fn asking() -> Asked {
    Asked { can_ask: true, ..Asked::claude() }
}

fn question_id(steps: &[Step]) -> String {
    let mut questions = steps.iter().rev().filter_map(|step| match step {
        Step::Emit(Event::Question(question)) => Some(question.id.clone()),
        _ => None,
    });
    questions.next().unwrap()
}

fn written(steps: &[Step]) -> String {
    let writes: Vec<Step> = steps.iter().filter(|step| matches!(step, Step::Write(_))).cloned().collect();
    shown(&writes[1..])
}

#[test]
fn leave_to_use_a_tool_is_asked_and_given() {
    let steps = replay_and("asked_leave", &asking(), "can_use_tool", |driver, steps| {
        let id = question_id(steps);
        driver.answer(&id, Answer::option("allow"), steps);
        driver.answer(&id, Answer::option("deny"), steps);
    });
    assert_snapshot!(shown(&steps));
}

#[test]
fn leave_may_be_refused_in_words_or_by_nobody() {
    let replies = [Answer::option("deny"), Answer::Text("use git instead".into()), Answer::Declined];
    let replies = replies.map(|answer| {
        written(&replay_and("asked_leave", &asking(), "can_use_tool", |driver, steps| {
            let id = question_id(steps);
            driver.answer(&id, answer, steps);
        }))
    });
    assert_snapshot!(replies.join("\n"));
}

#[test]
fn several_questions_are_put_one_after_the_other_and_answered_together() {
    let steps = replay_and("asked_twice", &asking(), "can_use_tool", |driver, steps| {
        let first = question_id(steps);
        driver.answer(&first, Answer::option("2"), steps);
        let second = question_id(steps);
        assert_ne!(first, second);
        driver.answer(&second, Answer::Chosen(vec!["1".into(), "2".into()]), steps);
    });
    assert_snapshot!(shown(&steps));
}

#[test]
fn a_request_nobody_knows_is_answered_with_an_error_so_that_it_does_not_hang() {
    let mut driver = asking().driver();
    let mut steps = Vec::new();
    let line = br#"{"type":"control_request","request_id":"r","request":{"subtype":"hologram"}}"#;
    driver.on_line(Line::whole(line), &mut steps);
    assert_snapshot!(shown(&steps), @r#"WRITE {"response":{"error":"rejoin does not answer \"hologram\"","request_id":"r","subtype":"error"},"type":"control_response"}"#);
}

#[test]
fn a_level_that_is_not_kept_ends_the_turn_before_it_begins() {
    let read = Asked::claude().level(Permissions::Read);
    assert!(matches!(
        Recording::load("claude", "read_text").replay(read.driver()).last(),
        Some(Step::Ended(Outcome::Completed))
    ));
    let steps = Recording::load("claude", "tool_call").replay(read.driver());
    assert_snapshot!(shown(&steps[1..]));
    let edit = Asked::claude().level(Permissions::Edit);
    let steps = Recording::load("claude", "tool_call").replay(edit.driver());
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class: FailureClass::Setup, .. }))));
}

#[test]
fn an_ephemeral_session_is_never_called_stored() {
    let asked = Asked { ephemeral: true, ..Asked::claude() };
    let steps = Recording::load("claude", "plain_first").replay(asked.driver());
    assert!(!steps.contains(&Step::Stored));
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Completed))));
}

#[test]
fn what_is_no_event_is_kept_and_the_turn_goes_on() {
    let mut driver = Asked::claude().driver();
    let mut steps = Vec::new();
    for line in [
        &b"npm WARN something"[..],
        b"",
        b"  \r",
        br#"{"type":"hologram","x":1}"#,
        br#"{"type":"system","subtype":"hologram"}"#,
        br#"{"type":"system","subtype":"status"}"#,
        br#"{"type":"keep_alive"}"#,
        b"\xff\xfe not utf-8",
        b"[1,2]",
        br#"{"type":"assistant","message":"changed its shape"}"#,
        b"{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}}",
    ] {
        driver.on_line(Line::whole(line), &mut steps);
    }
    assert_snapshot!(shown(&steps));
}

#[test]
fn half_a_character_does_not_cost_the_line() {
    let mut driver = Asked::claude().driver();
    let mut steps = Vec::new();
    for line in [
        &br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"cut \ud83d"}]}}"#[..],
        br#"{"type":"result","subtype":"success","is_error":false,"result":"\ude00 done"}"#,
    ] {
        driver.on_line(Line::whole(line), &mut steps);
    }
    assert_snapshot!(shown(&steps));
}
