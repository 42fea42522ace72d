//! Lines beyond the limit arrive cut, and still mean what they mean.

use insta::assert_snapshot;
use rejoin_agents::{Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};

use crate::recording::shown;
use crate::requests::Asked;

fn cut(asked: &Asked, lines: &[(&str, bool)]) -> Vec<Step> {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    for (line, truncated) in lines {
        driver.on_line(Line { bytes: line.as_bytes(), truncated: *truncated }, &mut steps);
    }
    steps
}

const INIT: (&str, bool) = (
    r#"{"type":"system","subtype":"init","session_id":"766fde6e-0724-4c4c-bed4-a8c19bfcc35e","model":"m","tools":["Read"]}"#,
    false,
);

#[test]
fn a_huge_answer_is_marked_and_a_huge_result_ends_the_turn() {
    let steps = cut(
        &Asked::claude(),
        &[
            INIT,
            (
                r#"{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"very long \u00e9\ud83d\ude0"#,
                true,
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":[{"type":"text","text":"out\"#,
                true,
            ),
            (
                r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"tool_use","id":"t2","name":"Write","input":{"content":"abc"#,
                true,
            ),
            (
                r#"{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":2,"result":"very lo"#,
                true,
            ),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn a_huge_error_is_still_an_error() {
    for (line, class) in [
        (
            r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":500,"num_turns":1,"result":"API Err"#,
            FailureClass::Server,
        ),
        (
            r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Rea"#,
            FailureClass::StepLimit,
        ),
        (r#"{"type":"result","subtype":"error_during_execution","err"#, FailureClass::Other),
    ] {
        let steps = cut(&Asked::claude(), &[INIT, (line, true)]);
        match steps.last() {
            Some(Step::Ended(Outcome::Failed { class: seen, .. })) => assert_eq!(*seen, class, "{line}"),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_result_cut_before_it_says_how_it_went_goes_by_its_kind() {
    let steps =
        cut(&Asked::claude(), &[INIT, (r#"{"type":"result","subtype":"success","result":"long"#, true)]);
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Completed)));
}

#[test]
fn a_cut_line_of_a_subagent_stays_folded() {
    let steps = cut(
        &Asked::claude(),
        &[
            (
                r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{}}]},"parent_tool_use_id":"t1"}"#,
                false,
            ),
            (
                r#"{"type":"user","message":{"content":[{"tool_use_id":"t2","type":"tool_result","content":"long"#,
                true,
            ),
        ],
    );
    let parents = steps.iter().filter_map(|step| match step {
        Step::Emit(Event::ToolUse { parent, .. } | Event::ToolResult { parent, .. }) => {
            Some(parent.as_deref())
        }
        _ => None,
    });
    assert_eq!(parents.collect::<Vec<_>>(), [Some("t1"), Some("t1")]);
}

#[test]
fn a_cut_list_of_tools_does_not_pass_for_the_whole() {
    let asked = Asked::claude().level(Permissions::Read);
    let line = r#"{"type":"system","subtype":"init","session_id":"766fde6e-0724-4c4c-bed4-a8c19bfcc35e","tools":["Read","Ba"#;
    let steps = cut(&asked, &[(line, true)]);
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class: FailureClass::Setup, .. }))));
}

#[test]
fn huge_lines_of_codex() {
    let steps = cut(
        &Asked::codex(),
        &[
            (r#"{"type":"thread.started","thread_id":"01a1e09c-6875-7203-a42d-c11166b3c878"}"#, false),
            (r#"{"type":"turn.started"}"#, false),
            (
                r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"cat x","aggregated_output":"abc\n"#,
                true,
            ),
            (r#"{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"lo"#, true),
            (r#"{"type":"turn.failed","error":{"message":"stream disconnected before"#, true),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn huge_lines_of_gemini() {
    let steps = cut(
        &Asked::gemini(),
        &[
            (r#"{"type":"init","session_id":"9febcd42-edb2-4407-96f3-728717a91454","model":"m"}"#, false),
            (r#"{"type":"message","role":"user","content":"a very long prom"#, true),
            (
                r#"{"type":"tool_use","tool_name":"write_file","tool_id":"t1","parameters":{"content":"abc"#,
                true,
            ),
            (r#"{"type":"tool_result","tool_id":"t1","status":"success","output":"abc\n"#, true),
            (r#"{"type":"message","role":"assistant","content":"lo"#, true),
            (
                r#"{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: termi"#,
                true,
            ),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn a_cut_line_that_is_no_event_is_a_diagnostic() {
    let steps = cut(&Asked::claude(), &[("progress ....", true), (r#"{"type":"ass"#, true)]);
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|step| matches!(step, Step::Emit(Event::Diagnostic { .. }))));
}
