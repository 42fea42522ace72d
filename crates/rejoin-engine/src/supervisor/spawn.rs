//! Starts the agent below the supervisor. The only place with `unsafe`.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::processes::{MARK, marked};
use super::protocol::Spec;

/// Starts the agent in a process group of its own. With `die_with_us` the kernel ends it when the
/// supervisor itself is killed.
pub(super) fn spawn(spec: Spec, stdio: [OwnedFd; 3], die_with_us: bool) -> std::io::Result<Child> {
    let mut argv = spec.argv.into_iter().map(std::ffi::OsString::from_vec);
    let program = argv.next().unwrap_or_default();
    let [input, output, errors] = stdio;
    let mut command = Command::new(program);
    command
        .args(argv)
        .current_dir(std::ffi::OsString::from_vec(spec.dir))
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output))
        .stderr(Stdio::from(errors))
        .process_group(0);
    for name in spec.remove_env {
        command.env_remove(name);
    }
    for (name, value) in spec.env {
        command.env(name, std::ffi::OsString::from_vec(value));
    }
    command.env(MARK, marked(&spec.mark));
    if die_with_us {
        bind_life(&mut command);
    }
    command.spawn()
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "pre_exec is the only way to reach the child between fork and exec")]
fn bind_life(command: &mut Command) {
    let us = rustix::process::getpid();
    let bind = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // Killed before that call, the supervisor would not be missed.
        if rustix::process::getppid() == Some(us) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec the closure makes two system calls and touches no memory.
    unsafe {
        command.pre_exec(bind);
    }
}

#[cfg(not(target_os = "linux"))]
fn bind_life(_command: &mut Command) {}
