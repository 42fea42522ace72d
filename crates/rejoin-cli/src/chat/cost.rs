//! `/cost`: what turns came to, in tokens, dollars and time.

use std::fmt::Write as _;

use rejoin::{ConversationView, Turn, Usage};

use crate::style;
use crate::wrap::wrapped;

/// What is counted stands before this column.
const INDENT: usize = 14;

/// The last turn, the path to the head and, if there are others, all turns.
pub(super) fn of(view: &ConversationView<'_>, columns: usize) -> String {
    let path = view.path();
    let all: Vec<&Turn> = view.conversation().tree.turns().iter().collect();
    let mut out = String::new();
    let mut line = |what: &str, turns: &[&Turn]| {
        let lines = wrapped(&sum(turns), columns.saturating_sub(INDENT).max(20));
        let _ = writeln!(out, "{what:<INDENT$}{}", lines.join(&format!("\n{:INDENT$}", "")));
    };
    line("last turn", &path[path.len().saturating_sub(1)..]);
    line("this path", &path);
    if all.len() > path.len() {
        line("all branches", &all);
    }
    out
}

/// `4 turns, 3 resumed · 1,204 in (11,980 cached) · 310 out · $0.02 · 12.4 s · 18 KB not sent again`
fn sum(turns: &[&Turn]) -> String {
    let mut usage = Usage::default();
    let (mut cost, mut milliseconds, mut resumed, mut saved) = (0.0, 0, 0, 0);
    for turn in turns {
        let used = turn.usage().unwrap_or_default();
        usage.input += used.input;
        usage.cached += used.cached;
        usage.output += used.output;
        if let Some(receipt) = &turn.receipt {
            cost += receipt.cost.unwrap_or_default();
            milliseconds += receipt.milliseconds;
            resumed += usize::from(receipt.plan.resumes());
            saved += receipt.replay_bytes.map_or(0, |replay| replay.saturating_sub(receipt.bytes));
        }
    }
    let mut parts = vec![format!("{}, {resumed} resumed", style::plural(turns.len(), "turn"))];
    let cached = match usage.cached {
        0 => String::new(),
        cached => format!(" ({} cached)", style::number(cached)),
    };
    parts.push(format!("{} in{cached}", style::number(usage.input)));
    parts.push(format!("{} out", style::number(usage.output)));
    if cost > 0.0 {
        parts.push(style::dollars(cost));
    }
    parts.push(style::elapsed(milliseconds));
    if saved > 0 {
        parts.push(format!("{} not sent again", style::bytes(saved)));
    }
    parts.join(" · ")
}
