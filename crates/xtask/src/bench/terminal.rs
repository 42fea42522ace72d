//! What a person at a terminal waits for, and what it costs to show it. `script` makes the terminal, and its cost is
//! in all figures.

use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rejoin_testkit::Lab;

use super::is_quick;
use super::measure::Cost;
use super::table::{Bound, figure, heading, ms};

/// For so long the agent is waited for.
const WAIT: u32 = 10;
const LINES: usize = 5000;

pub(crate) fn run(rejoin: &Path) -> Result<()> {
    heading("at a terminal, on the embedded agent");
    let rounds = if is_quick() { 5 } else { 20 };
    let lab = Lab::new();
    let on_terminal = |args: &str| -> Command {
        let mut command = lab.command("script");
        let called = format!("{} {args}", rejoin.display());
        command.args(["-qec", &called, "/dev/null"]).env("TERM", "xterm-256color");
        command.env("REJOIN_HOME", lab.root().join("rejoin"));
        command
    };

    let mut first = Vec::new();
    for _ in 0..rounds {
        first.push(first_sign(&mut on_terminal("run -a demo 'SLEEP 0.2'"))?);
    }
    first.sort_unstable();
    let last = first.last().copied().unwrap_or_default();
    figure("first sign of life after Enter (median)", ms(first[first.len() / 2]), "ms", None);
    figure("first sign of life after Enter (slowest)", ms(last), "ms", Some(Bound::AtMost(100.0)));

    let (mut waits, mut does_not) = (Cost::default(), Cost::default());
    for _ in 0..if is_quick() { 1 } else { 3 } {
        waits.add(&mut on_terminal(&format!("run -a demo 'SLEEP {WAIT}'")), b"")?;
        does_not.add(&mut on_terminal("run -a demo 'SLEEP 0'"), b"")?;
    }
    let spent = waits.cpu().saturating_sub(does_not.cpu());
    let share = spent.as_secs_f64() / Duration::from_secs(WAIT.into()).as_secs_f64() * 100.0;
    figure("CPU while waiting for the agent", share, "%", Some(Bound::AtMost(1.0)));

    std::fs::write(lab.project().join("answer.md"), answer())?;
    let (mut rendered, mut plain) = (Cost::default(), Cost::default());
    for _ in 0..rounds {
        rendered.add(&mut on_terminal("run -a demo 'RECITE answer.md'"), b"")?;
        plain.add(&mut on_terminal("run --plain -a demo 'RECITE answer.md'"), b"")?;
    }
    figure("5,000 lines of Markdown as they came: wall", ms(plain.wall()), "ms", None);
    figure("5,000 lines of Markdown rendered: wall", ms(rendered.wall()), "ms", None);
    let times = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64().max(1e-9);
    figure(
        "rendered beside plain: wall",
        times(rendered.wall(), plain.wall()),
        "×",
        Some(Bound::AtMost(2.0)),
    );
    let cpu = times(rendered.cpu_median(), plain.cpu_median());
    figure("rendered beside plain: CPU", cpu, "×", Some(Bound::AtMost(2.0)));
    Ok(())
}

/// How long it takes until something is seen.
fn first_sign(command: &mut Command) -> Result<Duration> {
    let begun = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("`script`, which makes the terminal, cannot be started")?;
    let mut screen = child.stdout.take().context("there is no screen")?;
    screen.read_exact(&mut [0])?;
    let seen = begun.elapsed();
    std::io::copy(&mut screen, &mut std::io::sink())?;
    child.wait()?;
    Ok(seen)
}

/// An answer with a bit of everything.
fn answer() -> String {
    let mut text = String::new();
    let mut lines = 0;
    for number in 0.. {
        let part = format!(
            "## Part {number}\n\nThe bug was in **`parser.rs`**, line {number}: it took `*.rs` for *emphasis*, and \
             [the documents](https://example.org/{number}) say so.\n\n- one thing, and\n- another one\n\n\
             | file | lines |\n|---|--:|\n| a.rs | {number} |\n\n```rust\nfn part() -> u64 {{\n    {number} // so many\n}}\n```\n\n"
        );
        let _ = write!(text, "{part}");
        lines += part.lines().count();
        if lines >= LINES {
            break;
        }
    }
    text
}
