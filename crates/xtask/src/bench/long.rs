//! One conversation of 200,000 records and 400 MB: reading must not grow with what nobody asked for.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rejoin_testkit::Lab;
use serde_json::{Value, json};

use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

const TURNS: u64 = 4_000;
const RECORDS_PER_TURN: u64 = 50;
const ROUNDS: usize = 15;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading("one conversation of 200,000 records (400 MB)");
    let lab = Lab::new();
    let home = lab.root().join("rejoin");
    let command = |args: &[&str]| {
        let mut command = lab.command(rejoin);
        command.args(args).env("REJOIN_HOME", &home);
        command
    };
    Cost::default().add(&mut command(&["run", "-a", "demo", "hello"]), b"")?;
    grow(&journal(&home)?)?;
    let mut first = Cost::default();
    first.add_watched(&mut command(&["run", "-c", "go on"]), b"")?;
    figure("the first turn, everything read and replayed", ms(first.wall()), "ms", None);
    figure("the same: peak resident", first.peak as f64 / 1024.0, "MiB", None);
    let measured = |what: &str, args: &[&str], most: f64| -> Result<()> {
        let mut cost = Cost::default();
        for _ in 0..ROUNDS {
            cost.add(&mut command(args), b"")?;
        }
        figure(what, ms(cost.wall()), "ms", Some(Bound::AtMost(most)));
        Ok(())
    };
    measured("run -c --dry-run", &["run", "-c", "--dry-run", "next"], 300.0)?;
    measured(
        "run -c --dry-run --fresh-session",
        &["run", "-c", "--dry-run", "--fresh-session", "next"],
        300.0,
    )?;
    measured("show -n 50", &["show", "-n", "50"], 100.0)?;
    measured("why", &["why"], 300.0)
}

fn journal(home: &Path) -> Result<PathBuf> {
    let project = fs::read_dir(home.join("projects"))?.next().context("no project")??;
    Ok(fs::read_dir(project.path())?.next().context("no journal")??.path())
}

/// Adds thousands of turns, each like the one that stands there, with tools that say a lot.
fn grow(journal: &Path) -> Result<()> {
    let text = fs::read_to_string(journal)?;
    let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let of = |kind: &str| lines.iter().find(|line| line["type"] == kind).context("a record is missing");
    let receipt = lines.iter().find(|line| line["subtype"] == "receipt").context("no receipt")?;
    let (user, assistant) = (of("user")?, of("assistant")?);
    let mut parent = assistant["uuid"].clone();
    let mut out = BufWriter::new(File::options().append(true).open(journal)?);
    let mut write = |record: &Value| writeln!(out, "{record}");
    let output = "a line of output that a tool printed, as tools do all day long\n".repeat(31);
    for turn in 0..TURNS {
        let id = |at: u64| {
            json!(format!("{:08x}-{:04x}-4000-8000-{turn:012x}", turn.wrapping_mul(2_654_435_761) as u32, at))
        };
        let with = |record: &Value, at: u64, parent: &Value| {
            let mut record = record.clone();
            record["uuid"] = id(at);
            record["parentUuid"] = parent.clone();
            record
        };
        write(&with(user, 0, &parent))?;
        let mut before = id(0);
        for at in 1..RECORDS_PER_TURN - 1 {
            let mut record = with(assistant, at, &before);
            if at % 2 == 0 {
                record["type"] = json!("tool_result");
                record["message"] = json!({"role": "user", "parts": [{"functionResponse": {
                    "id": "c", "name": "Bash", "response": {"output": format!("{turn} {at}\n{output}{output}")}}}]});
            }
            write(&record)?;
            before = id(at);
        }
        let mut receipt = with(receipt, RECORDS_PER_TURN, &id(0));
        receipt["systemPayload"]["turn"] = id(0);
        write(&receipt)?;
        parent = before;
    }
    Ok(out.flush()?)
}
