//! `rejoin-loopback PROGRAM [ARGUMENT…]`: runs a program where nothing but loopback is reachable.
//!
//! Cargo's test runner under `cargo xtask test`, so that no test and no real agent can reach a network.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

#[cfg(target_os = "linux")]
mod namespace;

/// As `env` and `nohup` say "could not even start it".
const COULD_NOT_START: u8 = 125;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("rejoin-loopback: name a program to run: rejoin-loopback PROGRAM [ARGUMENT…]");
        return COULD_NOT_START.into();
    };
    #[cfg(target_os = "linux")]
    if let Err(why) = namespace::enter() {
        eprintln!(
            "rejoin-loopback: {why}\nRun the tests as root, or allow unprivileged user namespaces on this machine."
        );
        return COULD_NOT_START.into();
    }
    #[cfg(not(target_os = "linux"))]
    eprintln!("rejoin-loopback: this system has no network namespaces; the program keeps its network");
    let error = Command::new(&program).args(arguments.collect::<Vec<OsString>>()).exec();
    eprintln!("rejoin-loopback: cannot run {}: {error}", program.display());
    COULD_NOT_START.into()
}
