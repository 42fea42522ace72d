//! `rejoin serve`: the daemon and its HTTP API, on the same journals as the command line.
//!
//! The engine below stays blocking; only this crate is async. Who asks is found out in [`auth`], what he asks for
//! waits in [`queue`], what happens is told by [`stream`], and each route stands in [`routes`].

mod app;
mod auth;
mod caller;
mod problem;
mod queue;
mod routes;
mod stream;
