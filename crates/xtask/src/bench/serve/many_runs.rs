//! Many turns at once, each of which is watched.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use nix::sys::resource::{UsageWho, getrusage};
use rejoin_testkit::Lab;

use super::sse_client::{Progress, Seen, watch_all};
use super::{Daemon, PIECES};
use crate::bench::table::{Bound, figure, heading};

/// Turns at once, each of which writes 50 pieces of text a second.
const RUNS: usize = 200;

/// So long after the last one began the start of so many programs is not felt any more, in µs.
const SETTLED: u64 = 1_000_000;

/// Processor time that was used so far.
#[derive(Clone, Copy)]
struct Spent {
    /// By the daemon, without its children.
    daemon: Duration,
    /// By this program, which reads all streams.
    client: Duration,
    /// By all that runs on this machine.
    all: Duration,
}

impl Spent {
    fn now(daemon: &Daemon) -> Self {
        let usage = getrusage(UsageWho::RUSAGE_SELF).ok();
        let client = usage.map_or(Duration::ZERO, |usage| {
            let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
            Duration::from_micros((micros(usage.user_time()) + micros(usage.system_time())) as u64)
        });
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let ticks = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
        let ticks: Vec<u64> = ticks.filter_map(|field| field.parse().ok()).collect();
        // All but what was idle, or waited for the disk.
        let busy: u64 = ticks.iter().take(8).sum::<u64>() - ticks.iter().skip(3).take(2).sum::<u64>();
        Self { daemon: daemon.own_time(), client, all: Duration::from_millis(busy * 10) }
    }
}

pub(super) fn many_runs(rejoin: &Path) -> Result<()> {
    heading(&format!("{RUNS} turns at once, each with a watcher, each writing 50 pieces a second"));
    let lab = Lab::new();
    let home = lab.root().join("rejoin");
    let mut command = lab.command("/bin/sh");
    // Each turn needs some descriptors.
    command.args(["-c", "ulimit -n 65536; exec \"$0\" \"$@\""]).arg(rejoin);
    let most = RUNS.to_string();
    let daemon = Daemon::start(command, &home, &["--max-runs", &most])?;
    let mut paths = Vec::new();
    for _ in 0..RUNS {
        let (run, conversation) = daemon.begin(&lab.project(), None, &format!("CLOCK {PIECES}"))?;
        paths.push(format!("/api/v1/runs/{run}/events?conversation={conversation}"));
    }
    let (mut peak, mut begun, mut ended) = (0.0_f64, None, None);
    let all = watch_all(&daemon.client, &paths, |progress| match progress {
        Progress::AllBegun => begun = Some(Spent::now(&daemon)),
        Progress::OneEnded => ended = ended.or_else(|| Some(Spent::now(&daemon))),
        Progress::Time => peak = peak.max(daemon.resident()),
    })?;
    // Only while all of them write.
    let first = |seen: &Seen| seen.first().map_or(u64::MAX, |(written, _)| *written);
    let last = |seen: &Seen| seen.last().map_or(0, |(written, _)| *written);
    let (from, to) = (all.iter().map(first).max().unwrap_or(0), all.iter().map(last).min().unwrap_or(0));
    let late = |from: u64, to: u64| {
        let pieces = all.iter().flatten().filter(|(written, _)| (from..to).contains(written));
        let mut took: Vec<u64> = pieces.map(|(_, took)| *took).collect();
        took.sort_unstable();
        took
    };
    let at = |late: &[u64], part: f64| {
        late.get((late.len() as f64 * part) as usize).map_or(f64::NAN, |us| *us as f64 / 1e3)
    };
    let starting = late(from, from + SETTLED);
    let late = late(from + SETTLED, to);
    let pieces = (starting.len() + late.len()) as f64;
    let missing = RUNS * PIECES - all.iter().map(Vec::len).sum::<usize>();
    let seconds = to.saturating_sub(from) as f64 / 1e6;
    figure("events while all ran", pieces / seconds, "/s", None);
    figure("pieces lost", missing as f64, "", Some(Bound::AtMost(0.0)));
    figure("from the agent's write to the client, median", at(&late, 0.5), "ms", None);
    figure("the same, p99", at(&late, 0.99), "ms", Some(Bound::AtMost(20.0)));
    figure("the same in the second after the last one began, p99", at(&starting, 0.99), "ms", None);
    if let (Some(begun), Some(ended)) = (begun, ended) {
        let each =
            |of: fn(Spent) -> Duration| (of(ended).saturating_sub(of(begun))).as_secs_f64() * 1e6 / pieces;
        let [daemon, client, all] =
            [each(|spent| spent.daemon), each(|spent| spent.client), each(|spent| spent.all)];
        figure("CPU of the daemon for an event", daemon, "µs", None);
        figure("the same of the client that reads all streams", client, "µs", None);
        figure("the same of all else (agents, other programs)", all - daemon - client, "µs", None);
    }
    figure("resident, peak", peak, "MiB", Some(Bound::AtMost(200.0)));
    Ok(())
}
