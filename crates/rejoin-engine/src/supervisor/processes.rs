//! The processes of this system, as far as it tells (Linux); elsewhere nothing is found, and only the
//! agent's process group can be reached.

use std::collections::{BTreeMap, BTreeSet};

use rejoin_core::TurnId;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

/// One process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// When it was born: tells it from a later one with its number.
    pub(super) born: u64,
    pub(super) name: String,
    parent: u32,
    session: u32,
    dead: bool,
}

/// All processes at one moment.
pub(super) struct Table(BTreeMap<u32, Process>);

impl Table {
    pub(super) fn read() -> Self {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let processes = pids.filter_map(|pid| {
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            Some((pid, parse_stat(pid, &String::from_utf8_lossy(&stat))?))
        });
        Self(processes.collect())
    }

    /// Those below any of these, alive or not.
    fn below(&self, roots: BTreeSet<u32>) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for process in self.0.values() {
            children.entry(process.parent).or_default().push(process.pid);
        }
        let (mut found, mut parents) = (BTreeSet::new(), Vec::from_iter(roots));
        while let Some(parent) = parents.pop() {
            for child in children.get(&parent).into_iter().flatten() {
                if found.insert(*child) {
                    parents.push(*child);
                }
            }
        }
        found
    }

    /// This process and those it descends from.
    pub(super) fn lineage(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut pid = std::process::id();
        while found.insert(pid)
            && let Some(process) = self.0.get(&pid)
        {
            pid = process.parent;
        }
        found
    }

    /// The living processes of a session, those that carry one of these marks, and all below any of them.
    pub(super) fn belonging(&self, session: Option<u32>, marks: &[String]) -> Vec<Process> {
        let belongs = |process: &&Process| {
            !process.dead && (Some(process.session) == session || carries(process.pid, marks))
        };
        let mut found: BTreeSet<u32> = self.0.values().filter(belongs).map(|process| process.pid).collect();
        found.extend(self.below(found.clone()));
        self.living(&found)
    }

    fn living(&self, pids: &BTreeSet<u32>) -> Vec<Process> {
        pids.iter().filter_map(|pid| self.0.get(pid)).filter(|process| !process.dead).cloned().collect()
    }
}

/// All processes below this one that are still alive.
pub(super) fn descendants() -> Vec<Process> {
    let table = Table::read();
    table.living(&table.below(BTreeSet::from([std::process::id()])))
}

/// The variable by which a process tells for which turns (or runs of flows) it was started, the
/// outermost first.
pub(super) const MARK: &str = "REJOIN_TURN";

/// The value of [`MARK`] for what is started now.
pub(super) fn marked(mark: &str) -> String {
    match std::env::var(MARK) {
        Ok(outer) if !outer.is_empty() => format!("{outer}:{mark}"),
        _ => mark.to_owned(),
    }
}

/// Whether this process was started by the agent of a turn, or by something that the agent started.
pub fn runs_inside(turn: TurnId) -> bool {
    let turn = turn.to_string();
    std::env::var(MARK).is_ok_and(|marks| marks.split(':').any(|mark| mark == turn))
}

/// Whether a process was started with one of these marks, as far as we may look at it.
fn carries(pid: u32, marks: &[String]) -> bool {
    if marks.is_empty() {
        return false;
    }
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
    let is_one = |mark: &[u8]| marks.iter().any(|known| known.as_bytes() == mark);
    value.is_some_and(|value| value.split(|byte| *byte == b':').any(is_one))
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

/// Sends a signal to the process group that `leader` leads. Only while the leader was not waited for:
/// after that the number may belong to somebody else.
pub(super) fn signal_group(leader: u32, signal: Signal) {
    if let Some(pid) = to_pid(leader) {
        let _ = kill_process_group(pid, signal);
    }
}

/// Takes note of children that ended, so that they do not stay as zombies.
pub(super) fn reap() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

pub(super) fn to_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// `pid (name) state ppid pgrp session …`; the name may hold spaces and parentheses.
fn parse_stat(pid: u32, stat: &str) -> Option<Process> {
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let rest: Vec<&str> = stat.get(close + 1..)?.split_whitespace().collect();
    Some(Process {
        pid,
        born: rest.get(19)?.parse().ok()?,
        name: stat.get(open + 1..close)?.to_owned(),
        parent: rest.get(1)?.parse().ok()?,
        session: rest.get(3)?.parse().ok()?,
        dead: matches!(*rest.first()?, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_may_hold_anything() {
        let stat = "7 (a) b (c)) S 42 7 6 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9";
        let process = parse_stat(7, stat).unwrap();
        assert_eq!((process.parent, process.session, process.born), (42, 6, 4711));
        assert_eq!((process.name.as_str(), process.dead), ("a) b (c)", false));
    }
    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_in_its_session_and_in_its_own_lineage() {
        let (table, us) = (Table::read(), std::process::id());
        // Number 0 where the session was begun outside of this container.
        let session = table.0[&us].session;
        assert!(table.belonging(Some(session), &[]).iter().any(|it| it.pid == us));
        assert!(table.lineage().contains(&us) && table.lineage().contains(&table.0[&us].parent));
    }
}
