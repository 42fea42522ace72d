//! What readers are told, whatever happens in between.

mod client;
mod hubs;
mod interleaved;
