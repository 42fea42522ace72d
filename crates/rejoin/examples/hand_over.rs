//! Work goes from one agent to another and back; each is told what it missed, and only that.
//!
//! ```text
//! cargo build && REJOIN_HOME=$(mktemp -d) cargo run -p rejoin --example hand_over
//! ```

use rejoin::{Agent, Decision, Rejoin};

fn main() -> Result<(), rejoin::Error> {
    let rejoin = Rejoin::open()?;
    let (one, other) = (Agent::Demo, Agent::named("demo2"));

    let begun = rejoin.project(".").agent(one.clone()).prompt("diagnose MARK-one").run(|_| {})?;
    let Some(conversation) = begun.receipt().conversation else { return Ok(()) };
    let turns = [(&other, "review that MARK-two"), (&one, "go on MARK-three"), (&one, "and on MARK-four")];
    for (agent, prompt) in turns {
        let turn = rejoin.project(".").resume(conversation.to_string());
        let done = turn.agent(agent.clone()).prompt(prompt).run(|_| {})?;
        let decision = match &done.receipt().plan {
            Decision::Resume { catch_up, .. } => format!("resumed, told {catch_up} turns it missed"),
            Decision::Fresh { why, replayed } => format!("fresh ({why}), told {replayed} turns"),
            Decision::Adopted { session } => format!("in its own session {session}"),
        };
        println!("{agent:<6} {decision}");
        println!("       {}", done.text().lines().last().unwrap_or_default());
    }
    Ok(())
}
