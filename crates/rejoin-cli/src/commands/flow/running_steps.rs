//! A line for each running step at the bottom of the terminal; what is settled stays above.

use std::fmt::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rejoin::Usage;
use unicode_width::UnicodeWidthStr;

use crate::screen::{self, Cursor, Painted};
use crate::status_line::SPINNER;
use crate::{style, tty};

const TICK: Duration = Duration::from_millis(100);

/// The running steps. Where stderr is no terminal that can be drawn on, only what is settled is printed.
pub(super) struct RunningSteps {
    steps: Arc<Mutex<Steps>>,
    /// Draws the lines anew, until it is hung up.
    ticker: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Steps {
    /// In the order they began.
    running: Vec<Running>,
    /// The widths of the lines that were drawn last.
    drawn: Vec<usize>,
    frame: usize,
}

struct Running {
    name: String,
    begun: Instant,
    /// Who does it, and how.
    about: String,
    /// The same, once the agent has confirmed its session.
    confirmed: Option<String>,
    usage: Option<Usage>,
}

impl RunningSteps {
    /// With `live` it may be drawn on a terminal.
    pub(super) fn new(live: bool) -> Self {
        let steps = Arc::new(Mutex::new(Steps::default()));
        let ticker = (live && style::on_terminal() && !style::dumb()).then(|| tick(Arc::clone(&steps)));
        Self { steps, ticker: ticker.flatten() }
    }

    /// Whether running steps are seen.
    pub(super) fn is_live(&self) -> bool {
        self.ticker.is_some()
    }

    /// A step begins, or is tried again.
    pub(super) fn begin(&self, name: &str) {
        let mut steps = lock(&self.steps);
        steps.running.retain(|step| step.name != name);
        let begun = Instant::now();
        let (name, about) = (name.to_owned(), String::new());
        steps.running.push(Running { name, begun, about, confirmed: None, usage: None });
    }

    /// Who does a step, and how; said otherwise once the agent has confirmed its session.
    pub(super) fn about(&self, name: &str, about: String, confirmed: Option<String>) {
        self.change(name, |step| (step.about, step.confirmed) = (about, confirmed));
    }

    /// The agent of a step has confirmed its session.
    pub(super) fn confirmed(&self, name: &str) {
        self.change(name, |step| {
            if let Some(confirmed) = step.confirmed.take() {
                step.about = confirmed;
            }
        });
    }

    /// What a step used so far.
    pub(super) fn used(&self, name: &str, usage: Usage) {
        self.change(name, |step| step.usage = Some(usage));
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Running)) {
        if let Some(step) = lock(&self.steps).running.iter_mut().find(|step| step.name == name) {
            change(step);
        }
    }

    /// A step is over; gives who did it, and how.
    pub(super) fn end(&self, name: &str) -> Option<String> {
        let mut steps = lock(&self.steps);
        let at = steps.running.iter().position(|step| step.name == name)?;
        Some(steps.running.remove(at).about).filter(|about| !about.is_empty())
    }

    /// A line that stays.
    pub(super) fn say(&self, print: impl FnOnce()) {
        let mut steps = lock(&self.steps);
        if self.is_live() {
            steps.show(&[]);
            print();
            let lines = steps.lines();
            steps.show(&lines);
        } else {
            print();
        }
    }
}

impl Drop for RunningSteps {
    fn drop(&mut self) {
        if let Some((hang_up, thread)) = self.ticker.take() {
            drop(hang_up);
            let _ = thread.join();
            lock(&self.steps).show(&[]);
        }
    }
}

fn lock(steps: &Mutex<Steps>) -> MutexGuard<'_, Steps> {
    steps.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tick(steps: Arc<Mutex<Steps>>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (hang_up, line) = channel();
    let draw = move || {
        while line.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            let mut steps = lock(&steps);
            steps.frame += 1;
            let lines = steps.lines();
            steps.show(&lines);
        }
    };
    let thread = std::thread::Builder::new().name("running steps".into()).spawn(draw).ok()?;
    Some((hang_up, thread))
}

impl Steps {
    /// What should be seen now: none of it wider or higher than the terminal.
    fn lines(&self) -> Vec<String> {
        let (columns, room) = (tty::columns(), tty::rows().saturating_sub(2).max(1));
        let spinner = SPINNER[self.frame % SPINNER.len()];
        let line = |step: &Running| style::cut(&step.line(spinner), columns.saturating_sub(1));
        let shown = if self.running.len() > room { room - 1 } else { self.running.len() };
        let mut lines: Vec<String> = self.running.iter().take(shown).map(line).collect();
        if shown < self.running.len() {
            let more = format!("{spinner} and {} more", self.running.len() - shown);
            lines.push(style::one_line(&more, columns.saturating_sub(1)));
        }
        lines
    }

    /// Puts lines where others were.
    fn show(&mut self, lines: &[String]) {
        // In the background the terminal belongs to somebody else.
        if (self.drawn.is_empty() && lines.is_empty()) || !tty::is_ours() {
            return;
        }
        screen::say(&change(&self.drawn, lines, tty::columns()));
        self.drawn = lines.iter().map(|line| line.width()).collect();
    }
}

impl Running {
    /// `⠹ fix · claude · resumed 4f1c2a9e · 12 s · 1,204 in · 310 out`
    fn line(&self, spinner: char) -> String {
        let mut line = format!("{spinner} {}", self.name);
        if !self.about.is_empty() {
            let _ = write!(line, " · {}", self.about);
        }
        let _ = write!(line, " · {}", style::whole_seconds(self.begun.elapsed()));
        if let Some(usage) = self.usage.filter(|usage| !usage.is_zero()) {
            let _ =
                write!(line, " · {} in · {} out", style::number(usage.input), style::number(usage.output));
        }
        line
    }
}

/// What brings the screen from lines of these widths to others. The cursor rests below them. A terminal that became
/// narrower has broken the lines that were too wide for it.
fn change(drawn: &[usize], lines: &[String], columns: usize) -> Painted {
    let up: usize = drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
    let mut out = Painted::default();
    if up > 0 {
        out.cursor(Cursor::ToLineStart);
        out.cursor(Cursor::Up(up));
    }
    for line in lines {
        out.text(line);
        out.cursor(Cursor::ClearLine);
        out.text("\n");
    }
    out.cursor(Cursor::ClearBelow);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_where_the_others_were() {
        let lines = ["one".to_owned(), "two".to_owned()];
        assert_eq!(change(&[], &lines, 80).as_str(), "one\u{1b}[K\ntwo\u{1b}[K\n\u{1b}[J");
        assert_eq!(change(&[3, 3], &lines[..1], 80).as_str(), "\r\u{1b}[2Aone\u{1b}[K\n\u{1b}[J");
        assert_eq!(change(&[3], &[], 80).as_str(), "\r\u{1b}[1A\u{1b}[J");
    }

    #[test]
    fn a_terminal_that_became_narrower_has_broken_them() {
        assert_eq!(change(&[79, 10], &[], 40).as_str(), "\r\u{1b}[3A\u{1b}[J");
        assert_eq!(change(&[79], &[], 0).as_str(), "\r\u{1b}[79A\u{1b}[J");
    }
}
