//! The one definition of all commands and flags.

use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::duration;

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
7 rejoin itself failed, 130 cancelled. Data: $REJOIN_HOME; settings: $REJOIN_CONFIG.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run one turn of an agent
    Run(Box<RunArgs>),
    /// Show which agents are installed and what they can do
    Agents(AgentsArgs),
    /// Check every installed agent: version, flags, store, known hazards
    Doctor(DoctorArgs),
    /// List the conversations of this project, newest first
    Ls(LsArgs),
    /// Show what was said and done in a conversation
    Show(ShowArgs),
    /// Search everything that was ever said or done in this project
    Search(SearchArgs),
    /// Count turns, tokens, cost, and what resuming saved
    Stats(StatsArgs),
    /// A guided tour on the embedded agent: no key, no network, nothing left behind
    Demo(DemoArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin run \"diagnose the bug\"                       the configured agent, else the first one installed
  rejoin run -a codex \"diagnose the bug\"              a new conversation with that agent
  rejoin run -c \"now fix it\"                          the newest conversation here, its own session resumed
  rejoin run -c -a claude \"review what codex did\"     another agent: it is told the history
  rejoin run -s release \"bump the version\"            a conversation by name, begun if there is none
  git diff | rejoin run -c -f review.md -o stream-json
  rejoin run -c --dry-run \"…\"                         what would be done, and why")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunArgs {
    /// What the agent should do; `-` reads it from standard input, and so should go a prompt that
    /// begins with a dash
    pub(crate) prompt: Option<String>,

    /// Who: claude, codex, gemini, opencode, pi, qwen, openai, demo [default: the conversation's last agent, else as configured, else
    /// the first one installed]
    #[arg(short, long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Continue the newest conversation of this project
    #[arg(short, long = "continue", conflicts_with_all = ["name", "resume"])]
    pub(crate) continue_latest: bool,

    /// Continue the conversation of this name, or begin it
    #[arg(short = 's', long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,

    /// Continue a conversation by id, unique prefix, name, `@` (the newest here), `@~1` (the one
    /// before), or the agent's own session id
    #[arg(short, long, value_name = "CONVERSATION")]
    pub(crate) resume: Option<String>,

    /// Branch from the turn of this message instead of the end of the conversation
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) checkpoint: Option<String>,

    /// Start a new session of the agent and tell it the history
    #[arg(long, conflicts_with = "ephemeral")]
    pub(crate) fresh_session: bool,

    /// Record nothing, neither here nor in the agent's own store
    #[arg(long)]
    pub(crate) ephemeral: bool,

    /// Take the prompt from a file (after the one given as argument); `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// How the outcome is printed
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,

    /// Show the plan (decision, reason, command line, what would be sent) and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// The model, in the agent's own terms; remembered for the conversation
    #[arg(long)]
    pub(crate) model: Option<String>,

    /// What the agent may do; stays the ceiling of the conversation until you name another
    #[arg(long, value_enum)]
    pub(crate) permissions: Option<Level>,

    /// Run in this directory instead of the conversation's own
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Stop the turn after this long (90, 90s, 5m, 2h)
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,

    /// Stop after this much silence while no tool runs; 0 means never [default: 15m]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Replace the agent's system prompt for this turn
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Add to the agent's system prompt for this turn
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Which turns agents are told about; only when a conversation begins
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,

    /// Wait while the conversation is in use (for ever, or this long: --wait=5m)
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "8760h", value_parser = duration::parse)]
    pub(crate) wait: Option<Duration>,

    /// Arguments for the agent itself, after `--`; those about permissions and sessions are refused
    #[arg(last = true, value_name = "AGENT ARGUMENTS")]
    pub(crate) agent_args: Vec<String>,
}

#[derive(Args)]
pub(crate) struct AgentsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Spend two tiny turns on each agent to prove that the second remembers the first
    #[arg(long)]
    pub(crate) turn: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin ls                             the newest conversations of this project
  rejoin ls --agent codex --since 2w    those codex took part in, written in the last two weeks
  rejoin ls --all-projects --json       for scripts (docs/cli-json.md)")]
pub(crate) struct LsArgs {
    /// List the conversations of all projects
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Only those in which this agent took a turn
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only those written in the last while (90m, 36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) since: Option<Duration>,
    /// At most so many [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
All words must occur in one turn, in any order. Several words in one argument are a phrase; an
asterisk stands for any ending. What was said comes before what was done by tools.

Examples:
  rejoin search timeout retry           both words
  rejoin search 'connection refused'    a phrase
  rejoin search 'migrat*' --agent claude
  rejoin show ID                        read the conversation of a hit
  rejoin run -r ID \"go on\"             continue it")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Search all projects
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Only turns of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin stats                          this project, all time
  rejoin stats --since 4w --by day
  rejoin stats --all-projects --by agent --json")]
pub(crate) struct StatsArgs {
    /// Only turns begun in the last while (36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) since: Option<Duration>,
    /// Count by this, too
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// Count the turns of all projects
    #[arg(long)]
    pub(crate) all_projects: bool,
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

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// Id, unique prefix, name, `@` (the newest here), `@~1` (the one before), or the agent's own
    /// session id [default: the newest here]
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Keep the conversation and the journal, and say where they are
    #[arg(long)]
    pub(crate) keep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// The answer as it comes on stdout, everything else on stderr
    Text,
    /// One object at the end: the answer and the receipt
    Json,
    /// Every event as a line of JSON (docs/events.md)
    StreamJson,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    /// Look, change nothing
    Read,
    /// Change files of the project
    Edit,
    /// Anything, without asking
    Full,
    /// As the agent itself is configured (the usual one)
    Agent,
}

impl From<Level> for rejoin::Permissions {
    fn from(level: Level) -> Self {
        match level {
            Level::Read => Self::Read,
            Level::Edit => Self::Edit,
            Level::Full => Self::Full,
            Level::Agent => Self::Agent,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ScopeArg {
    /// Every agent knows all turns (the usual one)
    Shared,
    /// Every agent knows only the turns it took part in
    Own,
}

impl From<ScopeArg> for rejoin::Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Shared => Self::Shared,
            ScopeArg::Own => Self::Own,
        }
    }
}

/// For a prompt that begins with a dash clap advises `-- -x`, which would make it an argument for the agent.
pub(crate) fn with_better_advice(mut error: clap::Error) -> clap::Error {
    let of_run = error.get(ContextKind::Usage).is_some_and(|usage| usage.to_string().contains("[PROMPT]"));
    if error.kind() == ErrorKind::UnknownArgument && of_run {
        let advice = "give a prompt that begins with '-' on standard input, or with '-f FILE' ('-f -' waits for standard input)";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}
