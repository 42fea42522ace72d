use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use rejoin::{Event, TurnBuilder};

use super::fallback_args::{FallbackArgs, ask_to_hand_over};
use super::turn_args::{Output, ScopeArg, TurnArgs};
use crate::signals::{self, Running};
use crate::turn_printer::TurnPrinter;
use crate::{ask, dry_run, exit, prompt};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin run \"diagnose the bug\"                       the configured agent, else the first one installed
  rejoin run -a codex \"diagnose the bug\"              a new conversation with that agent
  rejoin run -c \"now fix it\"                          the newest conversation here, its own session resumed
  rejoin run -c -a claude \"review what codex did\"     another agent: it is told the history
  rejoin run -s release \"bump the version\"            a conversation by name, begun if there is none
  rejoin run --fallback codex,gemini \"…\"             at a limit the same prompt goes on with the next agent
  rejoin run -r claude:latest \"go on\"                 the session Claude used last here, adopted and resumed
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

    /// Continue a conversation by id, unique prefix, name, or the agent's own session id; or a session of an agent,
    /// which is adopted: claude:latest, gemini:2, codex:ID (`rejoin sessions`)
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
    pub(crate) limits: FallbackArgs,

    #[command(flatten)]
    pub(crate) how: TurnArgs,
}

/// `rejoin run`
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<i32> {
    let prompt = prompt::gather(args.prompt.as_deref(), &args.file)?;
    let rejoin = super::open()?;
    carry_out(args.limits.apply(describe(&rejoin, args, prompt)), &args.how)
}

/// Carries out a turn that is described up to what all commands have in common.
pub(crate) fn carry_out(turn: TurnBuilder<'_>, how: &TurnArgs) -> anyhow::Result<i32> {
    let rejoin = turn.rejoin();
    let mut turn = how.apply(turn);
    if how.dry_run {
        return dry_run::show(rejoin, &turn.dry_run()?, how.output);
    }
    let mut printer = TurnPrinter::new(rejoin, how.output, how.look);
    if how.wait.is_some() {
        printer.may_wait();
    }
    let stopped = Arc::new(AtomicBool::new(false));
    if how.output == Output::Text && ask::can_ask() {
        let status = printer.status();
        turn = turn.on_handover(move |handover| {
            status.asks(true);
            let may = ask_to_hand_over(handover);
            status.asks(false);
            may
        });
        let stopped = Arc::clone(&stopped);
        turn = turn.on_question(move |question| {
            ask::ask(question, &mut || !stopped.load(Ordering::Relaxed) && question.is_open())
        });
    }
    // Until the command ends: what is over already cannot be stopped, and must not look as if it was.
    let _running = Running::begin(turn.canceller()?, stopped).telling(printer.status());
    signals::watch()?;
    let outcome = turn.run(|event: &Event| printer.event(event));
    match outcome {
        Ok(outcome) => {
            printer.finish(&outcome)?;
            Ok(exit::of_outcome(outcome.outcome()))
        }
        Err(error) => {
            printer.broke_off(&error);
            Err(error.into())
        }
    }
}

/// The turn that the flags describe, but for what all commands have in common.
pub(crate) fn describe<'a>(rejoin: &'a rejoin::Rejoin, args: &RunArgs, prompt: String) -> TurnBuilder<'a> {
    let mut turn = rejoin.project(".").prompt(prompt);
    if args.continue_latest {
        turn = turn.continue_latest();
    }
    if let Some(name) = &args.name {
        turn = turn.conversation(name);
    }
    if let Some(reference) = &args.resume {
        turn = turn.resume(reference);
    }
    if let Some(message) = &args.checkpoint {
        turn = turn.checkpoint(message);
    }
    if args.ephemeral {
        turn = turn.ephemeral();
    }
    if let Some(scope) = args.scope {
        turn = turn.scope(scope.into());
    }
    turn
}
