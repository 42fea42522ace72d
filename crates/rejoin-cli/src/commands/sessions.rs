use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use clap::Args;
use rejoin::{Agent, ListedSession, SessionFilter, SessionListing};

use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style};
use crate::table::{Column, for_a_person, in_colour, lay_out, width};
use crate::{exit, style};

#[derive(Args)]
pub(crate) struct SessionsArgs {
    /// Only the sessions of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// List the sessions of all projects
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    /// Only those used in the last while (90m, 36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) since: Option<Duration>,
    /// At most so many [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many a person is shown.
const PAGE: usize = 50;

/// `rejoin sessions`
pub(crate) fn sessions(args: &SessionsArgs) -> anyhow::Result<i32> {
    let page = (for_a_person() && !args.json).then_some(PAGE);
    let filter = SessionFilter {
        here: super::here()?,
        all_projects: args.all_projects,
        agent: args.agent.clone().map(Agent::named),
        since: args.since.map(|time| SystemTime::now() - time),
        limit: args.limit.map(NonZeroUsize::get).or(page),
    };
    let listing = super::open_indexed()?.agent_sessions(&filter)?;
    if args.json {
        screen::sorted_json(&listing)?;
        return Ok(exit::DONE);
    }
    if listing.sessions.is_empty() {
        style::talk(nothing(args));
    }
    let table = table(&listing.sessions, args.all_projects);
    let mut out = Painted::default();
    let (header, rest) = match table.split_once('\n') {
        Some((header, rest)) if in_colour() => (header, format!("\n{rest}")),
        _ => ("", table),
    };
    out.style(Style::DIM, header);
    out.text(&rest);
    args.pager.print(&out)?;
    if listing.more && args.limit.is_none() {
        style::talk("there are older ones; `--limit N` shows more");
    }
    tell_passed_over(&listing);
    Ok(exit::DONE)
}

/// Why the list is empty, and what to do about it.
fn nothing(args: &SessionsArgs) -> &'static str {
    match (args.agent.is_some() || args.since.is_some(), args.all_projects) {
        (true, false) => {
            "no such session of this project; `rejoin sessions` lists all of it, `-A` those of all projects"
        }
        (true, true) => "no such session; `rejoin sessions -A` lists all",
        (false, false) => {
            "no agent keeps a session of this project; `rejoin sessions -A` lists those of all projects"
        }
        (false, true) => "no agent keeps a session here yet",
    }
}

fn tell_passed_over(listing: &SessionListing) {
    let count = listing.not_understood.len();
    if count > 0 {
        let files = style::plural(count, "file");
        style::loud(&format!("! {files} could not be understood; `--json` lists them"));
    }
}

fn table(list: &[ListedSession], with_dir: bool) -> String {
    let column = |title, right, spare, cell: &dyn Fn(&ListedSession) -> String| Column {
        title,
        right,
        spare,
        cells: list.iter().map(cell).collect(),
    };
    let title = |session: &ListedSession| {
        style::title(session.title.as_deref(), session.first_prompt.as_deref().unwrap_or_default(), 200)
    };
    let size = |session: &ListedSession| {
        session.bytes.and_then(|bytes| usize::try_from(bytes).ok()).map(style::bytes).unwrap_or_default()
    };
    let columns = vec![
        column("agent", false, 0, &|session| session.agent.to_string()),
        column("#", true, 0, &|session| session.number.map(|number| number.to_string()).unwrap_or_default()),
        column("id", false, 2, &|session| session.id.clone()),
        column("title", false, 0, &title),
        column("messages", true, 3, &|session| session.messages.map(style::count).unwrap_or_default()),
        column("size", true, 4, &size),
        column("age", true, 0, &|session| style::short_age(session.used())),
        column("git", false, 5, &|session| style::cut(session.branch.as_deref().unwrap_or_default(), 24)),
        column("known as", false, 0, &|session| session.known.map(|known| known.short()).unwrap_or_default()),
        column("directory", false, u8::from(!with_dir) * 6, &|session| {
            session.dir.as_deref().map(style::home_path).unwrap_or_default()
        }),
    ];
    lay_out(columns, "title", width(), for_a_person() && !list.is_empty())
}
