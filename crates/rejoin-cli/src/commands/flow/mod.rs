//! `rejoin flow`: one file per subcommand.

mod cancel;
mod ls;
mod remove;
mod run;
mod run_printer;
mod running_steps;
mod show;
mod step_output;
mod validate;

use clap::Subcommand;

use self::cancel::FlowCancelArgs;
use self::ls::FlowLsArgs;
use self::remove::{FlowPruneArgs, FlowRmArgs};
use self::run::{FlowResumeArgs, FlowRunArgs};
use self::show::FlowShowArgs;
use self::validate::FlowFileArgs;

#[derive(Subcommand)]
pub(crate) enum FlowCommand {
    /// Run a flow
    Run(FlowRunArgs),
    /// Check a flow file; every problem is told with its place
    Validate(FlowFileArgs),
    /// Print a flow as a Mermaid chart
    Graph(FlowFileArgs),
    /// Print the JSON schema of flow files, for editors
    Schema,
    /// List the runs of this project, newest first
    Ls(FlowLsArgs),
    /// Show what the steps of a run came to
    Show(FlowShowArgs),
    /// Go on with a run where it was cut; what is done is not run again
    Resume(FlowResumeArgs),
    /// Stop a run that is going on in another process
    Cancel(FlowCancelArgs),
    /// Delete runs; the conversations of their steps stay
    Rm(FlowRmArgs),
    /// Delete runs that nothing was done in for a while; the conversations of their steps stay
    Prune(FlowPruneArgs),
}

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
        FlowCommand::Cancel(args) => cancel::cancel(&args),
        FlowCommand::Rm(args) => remove::rm(&args),
        FlowCommand::Prune(args) => remove::prune(&args),
    }
}
