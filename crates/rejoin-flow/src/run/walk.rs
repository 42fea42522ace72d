//! The way through a flow: one step after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rejoin::{Event, Rejoin};
use rejoin_journal::Lease;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::history::{Run, Standing, Steps};
use super::log::Log;
use super::record::{Begun, Ended, Key, Record, State};
use super::stop::Stop;
use super::turn_places::TurnPlaces;
use crate::check::order;
use crate::model::{Failure, Flow, How, Kind, Retry, Step, Text};
use crate::{FlowError, Place, template};

/// What whoever watches is told; as JSON, a line of `rejoin flow run -o stream-json`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Notice<'a> {
    /// Something was written down.
    Record(&'a Record),
    /// An agent did something in a step.
    #[serde(serialize_with = "event_line")]
    Event(&'a Key, &'a Event),
}

fn event_line<S: Serializer>(key: &Key, event: &Event, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(tag = "type", rename = "event")]
    struct Line<'a> {
        step: &'a str,
        index: Option<usize>,
        event: &'a Event,
    }
    Line { step: &key.step, index: key.index, event }.serialize(serializer)
}

/// What Linux allows for a name, `=`, its value and a NUL; elsewhere all variables together have to do with little more.
const LONGEST_VARIABLE: usize = 128 << 10;

/// A run on its way.
pub(super) struct Walk<'a> {
    pub(super) rejoin: &'a Rejoin,
    pub(super) flow: &'a Flow,
    pub(super) begun: Begun,
    log: Log,
    /// Held by our commands, too: nobody begins them again before they are gone.
    pub(super) commands: Option<Lease>,
    watch: &'a (dyn Fn(&Notice<'_>) + Sync),
    /// What its turns wait for.
    pub(super) places: Option<&'a dyn TurnPlaces>,
    known: Mutex<Steps>,
}

/// A step with the item it is done with.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub(super) key: &'t Key,
    pub(super) step: &'t Step,
    pub(super) item: Option<&'t Value>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        rejoin: &'a Rejoin,
        flow: &'a Flow,
        run: Run,
        log: Log,
        commands: Option<Lease>,
        watch: &'a (dyn Fn(&Notice<'_>) + Sync),
    ) -> Self {
        let (known, places) = (Mutex::new(run.steps), None);
        Self { rejoin, flow, begun: run.begun, log, commands, watch, places, known }
    }

    pub(super) fn with_places(self, places: Option<&'a dyn TurnPlaces>) -> Self {
        Self { places, ..self }
    }

    pub(super) fn carry_out(self, first: Record, halt: &Stop) -> Result<Run, FlowError> {
        self.write(first)?;
        let mut last = (State::Done, 0);
        for at in order(&self.flow.before()) {
            let step = &self.flow.steps[at];
            if !self.begun.steps.contains(&step.name) {
                continue;
            }
            let ended = self.step(step, halt)?;
            if ended.stops() {
                last = (ended.state, ended.code);
                break;
            }
        }
        let (state, code) = last;
        self.write(Record::Result { state, code, time: now() })?;
        let steps = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Run { begun: self.begun, standing: Standing::after(state), damaged: Vec::new(), steps })
    }

    /// Writes something down; from then on it counts.
    pub(super) fn write(&self, record: Record) -> Result<(), FlowError> {
        self.log.write(&record)?;
        (self.watch)(&Notice::Record(&record));
        self.known().take_in(record);
        Ok(())
    }

    pub(super) fn tell(&self, key: &Key, event: &Event) {
        (self.watch)(&Notice::Event(key, event));
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Steps> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a step came to, as far as it was run.
    pub(super) fn result(&self, key: &Key) -> Option<Ended> {
        self.known().result(key).cloned()
    }

    /// Runs a step of the flow, whatever it is.
    pub(super) fn step(&self, step: &Step, halt: &Stop) -> Result<Ended, FlowError> {
        self.task(&Task { key: &Key::of(&step.name), step, item: None }, halt)
    }

    /// Runs a task, unless it is over for good.
    pub(super) fn task(&self, task: &Task<'_>, halt: &Stop) -> Result<Ended, FlowError> {
        if let Some(ended) = self.result(task.key).filter(Ended::is_final) {
            return Ok(ended);
        }
        let begun = Instant::now();
        let mut ended = match self.may_run(task, halt) {
            Ok(()) => match &task.step.kind {
                Kind::Parallel(parallel) => self.parallel(task, parallel, halt)?,
                Kind::ForEach(each) => self.for_each(task, each, halt)?,
                Kind::Agent(agent) => {
                    self.tries(task, &agent.how.retry, halt, || self.agent(task, agent, halt))?
                }
                Kind::Command(command) => {
                    self.tries(task, &command.how.retry, halt, || self.command(task, command, halt))?
                }
            },
            Err(ended) => *ended,
        };
        ended.milliseconds = begun.elapsed().as_millis() as u64;
        self.ends(task.step, ended)
    }

    /// Notes what a step came to.
    pub(super) fn ends(&self, step: &Step, mut ended: Ended) -> Result<Ended, FlowError> {
        ended.allowed = ended.state == State::Failed && step.allow_failure;
        self.write(Record::StepEnded(Box::new(ended.clone())))?;
        Ok(ended)
    }

    pub(super) fn begins(&self, key: &Key) -> Result<(), FlowError> {
        self.write(Record::StepBegun {
            key: key.clone(),
            attempt: 1,
            error: None,
            wait_ms: None,
            time: now(),
        })
    }

    /// Says that a step is tried again after some time, and waits.
    fn begins_again(
        &self,
        attempt: u32,
        failed: Ended,
        wait: Duration,
        halt: &Stop,
    ) -> Result<(), FlowError> {
        let wait_ms = u64::try_from(wait.as_millis()).ok();
        self.write(Record::StepBegun {
            key: failed.key,
            attempt,
            error: failed.error,
            wait_ms,
            time: now(),
        })?;
        halt.sleep(wait);
        Ok(())
    }

    /// Whether a step is run at all; else how it ends without being run.
    fn may_run(&self, task: &Task<'_>, halt: &Stop) -> Result<(), Box<Ended>> {
        if halt.requested() {
            return Err(Box::new(Ended::new(task.key, State::Cancelled)));
        }
        let Some(when) = &task.step.when else { return Ok(()) };
        match template::evaluate(&when.text, &self.context(task)) {
            Ok(value) if value.is_true() => Ok(()),
            Ok(_) => Err(Box::new(Ended::new(task.key, State::Skipped))),
            Err(words) => Err(Box::new(self.refused(task, "when", when.place, &words))),
        }
    }

    /// A step that cannot be begun because of one of its fields.
    pub(super) fn refused(&self, task: &Task<'_>, field: &str, place: Place, words: &str) -> Ended {
        let (file, Place { line, column }) = (&self.begun.source.file, place);
        let words = format!("{file}:{line}:{column}: {field} of step {:?}: {words}", task.step.name);
        Ended::failed(task.key, Failure::Refused, words)
    }

    /// Fills in a template of a step.
    pub(super) fn fill(&self, task: &Task<'_>, field: &str, text: &Text) -> Result<String, Box<Ended>> {
        template::render(&text.text, &self.context(task))
            .map_err(|words| Box::new(self.refused(task, field, text.place, &words)))
    }

    /// The variables of a step, filled in.
    pub(super) fn variables(
        &self,
        task: &Task<'_>,
        how: &How,
    ) -> Result<BTreeMap<String, String>, Box<Ended>> {
        let mut variables = BTreeMap::new();
        for (name, text) in &how.env {
            let field = format!("env.{name}");
            let value = self.fill(task, &field, text)?;
            if value.contains('\0') {
                return Err(Box::new(self.refused(task, &field, text.place, "it contains a NUL byte")));
            }
            if name.len() + value.len() + 2 > LONGEST_VARIABLE {
                let words = format!(
                    "{} bytes are more than a variable can hold ({} KiB); shorten it, or hand over a file",
                    value.len(),
                    LONGEST_VARIABLE >> 10
                );
                return Err(Box::new(self.refused(task, &field, text.place, &words)));
            }
            variables.insert(name.clone(), value);
        }
        Ok(variables)
    }

    /// Where a step runs.
    pub(super) fn directory(&self, task: &Task<'_>, how: &How) -> Result<PathBuf, Box<Ended>> {
        let begun = Path::new(&self.begun.dir);
        let (dir, place) = match &how.cwd {
            Some(text) => (begun.join(self.fill(task, "cwd", text)?), text.place),
            None => (begun.to_owned(), task.step.place),
        };
        if dir.is_dir() {
            return Ok(dir);
        }
        let words = format!("{} is not a directory", dir.display());
        Err(Box::new(Ended {
            code: rejoin::exit_code::NOT_FOUND,
            ..self.refused(task, "cwd", place, &words)
        }))
    }

    /// What templates may speak of.
    pub(super) fn context(&self, task: &Task<'_>) -> Value {
        let known = self.known();
        let results = known.results.iter().filter(|ended| ended.key.index.is_none());
        let steps: BTreeMap<&str, Value> =
            results.map(|ended| (ended.key.step.as_str(), ended.known())).collect();
        json!({
            "inputs": self.begun.inputs, "steps": steps, "item": task.item, "index": task.key.index,
        })
    }

    /// An agent's turn or a command, as often as it may be tried.
    fn tries(
        &self,
        task: &Task<'_>,
        retry: &Retry,
        halt: &Stop,
        one_try: impl Fn() -> Result<Ended, FlowError>,
    ) -> Result<Ended, FlowError> {
        let mut attempt = 1;
        self.begins(task.key)?;
        loop {
            let ended = one_try()?;
            match ended.failure {
                Some(failure) if retry.again(attempt, failure) && !halt.requested() => {
                    attempt += 1;
                    self.begins_again(attempt, ended, retry.pause(attempt), halt)?;
                    if halt.requested() {
                        return Ok(Ended::new(task.key, State::Cancelled));
                    }
                }
                _ => return Ok(ended),
            }
        }
    }
}

/// The time, as journals write it.
pub(super) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
