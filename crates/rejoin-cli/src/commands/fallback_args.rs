//! Who goes on where a limit is reached, for commands that run a turn to its end.

use clap::Args;
use rejoin::{Agent, Handover, TurnBuilder};

use crate::{ask, style};

/// What happens at a limit.
#[derive(Args, Default)]
pub(crate) struct FallbackArgs {
    /// At a limit of the agent (a quota) the same prompt goes on with the next of these, as a turn of the same
    /// conversation; an empty list for none [default: as configured]
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    pub(crate) fallback: Option<Vec<String>>,

    /// The same if the agent had begun to work: what it did may be done twice
    #[arg(long)]
    pub(crate) fallback_after_work: bool,
}

impl FallbackArgs {
    /// Something was said about it.
    pub(crate) fn is_said(&self) -> bool {
        self.fallback.is_some() || self.fallback_after_work
    }

    /// Adds it to the description of a turn.
    pub(crate) fn apply<'a>(&self, turn: TurnBuilder<'a>) -> TurnBuilder<'a> {
        let turn = match &self.fallback {
            Some(names) => turn.fallback(names.iter().filter(|name| !name.is_empty()).map(Agent::named)),
            None => turn.fallback_as_configured(),
        };
        if self.fallback_after_work { turn.fallback_after_work() } else { turn }
    }
}

/// Asks the person at the terminal whether a history may go to another vendor.
pub(crate) fn ask_to_hand_over(handover: &Handover) -> bool {
    let Handover { from, to, from_vendor, to_vendor, back, .. } = handover;
    let why = if *back {
        format!("the limit of {to} should be over; it can go on again")
    } else {
        format!("the limit of {from} was reached; {to} can go on")
    };
    style::loud(&format!("! {why} if it is told the history of this conversation"));
    ask::yes(&format!(
        "may a history go from {from_vendor} to {to_vendor} whenever a limit is reached? (remembered)"
    ))
}
