//! Numbers that no number here can hold cost that number, not the line.

use rejoin_agents::{Exit, Line, Step};
use rejoin_core::{Agent, Event, Outcome};

use crate::requests::Asked;

#[test]
fn a_result_with_a_number_out_of_range_is_a_result() {
    let session = r#"{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}"#;
    for (agent, lines) in [
        (
            Agent::Claude,
            vec![
                r#"{"type":"result","subtype":"success","is_error":false,"result":"half \ud83d","total_cost_usd":1e999,"usage":{"input_tokens":-1e999}}"#,
            ],
        ),
        (
            Agent::Codex,
            vec![session, r#"{"type":"turn.completed","usage":{"input_tokens":1e999,"output_tokens":3}}"#],
        ),
        (Agent::Demo, vec![r#"{"type":"end","ok":true,"elapsed":1e999}"#]),
    ] {
        let mut driver = Asked::of(agent.clone()).driver();
        let mut steps = Vec::new();
        for line in lines {
            driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        }
        driver.on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
        let ends: Vec<&Outcome> = steps
            .iter()
            .filter_map(|step| if let Step::Ended(end) = step { Some(end) } else { None })
            .collect();
        assert_eq!(ends, [&Outcome::Completed], "{agent}");
        let lost = |step: &&Step| matches!(step, Step::Emit(Event::Diagnostic { .. }));
        assert_eq!(steps.iter().find(lost), None, "{agent}");
    }
}
