//! Twenty turns on the real agents: what is sent per turn, resumed against replayed.

use std::path::Path;

use anyhow::{Context, Result};
use rejoin_testkit::Lab;
use serde_json::Value;

use super::measure::Cost;
use super::table::heading;

const TURNS: usize = 20;

/// What one turn took.
struct Turn {
    bytes: u64,
    input: u64,
    cached: u64,
}

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading(&format!("{TURNS} turns on the real agents: bytes sent, and input tokens counted by the model"));
    for agent in ["claude", "codex"] {
        let resumed = turns(rejoin, agent, "auto")?;
        let replayed = turns(rejoin, agent, "never")?;
        println!("   {agent:<8} {:>28}   {:>28}", "resumed", "replayed");
        println!(
            "   {:<8} {:>10} {:>17}   {:>10} {:>17}",
            "turn", "bytes", "tokens (cached)", "bytes", "tokens (cached)"
        );
        for at in [0, 1, 4, 9, 19] {
            let (a, b) = (&resumed[at], &replayed[at]);
            let tokens = |turn: &Turn| format!("{} ({})", turn.input, turn.cached);
            println!(
                "   {:<8} {:>10} {:>17}   {:>10} {:>17}",
                at + 1,
                a.bytes,
                tokens(a),
                b.bytes,
                tokens(b)
            );
        }
        let sum = |turns: &[Turn]| turns.iter().map(|turn| turn.bytes).sum::<u64>();
        println!("   {:<8} {:>10} {:>17}   {:>10}", "all", sum(&resumed), "", sum(&replayed));
    }
    Ok(())
}

fn turns(rejoin: &Path, agent: &str, resume: &str) -> Result<Vec<Turn>> {
    let lab = Lab::require_real().context("the real agents are not there")?;
    let config = lab.root().join("config.toml");
    std::fs::write(&config, format!("resume = \"{resume}\"\n"))?;
    let mut list = Vec::new();
    for number in 1..=TURNS {
        let mut command = lab.command(rejoin);
        let prompt = format!("Step {number:02}: look at the next file and tell what you see. MARK-n{number}");
        command.args(["run", "-s", "long", "-a", agent, &prompt, "-o", "json"]);
        command.env("REJOIN_HOME", lab.root().join("rejoin")).env("REJOIN_CONFIG", &config);
        let output = Cost::default().add(&mut command, b"")?;
        let receipt: Value = serde_json::from_slice(&output.stdout)?;
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        list.push(Turn {
            bytes: number(&receipt["bytes"]),
            input: number(&receipt["usage"]["input"]),
            cached: number(&receipt["usage"]["cached"]),
        });
    }
    Ok(list)
}
