//! Whether whoever asks runs below a turn: an agent shall not answer its own question.
//!
//! The process at the other end of a connection is found by what the system tells of sockets (Linux; elsewhere nothing
//! is known), and belongs to the turn if it or one of those above it carries the turn's mark in its environment, or
//! descends from the supervisor of one that does.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use rejoin::{SUPERVISE, TurnId};

use super::peer::Peer;
use crate::proc_sockets::{connected_socket, holders_of, pids, read};

/// The variable by which a process tells for which turns it was started, the outermost first.
const MARK: &str = "REJOIN_TURN";

/// Whether somebody runs below a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The agent itself, or something that it started.
    Inside,
    /// Somebody else, of this machine or another one.
    Outside,
    /// A process of this machine that the system does not let us see.
    Unknown,
}

/// Whether the other end of a connection runs below a turn. Looks through all processes: not for every request, and on
/// a thread that may wait.
pub(crate) fn runs_below(peer: Peer, turn: TurnId) -> Verdict {
    let holders = match peer {
        Peer::Unix { pid } => pid.into_iter().collect(),
        Peer::Tcp { theirs, ours } => match connected_socket(theirs, ours) {
            Some(inode) => match holders_of(inode) {
                Some(holders) => holders,
                None => return Verdict::Unknown,
            },
            // Nobody's socket here: another machine's, or one that is closed already.
            None if is_loopback(theirs) => return Verdict::Unknown,
            None => return Verdict::Outside,
        },
    };
    let table = Table::read();
    let known: Vec<u32> = holders.into_iter().filter(|pid| table.0.contains_key(pid)).collect();
    if known.is_empty() {
        return Verdict::Unknown;
    }
    let mark = turn.to_string();
    let inside = known.iter().any(|pid| table.is_below(*pid, &mark));
    if inside { Verdict::Inside } else { Verdict::Outside }
}

fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Every process with its parent.
struct Table(BTreeMap<u32, u32>);

impl Table {
    fn read() -> Self {
        Self(pids().filter_map(|pid| Some((pid, parent_of(pid)?))).collect())
    }

    fn is_below(&self, pid: u32, mark: &str) -> bool {
        self.lineage(pid).any(|above| {
            carries(above, mark)
                // Whoever drops the mark and loses its parent falls to the supervisor, which has none itself.
                || (is_supervisor(above) && self.below(above).iter().any(|pid| carries(*pid, mark)))
        })
    }

    /// A process and those it descends from, up to this one.
    fn lineage(&self, pid: u32) -> impl Iterator<Item = u32> {
        let mut met = BTreeSet::new();
        let up = std::iter::successors(Some(pid), |pid| self.0.get(pid).copied());
        up.take_while(move |pid| *pid > 1 && *pid != std::process::id() && met.insert(*pid))
    }

    fn below(&self, root: u32) -> BTreeSet<u32> {
        let is_below = |pid: &u32| self.lineage(*pid).skip(1).any(|above| above == root);
        self.0.keys().copied().filter(is_below).collect()
    }
}

/// `pid (name) state ppid …`; the name may hold spaces and parentheses.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = read(&format!("/proc/{pid}/stat"))?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn carries(pid: u32, mark: &str) -> bool {
    let Some(environment) = read(&format!("/proc/{pid}/environ")) else { return false };
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="));
    value.is_some_and(|value| value.split(|byte| *byte == b':').any(|one| one == mark.as_bytes()))
}

fn is_supervisor(pid: u32) -> bool {
    let line = read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1).is_some_and(|argument| argument == SUPERVISE.as_bytes())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// A program that connects, says so by that, and waits; and who it is to the listener.
    fn connected(script: &str, mark: &str) -> (Child, Peer, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut command = Command::new("bash");
        command.args(["-c", script]).env(MARK, mark).env("TARGET", format!("/dev/tcp/127.0.0.1/{port}"));
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let (stream, theirs) = listener.accept().unwrap();
        let peer = Peer::Tcp { theirs, ours: stream.local_addr().unwrap() };
        (child, peer, stream)
    }

    fn ended(mut child: Child, stream: TcpStream) {
        drop(stream);
        child.wait().unwrap();
    }

    #[test]
    fn what_was_started_for_a_turn_is_inside_of_it_and_of_no_other() {
        let [turn, outer, other] = [(); 3].map(|()| TurnId::new(uuid::Uuid::new_v4()));
        let mark = format!("{outer}:{turn}");
        let connect = "exec 3<>$TARGET; read -u 3";
        let without_mark = "env -i T=$TARGET bash -c 'exec 3<>$T; read -u 3'; true";
        for script in [connect, without_mark] {
            let (child, peer, stream) = connected(script, &mark);
            assert_eq!(runs_below(peer, turn), Verdict::Inside, "{script}");
            assert_eq!(runs_below(peer, outer), Verdict::Inside, "{script}");
            assert_eq!(runs_below(peer, other), Verdict::Outside, "{script}");
            ended(child, stream);
        }
    }

    #[test]
    fn a_connection_that_was_handed_on_belongs_to_all_who_have_it() {
        let turn = TurnId::new(uuid::Uuid::new_v4());
        // It connects without the mark; a child of it that has the socket, too, carries the mark.
        let script = format!("exec 3<>$TARGET; {MARK}={turn} bash -c 'read -u 3' & wait");
        let (child, peer, stream) = connected(&script, "");
        let deadline = Instant::now() + Duration::from_secs(20);
        while runs_below(peer, turn) != Verdict::Inside {
            assert!(Instant::now() < deadline, "it was not found");
        }
        ended(child, stream);
    }

    #[test]
    fn what_fell_to_the_supervisor_of_a_turn_is_inside_of_it() {
        let turn = TurnId::new(uuid::Uuid::new_v4());
        let dir = tempfile::tempdir().unwrap();
        // The agent has the mark; what connects has neither the mark nor the agent for a parent.
        let script = format!(
            "{MARK}={turn} sleep 600 & agent=$!\n\
             until tr '\\0' '\\n' </proc/$agent/environ | grep -q '^{MARK}={turn}$'; do :; done\n\
             env -i T=$TARGET bash -c 'exec 3<>$T; read -u 3'\n\
             kill $agent\n"
        );
        for (name, expected) in [(SUPERVISE, Verdict::Inside), ("another", Verdict::Outside)] {
            let path = dir.path().join(name);
            fs::write(&path, &script).unwrap();
            // By its first argument a supervisor is known.
            let run = format!("cd {} && exec bash {name}", dir.path().display());
            let (child, peer, stream) = connected(&run, "");
            assert_eq!(runs_below(peer, turn), expected, "{name}");
            ended(child, stream);
        }
    }

    #[test]
    fn this_process_is_outside_and_what_is_gone_is_unknown() {
        let turn = TurnId::new(uuid::Uuid::new_v4());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, theirs) = listener.accept().unwrap();
        let peer = Peer::Tcp { theirs, ours: stream.local_addr().unwrap() };
        assert_eq!(runs_below(peer, turn), Verdict::Outside);
        drop(client);
        assert_eq!(runs_below(peer, turn), Verdict::Unknown);
        let elsewhere =
            Peer::Tcp { theirs: "192.0.2.9:4000".parse().unwrap(), ours: "192.0.2.1:7717".parse().unwrap() };
        assert_eq!(runs_below(elsewhere, turn), Verdict::Outside);
        assert_eq!(runs_below(Peer::Unix { pid: Some(std::process::id()) }, turn), Verdict::Outside);
        assert_eq!(runs_below(Peer::Unix { pid: None }, turn), Verdict::Unknown);
        assert_eq!(runs_below(Peer::Unix { pid: Some(u32::MAX) }, turn), Verdict::Unknown);
    }
}
