//! A sign for whoever looks elsewhere: a long turn ended, or waits for an answer.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rejoin::{BuiltNotify, Config, Notify};

use crate::screen::{self, Painted};
use crate::style;

/// How the person wants to be told, and since when they wait.
#[derive(Clone)]
pub(super) struct Notifier {
    how: Notify,
    after: Duration,
    begun: Instant,
}

impl Notifier {
    /// For a turn that begins now.
    pub(super) fn begin(config: &Config) -> Self {
        let after = Duration::from_secs(config.notify_after.unwrap_or(Config::NOTIFY_AFTER));
        Self { how: config.notify.clone(), after, begun: Instant::now() }
    }

    /// Tells it, if the turn took long.
    pub(super) fn tell(&self, what: &str) {
        if self.begun.elapsed() < self.after {
            return;
        }
        let mut out = Painted::default();
        match &self.how {
            Notify::Built(BuiltNotify::Off) => return,
            Notify::Built(_) if style::dumb() => out.bell(),
            Notify::Built(BuiltNotify::Bell) => out.bell(),
            Notify::Built(BuiltNotify::Terminal) => out.notification(what),
            Notify::Command(words) => return run(words, what),
        }
        screen::say(&out);
    }
}

/// Runs the person's own command; what it says has no place here, and nobody waits for it.
fn run(words: &[String], what: &str) {
    let Some((program, arguments)) = words.split_first() else { return };
    let mut call = Command::new(program);
    call.args(arguments).arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match call.spawn() {
        Ok(mut child) => {
            // It must not stay behind as a zombie; a thread that cannot be had costs no more than that.
            let _ = std::thread::Builder::new().name("notify".into()).spawn(move || child.wait());
        }
        Err(error) => style::loud(&format!("! cannot run {program:?} (notify): {error}")),
    }
}
