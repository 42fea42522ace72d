//! Which processes of a laboratory are alive: its directory is in the environment of all of them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long something that must happen may take on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// The command lines of all processes that were started in this laboratory or stand in it.
pub(super) fn alive_in(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit));
    pids.filter(|pid| belongs_to(&pid.path(), root)).map(|pid| command_line(&pid.path())).collect()
}

fn belongs_to(process: &Path, root: &Path) -> bool {
    // Both are unreadable or empty for a process that is gone, a zombie included.
    let mentions = |environment: Vec<u8>| {
        environment.split(|byte| *byte == 0).any(|variable| {
            let value = variable.splitn(2, |byte| *byte == b'=').nth(1).unwrap_or_default();
            Path::new(OsStr::from_bytes(value)).starts_with(root)
        })
    };
    fs::read(process.join("environ")).is_ok_and(mentions)
        || fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root))
}

fn command_line(process: &Path) -> String {
    let pid = process.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    format!("{pid}: {}", String::from_utf8_lossy(&words).replace('\0', " "))
}

/// The command lines of the processes of this laboratory in whose environment this text is.
pub(super) fn knowing(root: &Path, secret: &str) -> Vec<String> {
    let knows = |line: &String| {
        let pid = line.split(':').next().unwrap_or_default();
        let environment = fs::read(Path::new("/proc").join(pid).join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(secret)
    };
    alive_in(root).into_iter().filter(knows).collect()
}

/// Waits until something is true; `false` if it never is.
pub(super) fn eventually(limit: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if is_true() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
