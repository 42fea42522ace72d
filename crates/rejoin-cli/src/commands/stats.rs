use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use rejoin::{GroupCounts, StatsFilter, TurnCounts};

use crate::pager::PagerArgs;
use crate::screen::{self, label};
use crate::table::{Column, lay_out, width, width_for_a_person};
use crate::turn_words::reason_named;
use crate::wrap::hanging;
use crate::{exit, style};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin stats                          this project, all time
  rejoin stats --since 4w --by day
  rejoin stats --all-projects --by agent --json")]
pub(crate) struct StatsArgs {
    /// Only turns begun in the last while (36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) since: Option<Duration>,
    /// Count by this, too
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// Count the turns of all projects
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    #[command(flatten)]
    pub(crate) pager: PagerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum By {
    /// By agent
    Agent,
    /// By model
    Model,
    /// By project
    Project,
    /// By day (UTC)
    Day,
}

impl From<By> for rejoin::Grouping {
    fn from(by: By) -> Self {
        match by {
            By::Agent => Self::Agent,
            By::Model => Self::Model,
            By::Project => Self::Project,
            By::Day => Self::Day,
        }
    }
}

/// `rejoin stats`
pub(crate) fn stats(args: &StatsArgs) -> anyhow::Result<i32> {
    let rejoin = super::open_indexed()?;
    let stats = rejoin.stats(&StatsFilter {
        project: super::project_here(args.all_projects)?,
        since: args.since.map(|time| SystemTime::now() - time),
        by: args.by.map(Into::into),
        ..StatsFilter::default()
    })?;
    for warning in &stats.warnings {
        style::loud(&format!("! {warning}"));
    }
    if args.json {
        screen::sorted_json(&stats)?;
        return Ok(exit::DONE);
    }
    if stats.all.turns == 0 {
        style::talk("no turn to count yet");
        return Ok(exit::DONE);
    }
    let mut out = totals(&stats.all);
    if let (Some(by), Some(groups)) = (args.by, &stats.by) {
        out.push('\n');
        out.push_str(&bars(groups, by));
    }
    args.pager.print(&out.into())?;
    Ok(exit::DONE)
}

fn totals(all: &TurnCounts) -> String {
    let mut out = String::new();
    let columns = width_for_a_person();
    let bar = width().saturating_sub(20).clamp(10, 30);
    let mut line = |what: &str, text: String| {
        for row in hanging(format!("{what:<9} {text}").trim_end(), columns, 18) {
            let _ = writeln!(out, "{row}");
        }
    };
    let conversations = style::plural(all.conversations as usize, "conversation");
    line("turns", format!("{} in {conversations}", style::number(all.turns)));
    let share = all.resumed as f64 / all.turns.max(1) as f64;
    line("resumed", format!("{:<7} {}", style::number(all.resumed), plot(share, bar)));
    let fresh: u64 = all.fresh.values().sum();
    let mut reasons: Vec<(&String, &u64)> = all.fresh.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let share = fresh as f64 / all.turns.max(1) as f64;
    line("fresh", format!("{:<7} {}", style::number(fresh), plot(share, bar)));
    for (reason, count) in reasons {
        line("", format!("{:>5}   {}", style::number(*count), label(reason_named(reason))));
    }
    if all.failed + all.cut > 0 {
        line("failed", format!("{}, cut short {}", style::number(all.failed), style::number(all.cut)));
    }
    let calls = all.tool_calls;
    if calls.all > 0 {
        let (failed, cut) = (style::number(calls.errors), style::number(calls.cancelled));
        line(
            "tools",
            format!("{}, {failed} failed, {cut} cancelled", style::plural(calls.all as usize, "call")),
        );
    }
    let usage = all.usage;
    line(
        "tokens",
        format!(
            "{} in, {} cached, {} out",
            style::number(usage.input),
            style::number(usage.cached),
            style::number(usage.output)
        ),
    );
    if all.cost > 0.0 {
        line("cost", style::dollars(all.cost));
    }
    line("sent", style::bytes(all.bytes_sent as usize));
    line("saved", format!("{} not sent again, thanks to resuming", style::bytes(all.bytes_saved as usize)));
    out
}

fn bars(groups: &BTreeMap<String, GroupCounts>, by: By) -> String {
    let mut rows: Vec<(&String, &TurnCounts)> =
        groups.iter().map(|(name, group)| (name, &group.all)).collect();
    // Days stand in their order, the rest by weight.
    if !matches!(by, By::Day) {
        rows.sort_by_key(|(_, bar)| std::cmp::Reverse(bar.turns));
    }
    let most = rows.iter().map(|(_, bar)| bar.turns).max().unwrap_or(1);
    let title = match by {
        By::Agent => "agent",
        By::Model => "model",
        By::Project => "project",
        By::Day => "day",
    };
    let column = |title, right, spare, cell: &dyn Fn(&str, &TurnCounts) -> String| Column {
        title,
        right,
        spare,
        cells: rows.iter().map(|(name, bar)| cell(name, bar)).collect(),
    };
    let columns = vec![
        column(title, false, 0, &|name, _| style::cut(&style::home_path(name), 200)),
        column("turns", true, 0, &|_, bar| style::number(bar.turns)),
        column("", false, 5, &|_, bar| plot(bar.turns as f64 / most as f64, 20)),
        column("resumed", true, 0, &|_, bar| style::number(bar.resumed)),
        column("tokens", true, 2, &|_, bar| {
            style::count(bar.usage.input + bar.usage.cached + bar.usage.output)
        }),
        column("cost", true, 3, &|_, bar| {
            if bar.cost > 0.0 { style::dollars(bar.cost) } else { String::new() }
        }),
        column("saved", true, 4, &|_, bar| style::bytes(bar.bytes_saved as usize)),
    ];
    lay_out(columns, title, width(), true)
}

/// A bar of eighths.
fn plot(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    // What is there is seen.
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::plot;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!([plot(0.0, 4), plot(0.001, 4), plot(0.5, 4), plot(1.0, 2)], ["", "▏", "██", "██"]);
    }
}
