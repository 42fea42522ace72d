//! Pi: its driver on recordings of Pi, its arguments, what it tells about itself, its store.

mod driver;
mod launch;
mod store;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rejoin_agents::{Capabilities, ProbeAnswer};
use rejoin_core::Agent;

use crate::recording::directory;
use crate::requests::{Asked, definition};

pub(super) const SESSION: &str = "01a1e0a0-6c38-7791-b02d-f3428cc5b652";

pub(super) fn agent() -> Agent {
    Agent::named("pi")
}

pub(super) fn help() -> String {
    fs::read_to_string(directory("pi").join("pi.help.txt")).unwrap()
}

/// Pi without a terminal: its answers stand on standard error.
pub(super) fn said(text: &str) -> ProbeAnswer {
    ProbeAnswer { answered: true, stdout: String::new(), stderr: text.to_owned() }
}

pub(super) fn capabilities() -> Capabilities {
    static KNOWN: LazyLock<Capabilities> =
        LazyLock::new(|| definition(&agent()).learn(&[said("0.74.2\n"), said(&help())]));
    KNOWN.clone()
}

pub(super) fn pi() -> Asked {
    Asked { capabilities: capabilities(), ..Asked::of(agent()) }
}

pub(super) fn resumed() -> Asked {
    pi().resuming(SESSION)
}

pub(super) fn without(flag: &str) -> Capabilities {
    let mut known = capabilities();
    known.flags.remove(flag);
    known
}

pub(super) fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}
