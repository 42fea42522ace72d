//! One run of an agent: moves bytes between the process and its driver, watches the clock, and
//! stops what must be stopped. A single loop over everything that can happen.

use std::collections::HashSet;
use std::io::Read;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rejoin_agents::{Answer, Driver, Exit, Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, SessionId, Stream};
use rustix::event::PollFlags;

use crate::Limits;
use crate::answers::AnswerBox;
use crate::cancel::CancelWatch;
use crate::desk::Desk;
use crate::harvest::{Verdict, Yield};
use crate::ladder::Rung;
use crate::lines::Lines;
use crate::poll::{Source, read_some, wait_for};
use crate::supervisor::{Command, Report, Supervised, list_processes};

const STDERR_LINE: usize = 64 << 10;
const STDERR_TAIL: usize = 8 << 10;
/// How long a stream may stay open after the agent's end (a background process may hold it).
const DRAIN: Duration = Duration::from_millis(200);

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
    /// Whether the second session goes on with all that the first one, which was asked for, held.
    pub(crate) continues: &'a dyn Fn(&SessionId, &SessionId) -> bool,
    /// Called when the session is known, and when it is known to be stored.
    pub(crate) on_session: &'a dyn Fn(&SessionId, bool) -> Option<rejoin_core::System>,
    /// When the turn began.
    pub(crate) started: Instant,
}

/// A run on its way.
pub(crate) struct Pump<'a> {
    pub(crate) child: Supervised,
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) around: &'a Surroundings<'a>,
    pub(crate) desk: &'a mut Desk,
    pub(crate) got: Yield,
    pub(crate) steps: Vec<Step>,
    verdict: Option<Verdict>,
    /// How far we are in stopping it, since when, and what the turn then counts as: nothing if that
    /// was said before.
    pub(crate) stopping: Option<(Rung, Instant, Option<Verdict>)>,
    input: Vec<u8>,
    written: usize,
    close_input: bool,
    reports: Vec<u8>,
    stderr_tail: String,
    pub(crate) open_tools: HashSet<String>,
    pub(crate) open_questions: HashSet<String>,
    /// Last sign of life that counts.
    pub(crate) alive: Instant,
    /// When the agent's process ended, and how.
    pub(crate) exited: Option<(Instant, Option<i32>, Option<i32>)>,
    /// When the turn ended.
    pub(crate) over: Option<Instant>,
    /// The supervisor was killed: in what words that is told.
    lost: Option<String>,
    /// After that the agent began to shorten its memory, for which it asks its model.
    pub(crate) compacting: bool,
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
        lost: None,
        compacting: false,
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
                fds.push((Source::Answer, self.around.answers.as_fd(), PollFlags::IN));
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
            let text = crate::text::diagnostic(&String::from_utf8_lossy(line.bytes));
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
                self.on_supervisor_gone();
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
                Ok(Report::Failed { text }) => {
                    let words = format!("the agent could not be started: {text}");
                    self.verdict = Some(Verdict::Ended(Outcome::failed(FailureClass::Launch, words)));
                    self.exited = Some((Instant::now(), None, None));
                }
                _ => {}
            }
        }
        true
    }

    /// Without its word the agent is gone, too; if it was killed, so is all that it supervised by now.
    fn on_supervisor_gone(&mut self) {
        self.exited.get_or_insert((Instant::now(), None, None));
        if let Some(left) = self.child.wait() {
            let words = format!("the supervisor of the agent was killed, and the agent with it; {left}");
            self.got.warnings.push(words.clone());
            self.desk.emit(Event::Warning { code: "supervisor".into(), text: words.clone() });
            self.lost = Some(words);
        }
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
    pub(crate) fn act(&mut self) {
        let mut steps = std::mem::take(&mut self.steps);
        for step in steps.drain(..) {
            match step {
                Step::Emit(event) => self.on_event(event),
                Step::Write(bytes) => self.input.extend_from_slice(&bytes),
                Step::CloseStdin => self.close_input = true,
                Step::Stored => self.on_stored(),
                Step::Total(total) => self.got.total = Some(total),
                Step::Rejected(words) => self.conclude(Verdict::Rejected(words)),
                Step::Ended(outcome) => {
                    // It does not run as it was told to: not a moment longer.
                    if matches!(
                        outcome,
                        Outcome::Failed { class: FailureClass::Launch | FailureClass::Setup, .. }
                    ) {
                        self.stop(Rung::Killed, None);
                    }
                    self.conclude(Verdict::Ended(outcome));
                }
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
        if matches!(self.stopping, Some((_, _, Some(Verdict::Rejected(_))))) {
            // Of the wrong session nothing more is taken in.
            return;
        }
        let mut counts_as_life = true;
        match &event {
            Event::Session { session, model, .. } => {
                if !self.is_the_right_session(session) {
                    return;
                }
                if model.is_some() {
                    self.got.model.clone_from(model);
                }
            }
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                self.got.active = true;
                self.got.answer.put(*message, *offset, text);
                // Where there is no session to tell it with, only the answer names the model.
                if let (None, Event::Message { model, .. }) = (&self.got.model, &event) {
                    self.got.model.clone_from(model);
                }
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
            Event::Compaction { .. } => self.compacting = self.over.is_some(),
            Event::Diagnostic { stream: Stream::Stdout, .. } => self.got.diagnostics += 1,
            _ => {}
        }
        if counts_as_life {
            self.alive = Instant::now();
        }
        self.desk.emit(event);
    }

    /// The agent named its session: another one than asked for is a loss, stopped at this line, unless
    /// its store shows that it goes on there.
    fn is_the_right_session(&mut self, named: &str) -> bool {
        let session = (self.around.to_session)(named);
        let known = self.got.session.as_ref();
        let goes_on = |asked: &SessionId| {
            let is_it = |named: &SessionId| named == asked || Some(named) == known;
            session.as_ref().is_some_and(|named| is_it(named) || (self.around.continues)(asked, named))
        };
        if let Some(asked) = self.around.asked
            && !goes_on(asked)
        {
            let words = format!("it answered with session {} instead", rejoin_core::visible_line(named));
            self.stop(Rung::Killed, Some(Verdict::Rejected(words)));
            return false;
        }
        if self.got.session != session
            && let Some(session) = session
        {
            if let Some(system) = (self.around.on_session)(&session, false) {
                self.desk.write(system);
            }
            self.got.session = Some(session);
        }
        true
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

    fn finish(mut self) -> (Verdict, Yield) {
        if let (None, Some(words)) = (&self.verdict, self.lost.take()) {
            self.verdict = Some(Verdict::Ended(Outcome::failed(FailureClass::Supervisor, words)));
        }
        if self.verdict.is_none() {
            let (code, signal) = self.exited.map_or((None, None), |(_, code, signal)| (code, signal));
            let stderr = std::mem::take(&mut self.stderr_tail);
            self.driver.on_exit(&Exit { code, signal, stderr: &stderr }, &mut self.steps);
            self.act();
        }
        let said = self.verdict.take().unwrap_or_else(|| {
            Verdict::Ended(Outcome::failed(FailureClass::NoResult, "the agent ended without a result"))
        });
        let verdict = match (self.stopping.take().and_then(|(_, _, ours)| ours), said) {
            // The wrong session: whatever it said is not about this conversation.
            (Some(rejected @ Verdict::Rejected(_)), _) => rejected,
            // It was done before it noticed that it should stop.
            (_, done @ Verdict::Ended(Outcome::Completed)) => done,
            (Some(ours), _) => ours,
            (None, said) => said,
        };
        if matches!(verdict, Verdict::Ended(Outcome::Completed)) {
            self.leave_background_processes();
        } else {
            self.child.tell(Command::Kill);
        }
        self.on_supervisor_gone();
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
                let text = format!("still running in the background: {}", list_processes(&processes));
                self.got.warnings.push(text.clone());
                self.desk.emit(Event::Warning { code: "background".into(), text });
            }
        }
    }
}
