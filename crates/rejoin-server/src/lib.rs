//! `rejoin serve`: the daemon and its HTTP API, on the same journals as the command line.
//!
//! The engine below stays blocking; only this crate is async. Who asks is found out in `auth`, what he asks for
//! waits in `queue`, what happens is told by `stream`, and each kind of thing that can be asked for has its file in
//! `routes`.

mod addresses;
mod app;
mod auth;
mod byte_stream;
mod caller;
mod connections;
mod daemon_note;
mod flow_problem;
mod flow_runs;
mod listen;
mod logging;
mod metrics;
mod page;
mod port_holder;
mod problem;
mod proc_sockets;
mod queue;
mod read_marks;
mod routes;
mod serve;
mod stream;

pub use auth::{Ceiling, MainToken, NamedToken, NamedTokens, WantedToken, new_login_url};
pub use caller::TokenScope;
pub use listen::{Listen, ListenError, Protection, TlsFiles, USUAL_PORT};
pub use logging::log_to_stderr;
pub use port_holder::PortHolder;
pub use routes::openapi;
pub use serve::{Ready, ServeError, ServeOptions, serve};
