//! All commands; the arguments of each stand beside the command.

use std::path::PathBuf;

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand, ValueHint};

use crate::chat;
use crate::commands::adopt::AdoptArgs;
use crate::commands::agents::AgentsArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::ConfigArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::edit::EditArgs;
use crate::commands::exists::ExistsArgs;
use crate::commands::export::ExportArgs;
use crate::commands::flow::FlowCommand;
use crate::commands::fsck::FsckArgs;
use crate::commands::import::ImportArgs;
use crate::commands::ls::LsArgs;
use crate::commands::man::ManArgs;
use crate::commands::move_head::{BranchArgs, RewindArgs};
use crate::commands::mv::MvArgs;
use crate::commands::name::NameArgs;
use crate::commands::remove::{PruneArgs, RmArgs};
use crate::commands::retry::RetryArgs;
use crate::commands::run::RunArgs;
use crate::commands::search::SearchArgs;
use crate::commands::serve::ServeArgs;
use crate::commands::sessions::SessionsArgs;
use crate::commands::show::ShowArgs;
use crate::commands::stats::StatsArgs;
use crate::commands::tag::TagArgs;
use crate::commands::token::TokenArgs;
use crate::commands::why::WhyArgs;
use crate::demo::DemoArgs;

/// Coding agents that remember.
///
/// Runs Claude Code, Codex and others one turn at a time and keeps one history of its own. Every
/// follow-up turn resumes the agent's own session when that is provably safe; otherwise the history
/// is replayed, and the reason is shown. It never forgets silently.
#[derive(Parser)]
#[command(name = "rejoin", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "\
New here?  rejoin demo                            a tour on the embedded agent, no key, no network
           rejoin run \"diagnose the bug\"          the first turn
           rejoin run -c \"now fix it\"             the next one, in the agent's own session

Exit codes: 0 done, 1 the agent failed, 2 usage, 3 timeout, 4 not found, 5 permission, 6 busy,
7 rejoin itself failed, 130 cancelled. Data: $REJOIN_HOME; settings: `rejoin config`.
With `-C DIR`, every command does what it would do if it were called in that directory; with
`--no-pager`, none shows its output through $PAGER.")]
pub(crate) struct Cli {
    /// Do it as if it were called in this directory. The help above tells of it once, for all commands
    #[arg(short = 'C', value_name = "DIR", value_hint = ValueHint::DirPath, global = true, hide = true)]
    pub(crate) called_in: Option<PathBuf>,
    /// Stands before a command, too, as git has it. The commands whose output may be long know it by the same name
    #[arg(long, global = true, hide = true)]
    pub(crate) no_pager: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run one turn of an agent
    Run(Box<RunArgs>),
    /// A live conversation: turn after turn at a prompt of its own
    #[command(
        after_help = chat::HELP,
        mut_arg("prompt", |arg| arg.help("The first thing to say")),
        mut_arg("file", |arg| arg.help("Take the first thing to say from a file (after the one given as argument)")),
        mut_arg("fresh_session", |arg| arg.help("Start a new session of the agent for the first turn and tell it the history")),
        mut_arg("system_prompt", |arg| arg.help("Replace the agent's system prompt, for as long as you talk")),
        mut_arg("append_system_prompt", |arg| arg.help("Add to the agent's system prompt, for as long as you talk")),
        mut_arg("attach", |arg| arg.help("Send a file along with the first thing to say (repeatable)")),
        mut_arg("ephemeral", |arg| arg.hide(true)),
        mut_arg("fallback", |arg| arg.hide(true)),
        mut_arg("fallback_after_work", |arg| arg.hide(true)),
        mut_arg("output", |arg| arg.hide(true)),
        mut_arg("dry_run", |arg| arg.hide(true))
    )]
    Chat(Box<RunArgs>),
    /// Show which agents are installed and what they can do
    Agents(AgentsArgs),
    /// Check every agent (version, shape, flags, login, store, hazards) and the home
    Doctor(DoctorArgs),
    /// List the conversations of this project, newest first
    Ls(LsArgs),
    /// List the sessions that agents themselves keep of this project (docs/sessions.md)
    Sessions(SessionsArgs),
    /// Make conversations of the sessions that agents keep (docs/sessions.md)
    Adopt(AdoptArgs),
    /// Show what was said and done in a conversation
    Show(ShowArgs),
    /// Search everything that was ever said or done in this project
    Search(SearchArgs),
    /// Count turns, tokens, cost, and what resuming saved
    Stats(StatsArgs),
    /// Would the next turn resume the agent's session? Each guard with its two values
    Why(WhyArgs),
    /// Move the head to an earlier turn or another branch; the next turn goes on there
    Branch(BranchArgs),
    /// Take the head back by some turns; nothing is deleted
    Rewind(RewindArgs),
    /// Edit what was said: in place, or as a branch that is run again
    Edit(Box<EditArgs>),
    /// Run a turn again: a failed one goes on, a completed one gets a sibling
    Retry(Box<RetryArgs>),
    /// Give a conversation a name, or take it away
    Name(NameArgs),
    /// Exit with 0 if there is such a conversation, else with 4
    Exists(ExistsArgs),
    /// Put labels on a conversation (+x) or take them off (-x)
    Tag(TagArgs),
    /// Tell rejoin that a project was moved: its conversations go along
    Mv(MvArgs),
    /// Delete conversations
    Rm(RmArgs),
    /// Delete conversations that were not used for a while
    Prune(PruneArgs),
    /// Write a conversation out: to be read, processed, or taken in elsewhere
    Export(ExportArgs),
    /// Take in a conversation that was exported as a bundle or as JSON lines
    Import(ImportArgs),
    /// Show the settings with the origin of each, or change one of yours
    Config(ConfigArgs),
    /// Check journals for damage, and repair what appending can repair
    Fsck(FsckArgs),
    /// Steps that hand their memory on, from a YAML file (docs/flows.md)
    #[command(subcommand)]
    Flow(FlowCommand),
    /// Serve conversations, turns and events over HTTP (docs/http.md)
    Serve(ServeArgs),
    /// Print the token for programs that ask the daemon; make others with fewer rights
    Token(TokenArgs),
    /// Print what a shell needs to complete commands, conversations and agents
    Completions(CompletionsArgs),
    /// Print the manual page, or write all of them into a directory
    Man(ManArgs),
    /// A guided tour on the embedded agent: no key, no network, nothing left behind
    Demo(DemoArgs),
}

/// An error about what was typed, with everything in it that was typed to be seen, and without styles: they
/// could not be told from what was typed.
pub(crate) fn in_plain_words(error: clap::Error) -> clap::Error {
    if !error.use_stderr() {
        return error;
    }
    let typed = std::env::args_os().map(|arg| rejoin::visible_line(&arg.to_string_lossy()).into_owned());
    let again = Cli::command().styles(Styles::plain()).try_get_matches_from(typed);
    with_better_advice(again.err().unwrap_or(error))
}

/// For a prompt that begins with a dash clap advises `-- -x`, which would make it an argument for the agent.
fn with_better_advice(mut error: clap::Error) -> clap::Error {
    let of_run = error.get(ContextKind::Usage).is_some_and(|usage| usage.to_string().contains("[PROMPT]"));
    if error.kind() == ErrorKind::UnknownArgument && of_run {
        let wrong = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        let advice = if wrong.starts_with('-') {
            "give a prompt that begins with '-' on standard input, or with '-f FILE' ('-f -' waits for standard input)"
        } else {
            "quote the prompt, so that all of its words are one argument: rejoin run \"fix the bug\""
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}
