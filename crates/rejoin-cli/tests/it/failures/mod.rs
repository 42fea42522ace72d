//! What goes wrong in the wild, and what a user gets.

mod background;
mod busy;
mod cancel;
mod disk;
mod hang;
mod killed;
mod launch;
mod questions;
mod streams;
mod supervisor;
mod torn;
mod watcher;
