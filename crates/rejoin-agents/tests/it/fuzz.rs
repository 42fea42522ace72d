//! Every driver, fed with recordings and what becomes of them when they are mangled.

use std::collections::HashSet;

use rejoin_agents::{Exit, Line, ProbeAnswer};
use rejoin_testkit::fuzz::{corpus, fuzz};

use crate::recording::{directory, ends};
use crate::requests::Asked;

/// Whatever an agent prints: its run is over exactly once, and a session it names can be an argument.
fn driver(agent: &dyn rejoin_agents::Definition, recordings: &str) {
    let who = agent.agent();
    fuzz(corpus(directory(recordings)), |bytes| {
        let mut driver = Asked::of(who.clone()).driver();
        let mut steps = Vec::new();
        driver.start(&mut steps);
        for line in bytes.split(|byte| *byte == b'\n') {
            driver.on_line(Line { bytes: line, truncated: line.len() > 10_000 }, &mut steps);
            driver.on_stderr(Line::whole(line), &mut steps);
        }
        driver.on_exit(&Exit { code: Some(1), signal: None, stderr: "x" }, &mut steps);
        assert_eq!(ends(&steps), 1);
        let names: HashSet<String> = steps
            .iter()
            .filter_map(|step| match step {
                rejoin_agents::Step::Emit(rejoin_core::Event::Session { session, .. }) => {
                    Some(session.clone())
                }
                _ => None,
            })
            .collect();
        for name in names {
            assert!(!name.starts_with('-') && !name.contains(char::is_control), "{name:?}");
        }
    });
}

macro_rules! every_driver {
    ($($agent:ident),+) => {$(
        #[test]
        fn $agent() {
            let name = stringify!($agent);
            driver(&*rejoin_agents::find(&rejoin_core::Agent::named(name)).unwrap(), name);
        }
    )+};
}

every_driver!(claude, codex, gemini, opencode, pi, qwen);

/// The embedded agents' driver, on lines of the other ones.
#[test]
fn demo() {
    driver(&*rejoin_agents::find(&rejoin_core::Agent::Demo).unwrap(), "claude");
}

/// What a program says of itself.
#[test]
fn help_texts() {
    let texts = ["claude", "codex", "gemini", "opencode", "pi", "qwen"].map(|agent| corpus(directory(agent)));
    fuzz(texts.into_iter().flatten(), |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        for agent in rejoin_agents::registry() {
            let answer = || ProbeAnswer { answered: true, stdout: text.clone(), stderr: String::new() };
            agent.learn(&[answer(), answer()]);
        }
    });
}
