//! Figures of the daemon since it started.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use axum::http::StatusCode;

use crate::queue::Counts;

/// Figures of the daemon since it started.
pub(crate) struct Metrics {
    started: Instant,
    /// By the first digit of the status, from 1 to 5.
    answers: [AtomicU64; 5],
}

impl Default for Metrics {
    fn default() -> Self {
        Self { started: Instant::now(), answers: Default::default() }
    }
}

impl Metrics {
    /// A request was answered.
    pub(crate) fn answered(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100).wrapping_sub(1)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// All of it, in the text format of Prometheus.
    pub(crate) fn text(
        &self,
        runs: &Counts,
        watchers: usize,
        conversations: usize,
        flow_runs: usize,
    ) -> String {
        let mut out = Text::default();
        let version = env!("CARGO_PKG_VERSION");
        out.head("rejoin_info", "gauge", "The version of rejoin.");
        out.value(&format!("rejoin_info{{version=\"{version}\"}}"), 1);
        out.one(
            "rejoin_uptime_seconds",
            "gauge",
            "Since the daemon started.",
            self.started.elapsed().as_secs(),
        );
        out.one("rejoin_runs_running", "gauge", "Runs of turns that are going on.", runs.running);
        out.one("rejoin_runs_queued", "gauge", "Runs of turns that wait.", runs.queued);
        out.one("rejoin_runs_started_total", "counter", "Runs of turns that began.", runs.started);
        out.head("rejoin_runs_ended_total", "counter", "Runs of turns that are over, by how they ended.");
        for (how, count) in &runs.ended {
            out.value(&format!("rejoin_runs_ended_total{{status=\"{}\"}}", how.name()), count);
        }
        out.one("rejoin_flow_runs_running", "gauge", "Runs of flows that are going on here.", flow_runs);
        out.one("rejoin_conversations", "gauge", "Conversations there are.", conversations);
        out.one("rejoin_watchers", "gauge", "Streams of events that are open.", watchers);
        out.head("rejoin_http_responses_total", "counter", "Answers, by the class of their status.");
        for (count, class) in self.answers.iter().zip(1..) {
            let count = count.load(Relaxed);
            out.value(&format!("rejoin_http_responses_total{{status=\"{class}xx\"}}"), count);
        }
        if let Some(process) = Process::look() {
            out.one("process_resident_memory_bytes", "gauge", "Resident memory.", process.resident_bytes);
            out.one("process_threads", "gauge", "Threads.", process.threads);
        }
        out.0
    }
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn value(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.value(name, value);
    }
}

/// What Linux tells of this process; other systems have no `/proc`.
struct Process {
    resident_bytes: u64,
    threads: u64,
}

impl Process {
    fn look() -> Option<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        Self::read(&status)
    }

    fn read(status: &str) -> Option<Self> {
        let field = |name: &str| -> Option<u64> {
            let rest = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            rest.split_whitespace().next()?.parse().ok()
        };
        Some(Self { resident_bytes: field("VmRSS")? * 1024, threads: field("Threads")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::RunEnd;

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::default();
        metrics.answered(StatusCode::NOT_FOUND);
        let runs = Counts { running: 1, queued: 2, started: 4, ended: [(RunEnd::Interrupted, 3)].into() };
        let text = metrics.text(&runs, 7, 12, 2);
        for line in [
            "rejoin_runs_running 1",
            "rejoin_runs_queued 2",
            "rejoin_runs_started_total 4",
            "rejoin_runs_ended_total{status=\"interrupted\"} 3",
            "rejoin_flow_runs_running 2",
            "rejoin_conversations 12",
            "rejoin_watchers 7",
            "rejoin_http_responses_total{status=\"4xx\"} 1",
            "rejoin_http_responses_total{status=\"2xx\"} 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in:\n{text}");
        }
    }

    #[test]
    fn a_process_is_read_as_linux_tells_of_it() {
        let process = Process::read("Name:\trejoin\nVmRSS:\t    2048 kB\nThreads:\t5\n").unwrap();
        assert_eq!((process.resident_bytes, process.threads), (2048 * 1024, 5));
        assert!(Process::read("Name:\trejoin\n").is_none());
    }
}
