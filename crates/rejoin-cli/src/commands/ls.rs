use std::num::NonZeroUsize;
use std::time::{Duration, SystemTime};

use clap::Args;
use rejoin::{
    Agent, ConversationId, ConversationState, ListFilter, ListedConversation, OtherPlaces, Outcome, Rejoin,
};

use super::pick_conversation::pick_conversation;
use super::show::ShowArgs;
use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style};
use crate::table::{Column, for_a_person, in_colour, lay_out, width};
use crate::{exit, style};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct LsArgs {
    /// List the conversations of all projects
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    /// Only those in which this agent took a turn
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only those with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// Leave out the conversations of flows
    #[arg(long)]
    pub(crate) no_flows: bool,
    /// Only those used in the last while (90m, 36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) since: Option<Duration>,
    /// At most so many [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Pick one: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) interactive: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How many a person is shown.
const PAGE: usize = 50;
/// Fewer columns have no room for a project's path beside the rest.
const NARROW: usize = 60;

/// `rejoin ls`
pub(crate) fn ls(args: &LsArgs) -> anyhow::Result<i32> {
    let page = (for_a_person() && !args.json && !args.interactive).then_some(PAGE);
    let rejoin = super::open_indexed()?;
    let project = super::project_here(args.all_projects)?;
    let places = super::other_places(&rejoin, project.as_deref())?;
    let filter = ListFilter {
        also: places.conversations(),
        project,
        agent: args.agent.clone().map(Agent::named),
        tags: args.tag.clone(),
        without_tags: args.no_flows.then(|| rejoin_flow::LABEL.to_owned()).into_iter().collect(),
        since: args.since.map(|time| SystemTime::now() - time),
        limit: args.limit.map(NonZeroUsize::get).or(page),
        ..ListFilter::default()
    };
    if args.interactive {
        let lines = lines(&filter)?;
        if lines.is_empty() {
            style::talk(&nothing(&rejoin, args, &places)?);
            return Ok(exit::NOT_FOUND);
        }
        return pick_conversation(lines, &ShowArgs::default());
    }
    let listing = rejoin.list(&filter)?;
    for warning in &listing.warnings {
        style::loud(&format!("! {warning}"));
    }
    if args.json {
        if listing.conversations.is_empty() {
            places.told_of_checkouts().iter().for_each(|others| style::talk(others));
        }
        screen::sorted_json(&listing.conversations)?;
        return Ok(exit::DONE);
    }
    if listing.conversations.is_empty() {
        style::talk(&nothing(&rejoin, args, &places)?);
    }
    let table = table(&rejoin, &listing.conversations, args.all_projects);
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
    Ok(exit::DONE)
}

/// Why the list is empty, and what to do about it.
fn nothing(rejoin: &Rejoin, args: &LsArgs, places: &OtherPlaces) -> anyhow::Result<String> {
    let tags = rejoin.tags(super::project_here(args.all_projects)?)?;
    if let Some(unknown) = args.tag.iter().find(|tag| !tags.contains(*tag)) {
        let hint = rejoin::suggestion(unknown, tags.into_iter());
        return Ok(format!("no conversation here has the label {unknown:?}{hint}"));
    }
    let filtered = args.agent.is_some() || args.since.is_some() || !args.tag.is_empty() || args.no_flows;
    Ok(if filtered {
        "no such conversation here; `rejoin ls` lists all".to_owned()
    } else {
        let others = places.told_of_checkouts().map(|others| format!("; {others}")).unwrap_or_default();
        format!("no conversation here yet; begin one with `rejoin run \"…\"`{others}")
    })
}

/// Conversations, each with its line.
pub(super) fn lines(filter: &ListFilter) -> anyhow::Result<Vec<(ConversationId, String)>> {
    let rejoin = super::open_indexed()?;
    let list = rejoin.list(filter)?.conversations;
    let table = table(&rejoin, &list, filter.project.is_none());
    let lines: Vec<String> = table.lines().map(str::to_owned).collect();
    // On a terminal, a line with the names of the columns comes first.
    let first = lines.len() - list.len();
    Ok(list.iter().map(|listed| listed.id).zip(lines.into_iter().skip(first)).collect())
}

fn table(rejoin: &Rejoin, list: &[ListedConversation], with_project: bool) -> String {
    let column = |title, right, spare, cell: &dyn Fn(&ListedConversation) -> String| Column {
        title,
        right,
        spare,
        cells: list.iter().map(cell).collect(),
    };
    let agents = |listed: &ListedConversation| {
        let agents: Vec<&str> = listed.agents.iter().map(Agent::as_str).collect();
        style::cut(&agents.join("+"), 24)
    };
    let tags = |listed: &ListedConversation| {
        let tags: Vec<String> = listed.tags.iter().map(|tag| format!("+{tag}")).collect();
        style::cut(&tags.join(" "), 24)
    };
    let branch = |listed: &ListedConversation| match (&listed.branch, listed.branches) {
        (Some(name), _) => style::cut(name, 24),
        (None, 0 | 1) => String::new(),
        (None, count) => style::plural(count, "branch"),
    };
    let usage = |listed: &ListedConversation| {
        let usage = listed.usage;
        style::count(usage.input + usage.cached + usage.output)
    };
    let mut columns = vec![
        column("id", false, 0, &|listed| listed.id.short()),
        column("title", false, 0, &|listed| title(listed, 200)),
        column("tags", false, 3, &tags),
        column("agents", false, 2, &agents),
        column("turns", true, 1, &|listed| listed.turns.to_string()),
        column("age", true, 0, &|listed| style::short_age(listed.used())),
        column("tokens", true, 4, &usage),
        column("cost", true, 6, &|listed| listed.cost.map(style::dollars).unwrap_or_default()),
        column("branch", false, 5, &branch),
        column("git", false, 7, &|listed| style::cut(listed.git_branch.as_deref().unwrap_or_default(), 24)),
        column("state", false, 0, &|listed| state(rejoin, listed).to_owned()),
    ];
    if with_project {
        // Where there is no room for a path, its end tells more than its beginning, and more than an age.
        let is_narrow = width() < NARROW;
        columns.retain(|column| column.title != "age" || !is_narrow);
        columns.push(column("project", false, 0, &|listed| {
            let path = listed.project.as_deref().map(style::home_path).unwrap_or_default();
            let name = path.rsplit('/').next().filter(|name| is_narrow && !name.is_empty());
            name.map_or_else(|| path.clone(), str::to_owned)
        }));
    }
    lay_out(columns, "title", width(), for_a_person() && !list.is_empty())
}

/// How a conversation stands, in the words that `run` and `show` have for its last turn: a program is told that it was
/// interrupted, whoever did it.
fn state(rejoin: &Rejoin, listed: &ListedConversation) -> &'static str {
    if listed.state == ConversationState::Interrupted {
        let view = rejoin.open_conversation(listed.id).ok();
        let receipt = view.as_ref().and_then(|view| view.path().last()?.receipt.as_ref());
        match receipt.map(|receipt| &receipt.outcome) {
            Some(Outcome::Cancelled) => return "cancelled",
            Some(Outcome::Timeout { .. }) => return "timeout",
            _ => {}
        }
    }
    listed.state.name()
}

/// The name of a conversation, else how it begins.
fn title(listed: &ListedConversation, most: usize) -> String {
    style::title(listed.name.as_deref(), &listed.title, most)
}
