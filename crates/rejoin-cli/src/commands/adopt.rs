use clap::Args;
use rejoin::{AdoptOutcome, AdoptReport, AdoptRequest, AdoptedSession, Agent, WantedSessions};

use crate::screen::{self, label};
use crate::{exit, style};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin adopt claude:latest           the session of Claude used last in this project
  rejoin adopt gemini:2                by the number `rejoin sessions` shows
  rejoin adopt claude --all            all of Claude's in this project; those that were removed stay so
  rejoin adopt --all -A --dry-run      of all agents and projects: what would come
  rejoin adopt @                       the session of a conversation went on in the agent itself")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct AdoptArgs {
    /// AGENT:latest, AGENT:N, AGENT:ID, or an id alone; a conversation (@, id, name), whose sessions are meant; with
    /// --all, an agent
    #[arg(value_name = "SESSION", required_unless_present = "all")]
    pub(crate) session: Option<String>,
    /// All sessions of this project, of one agent or of all; what was removed here is left out
    #[arg(long)]
    pub(crate) all: bool,
    /// With --all: those of all projects
    #[arg(short = 'A', long, requires = "all")]
    pub(crate) all_projects: bool,
    /// Only tell what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin adopt`
pub(crate) fn adopt(args: &AdoptArgs) -> anyhow::Result<i32> {
    let sessions = match (&args.session, args.all) {
        (agent, true) => {
            WantedSessions::All { agent: agent.clone().map(Agent::named), all_projects: args.all_projects }
        }
        (session, false) => WantedSessions::Named(session.clone().unwrap_or_default()),
    };
    let request = AdoptRequest { here: super::here()?, sessions, dry_run: args.dry_run };
    let report = super::open_indexed()?.adopt(&request)?;
    if args.json {
        screen::sorted_json(&report)?;
    } else {
        tell(&report, args)?;
    }
    Ok(if report.sessions.iter().any(|one| one.outcome == AdoptOutcome::Failed) {
        exit::INTERNAL
    } else {
        exit::DONE
    })
}

/// A line for each session, but of all only for those that tell something; then how many there were of each kind.
fn tell(report: &AdoptReport, args: &AdoptArgs) -> anyhow::Result<()> {
    let mut out = String::new();
    for session in &report.sessions {
        for warning in &session.warnings {
            style::loud(&format!("! {}", label(warning)));
        }
        match session.outcome {
            AdoptOutcome::Failed => style::loud(&format!("! {}", line(session, report.dry_run))),
            AdoptOutcome::Known | AdoptOutcome::Removed if args.all => {}
            _ => {
                out.push_str(&line(session, report.dry_run));
                out.push('\n');
            }
        }
    }
    screen::print(out)?;
    if args.all && report.sessions.is_empty() {
        style::talk(if args.all_projects {
            "no agent keeps such a session"
        } else {
            "no agent keeps such a session of this project; `-A` adopts those of all projects"
        });
    } else if args.all {
        style::talk(&summary(report));
    }
    Ok(())
}

/// `◇ claude 6c8c1f0e: conversation 4f1c2a9e, 12 turns · fix the parser`
fn line(session: &AdoptedSession, dry_run: bool) -> String {
    let id = session.conversation.map(|id| id.short()).unwrap_or_default();
    let would = if dry_run { "would be " } else { "" };
    let turns = style::plural(session.turns, "turn");
    let grown = match session.grown {
        0 => String::new(),
        count => format!(", {} went on", style::plural(count, "turn")),
    };
    let what = match session.outcome {
        AdoptOutcome::New => format!("{would}conversation {id}, {turns}"),
        AdoptOutcome::Longer if session.turns == 0 => format!("{would}in conversation {id}{grown}"),
        AdoptOutcome::Longer => format!("{would}in conversation {id}, {turns} more{grown}"),
        AdoptOutcome::Known => format!("in conversation {id}, nothing new"),
        AdoptOutcome::Removed => "was removed here and stays so".to_owned(),
        _ => format!("left as it is: {}", session.why.as_deref().unwrap_or_default()),
    };
    let fresh = matches!(session.outcome, AdoptOutcome::New | AdoptOutcome::Longer) && !session.resumable;
    let fresh = if fresh { " · its next turn is told the history" } else { "" };
    let title = session.first_prompt.as_deref().map(|prompt| format!(" · {}", style::one_line(prompt, 60)));
    let agent = label(session.agent.as_str());
    let short = label(style::short_session(&session.session));
    format!("◇ {agent} {short}: {}{fresh}{}", label(&what), title.unwrap_or_default())
}

fn summary(report: &AdoptReport) -> String {
    let count = |outcome| report.sessions.iter().filter(|one| one.outcome == outcome).count();
    let kinds = [
        (AdoptOutcome::New, "new"),
        (AdoptOutcome::Longer, "longer"),
        (AdoptOutcome::Known, "known"),
        (AdoptOutcome::Left, "left as they are"),
        (AdoptOutcome::Removed, "removed here before (name one to bring it back)"),
        (AdoptOutcome::Failed, "failed"),
    ];
    let told: Vec<String> = kinds
        .into_iter()
        .map(|(outcome, words)| (count(outcome), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let sessions = style::plural(report.sessions.len(), "session");
    let told = if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) };
    format!("{sessions}{told}{}", if report.dry_run { " · nothing was written" } else { "" })
}
