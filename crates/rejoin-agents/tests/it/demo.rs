//! The driver of the demo agent.

use insta::assert_snapshot;
use rejoin_agents::{Answer, Driver, Exit, Line, Step};
use rejoin_core::{Agent, FailureClass, Outcome};

use crate::recording::shown;
use crate::requests::{Asked, CLAUDE_SESSION};

fn feed(driver: &mut dyn Driver, steps: &mut Vec<Step>, lines: &[&str]) {
    for line in lines {
        driver.on_line(Line::whole(line.as_bytes()), steps);
    }
}

#[test]
fn a_turn_with_everything() {
    let asked = Asked {
        system_prompt: Some("Be brief.".into()),
        append_system_prompt: Some("Be kind.".into()),
        ..Asked::of(Agent::Demo)
    };
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    driver.start(&mut steps);
    let lines = [
        r#"{"type":"session","id":"766fde6e-0724-4c4c-bed4-a8c19bfcc35e","model":"demo-1"}"#,
        r#"{"type":"stored"}"#,
        r#"{"type":"thinking","message":"m1","text":"hm"}"#,
        r#"{"type":"delta","message":"m1","text":"Hel"}"#,
        r#"{"type":"delta","message":"m1","text":"lo"}"#,
        r#"{"type":"message","message":"m1","text":"Hello"}"#,
        r#"{"type":"tool","message":"m1","id":"t1","name":"shell","input":{"command":"ls"}}"#,
        r#"{"type":"tool_result","id":"t1","output":"a\nb","error":true}"#,
        r#"{"type":"question","id":"q1","text":"Which?","choices":["a","b"]}"#,
    ];
    feed(&mut *driver, &mut steps, &lines);
    driver.answer("q1", Answer::option("1"), &mut steps);
    driver.answer("q2", Answer::Declined, &mut steps);
    let lines = [
        r#"{"type":"delta","message":"m2","text":"Done"}"#,
        r#"{"type":"message","message":"m2","text":"Done."}"#,
        r#"{"type":"compaction","text":"shorter"}"#,
        r#"{"type":"usage","input":3,"cached":2,"output":1}"#,
        r#"{"type":"hologram"}"#,
        r#"{"type":"end","ok":true}"#,
        r#"{"type":"end","ok":false}"#,
    ];
    feed(&mut *driver, &mut steps, &lines);
    driver.on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
    assert_snapshot!(shown(&steps));
}

fn end(line: &str) -> Option<Step> {
    let mut steps = Vec::new();
    feed(&mut *Asked::of(Agent::Demo).driver(), &mut steps, &[line]);
    steps.pop()
}

#[test]
fn a_turn_may_fail_or_be_interrupted() {
    let failed = end(r#"{"type":"end","ok":false,"class":"context_overflow","message":"full"}"#);
    assert_eq!(failed, Some(Step::Ended(Outcome::failed(FailureClass::ContextOverflow, "full"))));
    let failed = end(r#"{"type":"end","ok":false,"class":"hologram","message":"?"}"#);
    assert_eq!(failed, Some(Step::Ended(Outcome::failed(FailureClass::Other, "?"))));
    assert_eq!(end(r#"{"type":"end","interrupted":true}"#), Some(Step::Ended(Outcome::Cancelled)));
}

#[test]
fn a_session_it_does_not_know_is_rejected() {
    let exit = Exit { code: Some(3), signal: None, stderr: "demo: no session 766fde6e\n" };
    let mut steps = Vec::new();
    Asked::of(Agent::Demo).resuming(CLAUDE_SESSION).driver().on_exit(&exit, &mut steps);
    assert_eq!(steps, [Step::Rejected("demo: no session 766fde6e".into())]);
    steps.clear();
    Asked::of(Agent::Demo).driver().on_exit(&exit, &mut steps);
    assert!(matches!(steps[..], [Step::Ended(Outcome::Failed { class: FailureClass::Launch, .. })]));
}

#[test]
fn an_interrupt_is_written_once() {
    let mut driver = Asked::of(Agent::Demo).driver();
    let mut steps = Vec::new();
    driver.interrupt(&mut steps);
    driver.interrupt(&mut steps);
    driver.on_exit(&Exit { code: None, signal: Some(15), stderr: "" }, &mut steps);
    assert_eq!(steps, [Step::Write(b"{\"type\":\"interrupt\"}\n".to_vec()), Step::Ended(Outcome::Cancelled)]);
}
