//! `rejoin demo`: the main job in a minute, on the embedded agent. Every step is a real command of
//! this very executable, with a home and a project of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use rejoin::Decision;
use serde_json::Value;

use crate::turn_words::{self, Stage};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Keep the conversation and the journal, and say where they are
    #[arg(long)]
    pub(crate) keep: bool,
}

/// One row of the closing table.
struct Row {
    what: &'static str,
    decision: String,
    sent: String,
    remembered: String,
}

struct Tour {
    home: PathBuf,
    project: PathBuf,
    rows: Vec<Row>,
}

/// `rejoin demo`
pub(crate) fn demo(args: &DemoArgs) -> anyhow::Result<i32> {
    let place = tempfile::Builder::new()
        .prefix("rejoin-demo-")
        .tempdir()
        .context("cannot make a place for the tour")?;
    let (home, project) = (place.path().join("home"), place.path().join("project"));
    std::fs::create_dir_all(&project)?;
    let mut tour = Tour { home, project, rows: Vec::new() };
    tour.walk()?;
    tour.table()?;
    if args.keep {
        let kept = place.keep();
        say(&format!(
            "\nKept: REJOIN_HOME={} (project {})",
            kept.join("home").display(),
            kept.join("project").display()
        ))?;
    } else {
        say("\nNothing is left behind. Now with your own agent: rejoin run \"…\", then rejoin run -c \"…\"")?;
    }
    Ok(exit::DONE)
}

fn say(text: &str) -> anyhow::Result<()> {
    crate::screen::print(format!("{text}\n"))
}

impl Tour {
    fn walk(&mut self) -> anyhow::Result<()> {
        say("A tour of rejoin on its embedded agent: no model, no key, no network, but real processes,")?;
        say("a real session store and a real journal. The agent says what it remembers.\n")?;

        say("1. A first turn. The agent makes a session; rejoin pins it by its real id.")?;
        let first = self.turn("first turn", &["run", "-a", "demo", "the bug is in parser.rs MARK-one"])?;

        say("2. The next turn resumes that session. Only the new words are sent.")?;
        self.turn("next turn", &["run", "-c", "now fix it MARK-two"])?;

        say("3. rejoin is killed with -9 in the middle of a turn …")?;
        self.killed_turn("take your time MARK-three SLOW 500")?;
        say("   … nothing said is lost: the session goes on, and is told that the turn was cut.")?;
        self.turn("after kill -9", &["run", "-c", "where were we? MARK-four"])?;

        say("4. A branch from the first turn. The session holds turns that are no longer there, so it")?;
        say("   must not be resumed: a fresh one is told the history of this branch, with the reason.")?;
        let message = first["turn"].as_str().context("the first turn has no id")?.to_owned();
        self.turn(
            "history changed",
            &["run", "-c", "--checkpoint", &message[..8], "another idea MARK-five"],
        )?;

        say("5. Another agent takes over: it is told the history …")?;
        self.turn("hand-over", &["run", "-c", "-a", "demo2", "review that MARK-six"])?;
        say("   … and when the first one is back, its own session is resumed with what it missed.")?;
        self.turn("and back", &["run", "-c", "-a", "demo", "go on MARK-seven"])?;
        Ok(())
    }

    fn command(&self, args: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(args)
            .current_dir(&self.project)
            .env("REJOIN_HOME", &self.home)
            .env("REJOIN_CONFIG", empty_config(&self.home)?)
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Runs a turn as a user would, shows it, and notes what its journal says about it.
    fn turn(&mut self, what: &'static str, args: &[&str]) -> anyhow::Result<Value> {
        say(&format!("\n   $ rejoin {}", args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ")))?;
        let output = self.command(args)?.output().context("cannot run rejoin")?;
        for line in String::from_utf8_lossy(&output.stderr).lines().take(1) {
            say(&format!("   {line}"))?;
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            say(&format!("   {line}"))?;
        }
        for line in String::from_utf8_lossy(&output.stderr).lines().skip(1) {
            say(&format!("   {line}"))?;
        }
        say("")?;
        if !output.status.success() {
            bail!("this step of the tour failed with {}", output.status);
        }
        let receipt = self.last_receipt()?;
        let plan = serde_json::from_value(receipt["plan"].clone()).context("the receipt has no plan")?;
        let decision = match &plan {
            Decision::Resume { catch_up: 0, .. } => "resumed".to_owned(),
            Decision::Resume { catch_up, .. } => {
                format!("resumed, told {}", style::plural(*catch_up, "turn"))
            }
            other => turn_words::decision(other, Stage::Confirmed),
        };
        let answer = String::from_utf8_lossy(&output.stdout);
        let marks = answer.lines().rev().find_map(|line| line.split("marks=").nth(1)).unwrap_or("?");
        self.rows.push(Row {
            what,
            decision,
            sent: style::bytes(receipt["bytes"].as_u64().unwrap_or(0) as usize),
            remembered: marks.replace("MARK-", "").replace(',', " "),
        });
        Ok(receipt)
    }

    /// Begins a turn and kills rejoin with -9 as soon as the agent speaks.
    fn killed_turn(&mut self, prompt: &str) -> anyhow::Result<()> {
        say(&format!("\n   $ rejoin run -c {} & sleep 0.5; kill -9 $!", quoted(prompt)))?;
        let mut child =
            self.command(&["run", "-c", prompt])?.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut heard = [0; 1];
        if let Some(stdout) = &mut child.stdout {
            stdout.read_exact(&mut heard).context("the agent said nothing")?;
        }
        child.kill()?;
        child.wait()?;
        let begun = Instant::now();
        let list = loop {
            let list = self.ask_json(&["ls", "--json"])?;
            if list[0]["state"] != "running" || begun.elapsed() > Duration::from_secs(10) {
                break list;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let state = list[0]["state"].as_str().unwrap_or("?");
        say(&format!(
            "   (killed; its agent and all children ended {} ms later; state: {state})\n",
            begun.elapsed().as_millis()
        ))?;
        self.rows.push(Row {
            what: "kill -9",
            decision: state.to_owned(),
            sent: String::new(),
            remembered: String::new(),
        });
        Ok(())
    }

    fn last_receipt(&self) -> anyhow::Result<Value> {
        let shown = self.ask_json(&["show", "--json"])?;
        let turns = shown["turns"].as_array().context("the journal shows no turns")?;
        Ok(turns.last().map(|turn| turn["receipt"].clone()).unwrap_or_default())
    }

    fn ask_json(&self, args: &[&str]) -> anyhow::Result<Value> {
        let output = self.command(args)?.stderr(Stdio::inherit()).output()?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("rejoin {} printed no JSON", args.join(" ")))
    }

    fn table(&self) -> anyhow::Result<()> {
        say(&format!("{:<16} {:<47} {:>10}   remembered", "step", "decision", "sent"))?;
        say(&format!("{:-<16} {:-<47} {:->10}   {:-<18}", "", "", "", ""))?;
        for row in &self.rows {
            say(format!("{:<16} {:<47} {:>10}   {}", row.what, row.decision, row.sent, row.remembered)
                .trim_end())?;
        }
        Ok(())
    }
}

/// The tour does not depend on the user's settings.
fn empty_config(home: &Path) -> anyhow::Result<PathBuf> {
    let path = home.with_file_name("config.toml");
    if !path.exists() {
        std::fs::write(&path, "")?;
    }
    Ok(path)
}

fn quoted(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}
