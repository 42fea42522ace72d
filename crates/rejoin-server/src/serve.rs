//! The life of the daemon: from its start to the last turn it stops.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rejoin::Rejoin;
use tokio::sync::watch;

use crate::app::App;
use crate::auth::Auth;
use crate::daemon_note::DaemonNote;
use crate::listen::{Listen, ListenError, Listener};
use crate::queue::Queue;
use crate::stream::Hubs;
use crate::{connections, routes};

/// How the daemon shall serve.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Where it listens.
    pub listen: Listen,
    /// The only directories in which projects may lie; all if there are none.
    pub roots: Vec<PathBuf>,
}

impl ServeOptions {
    /// Listening there, with all else as usual.
    pub fn new(listen: Listen) -> Self {
        Self { listen, roots: Vec::new() }
    }
}

/// A daemon that answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ready {
    /// Where in the network, if it is there.
    pub address: Option<SocketAddr>,
}

/// Why the daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It cannot listen there.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The home cannot be used.
    #[error(transparent)]
    Home(#[from] rejoin::Error),
    /// The system refused something else.
    #[error("{what}: {cause}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What it said.
        cause: std::io::Error,
    },
}

/// Serves until it is told to end. `on_ready` is called once it answers.
pub fn serve(
    rejoin: Rejoin,
    options: &ServeOptions,
    on_ready: impl FnOnce(&Ready),
) -> Result<(), ServeError> {
    let cannot = |what| move |cause| ServeError::System { what, cause };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("http")
        .enable_all()
        .build()
        .map_err(cannot("cannot start the threads of the daemon"))?;
    runtime.block_on(async {
        let listener = Listener::open(&options.listen)?;
        rejoin.make_home()?;
        let home = rejoin.home().to_owned();
        let app = Arc::new(App::new(rejoin, options.roots.clone(), Auth, Queue, Hubs::default()));
        let (end, ending) = watch::channel(false);
        let _note = DaemonNote::write(&home, listener.address())
            .map_err(cannot("cannot note the daemon's address"))?;
        on_ready(&Ready { address: listener.address() });
        let mut interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
            .map_err(cannot("cannot wait for signals"))?;
        let router = routes::router(app);
        tokio::select! {
            () = connections::accept(&listener, router, ending) => {}
            _ = interrupt.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        let _ = end.send(true);
        Ok(())
    })
}
