//! Ends what an agent had started when its supervisor, which was killed, no longer can.
//!
//! Found is what is still in the supervisor's session, what carries the turn's mark in its environment,
//! and what descends from any of these. What left the session, dropped the variable and lost its parent
//! as well cannot be told from a stranger.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::processes::{Process, Table};

/// What was found, and what became of it.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Number and name of what was ended.
    pub(crate) ended: Vec<(u32, String)>,
    /// What could not be ended: another user's, stuck in the system, or this process itself.
    pub(crate) alive: Vec<(u32, String)>,
}

/// How long it may take until a killed process is gone: one stuck in a system call never goes.
const LONGEST: Duration = Duration::from_secs(5);

/// Ends them all.
pub(crate) fn end(session: Option<u32>, marks: &[String]) -> Left {
    let deadline = Instant::now() + LONGEST;
    // By number and birth: who its parent is changes when that one goes.
    let mut stopped = BTreeMap::new();
    loop {
        let table = Table::read();
        let ours = table.lineage();
        let found = table.belonging(session, marks);
        let (untouchable, found): (Vec<Process>, Vec<Process>) =
            found.into_iter().partition(|process| ours.contains(&process.pid));
        if found.is_empty() || Instant::now() >= deadline {
            for process in &found {
                stopped.remove(&(process.pid, process.born));
            }
            let ended = stopped.into_iter().map(|((pid, _), name)| (pid, name)).collect();
            return Left { ended, alive: untouchable.iter().chain(&found).map(named).collect() };
        }
        // Stopped first: what is killed while it starts another process would leave one nobody finds.
        let mut met_all = true;
        for process in &found {
            if stopped.insert((process.pid, process.born), process.name.clone()).is_none() {
                signal(process, Signal::STOP);
                met_all = false;
            }
        }
        if met_all {
            for process in &found {
                signal(process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn signal(process: &Process, signal: Signal) {
    if let Some(process) = rejoin_journal::Process::find(process.pid, Some(process.born)) {
        let _ = process.signal(signal);
    }
}

fn named(process: &Process) -> (u32, String) {
    (process.pid, process.name.clone())
}

/// Processes by name and number, the first few.
pub(crate) fn list(processes: &[(u32, String)]) -> String {
    let names: Vec<String> = processes.iter().take(5).map(|(pid, name)| format!("{name} ({pid})")).collect();
    let more = if processes.len() > 5 { " and more" } else { "" };
    names.join(", ") + more
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ended.as_slice() {
            [] => f.write_str("nothing else of it was still running")?,
            ended => write!(f, "what was still running was ended: {}", list(ended))?,
        }
        if !self.alive.is_empty() {
            write!(f, "; this could not be ended: {}", list(&self.alive))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::super::processes::MARK;
    use super::*;

    /// A shell that starts things in the background, says when it has, and waits for them.
    fn shell(script: &str, mark: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script} echo ready; wait")]).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).env(MARK, mark);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        child
    }

    #[test]
    fn what_carries_the_mark_is_ended_with_all_below_it_and_nobody_else() {
        let [mark, another] = [(); 2].map(|()| uuid::Uuid::new_v4().to_string());
        // One in a session of its own, and one that forgot its environment but not its parent.
        let script = "setsid sleep 600 & env -i PATH=\"$PATH\" setsid sleep 600 &";
        let mut marked = shell(script, &format!("outer:{mark}"));
        let mut other = shell("sleep 600 &", &another);
        let left = end(None, std::slice::from_ref(&mark));
        assert_eq!((left.ended.len(), left.alive.len()), (3, 0), "{left:?}");
        marked.wait().unwrap();
        assert!(other.try_wait().unwrap().is_none(), "somebody else's");
        assert!(end(None, &[mark]).ended.is_empty());
        assert_eq!(end(None, &[another]).ended.len(), 2);
        other.wait().unwrap();
    }

    #[test]
    fn a_session_is_ended() {
        let mut leader = Command::new("setsid");
        leader.args(["--wait", "sh", "-c", "sleep 600 & echo $$; wait"]).stdin(Stdio::null());
        let mut leader = leader.stdout(Stdio::piped()).spawn().unwrap();
        let mut session = String::new();
        BufReader::new(leader.stdout.as_mut().unwrap()).read_line(&mut session).unwrap();
        let left = end(Some(session.trim().parse().unwrap()), &[]);
        assert!(left.ended.len() >= 2 && left.alive.is_empty(), "{left:?}");
        leader.wait().unwrap();
    }
}
