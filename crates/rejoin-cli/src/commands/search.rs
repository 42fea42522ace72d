use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use rejoin::{Agent, Query, SearchFilter, SearchHit, TextSource};
use unicode_width::UnicodeWidthStr;

use super::pick_conversation::pick_conversation;
use super::show::ShowArgs;
use crate::pager::PagerArgs;
use crate::screen::{self, Painted, Style, label};
use crate::table::{in_colour, width_for_a_person};
use crate::wrap::hanging;
use crate::{exit, style};

#[derive(Args)]
#[command(after_help = "\
All words must occur in one turn, in any order. Several words in one argument are a phrase; an
asterisk stands for any ending. What was said comes before what was done by tools.

Examples:
  rejoin search timeout retry           both words
  rejoin search 'connection refused'    a phrase
  rejoin search 'migrat*' --agent claude
  rejoin show ID --at MESSAGE           read what led to a hit
  rejoin run -r ID \"go on\"             continue it")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Search all projects
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    /// Only turns of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only in conversations with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// At most so many hits
    #[arg(long, value_name = "N", value_parser = super::at_least_one, default_value_t = NonZeroUsize::new(20).unwrap_or(NonZeroUsize::MIN))]
    pub(crate) limit: NonZeroUsize,
    /// Pick one: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) interactive: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `rejoin search`
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<i32> {
    let Some(query) = Query::parse(&args.words) else {
        style::error(&anyhow::anyhow!(
            "there is no word in {:?}: letters or digits make one",
            args.words.join(" ")
        ));
        return Ok(exit::USAGE);
    };
    let rejoin = super::open_indexed()?;
    let project = super::project_here(args.all_projects)?;
    let places = super::other_places(&rejoin, project.as_deref())?;
    let found = rejoin.search(
        &query,
        &SearchFilter {
            also: places.conversations(),
            project,
            agent: args.agent.clone().map(Agent::named),
            tags: args.tag.clone(),
            limit: Some(args.limit.get()),
        },
    )?;
    for warning in &found.warnings {
        style::loud(&format!("! {warning}"));
    }
    if args.interactive && !found.hits.is_empty() {
        let line = |hit: &SearchHit| format!("{}  {}", about(hit), hit.snippet.trim());
        let lines = found.hits.iter().map(|hit| (hit.conversation, line(hit))).collect();
        return pick_conversation(lines, &ShowArgs::default());
    }
    if args.json {
        screen::sorted_json(&found.hits)?;
    } else {
        let mut out = Painted::default();
        found.hits.iter().for_each(|hit| paragraph(hit, &mut out));
        args.pager.print(&out)?;
        if found.more && !found.hits.is_empty() {
            style::talk("there may be more; `--limit N` shows them");
        }
    }
    if found.hits.is_empty() {
        let place = if args.all_projects { "any project" } else { "this project" };
        let all = if args.all_projects { "" } else { "; `--all-projects` looks everywhere" };
        style::talk(&format!("no turn of {place} has all of: {}{all}", args.words.join(" ")));
        return Ok(exit::NOT_FOUND);
    }
    Ok(exit::DONE)
}

fn paragraph(hit: &SearchHit, out: &mut Painted) {
    let columns = width_for_a_person();
    // What does not fit stands below the title, behind the id.
    for line in hanging(&about(hit), columns, 10) {
        let _ = writeln!(out, "{line}");
    }
    highlighted(hit, columns, out);
}

fn about(hit: &SearchHit) -> String {
    let title = style::title(hit.name.as_deref(), &hit.title, 50);
    let mut out = format!("{}  {title}", hit.conversation.short());
    let when = UNIX_EPOCH + Duration::from_millis(hit.time_ms.try_into().unwrap_or(0));
    let _ = write!(out, " · {} · {}", who(hit), style::age(when));
    if let Some(message) = hit.message.or(hit.turn) {
        let _ = write!(out, " · {}", message.short());
    }
    out
}

/// Who said it, or what it came from.
fn who(hit: &SearchHit) -> String {
    let agent = label(hit.agent.as_ref().map_or("agent", |agent| agent.as_str()));
    match hit.source {
        TextSource::Name => "its name".into(),
        TextSource::User => "you".into(),
        TextSource::Agent => agent,
        TextSource::Thought => format!("{agent}, thinking"),
        TextSource::Call => format!("{agent}, calling a tool"),
        TextSource::Result => format!("a tool of {agent}"),
    }
}

/// The snippet in lines that are set off, the words that were looked for in bold.
fn highlighted(hit: &SearchHit, columns: usize, out: &mut Painted) {
    const INDENT: &str = "    ";
    out.text(INDENT);
    let (mut at, mut column) = (0, INDENT.len());
    for word in hit.snippet.split_inclusive(' ') {
        let wide = label(word).width();
        if column + wide > columns && column > INDENT.len() {
            out.text("\n");
            out.text(INDENT);
            column = INDENT.len();
        }
        let end = at + word.len();
        let begin = at;
        for [from, to] in hit.marks.iter().filter(|[from, to]| *from >= begin && *to <= end) {
            out.text(&hit.snippet[at..*from]);
            out.style(Style::BOLD.when(in_colour()), &hit.snippet[*from..*to]);
            at = *to;
        }
        out.text(&hit.snippet[at..end]);
        (at, column) = (end, column + wide);
    }
    out.text("\n");
}
