//! Wall time, processor time and memory of a whole command with all its children.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// What some runs of one command took together.
#[derive(Default)]
pub(crate) struct Cost {
    walls: Vec<Duration>,
    cpus: Vec<Duration>,
    faults: u64,
    /// Peak resident size of the command itself, in KiB, where it was watched.
    pub(crate) peak: u64,
}

impl Cost {
    /// The median wall time.
    pub(crate) fn wall(&self) -> Duration {
        median(&self.walls)
    }

    /// The mean wall time.
    pub(crate) fn wall_mean(&self) -> Duration {
        mean(&self.walls)
    }

    /// The median of what each run took more than the run of `other` beside it: what the machine
    /// does meanwhile weighs on both.
    pub(crate) fn wall_beyond(&self, other: &Cost) -> f64 {
        let pairs = self.walls.iter().zip(&other.walls);
        let mut beyond: Vec<f64> =
            pairs.map(|(ours, theirs)| ours.as_secs_f64() - theirs.as_secs_f64()).collect();
        beyond.sort_by(f64::total_cmp);
        beyond.get(beyond.len() / 2).copied().unwrap_or_default()
    }

    /// The mean processor time, children included.
    pub(crate) fn cpu(&self) -> Duration {
        mean(&self.cpus)
    }

    /// The median processor time, children included.
    pub(crate) fn cpu_median(&self) -> Duration {
        median(&self.cpus)
    }

    /// The mean number of page faults, children included.
    pub(crate) fn faults(&self) -> f64 {
        self.faults as f64 / self.walls.len().max(1) as f64
    }

    /// Runs a command once and adds what it took.
    pub(crate) fn add(&mut self, command: &mut Command, input: &[u8]) -> Result<Output> {
        self.add_and(command, input, |_| {})
    }

    /// Like [`Cost::add`], watching the memory of the command.
    pub(crate) fn add_watched(&mut self, command: &mut Command, input: &[u8]) -> Result<Output> {
        let mut peak = 0;
        let output = self.add_and(command, input, |pid| peak = watch(pid))?;
        self.peak = self.peak.max(peak);
        Ok(output)
    }

    fn add_and(
        &mut self,
        command: &mut Command,
        input: &[u8],
        meanwhile: impl FnOnce(u32),
    ) -> Result<Output> {
        let (before, begun) = (Used::by_children()?, Instant::now());
        let output = run(command, input, meanwhile)?;
        self.walls.push(begun.elapsed());
        let after = Used::by_children()?;
        self.cpus.push(after.cpu.saturating_sub(before.cpu));
        self.faults += after.faults - before.faults;
        Ok(output)
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn mean(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / u32::try_from(times.len().max(1)).unwrap_or(1)
}

fn run(command: &mut Command, input: &[u8], meanwhile: impl FnOnce(u32)) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("the command cannot be started")?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command that does not want it has closed it already.
        let _ = stdin.write_all(input);
    }
    meanwhile(child.id());
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("it ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}

/// Watches the peak resident size of a process until it ends.
fn watch(pid: u32) -> u64 {
    let mut peak = 0;
    while let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(size) = line.and_then(|line| line.split_whitespace().next()?.parse().ok()) else { break };
        peak = size;
        std::thread::sleep(Duration::from_millis(2));
    }
    peak
}

/// What all children that ended and were waited for have used, theirs included.
struct Used {
    cpu: Duration,
    faults: u64,
}

impl Used {
    fn by_children() -> Result<Self> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        let time = |time: TimeVal| Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000);
        Ok(Self {
            cpu: time(usage.user_time()) + time(usage.system_time()),
            faults: usage.minor_page_faults() as u64,
        })
    }
}
