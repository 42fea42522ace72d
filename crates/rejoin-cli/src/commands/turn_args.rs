//! What all commands that run a turn take: how it is carried out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rejoin::{Agent, TurnBuilder, TurnOptions};

use crate::thoughts::Thinking;

/// How a turn is carried out, whichever command begins it.
#[derive(Args)]
pub(crate) struct TurnArgs {
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

    #[command(flatten)]
    pub(crate) look: Look,

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

    /// An agent that did nothing yet and is only told to try again later is past a limit after this long; 0 means
    /// never [default: as configured, else 5m]
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) limit_after: Option<Duration>,

    /// Tell the agent that nobody is there when its question was not answered for this long; 0 means never [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) answer_timeout: Option<Duration>,

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

impl TurnArgs {
    /// Nothing was said about how a turn is carried out.
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.agent, &self.model, &self.system_prompt, &self.append_system_prompt];
        let times = [self.timeout, self.idle_timeout, self.limit_after, self.answer_timeout, self.wait];
        texts.iter().all(|text| text.is_none())
            && times.iter().all(Option::is_none)
            && self.permissions.is_none()
            && self.cwd.is_none()
            && self.session_dir.is_none()
            && self.attach.is_empty()
            && self.agent_args.is_empty()
            && self.output == Output::Text
            && self.look.is_usual()
            && !self.fresh_session
            && !self.dry_run
    }

    /// Adds all of it to the description of a turn.
    pub(crate) fn apply<'a>(&self, turn: TurnBuilder<'a>) -> TurnBuilder<'a> {
        self.options().apply(turn)
    }

    /// The same as the library has it.
    pub(crate) fn options(&self) -> TurnOptions {
        TurnOptions {
            agent: self.agent.as_ref().map(Agent::named),
            model: self.model.clone(),
            permissions: self.permissions.map(Into::into),
            fresh: self.fresh_session,
            attach: self.attach.clone(),
            cwd: self.cwd.clone(),
            session_dir: self.session_dir.as_ref().map(PathBuf::from),
            timeout: self.timeout,
            idle_timeout: self.idle_timeout,
            limit_after: self.limit_after,
            answer_timeout: self.answer_timeout,
            system_prompt: self.system_prompt.clone(),
            append_system_prompt: self.append_system_prompt.clone(),
            wait: self.wait,
            extra_args: self.agent_args.clone(),
        }
    }
}

/// How much of a turn is seen, and how it looks.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Look {
    /// How much of the model's thinking is shown [default: brief on a terminal, else off]
    #[arg(long, value_enum)]
    pub(crate) thinking: Option<Thinking>,

    /// Print the answer as it came also on a terminal: headings, tables and code are not rendered
    #[arg(long)]
    pub(crate) plain: bool,

    /// Print the answer and say nothing else but warnings and failures
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Look {
    fn is_usual(self) -> bool {
        self.thinking.is_none() && !self.plain && !self.quiet
    }
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
