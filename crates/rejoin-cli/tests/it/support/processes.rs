//! Who is still there: found by the bench's path in the environment, which every child inherits.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) command: String,
}

/// Processes whose environment mentions this path. The dead ones have none.
pub(super) fn of(root: &Path) -> Vec<Process> {
    let root = root.to_string_lossy().into_owned();
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mine = String::from_utf8_lossy(&environ).contains(&root);
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        mine.then_some(Process { pid, command })
    })
    .collect()
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = kill_process(pid, signal);
}

pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// As Ctrl-C does.
pub(crate) fn interrupt(pid: u32) {
    signal(pid, Signal::INT);
}
