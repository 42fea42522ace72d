//! `cargo xtask fuzz`: the readers of foreign bytes, fed for longer than a test may take.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};

use crate::workspace;

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let seconds = match arguments {
        [] => 60,
        [seconds] => match seconds.parse::<u64>() {
            Ok(seconds) => seconds,
            Err(_) => bail!("{seconds:?} is not a number of seconds"),
        },
        _ => bail!("expected at most one argument, the seconds each reader is fed"),
    };
    let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    eprintln!("each reader for {seconds} s, from seed {seed} on");
    let mut tests = workspace::cargo();
    tests.args([
        "test",
        "--release",
        "--package=rejoin-agents",
        "--package=rejoin-journal",
        "--package=rejoin",
    ]);
    tests.args(["--no-fail-fast", "--", "fuzz"]);
    tests.env("REJOIN_FUZZ_SECONDS", seconds.to_string()).env("REJOIN_FUZZ_SEED", seed.to_string());
    workspace::run(&mut tests)
}
