//! Finds and ends the processes below this one.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

/// All processes below this one that are still alive, with their names. Only where the system can
/// tell (Linux); elsewhere nothing is found and only the agent's process group can be reached.
pub(super) fn descendants() -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut parents = vec![std::process::id()];
    let table = process_table();
    while let Some(parent) = parents.pop() {
        for process in table.iter().filter(|process| process.parent == parent) {
            parents.push(process.pid);
            if !process.dead {
                found.push((process.pid, process.name.clone()));
            }
        }
    }
    found
}

/// Whether this process has any child, alive or not: cheaper than [`descendants`].
pub(super) fn has_children() -> bool {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return false };
    let mut tasks = tasks.flatten();
    tasks.any(|task| match std::fs::read(task.path().join("children")) {
        Ok(children) => !children.is_empty(),
        Err(_) => true,
    })
}

/// Sends a signal to one process.
pub(super) fn signal_one(pid: u32, signal: Signal) {
    if let Some(pid) = to_pid(pid) {
        let _ = kill_process(pid, signal);
    }
}

/// Sends a signal to the process group that `leader` leads.
pub(super) fn signal_group(leader: u32, signal: Signal) {
    if let Some(pid) = to_pid(leader) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Takes note of orphans that ended, so that they do not stay as zombies. Only after the agent
/// itself was waited for: this would take its status away.
pub(super) fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

fn to_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

struct Process {
    pid: u32,
    parent: u32,
    name: String,
    dead: bool,
}

fn process_table() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(pid, &String::from_utf8_lossy(&stat))
    })
    .collect()
}

/// `pid (name) state ppid …`; the name may hold spaces and parentheses.
fn parse_stat(pid: u32, stat: &str) -> Option<Process> {
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let mut rest = stat.get(close + 1..)?.split_whitespace();
    let dead = matches!(rest.next()?, "Z" | "X");
    let parent = rest.next()?.parse().ok()?;
    Some(Process { pid, parent, name: stat.get(open + 1..close)?.to_owned(), dead })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_hold_anything() {
        let process = parse_stat(7, "7 (a) b (c)) S 42 7 7 0").unwrap();
        assert_eq!((process.parent, process.name.as_str(), process.dead), (42, "a) b (c)", false));
    }
}
