//! The life of the daemon: from its start to the last turn it stops.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rejoin::{Config, Rejoin};
use rejoin_journal::{Lease, LeaseName, LockError, Owner};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::app::{App, Shared};
use crate::auth::{Auth, Hosts};
use crate::daemon_note::DaemonNote;
use crate::listen::{self, Listen, ListenError, Listener};
use crate::queue::{self, Queue};
use crate::stream::Hubs;
use crate::{addresses, connections, routes};

/// How the daemon shall serve.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Where it listens.
    pub listen: Listen,
    /// The names of this host in requests, besides its addresses.
    pub host_names: Vec<String>,
    /// The only directories in which projects may lie; all if there are none.
    pub roots: Vec<PathBuf>,
    /// So many turns at once.
    pub max_runs: usize,
    /// How long running turns may go on when it is told to end; at once they are stopped without it.
    pub drain: Option<Duration>,
}

impl ServeOptions {
    /// Listening there, with all else as usual.
    pub fn new(listen: Listen) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self { listen, host_names: Vec::new(), roots: Vec::new(), max_runs: cores * 2, drain: None }
    }
}

/// A daemon that answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ready {
    /// Where in the network, if it is there.
    pub address: Option<SocketAddr>,
    /// What a browser of this machine opens, if it is in the network.
    pub url: Option<String>,
    /// With what a browser is let in, once: behind `#k=` in the address.
    pub login_code: String,
    /// How many projects there are.
    pub projects: usize,
    /// How many conversations.
    pub conversations: usize,
}

/// Why the daemon did not start, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// It cannot listen there.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Another daemon has this home.
    #[error(
        "a daemon serves this home already: {by}; `rejoin serve --url` prints its address, end it to start another"
    )]
    Held {
        /// Which.
        by: String,
    },
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

impl ServeError {
    /// The exit code the command gives for it, a documented number.
    pub fn exit_code(&self) -> i32 {
        use rejoin::exit_code::{BUSY, INTERNAL, NOT_FOUND, USAGE};
        match self {
            ServeError::Held { .. }
            | ServeError::Listen(ListenError::InUse { .. } | ListenError::InTheWay { .. }) => BUSY,
            ServeError::Listen(ListenError::Tls(_)) => USAGE,
            ServeError::Listen(ListenError::NotActivated) => NOT_FOUND,
            ServeError::Home(error) => error.exit_code(),
            ServeError::Listen(_) | ServeError::System { .. } => INTERNAL,
        }
    }
}

fn cannot(what: &'static str) -> impl FnOnce(std::io::Error) -> ServeError {
    move |cause| ServeError::System { what, cause }
}

/// Threads that answer; what waits for the disk has threads of its own, of which some are kept.
const THREADS: usize = 2;
const IDLE_THREADS_LIVE: Duration = Duration::from_secs(2);
/// So long clients may take to go when all turns have ended.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Serves until it is told to end by SIGTERM or SIGINT. `on_ready` is called once it answers.
pub fn serve(
    rejoin: Rejoin,
    options: &ServeOptions,
    on_ready: impl FnOnce(&Ready),
) -> Result<(), ServeError> {
    rejoin.make_home()?;
    let _one_daemon = only_daemon(&rejoin)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("http")
        .thread_keep_alive(IDLE_THREADS_LIVE)
        .enable_all()
        .build()
        .map_err(cannot("cannot start the threads of the daemon"))?;
    let served = runtime.block_on(live(rejoin, options, on_ready));
    // What still waits for a disk that does not answer must not keep us.
    runtime.shutdown_timeout(LAST_ANSWERS);
    served
}

async fn live(
    rejoin: Rejoin,
    options: &ServeOptions,
    on_ready: impl FnOnce(&Ready),
) -> Result<(), ServeError> {
    let listener = Listener::open(&options.listen)?;
    let tls = listen::tls(&options.listen)?;
    let mut signals = Signals::new().map_err(cannot("cannot wait for signals"))?;
    let address = listener.address();
    let home = rejoin.home().to_owned();
    let auth = Auth::open(&home, Hosts::of(&options.listen, address, &options.host_names))?;
    let queue = Queue::new(options.max_runs);
    let mut app = App::new(rejoin, options.roots.clone(), auth, queue, Hubs::default());
    app.elsewhere = addresses::for_other_devices(&options.listen, address, &options.host_names);
    let app = Arc::new(app);
    let driver = tokio::spawn(queue::drive(Arc::clone(&app)));
    let url =
        address.map(|address| addresses::for_this_machine(&options.listen, address, &options.host_names));
    let _note = DaemonNote::write(&home, address, url.clone()).map_err(rejoin::Error::from)?;
    let (end, ending) = watch::channel(false);
    let serving = tokio::spawn(connections::accept(listener, tls, routes::router(Arc::clone(&app)), ending));
    let login_code = app.auth.new_code()?;
    // While it answers already: with many conversations it takes a moment.
    let (projects, conversations) = app.blocking(|rejoin| Ok(count(rejoin))).await.unwrap_or_default();
    on_ready(&Ready { address, url, login_code, projects, conversations });
    signals.told_to_end(&app).await;
    tracing::info!("ending: no new turn begins");
    tokio::select! {
        () = app.drain(options.drain) => {}
        () = signals.told_to_end(&app) => tracing::warn!("told again: ending at once"),
    }
    driver.abort();
    let _ = end.send(true);
    let _ = tokio::time::timeout(LAST_ANSWERS, serving).await;
    Ok(())
}

/// Refuses a second daemon on one home, with the first one's name.
fn only_daemon(rejoin: &Rejoin) -> Result<Lease, ServeError> {
    let owner = Owner::this_process("rejoin serve", "serving this home", jiff::Timestamp::now().to_string());
    rejoin.leases().acquire(&LeaseName::daemon(), &owner, None).map_err(|error| match error {
        LockError::Busy { owner, .. } => {
            ServeError::Held { by: owner.map_or_else(|| "a process".to_owned(), |owner| owner.to_string()) }
        }
        LockError::Journal(error) => ServeError::Home(error.into()),
        LockError::Name { .. } => ServeError::System {
            what: "cannot take the daemon's lock",
            cause: std::io::ErrorKind::InvalidInput.into(),
        },
    })
}

/// How many projects and conversations there are, without looking into any.
fn count(rejoin: &Rejoin) -> (usize, usize) {
    let Ok(all) = rejoin.store().list_page(None, usize::MAX, None) else { return (0, 0) };
    let projects: std::collections::HashSet<_> =
        all.heads.iter().filter_map(|head| head.info.as_ref().map(|info| &info.project)).collect();
    (projects.len(), all.heads.len())
}

/// What the daemon is told by its user and its system.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the word to end; reads the configuration anew as often as it is told to.
    async fn told_to_end(&mut self, app: &Shared) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => reload(app),
            }
        }
    }
}

/// A configuration that is wrong is told of, and the one before it stays.
fn reload(app: &App) {
    match Config::load() {
        Ok(config) => {
            app.configure(config);
            tracing::info!("the configuration was read anew");
        }
        Err(error) => tracing::error!(%error, "the configuration is not taken, the one before it stays"),
    }
}
