//! A turn of the real agents through rejoin, beside the same turn of the bare command.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use rejoin_testkit::Lab;

use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

const ROUNDS: usize = 40;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading(&format!("a first turn of the real agents, {ROUNDS} rounds, interleaved"));
    for (agent, bare_args) in [
        ("claude", &["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"][..]),
        ("codex", &["exec", "--json", "--skip-git-repo-check", "-"][..]),
    ] {
        let lab = Lab::require_real().context("the real agents are not there")?;
        let through_rejoin = || -> Command {
            let mut command = lab.command(rejoin);
            command.args(["run", "-a", agent, "hello MARK-one", "-o", "json"]);
            command.env("REJOIN_HOME", lab.root().join("rejoin"));
            command
        };
        let bare_command = || -> Command {
            let mut command = lab.command(agent);
            command.args(bare_args);
            command
        };
        // The first of each fills caches: its help texts, its node modules, its probe.
        Cost::default().add(&mut bare_command(), b"hello MARK-one")?;
        Cost::default().add(&mut through_rejoin(), b"")?;
        let (mut bare, mut ours) = (Cost::default(), Cost::default());
        for _ in 0..ROUNDS {
            bare.add(&mut bare_command(), b"hello MARK-one")?;
            ours.add(&mut through_rejoin(), b"")?;
        }
        let mut watched = Cost::default();
        watched.add_watched(&mut through_rejoin(), b"")?;
        figure(&format!("{agent}: bare, wall (median)"), ms(bare.wall()), "ms", None);
        figure(&format!("{agent}: through rejoin, wall (median)"), ms(ours.wall()), "ms", None);
        let ratio = ours.wall_beyond(&bare) / bare.wall().as_secs_f64() * 100.0;
        figure(&format!("{agent}: wall added (median of pairs)"), ratio, "%", Some(Bound::AtMost(3.0)));
        figure(&format!("{agent}: CPU added"), ms(ours.cpu()) - ms(bare.cpu()), "ms", None);
        figure(
            &format!("{agent}: rejoin's peak resident"),
            watched.peak as f64 / 1024.0,
            "MiB",
            Some(Bound::AtMost(20.0)),
        );
    }
    Ok(())
}
