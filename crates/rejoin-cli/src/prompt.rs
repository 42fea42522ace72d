//! Where the prompt comes from: the argument, files, standard input, in this order.

use std::io::{IsTerminal, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{exit, style};

/// The most that is read from a file or a pipe: no agent takes more.
const MOST: u64 = 12 << 20;
/// How long a pipe that only our caller could write to may stay silent before it is ignored.
const SILENCE: Duration = Duration::from_millis(200);
/// The same, when there is no other prompt.
const LONG_SILENCE: Duration = Duration::from_secs(10);

/// After so long a wait for another program the user wonders.
const NOTICED: Duration = Duration::from_secs(3);

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
        .map_err(|error| exit::by_kind(&error, format!("cannot read {}: {error}", path.display())))?;
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

/// What was piped in, if anything was. A pipe that another program of our pipeline writes to is read
/// to its end, however slow, and after a while the user is told so; one that our caller or a stranger
/// holds open, and says nothing on, is not waited for: cron, ssh, CI runners and editors leave such pipes
/// behind, and so do programs that pass on descriptors they do not know of.
fn piped(only_prompt: bool) -> anyhow::Result<Option<String>> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let limit = if only_prompt { LONG_SILENCE } else { SILENCE };
    let begun = Instant::now();
    let mut told = false;
    // Asked again after every silence: a writer may go, or have been a child just being forked.
    while !speaks(stdin.as_fd(), limit) {
        if let Some(writer) = writer_of_our_pipeline(stdin.as_fd()) {
            if begun.elapsed() >= NOTICED && !std::mem::replace(&mut told, true) {
                style::talk(&format!("· waiting for standard input from {writer}; without it: < /dev/null"));
            }
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

/// A process of our pipeline that may still write: none of our ancestors, in our process group as all of
/// a pipeline is, and with the other end as its output. Whoever else has that end was not meant to write.
/// Where the system cannot tell, nobody is.
fn writer_of_our_pipeline(stdin: BorrowedFd<'_>) -> Option<String> {
    let stat = rustix::fs::fstat(stdin).ok()?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Fifo {
        return None;
    }
    let pipe = format!("pipe:[{}]", stat.st_ino);
    let family = ancestors();
    let group = Stat::of(std::process::id())?.group;
    let others = std::fs::read_dir("/proc").ok()?.flatten();
    let mut others = others.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    others.find_map(|pid| {
        let stat = Stat::of(pid).filter(|stat| stat.group == group && !family.contains(&pid))?;
        writes_to(pid, &pipe).then(|| format!("{} ({pid})", stat.name))
    })
}

/// Whether its standard output or error is the pipe.
fn writes_to(pid: u32, pipe: &str) -> bool {
    [1, 2].into_iter().any(|fd| {
        std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|link| link.as_os_str() == pipe)
            && std::fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}"))
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
    let parent_of = |pid: &u32| Some(Stat::of(*pid)?.parent);
    while let Some(parent) = family.last().and_then(parent_of).filter(|pid| *pid > 0) {
        if family.contains(&parent) {
            break;
        }
        family.push(parent);
    }
    family
}

/// What `/proc` says of a process.
struct Stat {
    name: String,
    parent: u32,
    group: u32,
}

impl Stat {
    /// `pid (name) state parent group …`; the name may hold anything.
    fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (open, close) = (stat.find('(')?, stat.rfind(')')?);
        let mut rest = stat.get(close + 1..)?.split_whitespace().skip(1);
        let (parent, group) = (rest.next()?.parse().ok()?, rest.next()?.parse().ok()?);
        Some(Self { name: stat.get(open + 1..close)?.to_owned(), parent, group })
    }
}
