//! Many turns at once in one process, and what they take: threads, memory, descriptors, and what is left
//! when they are done. `cargo xtask bench many` runs it.
//!
//! ```text
//! cargo build --release && REJOIN_HOME=$(mktemp -d) \
//!     cargo run --release -p rejoin --example many_turns -- target/release/rejoin 200
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rejoin::{Agent, Helper, Outcome, Rejoin, TurnHandle};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let usage = "usage: many_turns PATH_OF_REJOIN TURNS";
    let helper = args.next().ok_or(usage)?;
    let turns: usize = args.next().and_then(|turns| turns.to_str()?.parse().ok()).ok_or(usage)?;
    let rejoin = Rejoin::open_supervised(Helper::Executable(helper.into()))?;
    // What is set up once is no part of what many turns take.
    one_turn(&rejoin)?;

    let before = Sample::take()?;
    let begun = Instant::now();
    let (completed, peak) = all_at_once(&rejoin, turns)?;
    let seconds = begun.elapsed().as_secs_f64();
    let after = settled(before)?;

    println!(
        concat!(
            r#"{{"completed":{},"seconds":{:.3},"threads":{},"descriptors":{},"resident_kib":{},"#,
            r#""threads_left":{},"descriptors_left":{},"children_left":{}}}"#
        ),
        completed,
        seconds,
        peak.threads,
        peak.descriptors,
        resident_peak()?,
        after.threads.saturating_sub(before.threads),
        after.descriptors.saturating_sub(before.descriptors),
        after.children,
    );
    Ok(())
}

fn one_turn(rejoin: &Rejoin) -> Result<(), rejoin::Error> {
    rejoin.project(".").agent(Agent::Demo).prompt("hello").run(|_| {}).map(|_| ())
}

/// A turn that is slow enough for all of them to be under way at the same time.
fn start(rejoin: &Rejoin) -> Result<TurnHandle, rejoin::Error> {
    rejoin.project(".").agent(Agent::Demo).prompt("SLOW 400").start()
}

/// Runs the turns, each in a conversation of its own, and gives how many went well and what was seen at most.
fn all_at_once(rejoin: &Rejoin, turns: usize) -> Result<(usize, Sample), Box<dyn std::error::Error>> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = Sample::default();
            while !done.load(Ordering::Relaxed) {
                if let Ok(now) = Sample::take() {
                    peak = peak.most(now);
                }
                thread::sleep(Duration::from_millis(5));
            }
            peak
        });
        let started: Vec<_> = (0..turns).map(|_| start(rejoin)).collect();
        let ended: Vec<_> = started.into_iter().map(|turn| Ok(turn?.join()?)).collect();
        done.store(true, Ordering::Relaxed);
        let peak = watcher.join().map_err(|_| "the watcher panicked")?;
        let mut errors = BTreeMap::new();
        for error in ended.iter().filter_map(|turn: &Result<_, rejoin::Error>| turn.as_ref().err()) {
            *errors.entry(error.to_string()).or_insert(0) += 1;
        }
        for (error, times) in errors {
            eprintln!("{times} × {error}");
        }
        let completed = |turn: &&Result<rejoin::TurnOutcome, rejoin::Error>| {
            turn.as_ref().is_ok_and(|turn| *turn.outcome() == Outcome::Completed)
        };
        Ok((ended.iter().filter(completed).count(), peak))
    })
}

/// What is left: whatever ends by itself within two seconds is not.
fn settled(before: Sample) -> Result<Sample, std::io::Error> {
    let begun = Instant::now();
    loop {
        let now = Sample::take()?;
        let gone =
            now.threads <= before.threads && now.descriptors <= before.descriptors && now.children == 0;
        if gone || begun.elapsed() > Duration::from_secs(2) {
            return Ok(now);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// What this process has at a moment.
#[derive(Clone, Copy, Default)]
struct Sample {
    threads: usize,
    descriptors: usize,
    children: usize,
}

impl Sample {
    fn take() -> Result<Self, std::io::Error> {
        let mut sample =
            Self { threads: 0, descriptors: fs::read_dir("/proc/self/fd")?.count(), children: 0 };
        for task in fs::read_dir("/proc/self/task")? {
            sample.threads += 1;
            let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            sample.children += children.split_whitespace().count();
        }
        Ok(sample)
    }

    fn most(self, other: Self) -> Self {
        Self {
            threads: self.threads.max(other.threads),
            descriptors: self.descriptors.max(other.descriptors),
            children: self.children.max(other.children),
        }
    }
}

/// The most memory this process ever had, in KiB.
fn resident_peak() -> Result<u64, Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}
