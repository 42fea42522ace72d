//! What stands beside a turn: who did it, whether it remembered, what it cost.

use std::fmt::Write as _;

use rejoin_core::{Decision, Outcome, Turn, Usage};

use super::escape::{escaped, label};
use crate::export::Pen;

/// The notes of one turn.
pub(super) fn notes(turn: &Turn, number: usize, pen: &mut Pen<'_>) -> String {
    let agent = turn.agent.as_ref().map_or_else(|| "?".to_owned(), |agent| pen.clean(agent.as_str()));
    let mut out =
        format!("<aside>\n<p class=\"who\"><a href=\"#{}\">{number}</a> {}</p>\n", turn.id, label(&agent));
    let mut note = |class: &str, text: &str| {
        let _ = writeln!(out, "<p class=\"{class}\">{text}</p>");
    };
    if let Some(receipt) = &turn.receipt {
        if let Some(model) = &receipt.model {
            note("model", &label(&pen.clean(model)));
        }
        match &receipt.plan {
            Decision::Resume { catch_up: 0, .. } => note("plan resumed", "● resumed"),
            Decision::Resume { catch_up, .. } => {
                note("plan resumed", &format!("● resumed, told {}", turns(*catch_up)));
            }
            Decision::Fresh { why, replayed } => {
                let why = label(&pen.clean(&why.to_string()));
                let told =
                    if *replayed == 0 { String::new() } else { format!(", {} replayed", turns(*replayed)) };
                note("plan", &format!("○ fresh: {why}{told}"));
            }
            Decision::Adopted { .. } => note("plan", "◇ in its own session"),
        }
        match &receipt.outcome {
            Outcome::Completed => {}
            Outcome::Failed { class, .. } => note("bad", &format!("failed: {}", label(class.words()))),
            Outcome::Timeout { .. } => note("bad", "timeout"),
            Outcome::Cancelled => note("bad", "cancelled"),
        }
    } else {
        note("bad", "not finished");
    }
    if turn.revision > 0 {
        note("edited", "edited");
    }
    if let Some(usage) = turn.usage().filter(|usage| !usage.is_zero()) {
        note("tokens", &tokens(usage));
    }
    if let Some(receipt) = &turn.receipt {
        let mut spent = receipt.cost.map(dollars).into_iter().collect::<Vec<_>>();
        spent.push(seconds(receipt.milliseconds));
        note("cost", &spent.join(" · "));
    }
    note("time", &time(&turn.started));
    out.push_str("</aside>\n");
    out
}

fn turns(count: usize) -> String {
    if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") }
}

/// `1,234 in · 40 cached · 56 out`
fn tokens(usage: Usage) -> String {
    // A number and its unit stay on one line.
    let count = |number: u64, unit: &str| format!("{}\u{a0}{unit}", grouped(number));
    let mut counts = vec![count(usage.input, "in")];
    if usage.cached > 0 {
        counts.push(count(usage.cached, "cached"));
    }
    counts.push(count(usage.output, "out"));
    counts.join(" · ")
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn dollars(cost: f64) -> String {
    if cost > 0.0 && cost < 0.01 { format!("${cost:.4}") } else { format!("${cost:.2}") }
}

/// `40 ms`, `2.4 s`, `12 s`, `3 min 20 s`
pub(super) fn seconds(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..10_000 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        10_000..120_000 => format!("{} s", milliseconds / 1000),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}

/// A time as records have it, for people: `2026-11-18 13:24 UTC`.
pub(super) fn time(written: &str) -> String {
    let plain = written.len() >= 16
        && written.is_ascii()
        && written.ends_with('Z')
        && written.as_bytes()[10] == b'T'
        && written.as_bytes()[13] == b':';
    if plain { escaped(&format!("{} {} UTC", &written[..10], &written[11..16])) } else { label(written) }
}

/// From the first day to the last.
pub(super) fn period(turns: &[Turn]) -> Option<String> {
    let day = |turn: &Turn| time(&turn.started).split(' ').next().unwrap_or_default().to_owned();
    let (first, last) = (day(turns.first()?), day(turns.last()?));
    Some(if first == last { first } else { format!("{first} – {last}") })
}

/// What all turns cost.
pub(super) fn costs(turns: &[Turn]) -> Option<String> {
    let costs = turns.iter().filter_map(|turn| turn.receipt.as_ref()?.cost);
    costs.reduce(|all, cost| all + cost).map(dollars)
}
