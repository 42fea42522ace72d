//! Where the prompt comes from: the argument, files, standard input, in this order.

use std::io::{IsTerminal, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::style;

/// The most that is read from a file or a pipe: no agent takes more.
const MOST: u64 = 12 << 20;
/// How long a pipe that only our caller could write to may stay silent before it is ignored.
const SILENCE: Duration = Duration::from_millis(200);
/// The same, when there is no other prompt.
const LONG_SILENCE: Duration = Duration::from_secs(10);

/// Gathers the prompt.
pub(crate) fn gather(argument: Option<&str>, files: &[PathBuf]) -> anyhow::Result<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut stdin_taken = false;
    match argument {
        Some("-") => {
            parts.push(read_stdin()?);
            stdin_taken = true;
        }
        Some(text) => parts.push(text.to_owned()),
        None => {}
    }
    for file in files {
        if file.as_os_str() == "-" {
            parts.push(read_stdin()?);
            stdin_taken = true;
        } else {
            parts.push(read_file(file)?);
        }
    }
    if !stdin_taken && let Some(text) = piped(parts.is_empty())? {
        parts.push(text);
    }
    // One prompt alone is sent as it was given, to the byte.
    match parts.as_slice() {
        [] => Err(usage(
            "no prompt: say what the agent should do, as an argument, with -f FILE or on standard input",
        )),
        [one] => Ok(one.clone()),
        many => Ok(many.iter().map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>().join("\n\n")),
    }
}

fn usage(text: &str) -> anyhow::Error {
    rejoin::Error::Config(text.to_owned()).into()
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let file = std::fs::File::open(path)
        .map_err(|error| usage(&format!("cannot read {}: {error}", path.display())))?;
    bounded(file, &path.display().to_string())
}

fn read_stdin() -> anyhow::Result<String> {
    bounded(std::io::stdin().lock(), "standard input")
}

fn bounded(source: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    source
        .take(MOST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| usage(&format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MOST {
        return Err(usage(&format!("{name} is longer than {} MiB, more than any agent takes", MOST >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| usage(&format!("{name} is not UTF-8 text")))
}

/// What was piped in, if anything was. A pipe that another program of a pipeline writes to is read
/// to its end, however slow; one that only our caller holds open, and says nothing on, is not
/// waited for: cron, ssh, CI runners and editors leave such pipes behind.
fn piped(only_prompt: bool) -> anyhow::Result<Option<String>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let limit = if only_prompt { LONG_SILENCE } else { SILENCE };
    // Asked again after every silence: a writer may go, or have been a child just being forked.
    while !speaks(stdin.as_fd(), limit) {
        if has_other_writer(stdin.as_fd()) {
            continue;
        }
        if !only_prompt {
            style::talk("! standard input is open but silent: not read (use -f - to wait for it)");
        }
        return Ok(None);
    }
    let text = read_stdin()?;
    Ok((!text.trim().is_empty()).then_some(text))
}

/// Whether there is something to read, or the end of it, within a time.
fn speaks(stdin: BorrowedFd<'_>, limit: Duration) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    matches!(poll(&mut fds, Some(&limit)), Ok(count) if count > 0)
}

/// Whether a process that is none of our ancestors has the other end of the pipe: then we stand in
/// a pipeline. Where the system cannot tell, nobody does.
fn has_other_writer(stdin: BorrowedFd<'_>) -> bool {
    let Ok(stat) = rustix::fs::fstat(stdin) else { return false };
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Fifo {
        return false;
    }
    let pipe = format!("pipe:[{}]", stat.st_ino);
    let family = ancestors();
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let others = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    others.filter(|pid| !family.contains(pid)).any(|pid| writes_to(pid, &pipe))
}

fn writes_to(pid: u32, pipe: &str) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    descriptors.flatten().any(|fd| {
        std::fs::read_link(fd.path()).is_ok_and(|link| link.as_os_str() == pipe)
            && std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", fd.file_name().to_string_lossy()))
                .is_ok_and(|info| opened_for_writing(&info))
    })
}

/// `flags:` of fdinfo is octal; its last digit is the access mode.
fn opened_for_writing(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.is_some_and(|flags| flags.trim().ends_with(['1', '2']))
}

/// This process and those above it.
fn ancestors() -> Vec<u32> {
    let mut family = vec![std::process::id()];
    while let Some(parent) = family.last().and_then(|pid| parent_of(*pid)).filter(|pid| *pid > 0) {
        if family.contains(&parent) {
            break;
        }
        family.push(parent);
    }
    family
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.get(stat.rfind(')')? + 1..)?.split_whitespace().nth(1)?.parse().ok()
}
