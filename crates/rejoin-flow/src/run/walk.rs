//! The way through a flow: one step after the other.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rejoin::{ConversationId, Event, Rejoin, TurnId};
use serde_json::{Value, json};

use super::history::{Run, Standing};
use super::log::Log;
use super::record::{Begun, Ended, Key, Record, State};
use super::stop::Stop;
use crate::check::order;
use crate::model::{Failure, Flow, ForEach, How, Items, Kind, Step};
use crate::{FlowError, template};

/// What whoever watches is told.
pub enum Notice<'a> {
    /// Something was written down.
    Record(&'a Record),
    /// An agent did something in a step.
    Event(&'a Key, &'a Event),
}

/// A run on its way.
pub(super) struct Walk<'a> {
    pub(super) rejoin: &'a Rejoin,
    pub(super) flow: &'a Flow,
    pub(super) begun: Begun,
    log: Log,
    watch: &'a (dyn Fn(&Notice<'_>) + Sync),
    known: Mutex<Known>,
}

/// What is known of the steps so far.
struct Known {
    results: Vec<Ended>,
    open: BTreeMap<Key, (ConversationId, TurnId)>,
}

/// One try of a step, and what may be done after it.
pub(super) struct Tried {
    pub(super) ended: Ended,
    /// The turn to take up again.
    pub(super) turn: Option<(ConversationId, TurnId)>,
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
        watch: &'a (dyn Fn(&Notice<'_>) + Sync),
    ) -> Self {
        let known = Mutex::new(Known { results: run.results, open: run.open });
        Self { rejoin, flow, begun: run.begun, log, watch, known }
    }

    pub(super) fn carry_out(self, first: &Record, halt: &Stop) -> Result<Run, FlowError> {
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
        self.write(&Record::Result { state, code, time: now() })?;
        let standing = match state {
            State::Done | State::Skipped => Standing::Done,
            State::Failed => Standing::Failed,
            State::Cancelled => Standing::Cancelled,
        };
        let known = self.known.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Run { begun: self.begun, standing, results: known.results, open: known.open })
    }

    pub(super) fn write(&self, record: &Record) -> Result<(), FlowError> {
        self.log.write(record)?;
        (self.watch)(&Notice::Record(record));
        Ok(())
    }

    pub(super) fn tell(&self, key: &Key, event: &Event) {
        (self.watch)(&Notice::Event(key, event));
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a step came to, if it ended for good.
    pub(super) fn result(&self, key: &Key) -> Option<Ended> {
        self.known().results.iter().find(|ended| ended.key == *key).cloned()
    }

    /// Runs a step that did not end yet, whatever it is.
    pub(super) fn step(&self, step: &Step, halt: &Stop) -> Result<Ended, FlowError> {
        let key = Key::of(&step.name);
        if let Some(ended) = self.result(&key).filter(Ended::is_final) {
            return Ok(ended);
        }
        let begun = Instant::now();
        let task = Task { key: &key, step, item: None };
        let mut ended = match self.may_run(&task, halt) {
            Ok(()) => match &step.kind {
                Kind::Parallel(parallel) => {
                    self.begins(&key, 1)?;
                    self.parallel(&key, parallel, halt)?
                }
                Kind::ForEach(each) => {
                    self.begins(&key, 1)?;
                    self.for_each(&key, each, halt)?
                }
                Kind::Agent(_) | Kind::Command(_) => self.tries(&task, halt)?,
            },
            Err(ended) => *ended,
        };
        ended.milliseconds = begun.elapsed().as_millis() as u64;
        self.ends(step, ended)
    }

    /// Notes what a step came to.
    pub(super) fn ends(&self, step: &Step, mut ended: Ended) -> Result<Ended, FlowError> {
        ended.allowed = ended.state == State::Failed && step.allow_failure;
        {
            let mut known = self.known();
            known.open.remove(&ended.key);
            known.results.retain(|other| other.key != ended.key);
            known.results.push(ended.clone());
        }
        self.write(&Record::StepEnded(Box::new(ended.clone())))?;
        Ok(ended)
    }

    fn begins(&self, key: &Key, attempt: u32) -> Result<(), FlowError> {
        self.write(&Record::StepBegun { key: key.clone(), attempt, time: now() })
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
            Err(words) => Err(Box::new(self.refused(task, "when", &words))),
        }
    }

    /// A step that cannot be begun because of one of its texts.
    pub(super) fn refused(&self, task: &Task<'_>, field: &str, words: &str) -> Ended {
        let place = task.step.place;
        let file = &self.begun.source.file;
        let words = format!("{file}:{}: {field} of step {:?}: {words}", place.line, task.step.name);
        Ended::failed(task.key, Failure::Refused, words)
    }

    /// Fills in a template of a step.
    pub(super) fn fill(&self, task: &Task<'_>, field: &str, text: &str) -> Result<String, Box<Ended>> {
        template::render(text, &self.context(task))
            .map_err(|words| Box::new(self.refused(task, field, &words)))
    }

    /// What templates may speak of.
    fn context(&self, task: &Task<'_>) -> Value {
        let known = self.known();
        let results = known.results.iter().filter(|ended| ended.key.index.is_none());
        let steps: BTreeMap<&str, Value> =
            results.map(|ended| (ended.key.step.as_str(), ended.known())).collect();
        json!({
            "inputs": self.begun.inputs, "steps": steps, "item": task.item, "index": task.key.index,
        })
    }

    /// An agent's turn or a command, as often as it may be tried.
    fn tries(&self, task: &Task<'_>, halt: &Stop) -> Result<Ended, FlowError> {
        let mut turn = self.known().open.get(task.key).copied();
        let mut attempt = 1;
        loop {
            self.begins(task.key, attempt)?;
            let (tried, how): (Tried, &How) = match &task.step.kind {
                Kind::Agent(agent) => (self.agent(task, agent, turn, halt)?, &agent.how),
                Kind::Command(command) => (self.command(task, command, halt)?, &command.how),
                Kind::Parallel(_) | Kind::ForEach(_) => {
                    return Ok(self.refused(task, "step", "only turns and commands can be tried"));
                }
            };
            let failure = tried.ended.failure.filter(|failure| *failure != Failure::Refused);
            match failure {
                Some(failure) if how.retry.again(attempt, failure) && !halt.requested() => {
                    turn = tried.turn;
                    attempt += 1;
                }
                _ => return Ok(tried.ended),
            }
        }
    }

    /// The same step for each item, one after the other.
    fn for_each(&self, key: &Key, each: &ForEach, halt: &Stop) -> Result<Ended, FlowError> {
        let step = &*each.step;
        let items = match self.items(key, each) {
            Ok(items) => items,
            Err(words) => {
                return Ok(self.refused(&Task { key, step, item: None }, "for_each", &words));
            }
        };
        let mut all = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let key = Key { step: key.step.clone(), index: Some(index) };
            let task = Task { key: &key, step, item: Some(item) };
            let ended = match self.result(&key).filter(Ended::is_final) {
                Some(ended) => ended,
                None => self.item(&task, halt)?,
            };
            if ended.stops() {
                let error = format!("item {index}: {}", ended.error.clone().unwrap_or_default());
                return Ok(Ended { error: Some(error), receipt: None, key: Key::of(&key.step), ..ended });
            }
            all.push(ended);
        }
        let outputs: Vec<&str> = all.iter().map(|ended| ended.output.as_str()).collect();
        let values =
            all.iter().map(|one| one.json.clone().unwrap_or_else(|| Value::from(one.output.as_str())));
        Ok(Ended { output: outputs.join("\n"), json: Some(values.collect()), ..Ended::new(key, State::Done) })
    }

    fn item(&self, task: &Task<'_>, halt: &Stop) -> Result<Ended, FlowError> {
        let begun = Instant::now();
        let mut ended = match self.may_run(task, halt) {
            Ok(()) => self.tries(task, halt)?,
            Err(ended) => *ended,
        };
        ended.milliseconds = begun.elapsed().as_millis() as u64;
        self.ends(task.step, ended)
    }

    fn items(&self, key: &Key, each: &ForEach) -> Result<Vec<Value>, String> {
        let items = match &each.items {
            Items::Listed(items) => items.clone(),
            Items::Expression(text) => {
                let context = self.context(&Task { key, step: &each.step, item: None });
                let value = template::evaluate(&text.text, &context)?;
                match serde_json::to_value(&value) {
                    Ok(Value::Array(items)) => items,
                    _ => return Err(format!("{} is not a list", text.text)),
                }
            }
        };
        if items.len() > each.max_items {
            return Err(format!("{} items, more than max_items ({}) allows", items.len(), each.max_items));
        }
        Ok(items)
    }
}

/// The time, as journals write it.
pub(super) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}
