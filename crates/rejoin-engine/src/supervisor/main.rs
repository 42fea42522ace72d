//! The supervisor's side: a tiny process between rejoin and the agent.
//!
//! It has a session of its own (so Ctrl-C in the terminal reaches rejoin alone), adopts every
//! orphan below it, and ends them all when rejoin's end of the socket closes, also after `kill -9`.
//! From the beginning of a turn to its end it holds the turn's leases; if rejoin goes in between, until
//! the last process below is gone.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::held_leases::HeldLeases;
use super::processes::{descendants, has_children, reap, signal_group, signal_one, to_pid};
use super::protocol::{Command, Message, Report, Spec};
use super::{frames, spawn};

/// How long the processes below may take to end when rejoin is gone.
const GRACE_WITHOUT_REJOIN: Duration = Duration::from_secs(2);

/// Entry of the hidden subcommand: the socket is standard input.
pub fn supervisor_main() -> i32 {
    let Ok(socket) = std::io::stdin().as_fd().try_clone_to_owned() else { return 70 };
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    match supervise(UnixStream::from(socket), Reach::Everything) {
        Ok(()) => 0,
        Err(_) => 70,
    }
}

/// What the supervisor may touch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It is a process of its own: all that is below it.
    Everything,
    /// It is a thread of somebody's program: only the agent's process group.
    Group,
}

enum Happening {
    Told(Message, Vec<OwnedFd>),
    RejoinGone,
    /// It was not waited for yet: until then nobody else gets its number.
    AgentEnded {
        code: Option<i32>,
        signal: Option<i32>,
    },
}

/// Runs one agent to its end, for as many turns as it serves.
pub(super) fn supervise(socket: UnixStream, reach: Reach) -> std::io::Result<()> {
    let mut reports = socket.try_clone()?;
    let mut leases = HeldLeases::default();
    let Some((spec, stdio)) = await_start(&socket, &mut leases, &mut reports)? else { return Ok(()) };
    let mark = spec.mark.clone();
    let (sender, happenings) = channel();
    // Threads first: an agent that nobody listens for must not run.
    let started = listen(socket, sender.clone()).and_then(|()| await_end_of(sender)).and_then(|await_it| {
        let child = spawn::spawn(spec, stdio, reach == Reach::Everything)?;
        let _ = await_it.send(child.id());
        Ok(child)
    });
    let child = match started {
        Ok(child) => child,
        Err(error) => {
            return send(&mut reports, &Report::Failed { text: error.to_string() });
        }
    };
    let pid = child.id();
    let mut below = Below { agent: child, reach, ended: false, reaped: false };
    let _ = send(&mut reports, &Report::Started { pid });

    let outcome = watch(&mut below, &mut leases, &mark, &mut reports, &happenings);
    below.reap();
    drop(leases);
    // In a thread of somebody's program the end of this function closes nothing: the listener has a copy.
    let _ = reports.shutdown(std::net::Shutdown::Both);
    outcome
}

/// Waits until it is said what to start, and holds the leases of the turn that comes before. Nothing if nothing shall
/// be started any more.
fn await_start(
    socket: &UnixStream,
    leases: &mut HeldLeases,
    reports: &mut UnixStream,
) -> std::io::Result<Option<(Spec, [OwnedFd; 3])>> {
    loop {
        let (message, descriptors) = frames::receive(socket)?;
        match message {
            Message::Start(spec) => {
                let stdio =
                    <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| std::io::ErrorKind::InvalidData)?;
                return Ok(Some((*spec, stdio)));
            }
            Message::BeginTurn { turn } => begin_turn(leases, turn, descriptors, reports)?,
            Message::EndTurn { turn } => end_turn(leases, turn, reports)?,
            Message::Do(Command::Kill | Command::Leave) => return Ok(None),
            Message::Do(Command::Interrupt | Command::Terminate) => {}
        }
    }
}

fn begin_turn(
    leases: &mut HeldLeases,
    turn: u32,
    descriptors: Vec<OwnedFd>,
    reports: &mut UnixStream,
) -> std::io::Result<()> {
    leases.begin(turn, descriptors);
    send(reports, &Report::TurnBegun { turn })
}

fn end_turn(leases: &mut HeldLeases, turn: u32, reports: &mut UnixStream) -> std::io::Result<()> {
    leases.end(turn);
    send(reports, &Report::TurnEnded { turn })
}

/// Tells the end of the agent whose number is sent.
fn await_end_of(sender: Sender<Happening>) -> std::io::Result<Sender<u32>> {
    let (started, number) = channel();
    std::thread::Builder::new().spawn(move || {
        if let Ok(pid) = number.recv() {
            let _ = sender.send(await_end(pid));
        }
    })?;
    Ok(started)
}

/// Waits for the agent's end without taking its number away.
fn await_end(pid: u32) -> Happening {
    let (mut code, mut signal) = (None, None);
    if let Some(pid) = to_pid(pid) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = loop {
            match waitid(WaitId::Pid(pid), options) {
                Err(rustix::io::Errno::INTR) => {}
                status => break status.ok().flatten(),
            }
        };
        code = status.as_ref().and_then(WaitIdStatus::exit_status);
        signal = status.as_ref().and_then(WaitIdStatus::terminating_signal);
    }
    Happening::AgentEnded { code, signal }
}

fn listen(socket: UnixStream, sender: Sender<Happening>) -> std::io::Result<()> {
    std::thread::Builder::new().spawn(move || {
        while let Ok((message, descriptors)) = frames::receive(&socket) {
            if sender.send(Happening::Told(message, descriptors)).is_err() {
                return;
            }
        }
        let _ = sender.send(Happening::RejoinGone);
    })?;
    Ok(())
}

fn watch(
    below: &mut Below,
    leases: &mut HeldLeases,
    mark: &str,
    reports: &mut UnixStream,
    happenings: &Receiver<Happening>,
) -> std::io::Result<()> {
    loop {
        match happenings.recv() {
            Ok(Happening::AgentEnded { code, signal }) => {
                below.ended = true;
                let _ = send(reports, &Report::Exited { code, signal });
            }
            // A word that does not arrive: then rejoin is gone, which comes next.
            Ok(Happening::Told(Message::BeginTurn { turn }, descriptors)) => {
                let _ = begin_turn(leases, turn, descriptors, reports);
            }
            Ok(Happening::Told(Message::EndTurn { turn }, _)) => drop(end_turn(leases, turn, reports)),
            // It was started.
            Ok(Happening::Told(Message::Start(_), _)) => {}
            Ok(Happening::Told(Message::Do(Command::Interrupt), _)) => below.interrupt(),
            Ok(Happening::Told(Message::Do(Command::Terminate), _)) => below.signal(Signal::TERM),
            Ok(Happening::Told(Message::Do(Command::Kill), _)) => {
                below.end(happenings, Duration::ZERO);
                return Ok(());
            }
            Ok(Happening::Told(Message::Do(Command::Leave), _)) => {
                return send(reports, &Report::Left { processes: below.alive() });
            }
            Ok(Happening::RejoinGone) | Err(_) => {
                leases.take_over(mark);
                if below.end(happenings, GRACE_WITHOUT_REJOIN) {
                    leases.give_back();
                }
                return Ok(());
            }
        }
    }
}

/// The agent and all that it started.
struct Below {
    agent: Child,
    reach: Reach,
    /// The agent ended.
    ended: bool,
    /// It was waited for, too: its number, which is that of its process group, may be somebody else's by now.
    reaped: bool,
}

impl Below {
    fn interrupt(&self) {
        self.signal_group(Signal::INT);
    }

    fn signal(&self, signal: Signal) {
        self.signal_group(signal);
        if self.reach == Reach::Everything {
            for process in descendants() {
                signal_one(process.pid, signal);
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        if !self.reaped {
            signal_group(self.agent.id(), signal);
        }
    }

    /// Takes note of what ended, the agent included: nothing is signalled by its number from now on.
    fn reap(&mut self) {
        if self.ended {
            let _ = self.agent.wait();
            self.reaped = true;
            if self.reach == Reach::Everything {
                reap();
            }
        }
    }

    fn alive(&mut self) -> Vec<(u32, String)> {
        if self.reach == Reach::Group {
            return Vec::new();
        }
        self.reap();
        let alive = if has_children() { descendants() } else { Vec::new() };
        alive.into_iter().map(|process| (process.pid, process.name)).collect()
    }

    /// TERM, a grace period while exits are awaited, then KILL until nothing is left. Whether nothing is.
    fn end(&mut self, happenings: &Receiver<Happening>, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        let mut signal = if grace.is_zero() { Signal::KILL } else { Signal::TERM };
        // A process stuck in a system call cannot be killed and must not keep us here for ever.
        for round in 0..500 {
            if round == 0 || signal == Signal::KILL {
                self.signal(signal);
            }
            if self.ended && self.alive().is_empty() {
                return true;
            }
            match happenings.recv_timeout(Duration::from_millis(10)) {
                Ok(Happening::AgentEnded { .. }) => self.ended = true,
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(10)),
                _ => {}
            }
            if Instant::now() >= deadline {
                signal = Signal::KILL;
            }
        }
        false
    }
}

fn send(socket: &mut UnixStream, report: &Report) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    socket.write_all(&line)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    /// Whoever is killed while he hands a turn over leaves neither an agent nor a lease behind.
    #[test]
    fn if_rejoin_is_gone_before_it_says_what_to_start_the_leases_are_free() {
        let dir = tempfile::tempdir().unwrap();
        let locks = rejoin_journal::Locks::new(dir.path().to_owned());
        let lease = locks.acquire("turn", &rejoin_journal::Owner::default(), None).unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        frames::send(&ours, &Message::BeginTurn { turn: 1 }, &[lease.descriptor().unwrap()]).unwrap();
        drop(lease);
        assert!(locks.holder("turn").unwrap().is_some(), "what is on its way is held");
        let supervisor = std::thread::spawn(|| supervise(theirs, Reach::Group));
        let mut word = String::new();
        BufReader::new(&ours).read_line(&mut word).unwrap();
        assert_eq!(word, "{\"turn_begun\":{\"turn\":1}}\n");
        assert!(locks.holder("turn").unwrap().is_some());
        drop(ours);
        let _ = supervisor.join().unwrap();
        assert!(locks.holder("turn").unwrap().is_none());
    }

    /// The number may be somebody else's by then. Here it is still that of the group, which tells whether it was used.
    #[test]
    fn a_group_is_not_signalled_once_its_leader_was_waited_for() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 >&2 & echo $!"]).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut agent = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(agent.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let left: u32 = line.trim().parse().unwrap();
        let mut below = Below { agent, reach: Reach::Group, ended: true, reaped: false };
        below.reap();
        below.interrupt();
        below.signal(Signal::KILL);
        let until = Instant::now() + Duration::from_millis(200);
        while Instant::now() < until {
            assert!(rejoin_journal::birth(left).is_some(), "what is left of the group was killed");
            std::thread::sleep(Duration::from_millis(5));
        }
        signal_one(left, Signal::KILL);
    }
}
