//! What all requests share.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use rejoin::Rejoin;

use crate::problem::Problem;

/// The daemon, as every route gets it.
pub(crate) type Shared = Arc<App>;

/// What all requests share.
pub(crate) struct App {
    /// Exchanged when the configuration is read anew.
    rejoin: RwLock<Arc<Rejoin>>,
    /// The only directories in which projects may lie; all if there are none.
    pub(crate) roots: Vec<PathBuf>,
}

impl App {
    pub(crate) fn new(rejoin: Rejoin, roots: Vec<PathBuf>) -> Self {
        Self { rejoin: RwLock::new(Arc::new(rejoin)), roots }
    }

    /// rejoin, as it is configured now.
    pub(crate) fn rejoin(&self) -> Arc<Rejoin> {
        Arc::clone(&self.rejoin.read().unwrap_or_else(PoisonError::into_inner))
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
