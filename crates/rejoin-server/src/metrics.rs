//! Figures of the daemon since it started.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use axum::http::StatusCode;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunEnd {
    Completed,
    Failed,
    Timeout,
    Cancelled,
    Interrupted,
}

impl RunEnd {
    const ALL: [(RunEnd, &'static str); 5] = [
        (RunEnd::Completed, "completed"),
        (RunEnd::Failed, "failed"),
        (RunEnd::Timeout, "timeout"),
        (RunEnd::Cancelled, "cancelled"),
        (RunEnd::Interrupted, "interrupted"),
    ];
}

/// Figures of the daemon since it started.
pub(crate) struct Metrics {
    started: Instant,
    running: AtomicI64,
    queued: AtomicI64,
    /// In the order of [`RunEnd`].
    ended: [AtomicU64; 5],
    watchers: AtomicI64,
    events_sent: AtomicU64,
    /// By the first digit of the status, from 1 to 5.
    answers: [AtomicU64; 5],
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            running: AtomicI64::new(0),
            queued: AtomicI64::new(0),
            ended: Default::default(),
            watchers: AtomicI64::new(0),
            events_sent: AtomicU64::new(0),
            answers: Default::default(),
        }
    }
}

impl Metrics {
    /// A run began.
    pub(crate) fn run_started(&self) {
        self.running.fetch_add(1, Relaxed);
    }

    /// One that began is over.
    pub(crate) fn run_ended(&self, how: RunEnd) {
        self.running.fetch_sub(1, Relaxed);
        self.ended[how as usize].fetch_add(1, Relaxed);
    }

    /// So many runs more wait, or fewer.
    pub(crate) fn queued(&self, change: i64) {
        self.queued.fetch_add(change, Relaxed);
    }

    /// So many streams more are open, or fewer.
    pub(crate) fn watchers(&self, change: i64) {
        self.watchers.fetch_add(change, Relaxed);
    }

    /// So many events went out to watchers.
    pub(crate) fn events_sent(&self, count: u64) {
        self.events_sent.fetch_add(count, Relaxed);
    }

    /// A request was answered.
    pub(crate) fn answered(&self, status: StatusCode) {
        if let Some(count) = self.answers.get(usize::from(status.as_u16() / 100).wrapping_sub(1)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// All of it, in the text format of Prometheus.
    pub(crate) fn text(&self, conversations: usize, flow_runs: usize) -> String {
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
        out.one(
            "rejoin_runs_running",
            "gauge",
            "Runs of turns that are going on.",
            self.running.load(Relaxed),
        );
        out.one("rejoin_runs_queued", "gauge", "Runs of turns that wait.", self.queued.load(Relaxed));
        out.head("rejoin_runs_ended_total", "counter", "Runs of turns that are over, by how they ended.");
        for (how, name) in RunEnd::ALL {
            let count = self.ended[how as usize].load(Relaxed);
            out.value(&format!("rejoin_runs_ended_total{{status=\"{name}\"}}"), count);
        }
        out.one("rejoin_flow_runs_running", "gauge", "Runs of flows that are going on here.", flow_runs);
        out.one("rejoin_conversations", "gauge", "Conversations there are.", conversations);
        out.one("rejoin_watchers", "gauge", "Streams of events that are open.", self.watchers.load(Relaxed));
        out.one(
            "rejoin_events_sent_total",
            "counter",
            "Events sent to them.",
            self.events_sent.load(Relaxed),
        );
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

    #[test]
    fn what_was_counted_is_told() {
        let metrics = Metrics::default();
        metrics.run_started();
        metrics.run_started();
        metrics.run_ended(RunEnd::Interrupted);
        metrics.queued(3);
        metrics.queued(-1);
        metrics.watchers(1);
        metrics.events_sent(7);
        metrics.answered(StatusCode::NOT_FOUND);
        let text = metrics.text(12, 2);
        for line in [
            "rejoin_runs_running 1",
            "rejoin_runs_queued 2",
            "rejoin_runs_ended_total{status=\"interrupted\"} 1",
            "rejoin_runs_ended_total{status=\"completed\"} 0",
            "rejoin_flow_runs_running 2",
            "rejoin_conversations 12",
            "rejoin_watchers 1",
            "rejoin_events_sent_total 7",
            "rejoin_http_responses_total{status=\"4xx\"} 1",
            "rejoin_http_responses_total{status=\"2xx\"} 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in:\n{text}");
        }
    }

    #[test]
    fn every_end_has_its_own_place() {
        for (at, (how, _)) in RunEnd::ALL.into_iter().enumerate() {
            assert_eq!(how as usize, at);
        }
    }

    #[test]
    fn a_process_is_read_as_linux_tells_of_it() {
        let process = Process::read("Name:\trejoin\nVmRSS:\t    2048 kB\nThreads:\t5\n").unwrap();
        assert_eq!((process.resident_bytes, process.threads), (2048 * 1024, 5));
        assert!(Process::read("Name:\trejoin\n").is_none());
    }
}
