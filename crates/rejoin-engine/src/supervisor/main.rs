//! The supervisor's side: a tiny process between rejoin and the agent.
//!
//! It has a session of its own (so Ctrl-C in the terminal reaches rejoin alone), adopts every
//! orphan below it, holds the conversation's locks until the last one is gone, and ends them all
//! when rejoin's end of the socket closes, also after `kill -9`.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::descendants::{descendants, has_children, reap, signal_group, signal_one};
use super::protocol::{Command, Report};
use super::{handshake, spawn};

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
    Told(Command),
    RejoinGone,
    AgentEnded(std::io::Result<std::process::ExitStatus>),
}

/// Runs one agent to its end.
pub(super) fn supervise(socket: UnixStream, reach: Reach) -> std::io::Result<()> {
    let (spec, stdio, locks) = handshake::receive(&socket)?;
    let mut reports = socket.try_clone()?;
    let mut child = match spawn::spawn(spec, stdio, reach == Reach::Everything) {
        Ok(child) => child,
        Err(error) => {
            return send(&mut reports, &Report::Failed { text: error.to_string() });
        }
    };
    let mut below = Below { agent: child.id(), reach, ended: false };
    let _ = send(&mut reports, &Report::Started { pid: child.id() });

    let (sender, happenings) = channel();
    listen(socket, sender.clone());
    std::thread::spawn(move || {
        let _ = sender.send(Happening::AgentEnded(child.wait()));
    });
    let outcome = watch(&mut below, &mut reports, &happenings);
    drop(locks);
    // In a thread of somebody's program the end of this function closes nothing: the listener has a copy.
    let _ = reports.shutdown(std::net::Shutdown::Both);
    outcome
}

fn listen(socket: UnixStream, sender: Sender<Happening>) {
    std::thread::spawn(move || {
        for line in BufReader::new(socket).lines() {
            let Ok(line) = line else { break };
            if let Ok(command) = serde_json::from_str(&line)
                && sender.send(Happening::Told(command)).is_err()
            {
                return;
            }
        }
        let _ = sender.send(Happening::RejoinGone);
    });
}

fn watch(
    below: &mut Below,
    reports: &mut UnixStream,
    happenings: &Receiver<Happening>,
) -> std::io::Result<()> {
    loop {
        match happenings.recv() {
            Ok(Happening::AgentEnded(status)) => {
                below.ended = true;
                let status = status.ok();
                let code = status.and_then(|status| status.code());
                let signal = status.and_then(|status| status.signal());
                let _ = send(reports, &Report::Exited { code, signal });
            }
            Ok(Happening::Told(Command::Interrupt)) => below.interrupt(),
            Ok(Happening::Told(Command::Terminate)) => below.signal(Signal::TERM),
            Ok(Happening::Told(Command::Kill)) => {
                below.end(happenings, Duration::ZERO);
                return Ok(());
            }
            Ok(Happening::Told(Command::Leave)) => {
                return send(reports, &Report::Left { processes: below.alive() });
            }
            Ok(Happening::RejoinGone) | Err(_) => {
                below.end(happenings, GRACE_WITHOUT_REJOIN);
                return Ok(());
            }
        }
    }
}

/// The agent and all that it started.
struct Below {
    agent: u32,
    reach: Reach,
    /// The agent was waited for: its process id may belong to somebody else by now.
    ended: bool,
}

impl Below {
    fn interrupt(&self) {
        if !self.ended {
            signal_group(self.agent, Signal::INT);
        }
    }

    fn signal(&self, signal: Signal) {
        if !self.ended {
            signal_group(self.agent, signal);
        }
        if self.reach == Reach::Everything {
            for (pid, _) in descendants() {
                signal_one(pid, signal);
            }
        }
    }

    fn alive(&self) -> Vec<(u32, String)> {
        if self.reach == Reach::Group {
            return Vec::new();
        }
        if self.ended {
            reap();
        }
        if has_children() { descendants() } else { Vec::new() }
    }

    /// TERM, a grace period while exits are awaited, then KILL until nothing is left.
    fn end(&mut self, happenings: &Receiver<Happening>, grace: Duration) {
        let deadline = Instant::now() + grace;
        let mut signal = if grace.is_zero() { Signal::KILL } else { Signal::TERM };
        // A process stuck in a system call cannot be killed and must not keep us here for ever.
        for round in 0..500 {
            if self.ended && self.alive().is_empty() {
                return;
            }
            if round == 0 || signal == Signal::KILL {
                self.signal(signal);
            }
            match happenings.recv_timeout(Duration::from_millis(10)) {
                Ok(Happening::AgentEnded(_)) => self.ended = true,
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(10)),
                _ => {}
            }
            if Instant::now() >= deadline {
                signal = Signal::KILL;
            }
        }
    }
}

fn send(socket: &mut UnixStream, report: &Report) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    socket.write_all(&line)
}
