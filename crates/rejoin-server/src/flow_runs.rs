//! Runs of flows that this daemon carries out, each on a thread of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rejoin::Rejoin;
use rejoin_flow::{Prepared, RunId, Stop};
use tokio::sync::{oneshot, watch};

use crate::app;
use crate::problem::{Code, Problem};
use crate::queue::FlowTurnPlaces;

/// More at once are refused: each has a thread, and agents of its own.
const MOST: usize = 32;

/// Runs of flows that this daemon carries out.
#[derive(Clone, Default)]
pub(crate) struct FlowRuns(Arc<Shared>);

struct Shared {
    runs: Mutex<Runs>,
    /// How many there are, for whoever waits for the last one.
    count: watch::Sender<usize>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { runs: Mutex::default(), count: watch::channel(0).0 }
    }
}

#[derive(Default)]
struct Runs {
    draining: bool,
    /// Those included that are about to begin.
    count: usize,
    running: HashMap<RunId, Running>,
}

struct Running {
    stop: Stop,
    /// It was asked to stop; asked twice, its agents would be killed.
    stopping: bool,
}

impl Running {
    fn ask_to_stop(&mut self) {
        if !std::mem::replace(&mut self.stopping, true) {
            self.stop.request();
        }
    }
}

impl FlowRuns {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        *self.0.count.borrow()
    }

    /// Begins a run, or goes on with one: it is prepared on its own thread. Returns once its first record is on the
    /// disk, or it was refused.
    pub(crate) async fn begin(
        &self,
        app: &app::Shared,
        prepare: impl for<'a> FnOnce(&'a Rejoin) -> Result<Prepared<'a>, Problem> + Send + 'static,
    ) -> Result<RunId, Problem> {
        let place = self.place()?;
        let (rejoin, turns) = (app.rejoin(), Arc::new(FlowTurnPlaces(app::Shared::clone(app))));
        let (tell, told) = oneshot::channel();
        let carry_out = move || {
            let tell = Begun(Mutex::new(Some(tell)));
            if let Err(problem) = place.carry_out(&rejoin, turns, prepare, &tell) {
                tell.tell(Err(problem));
            }
        };
        let thread = std::thread::Builder::new().name("flow".to_owned()).spawn(carry_out);
        thread.map_err(|error| {
            Problem::new(Code::TooMany, format!("the system has no thread for it: {error}")).retry_after(5)
        })?;
        told.await.unwrap_or_else(|_| {
            Err(Problem::new(Code::Internal, "the run's thread ended before the run began"))
        })
    }

    /// Asks one to stop; `false` if it is none of ours.
    pub(crate) fn cancel(&self, id: RunId) -> bool {
        let mut runs = self.0.runs();
        let run = runs.running.get_mut(&id);
        run.map(Running::ask_to_stop).is_some()
    }

    /// Takes no more, asks all to stop, and waits until they have. Called again, it ends their agents at once.
    pub(crate) async fn drain(&self) {
        {
            let mut runs = self.0.runs();
            let again = std::mem::replace(&mut runs.draining, true);
            for run in runs.running.values_mut() {
                if again {
                    run.stop.request();
                } else {
                    run.ask_to_stop();
                }
            }
        }
        // The sender lives as long as we do.
        let _ = self.0.count.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Whether the daemon is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.runs().draining
    }

    fn place(&self) -> Result<Place, Problem> {
        let mut runs = self.0.runs();
        if runs.draining {
            return Err(stopping());
        }
        if runs.count >= MOST {
            let words = format!("{MOST} runs of flows are going on, more are not begun");
            return Err(Problem::new(Code::TooMany, words)
                .hint("wait for one of them, or cancel one")
                .retry_after(5));
        }
        runs.count += 1;
        self.0.count.send_replace(runs.count);
        drop(runs);
        Ok(Place(Arc::clone(&self.0)))
    }
}

fn stopping() -> Problem {
    Problem::new(Code::Stopping, "the daemon is about to end, and begins no flow any more")
        .hint("try again when it is back")
        .retry_after(5)
}

/// Tells once that a run has begun, or why not.
struct Begun(Mutex<Option<oneshot::Sender<Result<RunId, Problem>>>>);

impl Begun {
    fn tell(&self, what: Result<RunId, Problem>) {
        let tell = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(tell) = tell {
            // Who asked may have gone away; the run goes on.
            let _ = tell.send(what);
        }
    }
}

/// A place among the runs, until it is dropped.
struct Place(Arc<Shared>);

impl Place {
    fn carry_out(
        &self,
        rejoin: &Rejoin,
        turns: Arc<FlowTurnPlaces>,
        prepare: impl for<'a> FnOnce(&'a Rejoin) -> Result<Prepared<'a>, Problem>,
        begun: &Begun,
    ) -> Result<(), Problem> {
        let prepared = prepare(rejoin)?.with_places(turns);
        let id = prepared.id();
        let listed = self.list(id)?;
        let ended = prepared.carry_out(&listed.stop, &|_| begun.tell(Ok(id)));
        match &ended {
            Ok(run) => tracing::info!(run = %id, standing = run.standing.name(), "a flow ended"),
            Err(error) => tracing::error!(run = %id, %error, "a flow broke off"),
        }
        Ok(ended.map(drop)?)
    }

    fn list(&self, id: RunId) -> Result<Listed<'_>, Problem> {
        let mut runs = self.0.runs();
        if runs.draining {
            return Err(stopping());
        }
        let stop = Stop::default();
        runs.running.insert(id, Running { stop: stop.clone(), stopping: false });
        Ok(Listed { shared: &self.0, id, stop })
    }
}

/// A run that can be stopped, until this is dropped.
struct Listed<'a> {
    shared: &'a Shared,
    id: RunId,
    stop: Stop,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.shared.runs().running.remove(&self.id);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut runs = self.0.runs();
        runs.count -= 1;
        self.0.count.send_replace(runs.count);
    }
}

impl Shared {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
