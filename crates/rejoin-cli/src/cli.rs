//! The one definition of all commands and flags.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::Styles;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

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
    /// A live conversation: turn after turn at a prompt of its own
    #[command(
        after_help = CHAT_HELP,
        mut_arg("prompt", |arg| arg.help("The first thing to say")),
        mut_arg("file", |arg| arg.help("Take the first thing to say from a file (after the one given as argument)")),
        mut_arg("fresh_session", |arg| arg.help("Start a new session of the agent for the first turn and tell it the history")),
        mut_arg("system_prompt", |arg| arg.help("Replace the agent's system prompt, for as long as you talk")),
        mut_arg("append_system_prompt", |arg| arg.help("Add to the agent's system prompt, for as long as you talk")),
        mut_arg("attach", |arg| arg.help("Send a file along with the first thing to say (repeatable)")),
        mut_arg("ephemeral", |arg| arg.hide(true)),
        mut_arg("output", |arg| arg.hide(true)),
        mut_arg("dry_run", |arg| arg.hide(true))
    )]
    Chat(Box<RunArgs>),
    /// Show which agents are installed and what they can do
    Agents(AgentsArgs),
    /// Check every installed agent: version, shape, flags, login, store, known hazards
    Doctor(DoctorArgs),
    /// List the conversations of this project, newest first
    Ls(LsArgs),
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
    /// Give a conversation a name
    Name(NameArgs),
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
    /// Check journals for damage, and repair what appending can repair
    Fsck(FsckArgs),
    /// Steps that hand their memory on, from a YAML file (docs/flows.md)
    #[command(subcommand)]
    Flow(FlowCommand),
    /// Print what a shell needs to complete commands, conversations and agents
    Completions(CompletionsArgs),
    /// Print the manual page, or write all of them into a directory
    Man(ManArgs),
    /// A guided tour on the embedded agent: no key, no network, nothing left behind
    Demo(DemoArgs),
}

/// What `rejoin chat --help` ends with.
const CHAT_HELP: &str = "\
Examples:
  rejoin chat                       a new conversation with the configured agent
  rejoin chat -c                    go on with the newest one here; its last turns are shown
  rejoin chat -s release -a codex   a conversation by name, begun if there is none
  rejoin chat -c \"now fix it\"       with a first prompt

At the prompt, /help lists what can be done besides talking: /agent, /model, /fresh, /branch,
/rewind, /edit, /retry, /why, /show, /name. Alt-Enter, or a backslash before Enter, begins another
line; pasted text is kept whole; Tab completes. Ctrl-C stops the turn, Ctrl-D leaves. Every turn is
what `rejoin run` would have done.";

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin run \"diagnose the bug\"                       the configured agent, else the first one installed
  rejoin run -a codex \"diagnose the bug\"              a new conversation with that agent
  rejoin run -c \"now fix it\"                          the newest conversation here, its own session resumed
  rejoin run -c -a claude \"review what codex did\"     another agent: it is told the history
  rejoin run -s release \"bump the version\"            a conversation by name, begun if there is none
  git diff | rejoin run -c -f review.md -o stream-json
  rejoin run -c --attach screenshot.png \"why is this button red?\"
  rejoin run -c --dry-run \"…\"                         what would be done, and why")]
pub(crate) struct RunArgs {
    /// What the agent should do; `-` reads it from standard input, and so should go a prompt that
    /// begins with a dash. What another program pipes in is added to it
    pub(crate) prompt: Option<String>,

    /// Continue the newest conversation of this project
    #[arg(short, long = "continue", conflicts_with_all = ["name", "resume"])]
    pub(crate) continue_latest: bool,

    /// Continue the conversation of this name, or begin it
    #[arg(short = 's', long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,

    /// Continue a conversation by id, unique prefix, name, or the agent's own session id
    #[arg(short, long, value_name = "CONVERSATION")]
    pub(crate) resume: Option<String>,

    /// Branch from the turn of this message instead of the end of the conversation
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) checkpoint: Option<String>,

    /// Record nothing, neither here nor in the agent's own store
    #[arg(long, conflicts_with_all = ["fresh_session", "session_dir"])]
    pub(crate) ephemeral: bool,

    /// Take the prompt from a file (after the one given as argument); `-` is standard input
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Vec<PathBuf>,

    /// Which turns agents are told about; only when a conversation begins
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// How a turn is carried out, whichever command begins it.
#[derive(Args)]
pub(crate) struct HowArgs {
    /// Who: claude, codex, gemini, opencode, pi, qwen, openai, demo [default: the conversation's last agent, else as configured, else
    /// the first one installed]
    #[arg(short, long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,

    /// Send a file along: an image, a PDF or a text, as far as the agent takes them (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,

    /// Start a new session of the agent and tell it the history
    #[arg(long)]
    pub(crate) fresh_session: bool,

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

    /// Keep the agent's own sessions in this directory (pi, opencode, qwen, demo); remembered for the
    /// conversation, an empty one is the agent's own place again
    #[arg(long, value_name = "DIR")]
    pub(crate) session_dir: Option<OsString>,

    /// Stop the turn after this long (90, 90s, 5m, 2h)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Stop after this much silence while no tool runs; 0 means never [default: 15m]
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,

    /// Replace the agent's system prompt for this turn
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Add to the agent's system prompt for this turn
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// Wait while the conversation is in use (for ever, or this long: --wait=5m)
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "8760h", value_parser = rejoin::parse_duration)]
    pub(crate) wait: Option<Duration>,

    /// Arguments for the agent itself, after `--`; those about permissions and sessions are refused
    #[arg(last = true, value_name = "AGENT ARGUMENTS")]
    pub(crate) agent_args: Vec<String>,
}

impl HowArgs {
    /// Nothing was said about how a turn is carried out.
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.agent, &self.model, &self.system_prompt, &self.append_system_prompt];
        let times = [self.timeout, self.idle_timeout, self.wait];
        texts.iter().all(|text| text.is_none())
            && times.iter().all(Option::is_none)
            && self.permissions.is_none()
            && self.cwd.is_none()
            && self.session_dir.is_none()
            && self.attach.is_empty()
            && self.agent_args.is_empty()
            && self.output == Output::Text
            && !self.fresh_session
            && !self.dry_run
    }
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
pub(crate) struct LsArgs {
    /// List the conversations of all projects
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Only those in which this agent took a turn
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only those with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// Only those used in the last while (90m, 36h, 3d, 2w)
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) since: Option<Duration>,
    /// At most so many [default: 50 on a terminal, else all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Pick one: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) interactive: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ShowArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1, or the agent's own session id
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Pick the conversation: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "conversation")]
    pub(crate) interactive: bool,
    /// Draw all branches, the head marked
    #[arg(long, conflicts_with = "raw")]
    pub(crate) tree: bool,
    /// The path to this message instead of the one to the head: what another branch says
    #[arg(long, value_name = "MESSAGE", conflicts_with_all = ["tree", "raw"])]
    pub(crate) at: Option<String>,
    /// Only the last turns of the path
    #[arg(short = 'n', long, value_name = "TURNS", conflicts_with_all = ["tree", "raw"])]
    pub(crate) last: Option<usize>,
    /// Put its id before every answer and tool result, for `edit` and `--at`; a turn's own id is its prompt's
    #[arg(long, conflicts_with_all = ["tree", "raw", "json"])]
    pub(crate) ids: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "raw")]
    pub(crate) json: bool,
    /// Print the journal as it stands
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Args)]
#[command(after_help = "\
A message is named by its id or the beginning of it (`rejoin show --ids`), by a turn's number as `rejoin show` prints it, by a
branch's name, or by @ (the head), @~1 (the turn before it).")]
pub(crate) struct BranchArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// Where the next turn goes on
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) at: String,
    /// Name the branch that begins there; `--at NAME` comes back to its end
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Args)]
pub(crate) struct RewindArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// How many turns
    #[arg(default_value_t = 1, conflicts_with = "to")]
    pub(crate) turns: usize,
    /// To the end of this message's turn
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) to: Option<String>,
}

#[derive(Args)]
pub(crate) struct EditArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// Which message: id or its beginning (`show --ids`), a turn's number (its prompt), @ (the last prompt), @~1
    pub(crate) message: String,
    /// The new text; `-` is standard input [default: your $VISUAL or $EDITOR is opened]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Leave the turn as it is and run the new text in its stead, on a branch
    #[arg(long)]
    pub(crate) from_here: bool,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Args)]
pub(crate) struct RetryArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// Which turn, by any of its messages [default: the head]
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Args)]
pub(crate) struct NameArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// The name, unique in the project
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct TagArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// +label puts it on, -label takes it off; none shows them
    #[arg(allow_hyphen_values = true, value_name = "+LABEL|-LABEL")]
    pub(crate) labels: Vec<String>,
}

#[derive(Args)]
pub(crate) struct MvArgs {
    /// Where the project was
    pub(crate) from: PathBuf,
    /// Where it is now
    pub(crate) to: PathBuf,
}

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
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
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
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Show what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct WhyArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Who would do the turn [default: the conversation's last agent]
    #[arg(short, long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin export @ > talk.md
  rejoin export release --format html --redact --to release.html
  rejoin export @ --format bundle --to talk.rejoin && scp talk.rejoin there: && ssh there rejoin import talk.rejoin")]
pub(crate) struct ExportArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// What it looks like
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    pub(crate) format: ExportFormat,
    /// Take out keys, tokens, passwords and the home directory; what was taken out is counted
    #[arg(long)]
    pub(crate) redact: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Markdown: the path, to be read
    Md,
    /// One HTML page: the path, to be read
    Html,
    /// As `rejoin show --json`, nothing cut
    Json,
    /// The journal, a record per line
    Jsonl,
    /// The journal with a hash, for `rejoin import`
    Bundle,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// A bundle, or a journal; `-` is standard input
    pub(crate) file: PathBuf,
    /// The project it belongs to from now on [default: the one it belonged to]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct FsckArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1 [default: all of this project]
    #[arg(conflicts_with = "all")]
    pub(crate) conversation: Option<String>,
    /// The conversations of all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Repair what can be repaired by appending; nothing is ever rewritten
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// List the runs, newest first
    Ls(FlowLsArgs),
    /// Show what the steps of a run came to
    Show(FlowShowArgs),
    /// Go on with a run where it was cut; what is done is not run again
    Resume(FlowResumeArgs),
    /// Stop a run that is going on in another process
    Cancel(FlowCancelArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin flow run review.flow.yaml -i area=src
  rejoin flow run review.flow.yaml -i area=src --step fix      that step and what it waits for
  rejoin flow run review.flow.yaml -i area=src --dry-run       the steps in their order")]
pub(crate) struct FlowRunArgs {
    /// The flow
    pub(crate) file: PathBuf,
    /// Give an input of the flow (repeatable)
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub(crate) input: Vec<(String, String)>,
    /// Only this step and what it waits for
    #[arg(long, value_name = "STEP", conflicts_with = "from")]
    pub(crate) step: Option<String>,
    /// Only this step and those after it
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// Show the steps in their order and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How the outcome is printed: the last step's output, the whole run, or every record and event
    #[arg(short, long, value_enum, default_value_t = Output::Text, hide_possible_values = true, value_name = "text|json|stream-json")]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct FlowFileArgs {
    /// The flow
    pub(crate) file: PathBuf,
}

#[derive(Args)]
pub(crate) struct FlowLsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct FlowShowArgs {
    /// Id or its beginning, @ (the newest)
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) run: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct FlowResumeArgs {
    /// Id or its beginning, @ (the newest)
    pub(crate) run: String,
    /// Run this step and those after it anew, whatever they came to
    #[arg(long, value_name = "STEP")]
    pub(crate) from: Option<String>,
    /// How the outcome is printed: the last step's output, the whole run, or every record and event
    #[arg(short, long, value_enum, default_value_t = Output::Text, hide_possible_values = true, value_name = "text|json|stream-json")]
    pub(crate) output: Output,
}

#[derive(Args)]
pub(crate) struct FlowCancelArgs {
    /// Id or its beginning, @ (the newest)
    pub(crate) run: String,
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  source <(rejoin completions bash)                                 in ~/.bashrc
  source <(rejoin completions zsh)                                  in ~/.zshrc
  rejoin completions fish > ~/.config/fish/completions/rejoin.fish")]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    pub(crate) shell: String,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

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
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Only turns of this agent
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Only in conversations with this label (repeatable: with all of them)
    #[arg(long, value_name = "LABEL")]
    pub(crate) tag: Vec<String>,
    /// At most so many hits
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::new(20).unwrap_or(NonZeroUsize::MIN))]
    pub(crate) limit: NonZeroUsize,
    /// Pick one: type to filter, Enter shows it, Ctrl-R goes on with it
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) interactive: bool,
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
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
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
        let advice = "give a prompt that begins with '-' on standard input, or with '-f FILE' ('-f -' waits for standard input)";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice.into()]));
    }
    error
}
