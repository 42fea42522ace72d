//! A bar on the terminal while the index is being brought up to date.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rejoin::Progress;

use crate::screen::{self, Cursor, Painted};
use crate::style;

/// What takes less than this is not worth a bar.
const PATIENCE: Duration = Duration::from_millis(400);
const WIDTH: u64 = 30;

/// Shown only if it takes a while; gone when it is done.
#[derive(Default)]
pub(crate) struct IndexProgress {
    /// When it began, and when it was last drawn.
    times: Mutex<Option<(Instant, Option<Instant>)>>,
}

impl IndexProgress {
    pub(crate) fn show(&self, progress: Progress) {
        let Ok(mut times) = self.times.lock() else { return };
        let now = Instant::now();
        let (begun, drawn) = times.get_or_insert((now, None));
        let mut out = Painted::default();
        out.cursor(Cursor::ToLineStart);
        if progress.done >= progress.total {
            if drawn.take().is_some() {
                out.cursor(Cursor::ClearLine);
                screen::say(&out);
            }
            *times = None;
            return;
        }
        let due = drawn.map_or(now - *begun >= PATIENCE, |drawn| now - drawn >= Duration::from_millis(100));
        if due {
            *drawn = Some(now);
            let filled = (progress.done * WIDTH / progress.total.max(1)) as usize;
            let bar = format!("{}{}", "█".repeat(filled), "░".repeat(WIDTH as usize - filled));
            let (done, total) = (style::bytes(progress.done as usize), style::bytes(progress.total as usize));
            let _ = write!(out, "reading journals  {bar}  {done} of {total}");
            out.cursor(Cursor::ClearLine);
            screen::say(&out);
        }
    }
}
