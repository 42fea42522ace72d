use std::time::Duration;

use clap::Args;
use rejoin::{ConversationView, PruneFilter};

use super::delete::{self, Deletable, PruneHow};
use crate::style;
use crate::table::{Column, lay_out};

#[derive(Args)]
pub(crate) struct RmArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(required = true)]
    pub(crate) conversations: Vec<String>,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct PruneArgs {
    /// Those last used before (90d, 12w, 6h); a name or a label is no use
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) older_than: Duration,
    /// Only those with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// Keep those that have a name
    #[arg(long)]
    pub(crate) keep_named: bool,
    /// Of all projects, not only this one
    #[arg(short = 'A', long)]
    pub(crate) all_projects: bool,
    #[command(flatten)]
    pub(crate) how: PruneHow,
}

/// `rejoin rm`
pub(crate) fn rm(args: &RmArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let here = super::here()?;
    let mut views: Vec<ConversationView<'_>> = Vec::new();
    for text in &args.conversations {
        let view = rejoin.view(&here, text)?;
        if views.iter().all(|known| known.id() != view.id()) {
            views.push(view);
        }
    }
    delete::delete(views, args.yes)
}

/// `rejoin prune`
pub(crate) fn prune(args: &PruneArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let views = rejoin.prunable(&PruneFilter {
        older_than: args.older_than,
        project: super::project_here(args.all_projects)?,
        tags: args.tag.clone(),
        keep_named: args.keep_named,
    })?;
    delete::prune(views, &args.how)
}

impl Deletable for ConversationView<'_> {
    const NAME: &'static str = "conversation";
    const STAYS: &'static str = "the agents' own sessions stay";

    fn short_id(&self) -> String {
        self.id().short()
    }

    fn lines(things: &[Self], width: usize) -> String {
        let column = |title, spare, cell: &dyn Fn(&Self) -> String| Column {
            title,
            right: false,
            spare,
            cells: things.iter().map(cell).collect(),
        };
        let columns = vec![
            column("id", 0, &|view| view.id().short()),
            column("title", 0, &|view| {
                let title = view.title().unwrap_or_default();
                style::title(view.conversation().name.as_deref(), &title, 200)
            }),
            column("turns", 1, &|view| style::plural(view.conversation().tree.turns().len(), "turn")),
        ];
        lay_out(columns, "title", width, false)
    }

    fn delete(self) -> anyhow::Result<()> {
        Ok(self.remove()?)
    }
}
