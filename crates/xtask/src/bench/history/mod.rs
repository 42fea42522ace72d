//! Ten thousand conversations: what listing, searching and rebuilding the index take.

pub(super) mod generate;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use self::generate::{History, RARE, generate};
use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

const ROUNDS: usize = 21;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    // A tenth, for those who work on it.
    let quick = super::is_quick();
    let (conversations, bytes) = if quick { (1000, 500_000_000) } else { (10_000, 5_000_000_000) };
    let directory = tempfile::Builder::new().prefix("rejoin-bench-").tempdir()?;
    let root = directory.path().canonicalize()?;
    // Whoever stops it, or is stopped by a time limit, shall know what he waited for.
    eprintln!("making {conversations} conversations of {:.1} GB, which takes minutes …", bytes as f64 / 1e9);
    let begun = Instant::now();
    let history = generate(&root, conversations, bytes)?;
    heading(&format!(
        "{conversations} conversations, {:.1} GB (made in {:.0} s), half of them in one project; load {}",
        history.bytes as f64 / 1e9,
        begun.elapsed().as_secs_f64(),
        load()
    ));
    let bench = Bench { rejoin: rejoin.to_owned(), home: root.join("rejoin"), history };
    bench.rebuild()?;
    bench.list()?;
    bench.search()?;
    bench.rest()?;
    println!("   load at the end {}", load());
    Ok(())
}

/// How busy the machine is.
fn load() -> String {
    fs::read_to_string("/proc/loadavg")
        .map(|text| text.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .unwrap_or_default()
}

struct Bench {
    rejoin: PathBuf,
    home: PathBuf,
    history: History,
}

impl Bench {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.rejoin);
        command.args(args).current_dir(&self.history.project).env("REJOIN_HOME", &self.home);
        command
    }

    /// The median of some runs.
    fn time(&self, args: &[&str]) -> Result<Duration> {
        let mut cost = Cost::default();
        for _ in 0..ROUNDS {
            cost.add(&mut self.command(args), b"")?;
        }
        Ok(cost.wall())
    }

    fn rebuild(&self) -> Result<()> {
        let mut cost = Cost::default();
        cost.add_watched(&mut self.command(&["search", "--all-projects", RARE]), b"")?;
        let speed = self.history.bytes as f64 / 1e6 / cost.wall().as_secs_f64();
        figure("rebuild of the whole index: speed", speed, "MB/s", Some(Bound::AtLeast(150.0)));
        figure("rebuild: CPU", cost.cpu().as_secs_f64(), "s", None);
        figure("rebuild: peak resident", cost.peak as f64 / 1024.0, "MiB", Some(Bound::AtMost(200.0)));
        let size = fs::metadata(self.home.join("cache/index.sqlite"))?.len();
        figure("size of the index", size as f64 * 100.0 / self.history.bytes as f64, "%", None);
        Ok(())
    }

    fn list(&self) -> Result<()> {
        let most = Some(Bound::AtMost(30.0));
        figure("ls --limit 50 (median)", ms(self.time(&["ls", "--limit", "50"])?), "ms", most);
        let all = ["ls", "--all-projects", "--limit", "50"];
        figure("ls --all-projects --limit 50", ms(self.time(&all)?), "ms", most);
        let writing = self.while_writing(|| self.time(&["ls", "--limit", "50"]))?;
        figure("ls while another process writes", ms(writing), "ms", Some(Bound::AtMost(60.0)));
        Ok(())
    }

    /// Does something while records are appended to the newest conversations.
    fn while_writing<T>(&self, measure: impl FnOnce() -> T) -> T {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let newest = self.history.journals.iter().rev().take(3);
                let mut files: Vec<File> =
                    newest.filter_map(|path| File::options().append(true).open(path).ok()).collect();
                let now = jiff::Timestamp::now();
                let line = format!(
                    "{{\"timestamp\":\"{now}\",\"uuid\":\"10000000-0000-4000-8000-000000000001\",\"parentUuid\":null,\"type\":\"user\",\"message\":{{\"role\":\"user\",\"parts\":[{{\"text\":\"{}\"}}]}}}}\n",
                    "more ".repeat(100)
                );
                while !stop.load(Ordering::Relaxed) {
                    for file in &mut files {
                        let _ = file.write_all(line.as_bytes());
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
            let measured = measure();
            stop.store(true, Ordering::Relaxed);
            measured
        })
    }

    fn search(&self) -> Result<()> {
        // What was written meanwhile is taken in.
        self.time(&["search", "--all-projects", RARE])?;
        let common = self.history.common.as_str();
        let (rare, often) = (Some(Bound::AtMost(50.0)), Some(Bound::AtMost(150.0)));
        for (what, word, bound) in [("rare", RARE, rare), ("common", common, often)] {
            let here = self.time(&["search", word])?;
            figure(&format!("search of a {what} word, here (median)"), ms(here), "ms", bound);
            let everywhere = self.time(&["search", "--all-projects", word])?;
            figure(&format!("search of a {what} word, everywhere"), ms(everywhere), "ms", bound);
        }
        let two = self.time(&["search", "--all-projects", common, RARE])?;
        figure("search of both in one turn, everywhere", ms(two), "ms", rare);
        let prefix = self.time(&["search", "--all-projects", &format!("{}*", &RARE[..6])])?;
        figure("search of a beginning, everywhere", ms(prefix), "ms", rare);
        let (name, time) = self.reference()?;
        figure(&format!("for comparison: {name} of the rare word"), ms(time), "ms", None);
        Ok(())
    }

    /// What a person would use otherwise.
    fn reference(&self) -> Result<(&'static str, Duration)> {
        let journals = self.home.join("projects");
        let ripgrep = Command::new("rg").arg("--version").output().is_ok();
        let (name, program, args): (_, _, &[&str]) = if ripgrep {
            ("rg -l -F", "rg", &["-l", "-F", RARE])
        } else {
            ("grep -r -l -F (no rg here)", "grep", &["-r", "-l", "-F", RARE])
        };
        let mut cost = Cost::default();
        for _ in 0..3 {
            cost.add(Command::new(program).args(args).arg(&journals), b"")?;
        }
        Ok((name, cost.wall()))
    }

    fn rest(&self) -> Result<()> {
        figure("stats --all-projects", ms(self.time(&["stats", "--all-projects"])?), "ms", None);
        let show = ["show", "@~1", "--json"];
        figure("show @~1", ms(self.time(&show)?), "ms", None);
        Ok(())
    }
}
