//! The driver on recordings.

use insta::assert_snapshot;
use proptest::prelude::*;
use rejoin_agents::{Exit, Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};

use super::{SESSION, pi, resumed};
use crate::recording::{Recording, ends, names, shown};
use crate::requests::Asked;

fn replay(name: &str, asked: &Asked) -> String {
    shown(&Recording::load("pi", name).replay(asked.driver()))
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("first", &pi()));
}

#[test]
fn a_resumed_session_is_guarded_against_the_question() {
    assert_snapshot!(replay("resume", &resumed()));
}

#[test]
fn a_command_that_ran() {
    assert_snapshot!(replay("tool_call", &pi()));
}

#[test]
fn text_before_a_call_and_cost() {
    assert_snapshot!(replay("text_and_tool", &pi()));
}

#[test]
fn a_tool_that_is_not_there() {
    assert_snapshot!(replay("refused_tool", &pi().level(Permissions::Read)));
}

#[test]
fn thinking_is_streamed_and_not_told_twice() {
    assert_snapshot!(replay("thinking", &pi()));
}

#[test]
fn text_of_a_broken_stream_is_withdrawn() {
    assert_snapshot!(replay("retried", &pi()));
}

#[test]
fn retries_are_warnings_and_the_last_error_is_the_failure() {
    assert_snapshot!(replay("error_429", &pi()));
}

#[test]
fn a_compaction_after_the_answer_is_told() {
    assert_snapshot!(replay("compaction", &pi()));
}

#[test]
fn newer_ones_say_when_they_have_settled() {
    assert_snapshot!(replay("newer", &pi()));
    let recording = Recording::load("pi", "newer");
    let last = recording.stdout.len() - 1;
    let without = Recording { stdout: recording.stdout[..last].to_vec(), ..recording };
    assert_eq!(without.replay(pi().driver()).last(), Some(&Step::Ended(Outcome::Completed)));
}

#[test]
fn newer_ones_settle_after_a_failure_or_go_on_after_a_compaction() {
    assert_snapshot!(replay("newer_error", &pi()));
    let steps = lines(
        &pi(),
        &[
            (r#"{"type":"session","version":3,"id":"01a1e0a0-6c38-7791-b02d-f3428cc5b652"}"#, false),
            (r#"{"type":"agent_start"}"#, false),
            (
                r#"{"type":"extension_error","extensionPath":"/x.ts","event":"tool_call","error":"oops"}"#,
                false,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"prompt is too long"}}"#,
                false,
            ),
            (r#"{"type":"agent_end","messages":[],"willRetry":false}"#, false),
            (r#"{"type":"compaction_start","reason":"overflow"}"#, false),
            (
                r#"{"type":"summarization_retry_scheduled","attempt":1,"maxAttempts":3,"errorMessage":"terminated"}"#,
                false,
            ),
            (
                r#"{"type":"compaction_end","reason":"overflow","result":{"summary":"s","tokensBefore":9},"willRetry":true}"#,
                false,
            ),
            (r#"{"type":"agent_start"}"#, false),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"done"}],"stopReason":"stop"}}"#,
                false,
            ),
            (r#"{"type":"agent_end","messages":[],"willRetry":false}"#, false),
            (r#"{"type":"compaction_start","reason":"threshold"}"#, false),
            (
                r#"{"type":"compaction_end","reason":"threshold","result":{"summary":"s","tokensBefore":8}}"#,
                false,
            ),
            (r#"{"type":"agent_settled","aborted":false}"#, false),
        ],
    );
    assert_snapshot!("a_compaction_in_the_middle", shown(&steps));
}

#[test]
fn a_full_context_is_compacted_and_still_a_failure() {
    assert_snapshot!(replay("overflow", &pi()));
}

#[test]
fn an_answer_at_the_limit_of_tokens_is_told_to_be_cut() {
    assert_snapshot!(replay("length", &pi()));
}

#[test]
fn nothing_is_stored_without_an_answer_or_when_it_must_not_be() {
    let stored = |name: &str, asked: &Asked| {
        Recording::load("pi", name).replay(asked.driver()).contains(&Step::Stored)
    };
    assert!(stored("first", &pi()) && stored("error_400", &pi()) && stored("resume", &resumed()));
    for name in ["sigterm", "empty_prompt", "no_api_key"] {
        assert!(!stored(name, &pi()), "{name}");
    }
    assert!(!stored("first", &Asked { ephemeral: true, ..pi() }));
}

#[test]
fn an_answer_is_stored_only_when_the_next_line_shows_it() {
    let recording = Recording::load("pi", "first");
    let at = recording.stdout.iter().position(|line| line.contains(r#""type":"turn_end""#)).unwrap();
    let mut driver = pi().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout[..at] {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    assert!(!steps.contains(&Step::Stored));
    driver.on_line(Line::whole(recording.stdout[at].as_bytes()), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Stored));
}

#[test]
fn a_session_that_is_not_there_or_elsewhere_is_rejected() {
    for (name, words) in [
        ("unknown_session", "No session found matching '11111111-2222-4333-8444-555555555555'"),
        ("other_directory", "Session found in different project: /home/dev/basic-proj"),
    ] {
        let recording = Recording::load("pi", name);
        assert_eq!(recording.replay(resumed().driver()).last(), Some(&Step::Rejected(words.into())));
        let fresh = recording.replay(pi().driver());
        assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { .. }))), "{name}");
    }
    let older =
        lines(&resumed(), &[("Session found in different project: /x", false), ("Fork? [y/N] ", false)]);
    assert_eq!(older, [Step::Rejected("Session found in different project: /x".into())]);
    let stderr = "Stored session working directory does not exist: /x\nSession file: /y\n".to_owned();
    let gone = Recording { stdout: Vec::new(), stderr, code: Some(1), signal: None };
    assert!(matches!(gone.replay(resumed().driver()).last(), Some(Step::Rejected(_))));
}

#[test]
fn failures_are_classified() {
    let failures = names("pi").into_iter().filter_map(|name| {
        let steps = Recording::load("pi", &name).replay(pi().driver());
        match steps.last() {
            Some(Step::Ended(Outcome::Failed { class, message })) => {
                Some(format!("{name}: {class:?}: {message}"))
            }
            _ => None,
        }
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

/// A mistyped name is no fault of the session, which two failures to start would end.
#[test]
fn a_model_that_pi_does_not_know_is_a_matter_of_set_up() {
    let stderr = "Error: Model \"x\" not found. Use --list-models to see available models.\n".to_owned();
    let refused = Recording { stdout: Vec::new(), stderr, code: Some(1), signal: None };
    let class = FailureClass::Setup;
    let message = "Model \"x\" not found. Use --list-models to see available models.".to_owned();
    let ended = Step::Ended(Outcome::Failed { class, message });
    assert_eq!(refused.replay(resumed().driver()).last(), Some(&ended));
}

#[test]
fn a_good_exit_without_a_word_is_a_failure() {
    for asked in [pi(), resumed()] {
        let silent = Recording { stdout: Vec::new(), stderr: String::new(), code: Some(0), signal: None };
        let steps = silent.replay(asked.driver());
        assert!(matches!(
            steps.last(),
            Some(Step::Ended(Outcome::Failed { class: FailureClass::NoResult, .. }))
        ));
    }
}

#[test]
fn an_interrupt_is_by_signal_and_ends_as_cancelled() {
    let recording = Recording::load("pi", "sigterm");
    let mut driver = pi().driver();
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

fn lines(asked: &Asked, lines: &[(&str, bool)]) -> Vec<Step> {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    for (line, truncated) in lines {
        driver.on_line(Line { bytes: line.as_bytes(), truncated: *truncated }, &mut steps);
    }
    driver.on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
    steps
}

#[test]
fn what_no_recording_shows() {
    let steps = lines(
        &pi(),
        &[
            (r#"{"type":"session","version":3,"id":"01a1e0a0-6c38-7791-b02d-f3428cc5b652"}"#, false),
            (r#"{"type":"compaction_start","reason":"threshold"}"#, false),
            (
                r#"{"type":"compaction_end","reason":"threshold","result":{"summary":"s","tokensBefore":9007}}"#,
                false,
            ),
            (r#"{"type":"auto_compaction_start"}"#, false),
            (
                r#"{"type":"compaction_end","reason":"overflow","errorMessage":"Auto-compaction failed: x"}"#,
                false,
            ),
            (r#"{"type":"agent_start"}"#, false),
            (r#"{"type":"hologram"}"#, false),
            ("Debugger attached.", false),
            (
                r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"half \ud83d"}}"#,
                false,
            ),
            (
                r#"{"message":{},"assistantMessageEvent":{"type":"text_delta","delta":"!"},"type":"message_update"}"#,
                false,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":"half \ud83d!","stopReason":"toolUse"}}"#,
                false,
            ),
            (r#"{"type":"tool_execution_start","toolCallId":"t1","toolName":"shot","args":{"x":1}}"#, false),
            (
                r#"{"type":"tool_execution_end","toolCallId":"t1","result":{"content":[{"type":"image","data":"x"},{"type":"text","text":"done"}]}}"#,
                false,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Request was aborted"}}"#,
                false,
            ),
            (r#"{"type":"agent_end","messages":[]}"#, false),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn huge_lines_arrive_cut_and_still_mean_what_they_mean() {
    let steps = lines(
        &pi(),
        &[
            (r#"{"type":"session","version":3,"id":"01a1e0a0-6c38-7791-b02d-f3428cc5b652"}"#, false),
            (r#"{"type":"agent_start"}"#, false),
            (r#"{"type":"message_start","message":{"role":"assistant","content":[],"model":"m"}}"#, false),
            (
                r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"long ","partial":{"role":"assistant","content":[{"type":"text","text":"lo"#,
                true,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"long and lon"#,
                true,
            ),
            (
                r#"{"type":"tool_execution_start","toolCallId":"t1","toolName":"write","args":{"content":"abc"#,
                true,
            ),
            (
                r#"{"type":"tool_execution_end","toolCallId":"t1","toolName":"write","result":{"content":[{"type":"text","text":"ou"#,
                true,
            ),
            (r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"te"#, true),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn a_run_cut_after_any_line_ends_exactly_once() {
    for name in names("pi") {
        let recording = Recording::load("pi", &name);
        for asked in [pi(), resumed()] {
            for cut in 0..=recording.stdout.len() {
                let mut driver = asked.driver();
                let mut steps = Vec::new();
                driver.start(&mut steps);
                for line in &recording.stdout[..cut] {
                    driver.on_line(Line::whole(line.as_bytes()), &mut steps);
                }
                let over = ends(&steps);
                driver.on_exit(&Exit { code: None, signal: Some(9), stderr: "" }, &mut steps);
                assert_eq!(ends(&steps), 1, "{name} cut at {cut}: {}", shown(&steps));
                let completed = steps.contains(&Step::Ended(Outcome::Completed));
                assert!(!completed || over == 1, "{name} cut at {cut} counts as completed");
                let after = steps.len();
                driver.on_exit(&recording.exit(), &mut steps);
                driver.interrupt(&mut steps);
                assert_eq!(steps.len(), after, "{name}: said something after its end");
            }
        }
    }
}

#[test]
fn half_an_id_is_none() {
    let line = &Recording::load("pi", "first").stdout[0];
    for cut in 1..line.len() {
        let steps = lines(&pi(), &[(&line[..cut], true)]);
        for step in &steps {
            if let Step::Emit(Event::Session { session, .. }) = step {
                assert_eq!(session, SESSION);
            }
        }
    }
}

/// A recorded line with some bytes changed, and its end cut off.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<String> = names("pi").iter().flat_map(|name| Recording::load("pi", name).stdout).collect();
    let change = (any::<prop::sample::Index>(), any::<u8>());
    (prop::sample::select(lines), prop::collection::vec(change, 0..4), any::<prop::sample::Index>()).prop_map(
        |(line, changes, end)| {
            let mut bytes = line.into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len() + 1).max(1));
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_driver_panic(
        lines in prop::collection::vec((mangled(), any::<bool>()), 0..12),
    ) {
        let mut driver = resumed().driver();
        let mut steps = Vec::new();
        driver.start(&mut steps);
        for (bytes, truncated) in &lines {
            driver.on_line(Line { bytes, truncated: *truncated }, &mut steps);
        }
        driver.on_exit(&Exit { code: Some(1), signal: None, stderr: "x" }, &mut steps);
        assert_eq!(ends(&steps), 1);
    }
}
