//! One run of the scripted agent, for a watcher who takes nothing until he is told to.

use std::path::Path;
use std::time::{Duration, Instant};

use super::scripted::ScriptDriver;
use crate::during::answers::AnswerBox;
use crate::during::feed::{Fed, Feed};
use crate::during::launch_result::Verdict;
use crate::during::outbox::Outbox;
use crate::during::pump::{Surroundings, pump};
use crate::supervisor::{LaunchSpec, Supervised};
use crate::{CancelWatch, Helper, Limits};

/// A place for one run.
pub(super) struct Pumped(tempfile::TempDir);

/// The run, from outside.
pub(super) struct Running<'a> {
    dir: &'a Path,
    events: &'a Feed,
    is_over: &'a dyn Fn() -> bool,
}

impl Pumped {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Runs a script to its end, which `meanwhile` sees from outside.
    pub(super) fn run(&self, script: &str, limits: &Limits, meanwhile: impl FnOnce(&Running<'_>)) -> Verdict {
        let dir = self.0.path();
        let events = Feed::new(true);
        let mut outbox = Outbox::new(events.clone(), None).unwrap();
        let run = move || {
            let launch = LaunchSpec {
                argv: ["sh", "-c", script].map(Into::into).into(),
                env: Vec::new(),
                remove_env: Vec::new(),
                dir,
                leases: Vec::new(),
                mark: uuid::Uuid::new_v4().to_string(),
            };
            let cancel = CancelWatch::pair().unwrap().1;
            let mut around = Surroundings {
                limits,
                cancel: &cancel,
                answers: &AnswerBox::new(cancel.canceller()),
                can_ask: false,
                asked: None,
                to_session: &|_| None,
                continues: &|_, _| false,
                on_session: &mut |_, _| None,
                started: Instant::now(),
            };
            let child = Supervised::start(&Helper::Thread, launch).unwrap();
            pump(child, Box::new(ScriptDriver::new()), Vec::new(), &mut around, &mut outbox).unwrap().0
        };
        std::thread::scope(|threads| {
            let running = threads.spawn(run);
            meanwhile(&Running { dir, events: &events, is_over: &|| running.is_finished() });
            running.join().unwrap()
        })
    }
}

impl Running<'_> {
    /// More waits for the watcher than may.
    pub(super) fn until_nothing_is_read(&self) {
        eventually("too much for the watcher", || self.events.is_full());
    }

    /// Tells the script something.
    pub(super) fn touch(&self, name: &str) {
        std::fs::write(self.dir.join(name), "").unwrap();
    }

    /// A line that the script writes to a file.
    pub(super) fn until_there(&self, name: &str) -> String {
        let read = || std::fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        eventually(name, || read().ends_with('\n'));
        read()
    }

    /// Takes nothing for so long, or until the run is given up.
    pub(super) fn hold(&self, time: Duration) {
        let since = Instant::now();
        while !(self.is_over)() && since.elapsed() < time {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes everything from now on, until the run is over.
    pub(super) fn take_all(&self) {
        while !(self.is_over)() {
            let _: Fed = self.events.pop(Duration::from_millis(5));
        }
    }
}

/// Waits until something is true.
#[track_caller]
pub(super) fn eventually(what: &str, is_true: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_true() {
        assert!(since.elapsed() < Duration::from_mins(1), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
