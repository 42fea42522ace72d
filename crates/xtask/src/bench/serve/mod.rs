//! The daemon: what it takes to stand there, to run many turns at once, and to be watched by many.

mod client;
mod many_runs;
mod sse_client;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use rejoin_testkit::Lab;
use serde_json::{Value, json};

use self::client::Client;
use self::many_runs::many_runs;
use self::sse_client::Seen;
use super::history::generate::generate;
use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

/// Pieces of each turn: enough to have all of them write at once for a while.
const PIECES: usize = 1000;
const WATCHERS: usize = 1000;
/// Turns one after another.
const TURNS: usize = 60;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    start(rejoin)?;
    cost_of_a_turn(rejoin)?;
    many_runs(rejoin)?;
    many_watchers(rejoin)
}

/// A daemon, ended when this is dropped.
pub(crate) struct Daemon {
    child: Child,
    /// Asks it.
    pub(crate) client: Client,
}

impl Daemon {
    /// Starts it on a home; it answers when this returns.
    pub(crate) fn start(mut command: Command, home: &Path, args: &[&str]) -> Result<Self> {
        let child = command
            .args(["serve", "--port", "0"])
            .args(args)
            .env("REJOIN_HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the daemon cannot be started")?;
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let note = fs::read(home.join("daemon.json")).unwrap_or_default();
            let note: Value = serde_json::from_slice(&note).unwrap_or_default();
            let token = fs::read_to_string(home.join("token"));
            if let (Some(address), Ok(token)) = (note["address"].as_str(), token)
                && note["pid"] == child.id()
            {
                let client = Client { address: address.to_owned(), token: token.trim().to_owned() };
                if client.get("/api/v1").is_ok() {
                    return Ok(Self { child, client });
                }
            }
            if Instant::now() > deadline {
                bail!("the daemon does not answer");
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// In MiB.
    fn resident(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|size| size.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
    }

    /// Of it and of all its children that ended.
    fn processor_time(&self) -> Duration {
        let [user, system, of_children, system_of_children] = self.times();
        user + system + of_children + system_of_children
    }

    /// Of it alone.
    fn own_time(&self) -> Duration {
        let [user, system, ..] = self.times();
        user + system
    }

    fn times(&self) -> [Duration; 4] {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
        let mut next = || fields.next().and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
        [(); 4].map(|()| Duration::from_millis(next() * 10))
    }

    /// Begins a turn; gives run and conversation.
    pub(crate) fn begin(
        &self,
        project: &Path,
        conversation: Option<&str>,
        prompt: &str,
    ) -> Result<(String, String)> {
        let body = match conversation {
            None => json!({ "project": project, "agent": "demo", "prompt": prompt }),
            Some(id) => json!({ "conversation": id, "agent": "demo", "prompt": prompt }),
        };
        let said = self.client.post("/api/v1/runs", &body)?;
        let text = |name: &str| said[name].as_str().map(str::to_owned).with_context(|| format!("{said}"));
        Ok((text("run")?, text("conversation")?))
    }

    pub(crate) fn wait_for(&self, run: &str) -> Result<Value> {
        loop {
            let said = self.client.get(&format!("/api/v1/runs/{run}?wait=30"))?;
            if !["queued", "running", "waiting"].contains(&said["status"].as_str().unwrap_or_default()) {
                return Ok(said);
            }
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(rejoin: &Path) -> Result<()> {
    let quick = super::is_quick();
    let (conversations, bytes) = if quick { (1000, 20_000_000) } else { (10_000, 200_000_000) };
    heading(&format!("the daemon on {conversations} conversations: start, and idle"));
    let directory = tempfile::Builder::new().prefix("rejoin-bench-").tempdir()?;
    let root = directory.path().canonicalize()?;
    generate(&root, conversations, bytes)?;
    let home = root.join("rejoin");
    let mut times = Vec::new();
    let mut idle = f64::NAN;
    for round in 0..5 {
        let begun = Instant::now();
        let daemon = Daemon::start(Command::new(rejoin), &home, &[])?;
        times.push(begun.elapsed());
        std::thread::sleep(Duration::from_secs(1));
        idle = daemon.resident();
        if round == 4 {
            let begun = Instant::now();
            daemon.client.get("/api/v1/conversations?limit=50")?;
            figure("first list of 50 (the index is made)", ms(begun.elapsed()), "ms", None);
            let begun = Instant::now();
            daemon.client.get("/api/v1/conversations?limit=50")?;
            figure("the same again", ms(begun.elapsed()), "ms", None);
            figure("resident after it", daemon.resident(), "MiB", None);
        }
    }
    times.sort_unstable();
    figure("start to first answer (median of 5)", ms(times[2]), "ms", Some(Bound::AtMost(50.0)));
    figure("resident, idle", idle, "MiB", Some(Bound::AtMost(20.0)));
    Ok(())
}

/// The same turns by the command and over HTTP, in turns.
fn cost_of_a_turn(rejoin: &Path) -> Result<()> {
    heading(&format!(
        "{TURNS} turns in one conversation, by `rejoin run` and over HTTP, one after the other"
    ));
    let lab = Lab::new();
    let (home, other) = (lab.root().join("rejoin"), lab.root().join("rejoin2"));
    let daemon = Daemon::start(lab.command(rejoin), &home, &[])?;
    let mut command = Cost::default();
    let (mut wall, mut conversation) = (Vec::new(), None);
    let mut over_http = Duration::ZERO;
    for turn in 0..TURNS {
        let mut call = lab.command(rejoin);
        let go_on: &[&str] = if turn == 0 { &["-a", "demo"] } else { &["-c"] };
        command.add(call.arg("run").args(go_on).arg("hello").env("REJOIN_HOME", &other), b"")?;
        let (begun, before) = (Instant::now(), daemon.processor_time());
        let (run, id) = daemon.begin(&lab.project(), conversation.as_deref(), "hello")?;
        let said = daemon.wait_for(&run)?;
        if said["status"] != "completed" {
            bail!("{said}");
        }
        wall.push(begun.elapsed());
        over_http += daemon.processor_time().saturating_sub(before);
        conversation = Some(id);
    }
    wall.sort_unstable();
    let http = ms(over_http) / TURNS as f64;
    figure("rejoin run: wall (median)", ms(command.wall()), "ms", None);
    figure("over HTTP: wall (median)", ms(wall[TURNS / 2]), "ms", None);
    figure("rejoin run: CPU (mean, all processes)", ms(command.cpu()), "ms", None);
    figure("over HTTP: CPU (mean, all processes of the daemon)", http, "ms", None);
    figure("CPU more over HTTP", http - ms(command.cpu()), "ms", Some(Bound::AtMost(5.0)));
    Ok(())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

/// Reads a stream to the turn's end; when each piece was written, and how long it took.
fn watch(client: &Client, path: &str) -> Result<Seen> {
    let mut pieces: BTreeMap<u64, u64> = BTreeMap::new();
    client.events(path, |kind, data| {
        let arrived = now();
        // Without a parser: the client shares the processors with what it measures.
        for part in data.split('@').skip(1) {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(written) = digits.parse::<u64>() {
                pieces.entry(written).or_insert(arrived.saturating_sub(written));
            }
        }
        kind != "result"
    })?;
    Ok(pieces.into_iter().collect())
}

fn many_watchers(rejoin: &Path) -> Result<()> {
    heading(&format!("{WATCHERS} watchers of one turn"));
    let lab = Lab::new();
    let home = lab.root().join("rejoin");
    let mut command = lab.command("/bin/sh");
    command.args(["-c", "ulimit -n 65536; exec \"$0\" \"$@\""]).arg(rejoin);
    let daemon = Daemon::start(command, &home, &[])?;
    let before = daemon.resident();
    let (run, conversation) = daemon.begin(&lab.project(), None, &format!("CLOCK {PIECES}"))?;
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let client = daemon.client.clone();
            let path = format!("/api/v1/runs/{run}/events?conversation={conversation}");
            std::thread::Builder::new().stack_size(128 << 10).spawn(move || watch(&client, &path))
        })
        .collect::<std::io::Result<_>>()?;
    let mut peak = 0.0_f64;
    while !watchers.iter().all(std::thread::JoinHandle::is_finished) {
        peak = peak.max(daemon.resident());
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut lost = 0;
    for watcher in watchers {
        let seen = watcher.join().map_err(|_| anyhow::anyhow!("a watcher panicked"))??;
        lost += PIECES - seen.len();
    }
    figure("resident before", before, "MiB", None);
    figure("resident, peak", peak, "MiB", Some(Bound::AtMost(100.0)));
    figure("pieces lost, of all watchers", lost as f64, "", Some(Bound::AtMost(0.0)));
    Ok(())
}
