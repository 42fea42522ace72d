//! Finds an agent's command and learns what it can do, once per installation.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rejoin_agents::{Capabilities, Definition, ProbeAnswer};
use rejoin_journal::private;
use serde::{Deserialize, Serialize};

use crate::command::{CommandEnd, run_to_end};
use crate::supervisor::{Helper, LaunchSpec};

/// A wedged `--help` must not block everything; on a busy machine a healthy one takes its ten seconds.
const PROBE_LIMIT: Duration = Duration::from_secs(20);

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
    /// All questions were answered with success. An older rejoin kept other answers, too, and did not say.
    #[serde(default)]
    succeeded: bool,
    capabilities: Capabilities,
}

/// Learns what the command at `path` can do, or remembers it. Remembered is only what it told with
/// success: one that failed (its interpreter was not on PATH for a moment) is asked again.
pub(crate) fn probe(definition: &dyn Definition, path: &Path, cache: &Path, helper: &Helper) -> Capabilities {
    if definition.probes().is_empty() {
        return definition.learn(&[]);
    }
    let file = cache.join("probes.json");
    let mut known: BTreeMap<String, Remembered> =
        std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let key = format!("{} {}", definition.agent(), path.display());
    let now = identity(path);
    if let (Some(known), Some((real, size, mtime, mtime_nsec))) = (known.get(&key), &now)
        && known.succeeded
        && (&known.real, &known.size, &known.mtime, &known.mtime_nsec) == (real, size, mtime, mtime_nsec)
    {
        return known.capabilities.clone();
    }
    let asked = Ask { path, dir: None, env: &[], helper };
    let (answers, went_well): (Vec<ProbeAnswer>, Vec<bool>) =
        definition.probes().iter().map(|args| asked.ask(args, &definition.foreign_env())).unzip();
    let capabilities = definition.learn(&answers);
    if let (true, Some((real, size, mtime, mtime_nsec))) = (went_well.iter().all(|well| *well), now) {
        let learnt = capabilities.clone();
        let kept = Remembered { real, size, mtime, mtime_nsec, succeeded: true, capabilities: learnt };
        known.insert(key, kept);
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
    pub(crate) helper: &'a Helper,
}

impl Ask<'_> {
    /// Runs it to its end, bounded in time and output, below a supervisor like any agent: it ends with us,
    /// and all that it started ends with it. Also tells whether it said that all went well.
    pub(crate) fn ask(&self, args: &[impl AsRef<OsStr>], foreign: &[&str]) -> (ProbeAnswer, bool) {
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let program = self.path.as_os_str().to_owned();
        let launch = LaunchSpec {
            argv: [program].into_iter().chain(args.iter().map(|arg| arg.as_ref().to_owned())).collect(),
            env: self.env.to_vec(),
            remove_env: foreign.iter().map(|name| (*name).to_owned()).collect(),
            dir: self.dir.unwrap_or(&here),
            leases: Vec::new(),
            mark: uuid::Uuid::new_v4().to_string(),
        };
        let Ok(outcome) = run_to_end(self.helper, launch, PROBE_LIMIT) else {
            return (ProbeAnswer::default(), false);
        };
        let answer = ProbeAnswer { answered: true, stdout: outcome.stdout, stderr: outcome.stderr };
        match outcome.end {
            CommandEnd::Exited(code) => (answer, code == 0),
            _ => (ProbeAnswer::default(), false),
        }
    }
}
