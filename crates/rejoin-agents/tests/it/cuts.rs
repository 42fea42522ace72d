//! A process may die after any line: the turn is over exactly once.

use rejoin_agents::{Exit, Line, Step};
use rejoin_core::{Agent, Outcome};

use crate::recording::{Recording, ends, names, shown};
use crate::requests::{
    Asked, CLAUDE_SESSION, CODEX_SESSION, GEMINI_SESSION, OPENCODE_SESSION, QWEN_SESSION, gemini, opencode,
};

#[test]
fn a_run_cut_after_any_line_ends_exactly_once() {
    let agents = [
        (Agent::Claude, CLAUDE_SESSION),
        (Agent::Codex, CODEX_SESSION),
        (gemini(), GEMINI_SESSION),
        (opencode(), OPENCODE_SESSION),
        (Agent::Qwen, QWEN_SESSION),
    ];
    for (agent, session) in agents {
        for name in names(agent.as_str()) {
            let recording = Recording::load(agent.as_str(), &name);
            for asked in [Asked::of(agent.clone()), Asked::of(agent.clone()).resuming(session)] {
                for cut in 0..=recording.stdout.len() {
                    let mut driver = asked.driver();
                    let mut steps = Vec::new();
                    driver.start(&mut steps);
                    for line in &recording.stdout[..cut] {
                        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
                    }
                    let over = ends(&steps);
                    driver.on_exit(&Exit { code: None, signal: Some(9), stderr: "" }, &mut steps);
                    assert_eq!(ends(&steps), 1, "{agent} {name} cut at {cut}: {}", shown(&steps));
                    let completed = steps.contains(&Step::Ended(Outcome::Completed));
                    // OpenCode's last step has no line after it: the end of the process confirms it.
                    let last = recording.stdout[..cut].last().filter(|_| agent == opencode());
                    let stopped = last.is_some_and(|line| {
                        line.contains(r#""reason":"stop""#) || line.contains(r#""reason":"length""#)
                    });
                    assert!(
                        !completed || over == 1 || stopped,
                        "{agent} {name} cut at {cut} counts as completed"
                    );
                    let after = steps.len();
                    driver.on_exit(&recording.exit(), &mut steps);
                    driver.interrupt(&mut steps);
                    assert_eq!(steps.len(), after, "{agent} {name}: said something after its end");
                }
            }
        }
    }
}

#[test]
fn a_line_cut_anywhere_keeps_the_id_of_the_session() {
    for agent in [Agent::Claude, Agent::Codex, gemini(), opencode(), Agent::Qwen] {
        for name in names(agent.as_str()) {
            let recording = Recording::load(agent.as_str(), &name);
            let whole = sessions(&recording.replay(Asked::of(agent.clone()).driver()));
            for line in &recording.stdout {
                for cut in (1..line.len()).step_by(61) {
                    let mut driver = Asked::of(agent.clone()).driver();
                    let mut steps = Vec::new();
                    let line = Line { bytes: &line.as_bytes()[..cut], truncated: true };
                    driver.on_line(line, &mut steps);
                    let odd: Vec<String> =
                        sessions(&steps).into_iter().filter(|session| !whole.contains(session)).collect();
                    assert!(odd.is_empty(), "{agent} {name} cut at {cut}: {odd:?}");
                    assert!(ends(&steps) <= 1);
                }
            }
        }
    }
}

fn sessions(steps: &[Step]) -> Vec<String> {
    let sessions = steps.iter().filter_map(|step| match step {
        Step::Emit(rejoin_core::Event::Session { session, .. }) => Some(session.clone()),
        _ => None,
    });
    sessions.collect()
}
