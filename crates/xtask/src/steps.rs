//! Steps with headings and times, and a summary at the end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Steps that are run one after the other, until one fails.
pub(crate) struct Steps {
    total: usize,
    begun: Instant,
    done: Vec<(String, Duration, &'static str)>,
}

impl Steps {
    pub(crate) fn new(total: usize) -> Self {
        Self { total, begun: Instant::now(), done: Vec::new() }
    }

    /// Runs one step under its heading. After a failure the summary is printed at once.
    pub(crate) fn run<T>(&mut self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        eprintln!("\n━━ {}/{} {name}", self.done.len() + 1, self.total);
        let begun = Instant::now();
        let result = step();
        let verdict = if result.is_ok() { "ok" } else { "FAILED" };
        eprintln!("   {verdict} in {}", shown(begun.elapsed()));
        self.done.push((name.to_owned(), begun.elapsed(), verdict));
        if result.is_err() {
            self.summary();
        }
        result.with_context(|| format!("the step {name:?} failed"))
    }

    /// Prints what was done and how long it took.
    pub(crate) fn summary(&self) {
        eprintln!("\n━━ summary");
        for (name, time, verdict) in &self.done {
            eprintln!("   {verdict:<6} {:>8}  {name}", shown(*time));
        }
        let left = self.total - self.done.len();
        if left > 0 {
            eprintln!("   {left} not run");
        }
        eprintln!("   total  {:>8}", shown(self.begun.elapsed()));
    }
}

fn shown(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
