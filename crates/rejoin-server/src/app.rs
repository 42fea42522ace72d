//! What all requests share.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use rejoin::Rejoin;
use rejoin_core::{ConversationId, TurnId};

use crate::auth::Auth;
use crate::problem::Problem;
use crate::queue::Queue;
use crate::stream::Hubs;

/// The daemon, as every route gets it.
pub(crate) type Shared = Arc<App>;

/// What all requests share.
pub(crate) struct App {
    /// Exchanged when the configuration is read anew.
    rejoin: RwLock<Arc<Rejoin>>,
    /// The only directories in which projects may lie; all if there are none.
    pub(crate) roots: Vec<PathBuf>,
    /// Who may ask.
    pub(crate) auth: Auth,
    /// Runs that wait, and those that run.
    pub(crate) queue: Queue,
    /// Conversations that are watched.
    pub(crate) hubs: Hubs,
}

impl App {
    pub(crate) fn new(rejoin: Rejoin, roots: Vec<PathBuf>, auth: Auth, queue: Queue, hubs: Hubs) -> Self {
        Self { rejoin: RwLock::new(Arc::new(rejoin)), roots, auth, queue, hubs }
    }

    /// rejoin, as it is configured now.
    pub(crate) fn rejoin(&self) -> Arc<Rejoin> {
        Arc::clone(&self.rejoin.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The conversation of a run.
    // SEAM: the queue knows it.
    #[allow(clippy::unused_self, reason = "see above")]
    pub(crate) fn conversation_of(&self, _run: TurnId) -> Option<ConversationId> {
        None
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
