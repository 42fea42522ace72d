//! One run of an agent: moves bytes between the process and its driver, watches the clock, and
//! stops what must be stopped. A single loop over everything that can happen.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rejoin_agents::{Answer, Driver, Exit, Line, Step};
use rejoin_core::{Event, FailureClass, MessageId, Outcome, SessionId, Stream, Usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::cancel::CancelWatch;
use crate::desk::Desk;
use crate::lines::Lines;
use crate::supervisor::{Command, Report, Supervised};

/// How long things may take, and how large they may be.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The whole turn.
    pub turn: Option<Duration>,
    /// Silence while no tool runs and no question is open.
    pub idle: Option<Duration>,
    /// From the end of the turn to the end of the process.
    pub exit: Duration,
    /// Between two steps of the stop ladder.
    pub grace: Duration,
    /// One line of output.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turn: None,
            idle: Some(Duration::from_secs(15 * 60)),
            exit: Duration::from_secs(10),
            grace: Duration::from_secs(5),
            line: 8 << 20,
        }
    }
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The turn is over.
    Ended(Outcome),
    /// The agent did not resume the session it was asked for.
    Rejected(String),
}

/// What a run brought.
#[derive(Debug, Default)]
pub(crate) struct Yield {
    pub(crate) session: Option<SessionId>,
    pub(crate) stored: bool,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
    pub(crate) total: Option<Usage>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) diagnostics: u64,
    pub(crate) warnings: Vec<String>,
    /// The agent said or did something: a second run would do it twice.
    pub(crate) active: bool,
    pub(crate) answer: AnswerText,
}

/// The text of the newest message of the agent, bounded.
#[derive(Debug, Default)]
pub(crate) struct AnswerText {
    message: Option<MessageId>,
    pub(crate) text: String,
}

const ANSWER_BYTES: usize = 8 << 20;
const STDERR_LINE: usize = 64 << 10;
const STDERR_TAIL: usize = 8 << 10;
/// How long a stream may stay open after the agent's end (a background process may hold it).
const DRAIN: Duration = Duration::from_millis(200);

/// Answers on their way from the watcher to the agent.
#[derive(Clone)]
pub(crate) struct AnswerBox {
    answers: Arc<Mutex<Vec<(String, Answer)>>>,
    wake: Arc<(UnixStream, UnixStream)>,
}

impl AnswerBox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        Ok(Self { answers: Arc::default(), wake: Arc::new((ours, theirs)) })
    }

    pub(crate) fn put(&self, question: String, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((question, answer));
        let _ = (&self.wake.1).write(&[1]);
    }

    fn take(&self) -> Vec<(String, Answer)> {
        let _ = (&self.wake.0).read(&mut [0; 64]);
        std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Who may say what during a run.
pub(crate) struct Surroundings<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) cancel: &'a CancelWatch,
    pub(crate) answers: &'a AnswerBox,
    /// Somebody is there to answer questions.
    pub(crate) can_ask: bool,
    /// The session that was asked for.
    pub(crate) asked: Option<&'a SessionId>,
    /// Makes a session id of what the agent printed, if it can be one.
    pub(crate) to_session: &'a dyn Fn(&str) -> Option<SessionId>,
    /// Called when the session is known, and when it is known to be stored.
    pub(crate) on_session: &'a dyn Fn(&SessionId, bool) -> Option<rejoin_core::System>,
    /// When the turn began.
    pub(crate) started: Instant,
}

/// Where the stop ladder stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Rung {
    Interrupted,
    Terminated,
    Killed,
}

struct Pump<'a> {
    child: Supervised,
    driver: Box<dyn Driver>,
    around: &'a Surroundings<'a>,
    desk: &'a mut Desk,
    got: Yield,
    steps: Vec<Step>,
    verdict: Option<Verdict>,
    /// Why we stop it, and what the turn then counts as.
    stopping: Option<(Rung, Instant, Verdict)>,
    input: Vec<u8>,
    written: usize,
    close_input: bool,
    reports: Vec<u8>,
    stderr_tail: String,
    open_tools: HashSet<String>,
    open_questions: HashSet<String>,
    /// Last sign of life that counts.
    alive: Instant,
    /// When the agent's process ended, and how.
    exited: Option<(Instant, Option<i32>, Option<i32>)>,
    /// When the turn ended.
    over: Option<Instant>,
}

/// Runs one launched agent to its end and cleans up behind it.
pub(crate) fn pump(
    child: Supervised,
    driver: Box<dyn Driver>,
    around: &Surroundings<'_>,
    desk: &mut Desk,
) -> std::io::Result<(Verdict, Yield)> {
    if let Some(stdin) = &child.stdin {
        rustix::io::ioctl_fionbio(stdin, true)?;
    }
    rustix::io::ioctl_fionbio(&child.stdout, true)?;
    rustix::io::ioctl_fionbio(&child.stderr, true)?;
    child.control.set_nonblocking(true)?;
    let mut pump = Pump {
        child,
        driver,
        around,
        desk,
        got: Yield::default(),
        steps: Vec::new(),
        verdict: None,
        stopping: None,
        input: Vec::new(),
        written: 0,
        close_input: false,
        reports: Vec::new(),
        stderr_tail: String::new(),
        open_tools: HashSet::new(),
        open_questions: HashSet::new(),
        alive: Instant::now(),
        exited: None,
        over: None,
    };
    pump.driver.start(&mut pump.steps);
    pump.act();
    pump.run()?;
    Ok(pump.finish())
}

impl Pump<'_> {
    fn run(&mut self) -> std::io::Result<()> {
        let mut stdout = Lines::new(self.around.limits.line);
        let mut stderr = Lines::new(STDERR_LINE);
        let (mut stdout_open, mut stderr_open, mut control_open) = (true, true, true);
        let mut buffer = vec![0; 256 << 10];
        let mut quiet_since = Instant::now();
        loop {
            self.desk.flush();
            self.watch_the_clock();
            if let Some((at, ..)) = self.exited
                && ((!stdout_open && !stderr_open) || quiet_since.max(at).elapsed() >= DRAIN)
                && !self.desk.is_full()
            {
                break;
            }
            let ready = {
                let mut fds = Vec::with_capacity(6);
                if stdout_open && !self.desk.is_full() {
                    fds.push((Source::Stdout, self.child.stdout.as_fd(), PollFlags::IN));
                }
                if stderr_open {
                    fds.push((Source::Stderr, self.child.stderr.as_fd(), PollFlags::IN));
                }
                if control_open {
                    fds.push((Source::Control, self.child.control.as_fd(), PollFlags::IN));
                }
                if let Some(stdin) = self.child.stdin.as_ref().filter(|_| self.written < self.input.len()) {
                    fds.push((Source::Stdin, stdin.as_fd(), PollFlags::OUT));
                }
                fds.push((Source::Cancel, self.around.cancel.as_fd(), PollFlags::IN));
                fds.push((Source::Answer, self.around.answers.wake.0.as_fd(), PollFlags::IN));
                wait_for(&fds, self.patience())?
            };
            for source in ready {
                match source {
                    Source::Control => control_open = self.read_reports(),
                    Source::Stdin => self.write_input(),
                    Source::Cancel => self.on_cancel(),
                    Source::Answer => self.on_answers(),
                    Source::Stdout => {
                        quiet_since = Instant::now();
                        stdout_open = self.read_stdout(&mut stdout, &mut buffer);
                    }
                    Source::Stderr => {
                        quiet_since = Instant::now();
                        stderr_open = self.read_stderr(&mut stderr, &mut buffer);
                    }
                }
            }
        }
        let (driver, steps) = (&mut self.driver, &mut self.steps);
        stdout.finish(|line| driver.on_line(line, steps));
        self.act();
        Ok(())
    }

    fn read_stdout(&mut self, lines: &mut Lines, buffer: &mut [u8]) -> bool {
        let Some(bytes) = read_some(&self.child.stdout, buffer) else { return true };
        let (driver, steps) = (&mut self.driver, &mut self.steps);
        lines.feed(bytes, |line| driver.on_line(line, steps));
        let open = !bytes.is_empty();
        self.act();
        open
    }

    fn read_stderr(&mut self, lines: &mut Lines, buffer: &mut [u8]) -> bool {
        let Some(bytes) = read_some(&self.child.stderr, buffer) else { return true };
        let open = !bytes.is_empty();
        let (driver, steps, tail) = (&mut self.driver, &mut self.steps, &mut self.stderr_tail);
        let mut take = |line: Line<'_>| {
            let text = crate::text::printable(&String::from_utf8_lossy(line.bytes));
            driver.on_stderr(line, steps);
            tail.push_str(&text);
            tail.push('\n');
            steps.push(Step::Emit(Event::Diagnostic { stream: Stream::Stderr, text }));
        };
        lines.feed(bytes, &mut take);
        if !open {
            lines.finish(&mut take);
        }
        if tail.len() > STDERR_TAIL {
            let cut = tail.ceil_char_boundary(tail.len() - STDERR_TAIL);
            tail.drain(..cut);
        }
        self.act();
        open
    }

    fn read_reports(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match (&self.child.control).read(&mut buffer) {
            Ok(0) => {
                // The supervisor is gone; without its word the agent is, too.
                self.exited.get_or_insert((Instant::now(), None, None));
                return false;
            }
            Ok(count) => self.reports.extend_from_slice(&buffer[..count]),
            Err(_) => return true,
        }
        while let Some(end) = self.reports.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.reports.drain(..=end).collect();
            match serde_json::from_slice(&line) {
                Ok(Report::Exited { code, signal }) => {
                    self.exited = Some((Instant::now(), code, signal));
                    self.got.exit_code = code;
                }
                Ok(Report::Failed { text, .. }) => {
                    let words = format!("the agent could not be started: {text}");
                    self.verdict = Some(Verdict::Ended(Outcome::failed(FailureClass::Launch, words)));
                    self.exited = Some((Instant::now(), None, None));
                }
                _ => {}
            }
        }
        true
    }

    fn write_input(&mut self) {
        let Some(stdin) = &self.child.stdin else { return };
        match rustix::io::write(stdin, &self.input[self.written..]) {
            Ok(count) => self.written += count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            // The agent closed its input: what it says counts, not what it missed.
            Err(_) => self.written = self.input.len(),
        }
        if self.written == self.input.len() {
            self.input = Vec::new();
            self.written = 0;
        }
        self.maybe_close_input();
    }

    fn maybe_close_input(&mut self) {
        if self.close_input && self.written == self.input.len() {
            self.child.stdin = None;
        }
    }

    /// Carries out what the driver asked for.
    fn act(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Emit(event) => self.on_event(event),
                Step::Write(bytes) => self.input.extend_from_slice(&bytes),
                Step::CloseStdin => self.close_input = true,
                Step::Stored => self.on_stored(),
                Step::Total(total) => self.got.total = Some(total),
                Step::Rejected(words) => self.conclude(Verdict::Rejected(words)),
                Step::Ended(outcome) => self.conclude(Verdict::Ended(outcome)),
            }
        }
        if self.steps.is_empty() {
            self.steps = steps;
        } else {
            // An answer given on the spot brought more steps.
            self.act();
        }
        self.maybe_close_input();
    }

    fn conclude(&mut self, verdict: Verdict) {
        if self.verdict.is_none() {
            self.verdict = Some(verdict);
            self.over = Some(Instant::now());
            self.close_input = true;
        }
    }

    fn on_stored(&mut self) {
        self.got.stored = true;
        if let Some(session) = &self.got.session
            && let Some(system) = (self.around.on_session)(session, true)
        {
            self.desk.write(system);
        }
    }

    fn on_event(&mut self, event: Event) {
        let mut counts_as_life = true;
        match &event {
            Event::Session { session, model, .. } => {
                if model.is_some() {
                    self.got.model.clone_from(model);
                }
                let session = session.clone();
                self.on_session(&session);
            }
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                self.got.active = true;
                self.got.answer.put(*message, *offset, text);
            }
            Event::Thinking { .. } => self.got.active = true,
            Event::ToolUse { id, .. } => {
                self.got.active = true;
                self.open_tools.insert(id.clone());
            }
            Event::ToolResult { id, .. } => {
                self.got.active = true;
                self.open_tools.remove(id);
            }
            Event::Usage { usage, cost } => {
                self.got.usage = Some(*usage);
                self.got.cost = cost.or(self.got.cost);
            }
            Event::Question(question) => {
                if self.around.can_ask {
                    self.open_questions.insert(question.id.clone());
                } else {
                    self.driver.answer(&question.id, Answer::Declined, &mut self.steps);
                }
            }
            Event::Warning { code, text } => {
                // Being told to wait is no sign of life: an agent may retry for ever.
                counts_as_life = code != "retry";
                if counts_as_life {
                    self.got.warnings.push(text.clone());
                }
            }
            Event::Diagnostic { stream: Stream::Stdout, .. } => self.got.diagnostics += 1,
            _ => {}
        }
        if counts_as_life {
            self.alive = Instant::now();
        }
        self.desk.emit(event);
    }

    /// The agent named its session: another one than asked for is a loss, stopped at this line.
    fn on_session(&mut self, named: &str) {
        let session = (self.around.to_session)(named);
        if let Some(asked) = self.around.asked
            && session.as_ref() != Some(asked)
        {
            let words = format!("it answered with session {} instead", crate::text::printable(named));
            self.stop(Rung::Killed, Verdict::Rejected(words));
            return;
        }
        if self.got.session != session
            && let Some(session) = session
        {
            if let Some(system) = (self.around.on_session)(&session, false) {
                self.desk.write(system);
            }
            self.got.session = Some(session);
        }
    }

    fn on_answers(&mut self) {
        for (question, answer) in self.around.answers.take() {
            if self.open_questions.remove(&question) {
                self.driver.answer(&question, answer, &mut self.steps);
            }
        }
        self.alive = Instant::now();
        self.act();
    }

    fn on_cancel(&mut self) {
        for _ in 0..self.around.cancel.requests() {
            match &self.stopping {
                None => self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Cancelled)),
                Some(_) => self.climb(Rung::Killed),
            }
        }
    }

    /// Begins to stop the agent.
    fn stop(&mut self, rung: Rung, verdict: Verdict) {
        if self.stopping.is_none() && self.exited.is_none() {
            self.stopping = Some((rung, Instant::now(), verdict));
            self.climb(rung);
        }
    }

    fn climb(&mut self, to: Rung) {
        if let Some((rung, since, _)) = &mut self.stopping {
            (*rung, *since) = (to, Instant::now());
        }
        match to {
            Rung::Interrupted => {
                self.driver.interrupt(&mut self.steps);
                if self.steps.is_empty() {
                    self.child.tell(Command::Interrupt);
                }
                self.act();
            }
            Rung::Terminated => self.child.tell(Command::Terminate),
            Rung::Killed => self.child.tell(Command::Kill),
        }
    }

    fn watch_the_clock(&mut self) {
        if self.exited.is_some() {
            return;
        }
        let limits = self.around.limits;
        if self.desk.is_broken() {
            // What cannot be written down must not go on happening.
            let words = "the journal could not be written";
            self.stop(Rung::Killed, Verdict::Ended(Outcome::failed(FailureClass::Other, words)));
        }
        if let Some((rung, since, _)) = &self.stopping {
            if since.elapsed() >= limits.grace && *rung < Rung::Killed {
                let next = if *rung == Rung::Interrupted { Rung::Terminated } else { Rung::Killed };
                self.climb(next);
            }
        } else if let Some(over) = self.over {
            if over.elapsed() >= limits.exit {
                let words = format!(
                    "the agent had not exited {} s after its turn ended and was stopped",
                    limits.exit.as_secs()
                );
                self.got.warnings.push(words.clone());
                self.desk.emit(Event::Warning { code: "lingering".into(), text: words });
                self.stop(Rung::Terminated, Verdict::Ended(Outcome::Completed));
            }
        } else if let Some(limit) = limits.turn.filter(|limit| self.around.started.elapsed() >= *limit) {
            let message = format!("the turn took longer than {}", crate::text::seconds(limit));
            self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Timeout { message }));
        } else if let Some(limit) = self.idle_limit().filter(|limit| self.alive.elapsed() >= *limit) {
            let message = format!("nothing came from the agent for {}", crate::text::seconds(limit));
            self.stop(Rung::Interrupted, Verdict::Ended(Outcome::Timeout { message }));
        }
    }

    fn idle_limit(&self) -> Option<Duration> {
        self.around.limits.idle.filter(|_| self.open_tools.is_empty() && self.open_questions.is_empty())
    }

    /// How long nothing may happen before the clock must be looked at again.
    fn patience(&self) -> Duration {
        if self.desk.is_full() {
            return Duration::from_millis(5);
        }
        if self.exited.is_some() {
            return Duration::from_millis(20);
        }
        let limits = self.around.limits;
        let left = |since: Instant, limit: Duration| limit.saturating_sub(since.elapsed());
        let turn = limits.turn.map(|limit| left(self.around.started, limit));
        let idle = self.idle_limit().map(|limit| left(self.alive, limit));
        let ladder = self.stopping.as_ref().map(|(_, since, _)| left(*since, limits.grace));
        let exit = self.over.map(|over| left(over, limits.exit));
        let next = [turn, idle, ladder, exit].into_iter().flatten().min();
        next.unwrap_or(Duration::from_secs(60)) + Duration::from_millis(1)
    }

    fn finish(mut self) -> (Verdict, Yield) {
        if self.verdict.is_none() {
            let (code, signal) = self.exited.map_or((None, None), |(_, code, signal)| (code, signal));
            let stderr = std::mem::take(&mut self.stderr_tail);
            self.driver.on_exit(&Exit { code, signal, stderr: &stderr }, &mut self.steps);
            self.act();
        }
        let said = self.verdict.take().unwrap_or_else(|| {
            Verdict::Ended(Outcome::failed(FailureClass::NoResult, "the agent ended without a result"))
        });
        let verdict = match (self.stopping.take(), said) {
            // The wrong session: whatever it said is not about this conversation.
            (Some((_, _, rejected @ Verdict::Rejected(_))), _) => rejected,
            // It was done before it noticed that it should stop.
            (_, done @ Verdict::Ended(Outcome::Completed)) => done,
            (Some((_, _, ours)), _) => ours,
            (None, said) => said,
        };
        if matches!(verdict, Verdict::Ended(Outcome::Completed)) {
            self.leave_background_processes();
        } else {
            self.child.tell(Command::Kill);
        }
        self.child.wait();
        self.desk.flush();
        (verdict, self.got)
    }

    /// After a clean turn background processes live on, and are named.
    fn leave_background_processes(&mut self) {
        self.child.tell(Command::Leave);
        for report in self.child.last_reports() {
            if let Report::Left { processes } = report
                && !processes.is_empty()
            {
                let names: Vec<String> =
                    processes.iter().take(5).map(|(pid, name)| format!("{name} ({pid})")).collect();
                let more = if processes.len() > 5 { " and more" } else { "" };
                let text = format!("still running in the background: {}{more}", names.join(", "));
                self.got.warnings.push(text.clone());
                self.desk.emit(Event::Warning { code: "background".into(), text });
            }
        }
    }
}

impl AnswerText {
    /// Takes in a piece or a block of text; a new message begins a new answer.
    fn put(&mut self, message: MessageId, offset: usize, text: &str) {
        if self.message != Some(message) {
            self.message = Some(message);
            self.text.clear();
        }
        if offset < self.text.len() {
            self.text.truncate(self.text.floor_char_boundary(offset));
        }
        let room = ANSWER_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

#[derive(Clone, Copy)]
enum Source {
    Stdout,
    Stderr,
    Stdin,
    Control,
    Cancel,
    Answer,
}

/// Waits until something can be done, and tells what.
fn wait_for(fds: &[(Source, BorrowedFd<'_>, PollFlags)], limit: Duration) -> std::io::Result<Vec<Source>> {
    let mut polled: Vec<PollFd<'_>> =
        fds.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 60, tv_nsec: 0 });
    match poll(&mut polled, Some(&limit)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    }
    let ready = fds.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
    Ok(ready.map(|((source, ..), _)| *source).collect())
}

/// What can be read now; `None` if nothing, an empty slice at the end.
fn read_some<'b>(fd: &OwnedFd, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    match rustix::io::read(fd, &mut *buffer) {
        Ok(count) => Some(&buffer[..count]),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => None,
        Err(_) => Some(&[]),
    }
}
