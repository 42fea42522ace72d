//! Whether whoever asks runs below a turn: an agent shall not answer its own question.
//!
//! The process at the other end of a connection is found by what the system tells of sockets (Linux; elsewhere nothing
//! is known), and belongs to the turn if it or one of those above it carries the turn's mark in its environment, or
//! descends from the supervisor of one that does.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use rejoin::{SUPERVISE, TurnId};

use super::peer::Peer;

/// The variable by which a process tells for which turns it was started, the outermost first.
const MARK: &str = "REJOIN_TURN";
/// How long it may be looked for who holds a socket.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than any table of sockets, environment or command line that is worth reading.
const LARGEST: u64 = 16 << 20;

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
        Peer::Tcp { theirs, ours } => match inode_of(theirs, ours) {
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

/// The number of the socket at the other end, if it is one of this machine.
fn inode_of(theirs: SocketAddr, ours: SocketAddr) -> Option<u64> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let table = read(table)?;
        socket_in(&String::from_utf8_lossy(&table), canonical(theirs), canonical(ours))
    })
}

/// A socket of IPv6 may be connected to an address of IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`
fn socket_in(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let found = address_in(fields.get(1)?)? == local && address_in(fields.get(2)?)? == remote;
        // A socket that its process closed has no number any more.
        found.then(|| fields.get(9)?.parse().ok().filter(|inode| *inode != 0))?
    })
}

/// `0100007F:1E25`: words in the order of the machine, the port in the usual one.
fn address_in(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |from: usize| u32::from_str_radix(ip.get(from..from + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (place, chunk) in bytes.chunks_mut(4).enumerate() {
                chunk.copy_from_slice(&word(place * 8)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

/// The processes that have this socket open: the one that connected, and those to which it was handed on. `None` if
/// there are too many processes to look at all.
fn holders_of(inode: u64) -> Option<Vec<u32>> {
    let wanted = format!("socket:[{inode}]");
    let deadline = Instant::now() + PATIENCE;
    let holds = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.take_while(|_| Instant::now() < deadline)
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target.as_os_str() == wanted.as_str()))
    };
    let holders = pids().filter(holds).collect();
    (Instant::now() < deadline).then_some(holders)
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
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

fn read(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_line_of_the_table_of_sockets_is_understood() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1E25 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0\n\
            1: 0100007F:C350 0100007F:1E25 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n\
            2: 0100007F:C351 0100007F:1E25 06 00000000:00000000 03:00000F9F 00000000     0        0 0 3 0\n\
            3: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1E25 01 0:0 0:0 0 1000 0 4712 1\n";
        let find = |port| {
            socket_in(table, SocketAddr::from(([127, 0, 0, 1], port)), "127.0.0.1:7717".parse().unwrap())
        };
        if cfg!(target_endian = "little") {
            assert_eq!(find(50000), Some(4711));
            assert_eq!(find(50001), None, "its process closed it");
            assert_eq!(find(50002), Some(4712), "an address of IPv4 in the table of IPv6");
            assert_eq!(find(50003), None);
        }
    }

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
