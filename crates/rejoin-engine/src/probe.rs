//! Finds an agent's command and learns what it can do, once per installation.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rejoin_agents::{Capabilities, Definition, ProbeAnswer};
use rejoin_journal::private;
use serde::{Deserialize, Serialize};

/// A wedged `--help` must not block everything.
const PROBE_LIMIT: Duration = Duration::from_secs(10);
/// No help text is longer.
const PROBE_BYTES: u64 = 512 * 1024;

/// An installed agent.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The command as found.
    pub path: PathBuf,
    /// Arguments that come before all others (the embedded agent is a subcommand).
    pub first_args: Vec<OsString>,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl Installation {
    /// What a session is bound to: the command's own name and the product it says it is.
    pub fn product(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match self.capabilities.product.as_str() {
            "" => name.into_owned(),
            product => format!("{name} ({product})"),
        }
    }
}

/// Where a command is: a path as it stands, a name by searching `path`.
pub(crate) fn find_command(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if command.contains('/') {
        let found = PathBuf::from(command);
        return is_executable(&found).then(|| std::path::absolute(&found).unwrap_or(found));
    }
    std::env::split_paths(path?).map(|dir| dir.join(command)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0)
}

/// One remembered probe. Path, size and times of the real file must be the same.
#[derive(Serialize, Deserialize)]
struct Remembered {
    real: PathBuf,
    size: u64,
    mtime: i64,
    mtime_nsec: i64,
    capabilities: Capabilities,
}

/// Learns what the command at `path` can do, or remembers it.
pub(crate) fn probe(definition: &dyn Definition, path: &Path, cache: &Path) -> Capabilities {
    if definition.probes().is_empty() {
        return definition.learn(&[]);
    }
    let file = cache.join("probes.json");
    let mut known: BTreeMap<String, Remembered> =
        std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let key = format!("{} {}", definition.agent(), path.display());
    let now = identity(path);
    if let (Some(known), Some((real, size, mtime, mtime_nsec))) = (known.get(&key), &now)
        && (&known.real, &known.size, &known.mtime, &known.mtime_nsec) == (real, size, mtime, mtime_nsec)
    {
        return known.capabilities.clone();
    }
    let asked = Ask { path, dir: None, env: &[] };
    let answers: Vec<ProbeAnswer> =
        definition.probes().iter().map(|args| asked.ask(args, definition.foreign_env())).collect();
    let capabilities = definition.learn(&answers);
    if let (true, Some((real, size, mtime, mtime_nsec))) = (answers.iter().all(|answer| answer.answered), now)
    {
        known.insert(key, Remembered { real, size, mtime, mtime_nsec, capabilities: capabilities.clone() });
        // A cache: if it cannot be written, the next turn asks again.
        let _ = write_cache(cache, &file, &known);
    }
    capabilities
}

fn identity(path: &Path) -> Option<(PathBuf, u64, i64, i64)> {
    let real = path.canonicalize().ok()?;
    let meta = real.metadata().ok()?;
    Some((real, meta.size(), meta.mtime(), meta.mtime_nsec()))
}

fn write_cache(
    cache: &Path,
    file: &Path,
    known: &BTreeMap<String, Remembered>,
) -> Result<(), rejoin_journal::JournalError> {
    let text =
        serde_json::to_vec_pretty(known).map_err(|cause| rejoin_journal::JournalError::NotJson { cause })?;
    private::create_dir(cache)?;
    private::write_atomically(file, &text)
}

/// A command that is asked something besides the turn itself.
pub(crate) struct Ask<'a> {
    pub(crate) path: &'a Path,
    pub(crate) dir: Option<&'a Path>,
    pub(crate) env: &'a [(String, OsString)],
}

impl Ask<'_> {
    /// Runs it to its end, bounded in time and output.
    pub(crate) fn ask(&self, args: &[impl AsRef<OsStr>], foreign: &[&str]) -> ProbeAnswer {
        let mut command = Command::new(self.path);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for name in foreign {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        answer_of(command)
    }
}

fn answer_of(mut command: Command) -> ProbeAnswer {
    let Ok(mut child) = command.spawn() else { return ProbeAnswer::default() };
    let stdout = child.stdout.take().map(read_in_background);
    let stderr = child.stderr.take().map(read_in_background);
    let deadline = Instant::now() + PROBE_LIMIT;
    let answered = loop {
        match child.try_wait() {
            Ok(Some(_)) => break true,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            _ => break false,
        }
    };
    if !answered {
        if let Some(pid) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
        return ProbeAnswer::default();
    }
    let text = |reader: Option<std::sync::mpsc::Receiver<String>>| {
        reader.and_then(|reader| reader.recv_timeout(Duration::from_secs(1)).ok()).unwrap_or_default()
    };
    ProbeAnswer { answered, stdout: text(stdout), stderr: text(stderr) }
}

fn read_in_background(stream: impl Read + Send + 'static) -> std::sync::mpsc::Receiver<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.take(PROBE_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
