use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use rejoin::{Agent, Decision, Divergence, Guard, GuardCheck, TurnBuilder, Why};

use crate::screen::{self, label};
use crate::table::width_for_a_person;
use crate::turn_words::{Stage, decision, reason};
use crate::wrap::{hanging, wrapped};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct WhyArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Who would do the turn [default: the conversation's last agent]
    #[arg(short, long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin why`
pub(crate) fn why(args: &WhyArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let turn = rejoin.project(".").resume(&args.conversation);
    why_of(turn, args.agent.as_ref().map(Agent::named), args.json)
}

/// A turn that is described but for who would do it.
pub(crate) fn why_of(mut turn: TurnBuilder<'_>, agent: Option<Agent>, json: bool) -> anyhow::Result<i32> {
    let rejoin = turn.rejoin();
    if let Some(agent) = agent {
        turn = turn.agent(agent);
    }
    let why = turn.why()?;
    if json {
        screen::json(&why)?;
        return Ok(exit::DONE);
    }
    let view = rejoin.open_conversation(why.conversation)?;
    let number = |turn| view.path().iter().position(|other| other.id == turn).map_or(0, |at| at + 1);
    let columns = width_for_a_person();
    let mut out = hanging(&outlook(&why), columns, 4).join("\n") + "\n";
    let version = why.version.as_ref().map(|version| format!(" ({version})")).unwrap_or_default();
    let resume = if why.can_resume { "it takes a session's id" } else { "it cannot go on with a session" };
    line(&mut out, why.can_resume, &format!("{} can resume", why.agent), &format!("{resume}{version}"));
    if why.session.is_none() {
        let Decision::Fresh { why, .. } = &why.plan else { return Ok(exit::INTERNAL) };
        line(&mut out, false, "a session to resume", &reason(why));
    }
    for check in &why.checks {
        let (name, words) = words(check, &why, &number);
        line(&mut out, check.ok, name, &words);
    }
    screen::print(out)?;
    for warning in &why.warnings {
        style::loud(&format!("! {warning}"));
    }
    Ok(exit::DONE)
}

/// What the next turn would do, in a line.
pub(crate) fn outlook(why: &Why) -> String {
    let agent = label(why.agent.as_str());
    match &why.plan {
        Decision::Resume { session, .. } => {
            format!("next turn on {agent}: resume {}", label(style::short_session(session)))
        }
        other => format!("next turn on {agent}: {}", decision(other, Stage::Asked)),
    }
}

fn line(out: &mut String, ok: bool, name: &str, words: &str) {
    /// Where values begin: beside the names, if the terminal is wide, else below them.
    const BESIDE: usize = 30;
    const BELOW: usize = 6;
    const WIDE: usize = 60;
    let mark = if ok { '✓' } else { '✗' };
    let (name, words) = (label(name), label(words));
    let columns = width_for_a_person();
    let indent = if columns >= WIDE { BESIDE } else { BELOW };
    let mut lines = wrapped(&words, columns - indent).into_iter();
    if columns >= WIDE {
        let _ = writeln!(out, "  {mark} {name:<24}  {}", lines.next().unwrap_or_default());
    } else {
        let _ = writeln!(out, "  {mark} {name}");
    }
    for line in lines {
        let _ = writeln!(out, "{:indent$}{line}", "");
    }
}

/// A guard's name for people, and its two values in words.
fn words(check: &GuardCheck, why: &Why, number: &dyn Fn(rejoin::TurnId) -> usize) -> (&'static str, String) {
    let both = |was: &str, now: &str| {
        if was == now { now.to_owned() } else { format!("was {was}, now {now}") }
    };
    let paths = || both(&style::home_path(&check.was), &style::home_path(&check.now));
    match check.guard {
        Guard::InUse => ("session not given up", check.was.clone()),
        Guard::SameProgram if check.ok => ("same program", style::home_path(&why.program)),
        Guard::SameProgram => ("same program", both(&check.was, &check.now)),
        Guard::SameHome if check.ok => ("made by this rejoin", "this home".into()),
        Guard::SameHome => ("made by this rejoin", "by another home; its sessions are not ours".into()),
        Guard::SameStore => ("same store", paths()),
        Guard::SameDirectory => ("same directory", paths()),
        Guard::SameScope => ("same scope", both(&check.was, &check.now)),
        Guard::HistoryUnchanged => ("history unchanged", history(check, number)),
        Guard::StillStored => ("session still stored", stored(check)),
    }
}

fn history(check: &GuardCheck, number: &dyn Fn(rejoin::TurnId) -> usize) -> String {
    match &check.divergence {
        None => format!("it may hold {}, the path has {}", check.was, check.now),
        Some(Divergence::Edited { turn, at }) => format!(
            "turn {} was edited {}; the session saw it before the edit",
            number(*turn),
            style::since(at)
        ),
        Some(Divergence::Elsewhere { common, held }) => format!(
            "the session holds {}, {} of them on another branch or taken back",
            style::plural(*held, "turn"),
            held - common
        ),
        Some(Divergence::Unknown) => "what the session holds is not in this journal".into(),
    }
}

fn stored(check: &GuardCheck) -> String {
    match &check.stored {
        None => check.now.clone(),
        Some(witness) => {
            let nanoseconds = u64::try_from(witness.mtime).unwrap_or_default();
            let written = UNIX_EPOCH + Duration::from_nanos(nanoseconds);
            format!("{}, written {}", style::bytes(witness.size as usize), style::age(written))
        }
    }
}
