//! The line at the bottom of the terminal that tells what the agent does now, and that it lives.
//!
//! It is drawn on stderr and gives way to whatever is printed: [`StatusLine::clear`] before, and
//! [`StatusLine::put_back`] after. While an answer comes, the answer is the sign of life; the line comes back when
//! it pauses, below the words that are not at the end of their line.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rejoin::Event;
use unicode_width::UnicodeWidthStr;

use crate::activity::Activity;
use crate::screen::{self, Cursor, Painted, Style};
use crate::{style, tty};

const TICK: Duration = Duration::from_millis(100);
/// Goes round while something goes on.
pub(crate) const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// For so long after a piece of the answer nothing need be said.
const PAUSE: Duration = Duration::from_secs(1);

/// The line, until this is dropped.
pub(crate) struct StatusLine {
    handle: StatusHandle,
    ticker: Option<JoinHandle<()>>,
}

/// The same for whoever stops the turn, from another thread.
#[derive(Clone)]
pub(crate) struct StatusHandle(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    ended: Condvar,
    manner: Manner,
}

/// How it is said that the turn goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// By a line that is drawn anew.
    Drawn,
    /// The terminal only takes lines: only what was asked for is answered.
    Lines,
    /// Nobody sees it, or nobody wants to.
    Silent,
}

/// Where the cursor rests after something was printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// At the beginning of a line, and nothing more is on its way.
    Line,
    /// Behind so many columns of an answer that goes on; `None` if nobody knows how many.
    Text(Option<usize>),
}

struct State {
    activity: Activity,
    begun: Instant,
    /// How often the turn was told to stop.
    stops: usize,
    /// Somebody else writes, or asks something.
    away: bool,
    asking: bool,
    over: bool,
    /// The line is not wanted before.
    not_before: Option<Instant>,
    cursor: After,
    drawn: Option<Drawn>,
    frame: usize,
}

/// A line that stands on the screen.
struct Drawn {
    words: String,
    /// The cursor rests so many columns behind the beginning of the line above.
    column: usize,
}

impl StatusLine {
    /// Begins with these words; with `wanted` it is drawn at once, if there is a terminal.
    pub(crate) fn begin(wanted: bool, words: &str) -> Self {
        let manner = match wanted && style::on_terminal() {
            true if style::dumb() => Manner::Lines,
            true => Manner::Drawn,
            false => Manner::Silent,
        };
        let state = State {
            activity: Activity::new(words),
            begun: Instant::now(),
            stops: 0,
            away: false,
            asking: false,
            over: false,
            not_before: None,
            cursor: After::Line,
            drawn: None,
            frame: 0,
        };
        let shared = Shared { state: Mutex::new(state), ended: Condvar::new(), manner };
        let handle = StatusHandle(Arc::new(shared));
        let ticker = (manner == Manner::Drawn).then(|| tick(handle.clone())).flatten();
        Self { handle, ticker }
    }

    /// For whoever stops the turn.
    pub(crate) fn handle(&self) -> StatusHandle {
        self.handle.clone()
    }

    /// Whether a line is drawn while nothing else is printed.
    pub(crate) fn is_drawn(&self) -> bool {
        self.handle.0.manner == Manner::Drawn
    }

    /// Before the first event: what is done, or waited for.
    pub(crate) fn begins_with(&self, words: &str) {
        self.handle.state().activity = Activity::new(words);
    }

    /// Takes in what an event tells of what the agent does.
    pub(crate) fn event(&self, event: &Event) {
        let mut state = self.handle.state();
        state.activity.take(event);
        match event {
            Event::Question(_) => {
                state.asking = true;
                state.erase();
            }
            Event::QuestionAnswered(_) | Event::QuestionWithdrawn { .. } => state.asking = false,
            _ => {}
        }
    }

    /// Makes room: something is going to be printed.
    pub(crate) fn clear(&self) {
        let mut state = self.handle.state();
        state.away = true;
        state.erase();
    }

    /// Something was printed, and the cursor rests there.
    pub(crate) fn put_back(&self, cursor: After) {
        let mut state = self.handle.state();
        state.away = false;
        state.cursor = cursor;
        state.not_before = match cursor {
            After::Line => None,
            After::Text(_) => Some(Instant::now() + PAUSE),
        };
        if self.handle.0.manner == Manner::Drawn {
            state.draw();
        }
    }

    /// It is not wanted any more.
    pub(crate) fn end(&mut self) {
        self.handle.state().over = true;
        self.handle.0.ended.notify_all();
        if let Some(ticker) = self.ticker.take() {
            let _ = ticker.join();
        }
        self.handle.state().erase();
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.end();
    }
}

impl StatusHandle {
    /// The turn was told to stop: that is answered at once.
    pub(crate) fn stopping(&self) {
        let mut state = self.state();
        state.stops += 1;
        if state.over {
            return;
        }
        match self.0.manner {
            Manner::Drawn if state.is_below_unknown() => {
                let words = state.stop_words();
                screen::say(&"\n".into());
                style::talk(words);
                state.cursor = After::Line;
            }
            Manner::Drawn => {
                state.not_before = None;
                state.take_back_what_was_typed();
                state.draw();
            }
            Manner::Lines => style::talk(state.stop_words()),
            Manner::Silent => {}
        }
    }

    /// A person is asked something, or no longer.
    pub(crate) fn asks(&self, asks: bool) {
        let mut state = self.state();
        state.asking = asks;
        if asks {
            state.erase();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws the line at once and then anew, until it is over.
fn tick(handle: StatusHandle) -> Option<JoinHandle<()>> {
    handle.state().draw();
    let draw = move || {
        let mut state = handle.state();
        while !state.over {
            let waited = handle.0.ended.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.frame += 1;
            state.draw();
        }
    };
    std::thread::Builder::new().name("status line".into()).spawn(draw).ok()
}

impl State {
    /// Draws the line where it should stand now.
    fn draw(&mut self) {
        let early = self.not_before.is_some_and(|then| Instant::now() < then) && self.stops == 0;
        // In the background the terminal belongs to somebody else.
        if self.over || self.away || self.asking || early || self.is_below_unknown() || !tty::is_ours() {
            return;
        }
        let columns = tty::columns();
        let column = match self.cursor {
            After::Text(Some(column)) => column,
            _ => 0,
        };
        // Words that reach the edge have gone where nobody can tell.
        if column >= columns {
            return;
        }
        let words = self.words(columns.saturating_sub(3));
        let spinner = SPINNER[self.frame % SPINNER.len()].to_string();
        let mut out = Painted::default();
        match &self.drawn {
            // Nothing but the spinner has changed.
            Some(drawn) if drawn.words == words && drawn.column == column && column == 0 => {
                out.cursor(Cursor::ToLineStart);
                out.style(Style::CODE.when(style::colour()), &spinner);
            }
            _ => {
                self.take_away(&mut out, columns);
                if column > 0 {
                    out.text("\n");
                }
                out.style(Style::CODE.when(style::colour()), &spinner);
                out.style(Style::DIM.when(style::colour()), &format!(" {words}"));
                if column > 0 {
                    out.cursor(Cursor::Up(1));
                    out.cursor(Cursor::ToColumn(column));
                }
            }
        }
        screen::say(&out);
        self.drawn = Some(Drawn { words, column });
    }

    fn erase(&mut self) {
        let mut out = Painted::default();
        self.take_away(&mut out, tty::columns());
        if !out.as_str().is_empty() {
            screen::say(&out);
        }
    }

    /// Takes the line off the screen; the cursor then rests where it did before. A terminal that became narrower has
    /// broken the line.
    fn take_away(&mut self, out: &mut Painted, columns: usize) {
        let Some(Drawn { words, column }) = self.drawn.take() else { return };
        if column > 0 {
            out.cursor(Cursor::Down(1));
        } else {
            out.cursor(Cursor::Up((words.width() + 1) / columns.max(1)));
        }
        out.cursor(Cursor::ToLineStart);
        out.cursor(Cursor::ClearBelow);
        if column > 0 {
            out.cursor(Cursor::Up(1));
            out.cursor(Cursor::ToColumn(column));
        }
    }

    /// The terminal shows Ctrl-C where the cursor rests: behind the words of an answer, that is.
    fn take_back_what_was_typed(&self) {
        if let After::Text(Some(column @ 1..)) = self.cursor
            && !self.away
        {
            let mut out = Painted::default();
            out.cursor(Cursor::ToColumn(column));
            out.cursor(Cursor::ClearLine);
            screen::say(&out);
        }
    }

    /// An answer stands there that was not put into lines by us.
    fn is_below_unknown(&self) -> bool {
        self.cursor == After::Text(None)
    }

    fn stop_words(&self) -> &'static str {
        if self.stops > 1 { "ending it now…" } else { "stopping… again to end it now" }
    }

    /// `thinking · 12 s · 1,204 in · 310 out`, no wider than this: what the agent does gives way to the time.
    fn words(&self, width: usize) -> String {
        let mut times = format!(" · {}", style::whole_seconds(self.begun.elapsed()));
        if let Some(usage) = self.activity.tokens() {
            let (number, room) = (style::number, width / 2);
            let tokens = format!(" · {} in · {} out", number(usage.input), number(usage.output));
            if times.width() + tokens.width() < room {
                times.push_str(&tokens);
            }
        }
        let line = match self.stops {
            0 => self.activity.words(),
            _ => self.stop_words().to_owned(),
        };
        style::cut(&line, width.saturating_sub(times.width())) + &times
    }
}
