//! One shell command below the supervisor: it ends with us, and its output is kept within bounds.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rejoin_journal::Lease;
use rustix::event::PollFlags;
use uuid::Uuid;

use crate::during::cancel::CancelWatch;
use crate::during::drain::Drain;
use crate::during::poll::{Source, read_some, wait_for};
use crate::supervisor::{Command, Helper, LaunchSpec, Left, Report, Supervised};
use crate::{Engine, Limits, TurnError};

/// A command for `sh -c`.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    /// The command.
    pub command: String,
    /// Where it runs.
    pub dir: PathBuf,
    /// Variables added to ours.
    pub env: BTreeMap<String, String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What became of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandOutcome {
    /// How it ended.
    pub end: CommandEnd,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// How a command ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommandEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(Option<i32>),
    /// Its time ran out.
    Timeout,
    /// The user stopped it.
    Cancelled,
    /// It could not be started.
    NotStarted(String),
}

/// Of longer outputs the beginning and the end are kept, so much of each.
const KEPT: usize = 512 << 10;

/// The beginning and the end of a stream.
#[derive(Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: usize,
}

impl Kept {
    fn feed(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * KEPT {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let cut = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..cut);
        self.left_out += cut;
    }

    fn text(mut self) -> String {
        self.cut();
        if self.left_out > 0 {
            let mark = format!("\n[… {} bytes left out …]\n", self.left_out);
            self.head.extend_from_slice(mark.as_bytes());
        }
        self.head.extend_from_slice(&self.tail);
        String::from_utf8_lossy(&self.head).into_owned()
    }
}

/// A command on its way.
struct Running {
    child: Supervised,
    /// What it is told to be stopped, one after the other.
    ladder: &'static [Command],
    ended: Option<(CommandEnd, Drain)>,
    /// Why it is being stopped, since when the last request waits, and how many there were.
    stopping: Option<(CommandEnd, Instant, usize)>,
    /// Its supervisor was killed, and this is what was left of it.
    lost: Option<Left>,
}

impl Engine {
    /// Runs a shell command to its end. Background processes it left live on after a good end only. Where we are
    /// killed, `lock` stays locked until the last of its processes is gone, and whoever takes it next finds out what
    /// is left of them.
    pub fn run_command(
        &self,
        command: &ShellCommand,
        cancel: &CancelWatch,
        lock: Option<&Lease>,
    ) -> Result<CommandOutcome, TurnError> {
        let mark = Uuid::new_v4().to_string();
        lock.map(|lease| lease.add_mark(&mark)).transpose()?;
        let launch = LaunchSpec {
            argv: vec!["sh".into(), "-c".into(), command.command.clone().into()],
            env: command.env.iter().map(|(name, value)| (name.clone(), value.into())).collect(),
            remove_env: Vec::new(),
            dir: &command.dir,
            leases: lock.into_iter().filter_map(Lease::descriptor).collect(),
            mark: mark.clone(),
        };
        let running = Running::start(&self.helper, launch, LADDER)
            .map_err(TurnError::system("cannot start the supervisor of the command"))?;
        let outcome =
            running.watch(command.timeout, cancel).map_err(TurnError::system("cannot watch the command"))?;
        lock.map(|lease| lease.remove_mark(&mark)).transpose()?;
        Ok(outcome)
    }
}

/// Runs a command of ours that nobody waits for longer than this, and lets nothing of it live on.
pub(crate) fn run_to_end(
    helper: &Helper,
    launch: LaunchSpec<'_>,
    limit: Duration,
) -> std::io::Result<CommandOutcome> {
    let (_canceller, never) = CancelWatch::pair().map_err(std::io::Error::other)?;
    Running::start(helper, launch, &[Command::Kill])?.watch(Some(limit), &never)
}

/// How a command of the user's is stopped.
const LADDER: &[Command] = &[Command::Interrupt, Command::Terminate, Command::Kill];

impl Running {
    fn start(helper: &Helper, launch: LaunchSpec<'_>, ladder: &'static [Command]) -> std::io::Result<Self> {
        let mut child = Supervised::start(helper, launch)?;
        child.stdin = None;
        Ok(Self { child, ladder, ended: None, stopping: None, lost: None })
    }

    fn watch(mut self, timeout: Option<Duration>, cancel: &CancelWatch) -> std::io::Result<CommandOutcome> {
        rustix::io::ioctl_fionbio(&self.child.stdout, true)?;
        rustix::io::ioctl_fionbio(&self.child.stderr, true)?;
        self.child.control.set_nonblocking(true)?;
        let started = Instant::now();
        let (mut stdout, mut stderr) = (Kept::default(), Kept::default());
        let (mut stdout_open, mut stderr_open, mut control_open) = (true, true, true);
        let mut buffer = vec![0; 64 << 10];
        loop {
            if self.ended.as_ref().is_some_and(|(_, drain)| drain.is_over(stdout_open || stderr_open)) {
                break;
            }
            self.watch_the_clock(started, timeout);
            let mut fds = vec![(Source::Cancel, cancel.as_fd(), PollFlags::IN)];
            if stdout_open {
                fds.push((Source::Stdout, self.child.stdout.as_fd(), PollFlags::IN));
            }
            if stderr_open {
                fds.push((Source::Stderr, self.child.stderr.as_fd(), PollFlags::IN));
            }
            if control_open {
                fds.push((Source::Control, self.child.control.as_fd(), PollFlags::IN));
            }
            for source in wait_for(&fds, self.patience(started, timeout))? {
                match source {
                    Source::Stdout | Source::Stderr => {
                        let (fd, kept, open) = match source {
                            Source::Stdout => (&self.child.stdout, &mut stdout, &mut stdout_open),
                            _ => (&self.child.stderr, &mut stderr, &mut stderr_open),
                        };
                        let read = read_some(fd, &mut buffer);
                        if let Some((_, drain)) = &mut self.ended {
                            drain.note_read(source, read);
                        }
                        if let Some(bytes) = read {
                            kept.feed(bytes);
                            *open = !bytes.is_empty();
                        }
                    }
                    Source::Control => control_open = self.read_reports(),
                    Source::Cancel => {
                        for _ in 0..cancel.requests() {
                            self.cancel();
                        }
                    }
                    Source::Stdin => {}
                }
            }
        }
        let said = self.ended.map_or(CommandEnd::Killed(None), |(end, _)| end);
        let end = match (said, self.stopping) {
            (CommandEnd::Exited(0), _) => CommandEnd::Exited(0),
            (_, Some((why, ..))) => why,
            (said, None) => said,
        };
        let may_leave = self.ladder == LADDER && end == CommandEnd::Exited(0);
        if may_leave {
            self.child.end_turn();
        }
        self.child.tell(if may_leave { Command::Leave } else { Command::Kill });
        self.child.last_reports();
        let mut complaints = stderr.text();
        if let Some(left) = self.lost.take().or_else(|| self.child.wait()) {
            let words = "the supervisor of the command was killed, and the command with it";
            complaints = format!("{complaints}\nrejoin: {words}; {left}\n");
        }
        Ok(CommandOutcome { end, stdout: stdout.text(), stderr: complaints })
    }

    fn watch_the_clock(&mut self, started: Instant, timeout: Option<Duration>) {
        let grace = Limits::default().grace;
        match &self.stopping {
            _ if self.ended.is_some() => {}
            None if timeout.is_some_and(|limit| started.elapsed() >= limit) => self.stop(CommandEnd::Timeout),
            Some((why, since, _)) if since.elapsed() >= grace => self.stop(why.clone()),
            _ => {}
        }
    }

    /// The user asks: gently at first, at once the second time.
    fn cancel(&mut self) {
        if let Some((_, drain)) = &mut self.ended {
            return drain.hurry();
        }
        if let Some((CommandEnd::Cancelled, _, requests)) = &mut self.stopping {
            *requests = (*requests).max(2);
        }
        self.stop(CommandEnd::Cancelled);
    }

    /// The next rung of the ladder: interrupt, TERM, KILL.
    fn stop(&mut self, why: CommandEnd) {
        let (why, requests) = match self.stopping.take() {
            None => (why, 1),
            Some((first, _, requests)) => (first, requests + 1),
        };
        if let Some(next) = self.ladder.get(requests - 1).or(self.ladder.last()) {
            self.child.tell(*next);
        }
        self.stopping = Some((why, Instant::now(), requests));
    }

    fn patience(&self, started: Instant, timeout: Option<Duration>) -> Duration {
        if self.ended.is_some() {
            return Drain::patience();
        }
        let left = |since: Instant, limit: Duration| limit.saturating_sub(since.elapsed());
        let next = match &self.stopping {
            Some((_, since, _)) => Some(left(*since, Limits::default().grace)),
            None => timeout.map(|limit| left(started, limit)),
        };
        next.unwrap_or(Duration::from_mins(1)) + Duration::from_millis(1)
    }

    /// Whether more may come.
    fn read_reports(&mut self) -> bool {
        let Some(reports) = self.child.read_reports() else {
            self.lost = self.child.wait();
            self.end(CommandEnd::Killed(None));
            return false;
        };
        for report in reports {
            let end = match report {
                Report::Exited { code: Some(code), .. } => CommandEnd::Exited(code),
                Report::Exited { signal, .. } => CommandEnd::Killed(signal),
                Report::Failed { text } => CommandEnd::NotStarted(text),
                _ => continue,
            };
            self.end(end);
        }
        true
    }

    fn end(&mut self, end: CommandEnd) {
        if self.ended.is_none() {
            self.ended = Some((end, Drain::begin(&self.child.stdout, &self.child.stderr)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_beginning_and_end_are_kept() {
        let mut kept = Kept::default();
        for at in 0..400_000_u32 {
            kept.feed(format!("line {at}\n").as_bytes());
        }
        let text = kept.text();
        assert!(text.len() < 2 * KEPT + 100, "{}", text.len());
        assert!(text.starts_with("line 0\n") && text.ends_with("line 399999\n"));
        assert!(text.contains("bytes left out"));
    }
}
