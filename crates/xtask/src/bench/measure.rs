//! Wall time, processor time and memory of a whole command with all its children.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What some runs of one command took together.
#[derive(Default)]
pub(crate) struct Cost {
    walls: Vec<Duration>,
    cpu: Duration,
    /// Peak resident size of the command itself, in KiB, where it was watched.
    pub(crate) peak: u64,
}

impl Cost {
    /// The median wall time.
    pub(crate) fn wall(&self) -> Duration {
        let mut walls = self.walls.clone();
        walls.sort_unstable();
        walls.get(walls.len() / 2).copied().unwrap_or_default()
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
        self.cpu / u32::try_from(self.walls.len().max(1)).unwrap_or(1)
    }

    /// Runs a command once and adds what it took.
    pub(crate) fn add(&mut self, command: &mut Command, input: &[u8]) -> Result<Output> {
        let (cpu, begun) = (children_cpu()?, Instant::now());
        let output = run(command, input, |_| {})?;
        self.walls.push(begun.elapsed());
        self.cpu += children_cpu()?.saturating_sub(cpu);
        Ok(output)
    }

    /// Like [`Cost::add`], watching the memory of the command.
    pub(crate) fn add_watched(&mut self, command: &mut Command, input: &[u8]) -> Result<Output> {
        let (cpu, begun) = (children_cpu()?, Instant::now());
        let mut peak = 0;
        let output = run(command, input, |pid| peak = watch(pid))?;
        self.walls.push(begun.elapsed());
        self.cpu += children_cpu()?.saturating_sub(cpu);
        self.peak = self.peak.max(peak);
        Ok(output)
    }
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

/// Processor time of all children that ended and were waited for, theirs included.
fn children_cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let both = ticks(13).zip(ticks(14)).context("/proc/self/stat has another form")?;
    // The kernel counts in hundredths of a second on every machine there is.
    Ok(Duration::from_millis((both.0 + both.1) * 10))
}
