//! What a run looks like: one line per step on stderr, or all of it as JSON on stdout.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rejoin::{Decision, Event, Reason};
use rejoin_flow::{Ended, Key, Notice, Record, RunId, State};
use serde_json::json;

use crate::cli::Output;
use crate::commands::print;
use crate::{exit, style};

/// Shows a run while it happens. Parallel steps may call it at once.
pub(super) struct Progress {
    output: Output,
    flow: String,
    id: RunId,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// How the turn of each running step was decided.
    plans: HashMap<String, String>,
    /// Nobody reads stdout any more; the run goes on all the same.
    deaf: bool,
    code: i32,
}

impl Progress {
    pub(super) fn new(output: Output, flow: &str, id: RunId) -> Self {
        Self { output, flow: flow.to_owned(), id, seen: Mutex::default() }
    }

    /// What the command exits with.
    pub(super) fn code(&self) -> i32 {
        self.seen().code
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn show(&self, notice: &Notice<'_>) {
        if let Notice::Record(Record::Result { code, .. }) = notice {
            self.seen().code = *code;
        }
        if self.output == Output::StreamJson {
            let line = match notice {
                Notice::Record(record) => serde_json::to_string(record),
                Notice::Event(key, event) => serde_json::to_string(
                    &json!({"type": "event", "step": key.step, "index": key.index, "event": event}),
                ),
            };
            let mut seen = self.seen();
            if let (Ok(line), false) = (line, seen.deaf) {
                seen.deaf = print(&(line + "\n")).is_err();
            }
            return;
        }
        match notice {
            Notice::Record(record) => self.record(record),
            Notice::Event(key, event) => self.event(key, event),
        }
    }

    fn record(&self, record: &Record) {
        let id = &self.id.simple().to_string()[..8];
        match record {
            Record::Run(_) => style::talk(&format!("flow {} · run {id}", self.flow)),
            Record::Resumed { .. } => style::talk(&format!("flow {} · run {id} goes on", self.flow)),
            Record::StepBegun { key, attempt, .. } => {
                if *attempt > 1 {
                    style::loud(&format!("↻ {key} · try {attempt}"));
                } else if style::on_terminal() {
                    style::talk(&format!("… {key}"));
                }
            }
            Record::StepEnded(ended) => self.ended(ended),
            Record::Result { state, code, .. } => {
                if *code != exit::DONE {
                    let line =
                        format!("flow {} {} · go on with `rejoin flow resume {id}`", self.flow, state.name());
                    style::loud(&line);
                }
            }
            Record::Turn { .. } => {}
        }
    }

    fn event(&self, key: &Key, event: &Event) {
        match event {
            Event::Init { agent, plan, .. } => {
                let plan = match plan {
                    Decision::Resume { session, .. } => {
                        format!("{agent} · resumed {}", session.get(..8).unwrap_or(session))
                    }
                    Decision::Fresh { why: Reason::FirstTurn, .. } => format!("{agent} · new session"),
                    Decision::Fresh { why, replayed } => {
                        format!("{agent} · fresh: {why}, {} replayed", style::plural(*replayed, "turn"))
                    }
                };
                self.seen().plans.insert(key.to_string(), plan);
            }
            Event::ResumeRejected { agent, session, text } => {
                let session = session.get(..8).unwrap_or(session);
                let plan = format!("{agent} · would not resume {session} ({text}), the history is replayed");
                self.seen().plans.insert(key.to_string(), plan);
            }
            Event::Warning { code, text } if code != "retry" => style::loud(&format!("! {key}: {text}")),
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
        parts.extend(self.seen().plans.remove(&ended.key.to_string()));
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
        if ended.stops() { style::loud(&line) } else { style::talk(&line) }
    }
}
