//! The driver of Gemini CLI on recordings of Gemini CLI.

use insta::assert_snapshot;
use rejoin_agents::{Exit, Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};

use crate::recording::{Recording, names, shown};
use crate::requests::{Asked, GEMINI_SESSION};

fn replay(name: &str, asked: &Asked) -> String {
    shown(&Recording::load("gemini", name).replay(asked.driver()))
}

fn resumed() -> Asked {
    Asked::gemini().resuming(GEMINI_SESSION)
}

fn lines(asked: &Asked, lines: &[&str]) -> Vec<Step> {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    for line in lines {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    steps
}

const INIT: &str =
    r#"{"type":"init","session_id":"9febcd42-edb2-4407-96f3-728717a91454","model":"gemini-2.5-flash"}"#;
const DONE: &str = r#"{"type":"result","status":"success","stats":{"total_tokens":150,"input_tokens":100,"output_tokens":20,"cached":40,"input":60}}"#;

#[test]
fn a_plain_answer_without_the_echo_of_the_prompt() {
    assert_snapshot!(replay("first", &Asked::gemini()));
}

#[test]
fn a_resumed_session_is_stored_from_its_first_line() {
    assert_snapshot!(replay("resume", &resumed()));
}

#[test]
fn a_tool_call() {
    assert_snapshot!(replay("tool_call", &Asked::gemini()));
}

#[test]
fn a_tool_that_is_denied_does_not_fail_the_turn() {
    assert_snapshot!(replay("denied", &Asked::gemini().level(Permissions::Edit)));
}

#[test]
fn a_broken_stream_keeps_what_was_said() {
    assert_snapshot!(replay("stream_cut", &Asked::gemini()));
}

#[test]
fn a_first_turn_that_fails_leaves_no_session() {
    for name in ["error_400", "error_401", "error_500", "stream_cut"] {
        let recording = Recording::load("gemini", name);
        assert!(!recording.replay(Asked::gemini().driver()).contains(&Step::Stored), "{name}");
        assert!(recording.replay(resumed().driver()).contains(&Step::Stored), "{name}");
    }
}

#[test]
fn a_session_that_is_not_there_is_rejected() {
    for name in ["unknown_session", "other_directory"] {
        let recording = Recording::load("gemini", name);
        let steps = recording.replay(resumed().driver());
        assert!(
            matches!(steps.last(), Some(Step::Rejected(words)) if words.starts_with("Error resuming")),
            "{name}"
        );
        let fresh = recording.replay(Asked::gemini().driver());
        assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { .. }))), "{name}");
    }
}

#[test]
fn failures_are_classified() {
    let failures = names("gemini").into_iter().filter_map(|name| {
        let steps = Recording::load("gemini", &name).replay(Asked::gemini().driver());
        match steps.last() {
            Some(Step::Ended(Outcome::Failed { class, message })) => {
                Some(format!("{name}: {class:?}: {message}"))
            }
            _ => None,
        }
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

/// Lines of a recording as they would come on standard error while it runs.
fn with_stderr(name: &str, asked: &Asked) -> Vec<Step> {
    let recording = Recording::load("gemini", name);
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    for line in recording.stderr.lines() {
        driver.on_stderr(Line::whole(line.as_bytes()), &mut steps);
    }
    driver.on_exit(&recording.exit(), &mut steps);
    steps
}

#[test]
fn attempts_that_are_repeated_are_warnings() {
    let steps = with_stderr("error_429", &Asked::gemini());
    let retries = steps.iter().filter(|step| {
        matches!(step, Step::Emit(Event::Warning { code, text }) if code == "retry" && text.contains("status 429"))
    });
    assert!(retries.count() > 1, "{}", shown(&steps));
}

#[test]
fn whoever_is_stopped_while_trying_again_did_not_fail_by_itself() {
    for (name, expected) in [
        ("error_429", FailureClass::RateLimit),
        ("no_server", FailureClass::Network),
        ("sigterm", FailureClass::NoResult),
    ] {
        match with_stderr(name, &Asked::gemini()).last() {
            Some(Step::Ended(Outcome::Failed { class, .. })) => assert_eq!(*class, expected, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn an_interrupt_is_by_signal_and_ends_as_cancelled() {
    let recording = Recording::load("gemini", "sigterm");
    let mut driver = Asked::gemini().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    let before = steps.len();
    driver.interrupt(&mut steps);
    assert_eq!(steps.len(), before);
    driver.on_exit(&recording.exit(), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Cancelled)));
}

#[test]
fn exit_code_zero_and_silence_are_no_success() {
    for asked in [Asked::gemini(), resumed()] {
        let mut steps = Vec::new();
        asked.driver().on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
        assert!(matches!(steps[..], [Step::Ended(Outcome::Failed { class: FailureClass::Launch, .. })]));
    }
}

#[test]
fn thinking_counts_as_output_and_cached_input_apart() {
    assert_snapshot!(shown(&lines(
        &Asked::gemini(),
        &[INIT, r#"{"type":"message","role":"assistant","content":"ok","delta":true}"#, DONE]
    )));
}

#[test]
fn what_is_told_by_an_error_line_alone() {
    let error = |text: &str| format!(r#"{{"type":"error","severity":"error","message":"{text}"}}"#);
    let failed = r#"{"type":"result","status":"error","stats":{}}"#;
    assert_snapshot!(shown(&lines(
        &Asked::gemini(),
        &[INIT, &error("The model returned an empty response."), failed]
    )));
    assert_snapshot!(shown(&lines(
        &Asked::gemini(),
        &[INIT, &error("Maximum session turns exceeded"), DONE]
    )));
}

#[test]
fn a_turn_that_ends_without_a_word_is_told_as_such() {
    let warning = r#"{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}"#;
    assert_snapshot!(shown(&lines(&Asked::gemini(), &[INIT, warning, DONE])));
}

#[test]
fn a_success_for_which_no_model_was_asked_is_none() {
    let nothing = r#"{"type":"result","status":"success","stats":{"total_tokens":0,"models":{}}}"#;
    let overflow = FailureClass::ContextOverflow;
    let class_of = |asked: &Asked, told: &[&str]| match lines(asked, told).pop() {
        Some(Step::Ended(Outcome::Failed { class, message })) => (class, message),
        other => panic!("{other:?}"),
    };
    let long = Asked::gemini().prompt(&"x".repeat(2 << 20));
    let of_size = |size: u64| Asked { stored: Some(size), ..resumed() };
    for full in [long, of_size(2 << 20), resumed()] {
        assert_eq!(class_of(&full, &[INIT, nothing]).0, overflow);
    }
    // What cannot be too long was stopped by a hook, and that is no fault of the session.
    for small in [Asked::gemini(), of_size(9000)] {
        assert_eq!(class_of(&small, &[INIT, nothing]).0, FailureClass::Setup);
    }
    let blocked =
        r#"{"type":"error","severity":"warning","message":"Agent execution blocked: not on Fridays"}"#;
    for asked in [Asked::gemini(), of_size(2 << 20)] {
        let (class, words) = class_of(&asked, &[INIT, blocked, nothing]);
        assert_eq!((class, words.as_str()), (FailureClass::Setup, "Agent execution blocked: not on Fridays"));
    }
    // A hook may also send the answer back for another try.
    let said = r#"{"type":"message","role":"assistant","content":"ok","delta":true}"#;
    assert_eq!(
        lines(&Asked::gemini(), &[INIT, blocked, said, DONE]).last(),
        Some(&Step::Ended(Outcome::Completed))
    );
    // The echo of a long prompt may be cut off with all that follows.
    let echo = r#"{"type":"message","role":"user","content":"xxx"#;
    for (length, expected) in [(2 << 20, overflow), (100, FailureClass::NoResult)] {
        let mut driver = Asked::gemini().prompt(&"x".repeat(length)).driver();
        let mut steps = Vec::new();
        driver.on_line(Line::whole(INIT.as_bytes()), &mut steps);
        driver.on_line(Line::whole(echo.as_bytes()), &mut steps);
        driver.on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
        assert!(
            matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class, .. })) if *class == expected)
        );
    }
}

#[test]
fn a_policy_that_is_not_obeyed_stops_the_turn() {
    for line in [
        "[WARNING] Security Warning: Ignoring --admin-policy because system policies are already defined in /x",
        "[ERROR] [ADMIN] Policy file error in read.toml:",
    ] {
        for (level, stopped) in
            [(Permissions::Read, true), (Permissions::Edit, true), (Permissions::Full, false)]
        {
            let mut steps = Vec::new();
            Asked::gemini().level(level).driver().on_stderr(Line::whole(line.as_bytes()), &mut steps);
            assert_eq!(!steps.is_empty(), stopped, "{level:?}: {line}");
        }
    }
}

#[test]
fn what_is_no_event_is_kept_and_the_turn_goes_on() {
    assert_snapshot!(shown(&lines(
        &Asked::gemini(),
        &[
            "progress",
            r#"{"type":"init","session_id":"latest"}"#,
            INIT,
            r#"{"type":"message","role":"assistant","content":"half \ud83d","delta":true}"#,
            r#"{"type":"hologram"}"#,
            r#"{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"x","message":"no such file"}}"#,
            DONE,
            DONE,
        ]
    )));
}
