//! What a run looks like: one line per step on stderr, or all of it as JSON on stdout.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rejoin::Event;
use rejoin_flow::{BrokenOffRun, Ended, FlowError, Key, Notice, Record, RunId, State, short_run_id};
use serde::Serialize;

use super::running_steps::RunningSteps;
use crate::commands::turn_args::Output;
use crate::screen::{WhileRead, label};
use crate::turn_words::{self, Stage};
use crate::{exit, style};

/// Shows a run while it happens. Parallel steps may call it at once.
pub(super) struct RunPrinter {
    output: Output,
    flow: String,
    id: RunId,
    seen: Mutex<Seen>,
    running: RunningSteps,
}

#[derive(Default)]
struct Seen {
    /// The first and the closing line were seen.
    begun: bool,
    ended: bool,
    code: i32,
    stdout: WhileRead,
}

impl RunPrinter {
    pub(super) fn new(output: Output, flow: &str, id: RunId) -> Self {
        let running = RunningSteps::new(output != Output::StreamJson);
        Self { output, flow: flow.to_owned(), id, seen: Mutex::default(), running }
    }

    /// What the command exits with.
    pub(super) fn code(&self) -> i32 {
        self.seen().code
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn show(&self, notice: &Notice<'_>) {
        self.seen().begun = true;
        if let Notice::Record(Record::Result { code, .. }) = notice {
            let mut seen = self.seen();
            (seen.code, seen.ended) = (*code, true);
        }
        match (self.output, notice) {
            (Output::StreamJson, Notice::Record(record)) => self.line(record),
            (Output::StreamJson, Notice::Event(..)) => self.sorted_line(notice),
            (_, Notice::Record(record)) => self.record(record),
            (_, Notice::Event(key, event)) => self.event(key, event),
        }
    }

    /// rejoin itself failed in the middle: the stream still gets its one closing line.
    pub(super) fn broke_off(&self, error: &FlowError) {
        let Seen { begun: true, ended: false, .. } = *self.seen() else { return };
        if self.output == Output::StreamJson {
            self.sorted_line(&BrokenOffRun::from(error));
        } else {
            self.go_on("broke off");
        }
    }

    fn go_on(&self, became: &str) {
        let id = short_run_id(self.id);
        self.loud(&format!("flow {} {became} · go on with `rejoin flow resume {id}`", self.flow));
    }

    /// The same, with the names of the fields in the order of the alphabet.
    fn sorted_line(&self, value: &impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            self.line(&value);
        }
    }

    fn line(&self, value: &impl Serialize) {
        if let Ok(line) = serde_json::to_string(value) {
            self.seen().stdout.json(&(line + "\n"));
        }
    }

    fn talk(&self, line: &str) {
        self.running.say(|| style::talk(&label(line)));
    }

    fn loud(&self, line: &str) {
        self.running.say(|| style::loud(line));
    }

    fn record(&self, record: &Record) {
        let id = short_run_id(self.id);
        match record {
            Record::Run(_) => self.talk(&format!("flow {} · run {id}", self.flow)),
            Record::Resumed { .. } => self.talk(&format!("flow {} · run {id} goes on", self.flow)),
            Record::StepBegun { key, attempt, error, wait_ms, .. } => {
                self.running.begin(&key.to_string());
                if *attempt > 1 {
                    let mut line = format!("↻ {key} · try {attempt}");
                    if let Some(wait) = wait_ms {
                        line.extend([" in ", &style::elapsed(*wait)]);
                    }
                    if let Some(error) = error {
                        line.extend([" · ", &style::one_line(error, 300)]);
                    }
                    self.loud(&line);
                } else if style::on_terminal() && !self.running.is_live() {
                    self.talk(&format!("… {key}"));
                }
            }
            Record::StepEnded(ended) => self.ended(ended),
            Record::Result { state, code, .. } => {
                if *code != exit::DONE {
                    self.go_on(state.name());
                }
            }
            Record::Turn { .. } | Record::AskedToStop { .. } => {}
        }
    }

    fn event(&self, key: &Key, event: &Event) {
        match event {
            Event::Init { agent, plan, .. } => {
                let at = |stage| turn_words::step(agent.as_str(), plan, stage);
                self.running.about(&key.to_string(), at(Stage::Asked), Some(at(Stage::Confirmed)));
            }
            Event::Session { .. } => self.running.confirmed(&key.to_string()),
            Event::Usage { usage, .. } => self.running.used(&key.to_string(), *usage),
            Event::ResumeRejected { agent, session, text } => {
                let session = style::short_session(session);
                let plan = format!("{agent} · would not resume {session} ({text}), the history is replayed");
                self.running.about(&key.to_string(), plan, None);
            }
            Event::Warning { code, text } if code != "retry" => self.loud(&format!("! {key}: {text}")),
            _ => {}
        }
    }

    /// `✓ fix · claude · resumed 4f1c2a9e · 12.4 s · 1,204 in · 310 out`
    fn ended(&self, ended: &Ended) {
        let sign = match ended.state {
            State::Done => "✓",
            State::Failed => "✗",
            State::Skipped => "-",
            State::Cancelled => "■",
        };
        let mut parts = vec![format!("{sign} {}", ended.key)];
        if ended.state == State::Done {
            // Not every agent names its session.
            self.running.confirmed(&ended.key.to_string());
        }
        parts.extend(self.running.end(&ended.key.to_string()));
        match ended.state {
            State::Skipped => parts.push("skipped".into()),
            State::Cancelled => parts.push("cancelled".into()),
            State::Done | State::Failed => parts.push(style::elapsed(ended.milliseconds)),
        }
        let usage = ended.receipt.as_ref().and_then(|receipt| receipt.usage).filter(|usage| !usage.is_zero());
        if let Some(usage) = usage {
            parts.push(format!("{} in", style::number(usage.input)));
            parts.push(format!("{} out", style::number(usage.output)));
        }
        if let Some(error) = &ended.error {
            parts.push(style::one_line(error, 300));
        }
        if ended.allowed {
            parts.push("allowed to fail".into());
        }
        let line = parts.join(" · ");
        if ended.stops() { self.loud(&line) } else { self.talk(&line) }
    }
}
