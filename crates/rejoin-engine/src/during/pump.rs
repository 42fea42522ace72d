//! One run of an agent: moves bytes between the process and its driver, watches the clock, and
//! stops what must be stopped. A single loop over everything that can happen.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::time::Instant;

use rejoin_agents::{Driver, Exit, Line, Step};
use rejoin_core::{Event, FailureClass, Outcome, SessionId, Stream};
use rustix::event::PollFlags;

use crate::Limits;
use crate::during::answers::AnswerBox;
use crate::during::cancel::CancelWatch;
use crate::during::drain::Drain;
use crate::during::launch_result::{LINES_KEPT, LaunchResult, Verdict};
use crate::during::lines::Lines;
use crate::during::outbox::Outbox;
use crate::during::poll::{Source, read_some, wait_for};
use crate::during::questions::OpenSince;
use crate::during::silence::{Silence, shows_life};
use crate::during::stop::Rung;
use crate::supervisor::{Command, Report, Supervised, list_processes};

const STDERR_LINE: usize = 64 << 10;
const STDERR_TAIL: usize = 8 << 10;

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
    pub(crate) on_session: &'a mut dyn FnMut(&SessionId, bool) -> Option<rejoin_core::System>,
    /// When the turn began.
    pub(crate) started: Instant,
}

/// A run on its way.
pub(crate) struct Pump<'a, 'b> {
    pub(crate) child: Supervised,
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) around: &'a mut Surroundings<'b>,
    pub(crate) outbox: &'a mut Outbox,
    pub(crate) got: LaunchResult,
    pub(crate) steps: Vec<Step>,
    verdict: Option<Verdict>,
    /// How far we are in stopping it, since when, and what the turn then counts as: nothing if that
    /// was said before.
    pub(crate) stopping: Option<(Rung, Instant, Option<Verdict>)>,
    input: Vec<u8>,
    written: usize,
    close_input: bool,
    stderr_tail: String,
    pub(crate) open_tools: HashSet<String>,
    pub(crate) open_questions: HashMap<String, OpenSince>,
    /// How long nothing came that counts.
    pub(crate) silence: Silence,
    /// Since when it was told nothing but to try again later.
    pub(crate) limited_since: Option<Instant>,
    /// The last look found nothing to read.
    pub(crate) heard_nothing: bool,
    /// How the agent's process ended.
    pub(crate) exited: Option<(Option<i32>, Option<i32>)>,
    /// What is then still to be read.
    pub(crate) drain: Option<Drain>,
    /// When the turn ended.
    pub(crate) over: Option<Instant>,
    /// The supervisor was killed: in what words that is told.
    lost: Option<String>,
    /// After that the agent began to shorten its memory, for which it asks its model.
    pub(crate) compacting: bool,
}

/// Runs one launched agent to its end and cleans up behind it. `first` is what its turn begins with.
pub(crate) fn pump(
    child: Supervised,
    driver: Box<dyn Driver>,
    first: Vec<Step>,
    around: &mut Surroundings<'_>,
    outbox: &mut Outbox,
) -> std::io::Result<(Verdict, LaunchResult)> {
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
        outbox,
        got: LaunchResult::default(),
        steps: first,
        verdict: None,
        stopping: None,
        input: Vec::new(),
        written: 0,
        close_input: false,
        stderr_tail: String::new(),
        open_tools: HashSet::new(),
        open_questions: HashMap::new(),
        silence: Silence::begin(),
        limited_since: None,
        heard_nothing: false,
        exited: None,
        drain: None,
        over: None,
        lost: None,
        compacting: false,
    };
    pump.act();
    pump.run()?;
    Ok(pump.finish())
}

impl Pump<'_, '_> {
    fn run(&mut self) -> std::io::Result<()> {
        let mut stdout = Lines::new(self.around.limits.line);
        let mut stderr = Lines::new(STDERR_LINE);
        let (mut stdout_open, mut stderr_open, mut control_open) = (true, true, true);
        // As much as a pipe holds.
        let mut buffer = vec![0; 64 << 10];
        loop {
            self.outbox.flush();
            self.watch_the_clock();
            if self.drain.as_ref().is_some_and(|drain| drain.is_over(stdout_open || stderr_open)) {
                break;
            }
            let reading = !self.outbox.is_full();
            self.silence.listen(reading);
            let ready = {
                let mut fds = Vec::with_capacity(6);
                if stdout_open && reading {
                    fds.push((Source::Stdout, self.child.stdout.as_fd(), PollFlags::IN));
                }
                if stderr_open && reading {
                    fds.push((Source::Stderr, self.child.stderr.as_fd(), PollFlags::IN));
                }
                if control_open {
                    fds.push((Source::Control, self.child.control.as_fd(), PollFlags::IN));
                }
                if let Some(stdin) = self.child.stdin.as_ref().filter(|_| self.may_write()) {
                    fds.push((Source::Stdin, stdin.as_fd(), PollFlags::OUT));
                }
                fds.push((Source::Cancel, self.around.cancel.as_fd(), PollFlags::IN));
                wait_for(&fds, self.patience(reading))?
            };
            self.heard_nothing = reading && !ready.contains(&Source::Stdout);
            for source in ready {
                match source {
                    Source::Control => control_open = self.read_reports(),
                    Source::Stdin => self.write_input(),
                    Source::Cancel => {
                        self.on_cancel();
                        self.on_answers();
                    }
                    Source::Stdout => stdout_open = self.read_stdout(&mut stdout, &mut buffer),
                    Source::Stderr => stderr_open = self.read_stderr(&mut stderr, &mut buffer),
                }
            }
        }
        let (driver, steps) = (&mut self.driver, &mut self.steps);
        stdout.finish(|line| driver.on_line(line, steps));
        self.act();
        Ok(())
    }

    fn read_stdout(&mut self, lines: &mut Lines, buffer: &mut [u8]) -> bool {
        let read = read_some(&self.child.stdout, buffer);
        self.note_read(Source::Stdout, read);
        let Some(bytes) = read else { return true };
        let (driver, steps, over) = (&mut self.driver, &mut self.steps, self.over.is_some());
        let mut alive = false;
        lines.feed(bytes, |line| {
            let before = steps.len();
            driver.on_line(line, steps);
            let new = &steps[before..];
            // After the end of the turn drivers pass over most lines, and over empty ones always.
            let passed_over = new.is_empty() && (over || line.bytes.trim_ascii().is_empty());
            alive |= !passed_over && shows_life(new);
        });
        self.take_life(alive);
        self.act();
        !bytes.is_empty()
    }

    fn read_stderr(&mut self, lines: &mut Lines, buffer: &mut [u8]) -> bool {
        let read = read_some(&self.child.stderr, buffer);
        self.note_read(Source::Stderr, read);
        let Some(bytes) = read else { return true };
        let open = !bytes.is_empty();
        let (driver, steps, tail) = (&mut self.driver, &mut self.steps, &mut self.stderr_tail);
        let mut alive = false;
        let mut take = |line: Line<'_>| {
            let text = crate::during::text::diagnostic(&String::from_utf8_lossy(line.bytes));
            let before = steps.len();
            driver.on_stderr(line, steps);
            alive |= steps.len() > before && shows_life(&steps[before..]);
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
        self.take_life(alive);
        self.act();
        open
    }

    fn note_read(&mut self, source: Source, read: Option<&[u8]>) {
        if let Some(drain) = &mut self.drain {
            drain.note_read(source, read);
        }
    }

    fn take_life(&mut self, alive: bool) {
        if alive {
            self.silence.end();
        }
    }

    /// The agent's process is gone. What it wrote is still in its pipes.
    fn on_exit(&mut self, code: Option<i32>, signal: Option<i32>) {
        if self.exited.is_none() {
            self.exited = Some((code, signal));
            self.drain = Some(Drain::begin(&self.child.stdout, &self.child.stderr));
        }
    }

    fn read_reports(&mut self) -> bool {
        let Some(reports) = self.child.read_reports() else {
            self.on_supervisor_gone();
            return false;
        };
        for report in reports {
            match report {
                Report::Exited { code, signal } => {
                    self.on_exit(code, signal);
                    self.got.exit_code = code;
                }
                Report::Failed { text } => {
                    let words = format!("the agent could not be started: {text}");
                    self.verdict = Some(Verdict::Ended(Outcome::failed(FailureClass::Launch, words)));
                    self.on_exit(None, None);
                }
                _ => {}
            }
        }
        true
    }

    /// Without its word the agent is gone, too; if it was killed, so is all that it supervised by now.
    fn on_supervisor_gone(&mut self) {
        self.on_exit(None, None);
        if let Some(left) = self.child.wait() {
            let words = format!("the supervisor of the agent was killed, and the agent with it; {left}");
            self.got.warn(&words);
            self.outbox.emit(Event::Warning { code: "supervisor".into(), text: words.clone() });
            self.lost = Some(words);
        }
    }

    /// Nothing is said to the agent that nobody would end: the supervisor has the turn's leases first.
    fn may_write(&self) -> bool {
        self.written < self.input.len() && self.child.holds_leases()
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
                Step::Waiting => {}
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
            self.outbox.write(system);
        }
    }

    fn on_event(&mut self, event: Event) {
        if matches!(self.stopping, Some((_, _, Some(Verdict::Rejected(_))))) {
            // Of the wrong session nothing more is taken in.
            return;
        }
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
            Event::Question(question) => return self.on_question(question.clone()),
            Event::QuestionWithdrawn { question } => {
                self.open_questions.remove(question);
                self.around.answers.close(question);
            }
            // Being told to wait is nothing to repeat at the end.
            Event::Warning { code, text } if code == "retry" => self.on_retry(text),
            Event::Warning { text, .. } => self.got.warn(text),
            Event::Compaction { .. } => self.compacting = self.over.is_some(),
            Event::Diagnostic { stream, text } => {
                self.got.diagnostics += u64::from(*stream == Stream::Stdout);
                if self.got.lines.len() < LINES_KEPT {
                    self.got.lines.push(text.clone());
                }
            }
            _ => {}
        }
        self.outbox.emit(event);
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
                self.outbox.write(system);
            }
            self.got.session = Some(session);
        }
        true
    }

    fn finish(mut self) -> (Verdict, LaunchResult) {
        self.around.answers.close_all();
        if let (None, Some(words)) = (&self.verdict, self.lost.take()) {
            self.verdict = Some(Verdict::Ended(Outcome::failed(FailureClass::Supervisor, words)));
        }
        if self.verdict.is_none() {
            let (code, signal) = self.exited.unwrap_or_default();
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
        self.outbox.flush();
        self.got.settles = Some(self.driver.settles());
        (verdict, self.got)
    }

    /// After a clean turn background processes live on, and are named.
    fn leave_background_processes(&mut self) {
        self.child.end_turn();
        self.child.tell(Command::Leave);
        for report in self.child.last_reports() {
            if let Report::Left { processes } = report
                && !processes.is_empty()
            {
                let text = format!("still running in the background: {}", list_processes(&processes));
                self.got.warn(&text);
                self.outbox.emit(Event::Warning { code: "background".into(), text });
            }
        }
    }
}
