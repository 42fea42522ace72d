//! Figures beside the bounds they must keep.

use std::time::Duration;

/// Prints a heading.
pub(crate) fn heading(text: &str) {
    println!("\n━━ {text}");
}

/// Prints a figure, and whether it keeps its bound.
pub(crate) fn figure(what: &str, value: f64, unit: &str, bound: Option<Bound>) {
    let (words, kept) = match bound {
        None => (String::new(), ""),
        Some(Bound::AtMost(most)) => {
            (format!("≤ {most} {unit}"), if value <= most { "ok" } else { "MISSED" })
        }
        Some(Bound::AtLeast(least)) => {
            (format!("≥ {least} {unit}"), if value >= least { "ok" } else { "MISSED" })
        }
    };
    println!("   {what:<52} {value:>10.2} {unit:<5} {words:<14} {kept}");
}

/// What a figure must keep.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// Milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
