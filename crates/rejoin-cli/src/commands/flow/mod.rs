//! `rejoin flow`: one file per subcommand.

mod board;
mod ls;
mod progress;
mod run;
mod show;
mod stop;
mod validate;

use crate::cli::FlowCommand;

/// Runs a subcommand and gives its exit code.
pub(super) fn flow(command: FlowCommand) -> anyhow::Result<i32> {
    match command {
        FlowCommand::Run(args) => run::run(&args),
        FlowCommand::Validate(args) => validate::validate(&args),
        FlowCommand::Graph(args) => validate::graph(&args),
        FlowCommand::Schema => validate::schema(),
        FlowCommand::Ls(args) => ls::ls(&args),
        FlowCommand::Show(args) => show::show(&args),
        FlowCommand::Resume(args) => run::resume(&args),
        FlowCommand::Cancel(args) => stop::cancel(&args),
    }
}
