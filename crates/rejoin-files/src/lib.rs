//! Reading files that others named or made: a user, a repository, an agent. The one way to do it, for every
//! crate that may look at the disk.

mod regular_file;

pub use regular_file::{open_regular_file, read_regular_file, read_regular_text};
