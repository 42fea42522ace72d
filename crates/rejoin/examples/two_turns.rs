//! Two turns: the second one goes on in the agent's own session.
//!
//! ```text
//! cargo build && REJOIN_HOME=$(mktemp -d) cargo run -p rejoin --example two_turns
//! ```

use std::io::Write;

use rejoin::{Agent, Event, Rejoin};

fn main() -> Result<(), rejoin::Error> {
    let rejoin = Rejoin::open()?;

    let first =
        rejoin.project(".").agent(Agent::Demo).prompt("the bug is in parser.rs MARK-one").run(|_| {})?;
    println!("first turn\n  {}\n", first.text().replace('\n', "\n  "));

    print!("second turn\n  ");
    let second = rejoin.project(".").continue_latest().prompt("now fix it MARK-two").run(|event| {
        if let Event::TextDelta { text, .. } = event {
            print!("{}", text.replace('\n', "\n  "));
            let _ = std::io::stdout().flush();
        }
    })?;

    let receipt = second.receipt();
    println!("\n\nthe same session: {}", first.session_id() == second.session_id());
    println!("resumed: {}, sent: {} bytes", receipt.plan.resumes(), receipt.bytes);
    Ok(())
}
