//! The turns of this tree beside those of another executable: the same turns, in turn, in one run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use rejoin_testkit::{Lab, copy_program};

use super::is_quick;
use super::measure::Cost;
use super::table::{heading, ms};

/// Turns of the conversation in which a late turn is measured.
const LONG: usize = 100;

/// An executable, and what its turns took.
struct Measured {
    program: PathBuf,
    home: PathBuf,
    version: Cost,
    first: Cost,
    second: Cost,
    late: Cost,
    watched: Cost,
}

impl Measured {
    /// Copies the executable: the page faults of a file that was linked here and of one that was copied
    /// differ by a tenth.
    fn new(lab: &Lab, name: &str, from: &Path) -> Result<Self> {
        let directory = lab.root().join(name);
        fs::create_dir_all(&directory)?;
        let program = directory.join("rejoin");
        copy_program(from, &program)?;
        let (version, first, second, late, watched) = Default::default();
        Ok(Self { program, home: directory.join("home"), version, first, second, late, watched })
    }

    /// A turn in the home of that name.
    fn command(&self, lab: &Lab, home: &str, args: &[&str]) -> Command {
        let mut command = lab.command(&self.program);
        command.args(args).env("REJOIN_HOME", self.home.join(home));
        command
    }

    fn round(&mut self, lab: &Lab) -> Result<()> {
        self.version.add(&mut self.command(lab, "short", &["--version"]), b"")?;
        let mut first = self.command(lab, "short", &["run", "-a", "demo", "hello", "-o", "json"]);
        self.first.add(&mut first, b"")?;
        let mut second = self.command(lab, "short", &["run", "-c", "hello", "-o", "json"]);
        self.second.add(&mut second, b"")?;
        let mut late = self.command(lab, "long", &["run", "-c", "hello", "-o", "json"]);
        self.late.add(&mut late, b"")?;
        Ok(())
    }

    /// Fills caches, and begins the long conversation.
    fn prepare(&mut self, lab: &Lab) -> Result<()> {
        let mut unmeasured = Cost::default();
        unmeasured.add(&mut self.command(lab, "long", &["run", "-a", "demo", "hello", "-o", "json"]), b"")?;
        for _ in 1..LONG {
            unmeasured.add(&mut self.command(lab, "long", &["run", "-c", "hello", "-o", "json"]), b"")?;
        }
        let slow = ["run", "-a", "demo", "SLOW 20", "-o", "json"];
        self.watched.add_watched(&mut self.command(lab, "watched", &slow), b"")?;
        Ok(())
    }
}

pub(crate) fn run(ours: &Path, other: &Path) -> Result<()> {
    let rounds = if is_quick() { 40 } else { 200 };
    heading(&format!("turns on the embedded agent, {rounds} rounds in turn, against {}", other.display()));
    let lab = Lab::new();
    let mut ours = Measured::new(&lab, "this", ours)?;
    let mut other = Measured::new(&lab, "other", other)?;
    ours.prepare(&lab)?;
    other.prepare(&lab)?;
    for round in 0..rounds {
        // Whoever comes second finds the machine as the first one left it: each is first as often.
        let pair = if round % 2 == 0 { [&mut ours, &mut other] } else { [&mut other, &mut ours] };
        for one in pair {
            one.round(&lab)?;
        }
    }
    println!("   {:<44} {:>10} {:>10} {:>7}", "", "other", "this", "ratio");
    for (what, of) in [
        ("first turn", Measured::first as fn(&Measured) -> &Cost),
        ("second turn", Measured::second),
        (&format!("turn {LONG} and after"), Measured::late),
        ("--version", Measured::version),
    ] {
        let (theirs, ours) = (of(&other), of(&ours));
        let time = |unit: &str, of: fn(&Cost) -> std::time::Duration| {
            row(&format!("{what}: {unit}"), "ms", ms(of(theirs)), ms(of(ours)));
        };
        time("wall, median", Cost::wall);
        time("wall, mean", Cost::wall_mean);
        time("CPU, median", Cost::cpu_median);
        time("CPU, mean", Cost::cpu);
        row(&format!("{what}: page faults, mean"), "", theirs.faults(), ours.faults());
    }
    let mib = |one: &Measured| one.watched.peak as f64 / 1024.0;
    row("rejoin run: peak resident", "MiB", mib(&other), mib(&ours));
    Ok(())
}

impl Measured {
    fn version(&self) -> &Cost {
        &self.version
    }

    fn first(&self) -> &Cost {
        &self.first
    }

    fn second(&self) -> &Cost {
        &self.second
    }

    fn late(&self) -> &Cost {
        &self.late
    }
}

fn row(what: &str, unit: &str, other: f64, ours: f64) {
    println!("   {what:<40} {unit:<3} {other:>10.2} {ours:>10.2} {:>6.2}×", ours / other);
}
