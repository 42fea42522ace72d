//! What all requests share.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rejoin::{Config, Rejoin};

use crate::auth::Auth;
use crate::flow_runs::FlowRuns;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::queue::Queue;
use crate::read_marks::ReadMarks;
use crate::stream::Hubs;

/// The daemon, as every route gets it.
pub(crate) type Shared = Arc<App>;

/// What all requests share.
pub(crate) struct App {
    /// Exchanged when the configuration is read anew.
    rejoin: RwLock<Arc<Rejoin>>,
    /// The only directories in which projects may lie; all if there are none.
    pub(crate) roots: Vec<PathBuf>,
    /// The addresses under which other devices reach it.
    pub(crate) elsewhere: Vec<String>,
    /// Who may ask.
    pub(crate) auth: Auth,
    /// Runs that wait, and those that run.
    pub(crate) queue: Queue,
    /// Conversations that are watched.
    pub(crate) hubs: Hubs,
    /// What was looked at.
    pub(crate) read_marks: ReadMarks,
    /// Runs of flows that are carried out here.
    pub(crate) flow_runs: FlowRuns,
    /// Figures since the start.
    pub(crate) metrics: Metrics,
}

impl App {
    pub(crate) fn new(rejoin: Rejoin, roots: Vec<PathBuf>, auth: Auth, queue: Queue, hubs: Hubs) -> Self {
        let read_marks = ReadMarks::open(rejoin.home());
        Self {
            rejoin: RwLock::new(Arc::new(rejoin)),
            roots,
            elsewhere: Vec::new(),
            auth,
            queue,
            hubs,
            read_marks,
            flow_runs: FlowRuns::default(),
            metrics: Metrics::default(),
        }
    }

    /// rejoin, as it is configured now.
    pub(crate) fn rejoin(&self) -> Arc<Rejoin> {
        Arc::clone(&self.rejoin.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on rejoin is configured like this.
    pub(crate) fn configure(&self, config: Config) {
        let mut rejoin = self.rejoin.write().unwrap_or_else(PoisonError::into_inner);
        *rejoin = Arc::new(rejoin.with_config(config));
    }

    /// Lets nothing new begin, and waits for the end of what runs: as long as it may take, then it is stopped.
    pub(crate) async fn drain(&self, limit: Option<Duration>) {
        tokio::join!(self.queue.drain(limit), self.flow_runs.drain());
    }

    /// Carries out what waits for the disk on a thread that may.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Rejoin) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let rejoin = self.rejoin();
        tokio::task::spawn_blocking(move || work(&rejoin)).await.map_err(|error| Problem::lost(&error))?
    }
}
