//! A gigabyte of events through driver and journal.

use std::path::Path;

use anyhow::Result;
use rejoin_testkit::Lab;

use super::measure::Cost;
use super::table::{Bound, figure, heading};

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading("1 GiB of events through driver and journal");
    let cases = [
        ("tool results, lines of 4 KiB", "FLOOD 1g 4k tools"),
        ("tool results, lines of 32 KiB", "FLOOD 1g 32k tools"),
        ("text deltas, lines of 4 KiB", "FLOOD 1g 4k"),
        ("with one line of 200 MiB in it", "FLOOD 824m 16k tools BIGLINE 200m"),
    ];
    for (what, prompt) in cases {
        let lab = Lab::new();
        let mut cost = Cost::default();
        let mut command = lab.command(rejoin);
        command
            .args(["run", "-a", "demo", prompt, "-o", "json"])
            .env("REJOIN_HOME", lab.root().join("rejoin"));
        cost.add_watched(&mut command, b"")?;
        let speed = 1073.7 / cost.wall().as_secs_f64();
        figure(&format!("{what}: speed"), speed, "MB/s", Some(Bound::AtLeast(300.0)));
        figure(
            &format!("{what}: peak resident"),
            cost.peak as f64 / 1024.0,
            "MiB",
            Some(Bound::AtMost(64.0)),
        );
    }
    Ok(())
}
