//! Who listens on a port that we wanted.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

use crate::proc_sockets::{holders_of, listening_socket, read};

/// A process that listens on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PortHolder {
    /// Its number.
    pub pid: u32,
    /// Its program, with the command it was given where it has one: `rejoin serve`. The rest of a command line may hold
    /// secrets, and this ends up in logs.
    pub command: String,
}

impl fmt::Display for PortHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.command)
    }
}

impl PortHolder {
    /// Whoever keeps us from listening at an address, where the system lets us see.
    pub(crate) fn find(address: SocketAddr) -> Option<Self> {
        let holders = holders_of(listening_socket(address)?)?;
        // One that was handed on is held by its children, too: the first process opened it.
        let pid = holders.into_iter().min()?;
        let line = read(&format!("/proc/{pid}/cmdline"))?;
        Some(Self { pid, command: command_of(&String::from_utf8_lossy(&line))? })
    }
}

/// The name of the program, and its first argument if that is a plain word.
fn command_of(line: &str) -> Option<String> {
    let mut arguments = line.split('\0');
    let program = Path::new(arguments.next()?).file_name()?.to_string_lossy().into_owned();
    let is_word = |text: &&str| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.chars().all(|one| one.is_ascii_lowercase() || one == '-' || one == '_')
    };
    Some(match arguments.next().filter(is_word) {
        Some(word) => format!("{program} {word}"),
        None => program,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_without_what_may_be_secret() {
        let of = |line| command_of(line);
        assert_eq!(of("/usr/bin/rejoin\0serve\0--port\x007717\0").as_deref(), Some("rejoin serve"));
        assert_eq!(of("python3\0-m\0http.server\0").as_deref(), Some("python3"));
        assert_eq!(of("server\0s3cret\0").as_deref(), Some("server"));
        assert_eq!(of(""), None);
    }
}
