//! Before anything is run: which flow, which steps, with what.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use rejoin::Rejoin;
use rejoin_journal::{Lease, LeaseName, LockError, LogKind};
use uuid::Uuid;

use super::asked_to_stop::Asks;
use super::history::{self, Run, Standing, Steps};
use super::log::Log;
use super::record::{Begun, Ended, FORMAT, Key, Record, short_run_id};
use super::run_by::RunBy;
use super::stop::Stop;
use super::turn_places::TurnPlaces;
use super::updated::Updated;
use super::walk::{Notice, Walk, now};
use crate::check::{order, taken_from};
use crate::model::{Flow, Kind, Step};
use crate::uses::no_step;
use crate::{FlowError, Source};

/// How a flow is to be run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What it is given.
    pub inputs: Vec<(String, String)>,
    /// Only this step and what it waits for.
    pub step: Option<String>,
    /// Only this step and those after it.
    pub from: Option<String>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Whose process this is.
    pub by: RunBy,
}

/// How a run is to go on.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// This step and those after it anew, whatever they came to.
    pub from: Option<String>,
    /// With its file as it is now: steps that say something else, and those that wait for them, begin anew.
    pub updated: bool,
    /// Whose process this is.
    pub by: RunBy,
}

/// A run that can begin, or go on.
pub struct Prepared<'a> {
    rejoin: &'a Rejoin,
    flow: Flow,
    run: Run,
    /// For a run that goes on.
    again: Option<GoOn>,
    lease: Option<Lease>,
    by: RunBy,
    places: Option<Arc<dyn TurnPlaces>>,
}

/// How a run goes on.
struct GoOn {
    /// The steps that begin anew.
    anew: Vec<String>,
    /// What is run from now on, if that is something else.
    updated: Option<Box<Begun>>,
}

/// How long the end of a killed process is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the end of its commands is: they are asked first, and killed some seconds later.
const COMMANDS_PATIENCE: Duration = Duration::from_secs(30);

impl<'a> Prepared<'a> {
    /// A new run. Nothing is written yet.
    pub fn new(
        rejoin: &'a Rejoin,
        (source, flow): (Source, Flow),
        options: &Options,
    ) -> Result<Self, FlowError> {
        let inputs = flow.inputs_from(&options.inputs).map_err(FlowError::Usage)?;
        let dir = options
            .dir
            .canonicalize()
            .map_err(|cause| FlowError::NotFound(format!("cannot use {}: {cause}", options.dir.display())))?;
        let steps = chosen(&flow, options)?;
        let begun = Begun {
            id: Uuid::new_v4(),
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            flow: flow.name.clone(),
            source,
            inputs,
            dir: dir.to_string_lossy().into_owned(),
            steps,
            time: now(),
        };
        let run = Run { begun, standing: Standing::Running, damaged: Vec::new(), steps: Steps::default() };
        Ok(Self { rejoin, flow, run, again: None, lease: None, by: options.by, places: None })
    }

    /// A run that goes on: with the step that was cut, or anew from a step on.
    pub fn again(rejoin: &'a Rejoin, id: super::RunId, options: &ResumeOptions) -> Result<Self, FlowError> {
        history::open(rejoin, id)?;
        let by = options.by;
        let lease = take(rejoin, id, by, Some(PATIENCE))?;
        // Read again, now that nobody else is at it.
        let mut run = history::open(rejoin, id)?;
        if run.begun.format > FORMAT {
            return Err(FlowError::Usage("this run was written by a newer rejoin; use that one".into()));
        }
        let mut flow = run.begun.source.flow()?;
        let mut anew = Vec::new();
        let mut updated = None;
        if options.updated {
            let Updated { begun, flow: now, anew: changed } = Updated::read(&run.begun, &flow, by)?;
            if begun.source != run.begun.source {
                updated = Some(Box::new(begun.clone()));
            }
            (run.begun, flow, anew) = (begun, now, changed);
        }
        let from = match options.from.as_deref() {
            Some(name) => {
                let names = after(&flow, name)?;
                if let Some(left_out) = names.first().filter(|name| !run.begun.steps.contains(name)) {
                    return Err(FlowError::Usage(format!(
                        "this run was begun without step {left_out:?}, for {} alone; begin a new one: \
                         `rejoin flow run {}`",
                        run.begun.steps.join(", "),
                        run.begun.source.file
                    )));
                }
                let inside = |name: &String| {
                    let step = flow.step(name);
                    step.into_iter().flat_map(Step::inner).map(|step| step.name.clone()).collect::<Vec<_>>()
                };
                names.iter().cloned().chain(names.iter().flat_map(inside)).collect()
            }
            None => Vec::new(),
        };
        anew.extend(from);
        run.steps.forget(&anew);
        let again = Some(GoOn { anew, updated });
        let prepared = Self { rejoin, flow, run, again, lease: Some(lease), by, places: None };
        prepared.check_damage()?;
        Ok(prepared)
    }

    /// A line that cannot be read may have noted a turn that was done, or a command that is over: what was not said to
    /// begin anew is not done again because of it.
    fn check_damage(&self) -> Result<(), FlowError> {
        let anew = |name: &&str| self.again.iter().flat_map(|again| &again.anew).any(|step| step == name);
        let first = self.plan().into_iter().find(|name| !anew(name));
        let (Some(&line), Some(first)) = (self.run.damaged.first(), first) else { return Ok(()) };
        let id = self.id();
        let short = short_run_id(id);
        let next = format!(
            "it may have noted a turn that was paid for, so the run does not go on by itself: `rejoin flow show {short}` \
             shows what is left of it, `rejoin flow resume {short} --from {first}` runs {first:?} and all after it anew"
        );
        Err(FlowError::Damaged { file: self.rejoin.store().logs().place(LogKind::FlowRun, id), line, next })
    }

    /// Its turns wait for places; without this, each begins when its step does.
    #[must_use]
    pub fn with_places(mut self, places: Arc<dyn TurnPlaces>) -> Self {
        self.places = Some(places);
        self
    }

    /// The run's id.
    pub fn id(&self) -> super::RunId {
        self.run.begun.id
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// The steps of the flow that would be run now, in their order.
    pub fn plan(&self) -> Vec<&str> {
        let done = |name: &str| self.run.steps.result(&Key::of(name)).is_some_and(Ended::is_final);
        let order = order(&self.flow.before());
        let names = order.into_iter().map(|at| self.flow.steps[at].name.as_str());
        names.filter(|name| self.run.begun.steps.iter().any(|step| step == name) && !done(name)).collect()
    }

    /// Carries it out; gives the run as it ended.
    pub fn carry_out(mut self, halt: &Stop, watch: &(dyn Fn(&Notice<'_>) + Sync)) -> Result<Run, FlowError> {
        let id = self.id();
        let _lease = match self.lease.take() {
            Some(lease) => lease,
            None => take(self.rejoin, id, self.by, None)?,
        };
        let log = Log::open(self.rejoin.store().logs(), id)?;
        let first = match self.again.take() {
            None => Record::Run(Box::new(self.run.begun.clone())),
            Some(GoOn { anew, updated }) => {
                Record::Resumed { time: now(), anew, damaged: self.run.damaged.clone(), updated }
            }
        };
        let commands = commands_lease(self.rejoin, &self.flow, id, self.by)?;
        let walk = Walk::new(self.rejoin, &self.flow, self.run, log, commands, watch)
            .with_places(self.places.as_deref());
        let asks = match self.by {
            RunBy::Command => return walk.carry_out(first, halt),
            RunBy::Daemon => Asks::from_now_on(self.rejoin, id)?,
        };
        std::thread::scope(|threads| {
            // Dropped with the end of the run, also where it panics.
            let (_running, over) = channel::<()>();
            threads.spawn(move || asks.obey(halt, &over));
            walk.carry_out(first, halt)
        })
    }
}

/// Waits until no command of a killed process runs any more: two of them at once would be in each other's way.
fn commands_lease(
    rejoin: &Rejoin,
    flow: &Flow,
    id: super::RunId,
    by: RunBy,
) -> Result<Option<Lease>, FlowError> {
    fn is_command(step: &Step) -> bool {
        match &step.kind {
            Kind::Command(_) => true,
            Kind::ForEach(each) => is_command(&each.step),
            Kind::Agent(_) | Kind::Parallel(_) => false,
        }
    }
    if !flow.all_steps().into_iter().any(is_command) {
        return Ok(None);
    }
    let busy = || {
        let id = short_run_id(id);
        FlowError::Busy(format!("a command that run {id} was killed in does not end; end it, then resume"))
    };
    match rejoin.leases().acquire(&LeaseName::flow_commands(id), &by.owner(), Some(COMMANDS_PATIENCE)) {
        Ok(mut lease) => {
            // Killed together with their supervisor, nobody has ended them yet.
            rejoin::end_left(&mut lease).map_err(|_| busy())?;
            Ok(Some(lease))
        }
        Err(LockError::Busy { .. }) => Err(busy()),
        Err(error) => Err(error.into()),
    }
}

/// Becomes the only one who is at a run.
pub(super) fn take(
    rejoin: &Rejoin,
    id: super::RunId,
    by: RunBy,
    wait: Option<Duration>,
) -> Result<Lease, FlowError> {
    rejoin.leases().acquire(&LeaseName::flow_run(id), &by.owner(), wait).map_err(|error| match error {
        LockError::Busy { owner, .. } => {
            let by = owner.map(|owner| format!(" in process {}", owner.pid)).unwrap_or_default();
            let id = short_run_id(id);
            let words = format!("run {id} is going on{by}; wait for it, or `rejoin flow cancel {id}`");
            FlowError::Busy(words)
        }
        error => error.into(),
    })
}

/// The names of the steps of the flow itself that are asked for.
fn chosen(flow: &Flow, options: &Options) -> Result<Vec<String>, FlowError> {
    match (&options.step, &options.from) {
        (Some(_), Some(_)) => Err(FlowError::Usage("--step and --from exclude each other".into())),
        (None, None) => Ok(flow.steps.iter().map(|step| step.name.clone()).collect()),
        (Some(name), None) => {
            let wanted = with_what_they_wait_for(flow, BTreeSet::from([home(flow, name)?]));
            Ok(wanted.into_iter().map(|at| flow.steps[at].name.clone()).collect())
        }
        (None, Some(name)) => {
            let names = after(flow, name)?;
            let homes = flow.homes();
            // What only has to be over before counts as over: whoever says `--from` says so.
            let taken_from = taken_from(flow);
            for chosen in &names {
                let taken = homes.get(chosen.as_str()).into_iter().flat_map(|at| &taken_from[*at]);
                for earlier in taken.map(|at| &flow.steps[*at].name) {
                    if !names.contains(earlier) {
                        return Err(FlowError::Usage(format!(
                            "step {chosen:?} takes from {earlier:?}, which a run from {name:?} on leaves out; \
                             go on with an earlier run: `rejoin flow resume RUN --from {name}`"
                        )));
                    }
                }
            }
            Ok(names)
        }
    }
}

/// Steps of the flow itself, and all that must be over before them.
pub(super) fn with_what_they_wait_for(flow: &Flow, mut wanted: BTreeSet<usize>) -> BTreeSet<usize> {
    let before = flow.before();
    loop {
        let needed: BTreeSet<usize> = wanted.iter().flat_map(|at| before[*at].iter().copied()).collect();
        if needed.is_subset(&wanted) {
            return wanted;
        }
        wanted.extend(needed);
    }
}

/// A step of the flow itself and those that come after it.
fn after(flow: &Flow, name: &str) -> Result<Vec<String>, FlowError> {
    let home = home(flow, name)?;
    let order = order(&flow.before());
    Ok(order.into_iter().skip_while(|at| *at != home).map(|at| flow.steps[at].name.clone()).collect())
}

fn home(flow: &Flow, name: &str) -> Result<usize, FlowError> {
    flow.homes().get(name).copied().ok_or_else(|| FlowError::NotFound(no_step(flow, name)))
}
