//! What one turn costs beyond the agent itself, on the embedded agent.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;
use rejoin_testkit::Lab;

use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

const ROUNDS: usize = 200;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading(&format!("a turn on the embedded agent, {ROUNDS} rounds, interleaved"));
    let lab = Lab::new();
    let home = lab.root().join("rejoin");
    let command = |args: &[&str]| -> Command {
        let mut command = lab.command(rejoin);
        command.args(args).env("REJOIN_HOME", &home);
        command
    };
    let (mut bare, mut fresh, mut resumed, mut version) =
        (Cost::default(), Cost::default(), Cost::default(), Cost::default());
    let mut syncs = Vec::new();
    let store = lab.root().join("store");
    let prompt = b"{\"type\":\"prompt\",\"text\":\"hello\"}\n";
    for _ in 0..ROUNDS {
        bare.add(command(&["__demo-agent", "--store"]).arg(&store), prompt)?;
        fresh.add(&mut command(&["run", "-a", "demo", "hello", "-o", "json"]), b"")?;
        resumed.add(&mut command(&["run", "-c", "hello", "-o", "json"]), b"")?;
        version.add(&mut command(&["--version"]), b"")?;
        syncs.push(two_syncs(&lab.root())?);
    }
    let mut watched = Cost::default();
    watched.add_watched(&mut command(&["run", "-a", "demo", "SLOW 20", "-o", "json"]), b"")?;
    syncs.sort_unstable();
    let two_syncs = syncs[syncs.len() / 2];

    figure("bare agent: wall (median)", ms(bare.wall()), "ms", None);
    figure("bare agent: CPU (mean)", ms(bare.cpu()), "ms", None);
    figure("two syncs of a record (median, measured beside)", ms(two_syncs), "ms", None);
    let added = |cost: &Cost| ms(cost.wall()) - ms(bare.wall()) - ms(two_syncs);
    figure("first turn: wall added beyond the syncs", added(&fresh), "ms", Some(Bound::AtMost(20.0)));
    figure("resumed turn: wall added beyond the syncs", added(&resumed), "ms", Some(Bound::AtMost(20.0)));
    figure("first turn: CPU added", ms(fresh.cpu()) - ms(bare.cpu()), "ms", Some(Bound::AtMost(15.0)));
    figure("resumed turn: CPU added", ms(resumed.cpu()) - ms(bare.cpu()), "ms", Some(Bound::AtMost(15.0)));
    figure("rejoin run: peak resident", watched.peak as f64 / 1024.0, "MiB", Some(Bound::AtMost(20.0)));
    figure("rejoin --version: CPU", ms(version.cpu()), "ms", Some(Bound::AtMost(5.0)));
    Ok(())
}

/// What the disk takes for the two records a turn waits for.
fn two_syncs(dir: &Path) -> Result<Duration> {
    let mut file = File::options().append(true).create(true).open(dir.join("syncs"))?;
    let record = [b'x'; 1024];
    let begun = Instant::now();
    for _ in 0..2 {
        file.write_all(&record)?;
        file.sync_data()?;
    }
    Ok(begun.elapsed())
}
