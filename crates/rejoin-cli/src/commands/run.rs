use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rejoin::{Agent, Event, TurnBuilder};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::cli::{HowArgs, Output, RunArgs};
use crate::output::Printer;
use crate::{ask, dry_run, exit, prompt};

/// `rejoin run`
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<i32> {
    let prompt = prompt::gather(args.prompt.as_deref(), &args.file)?;
    let rejoin = super::open()?;
    carry_out(describe(&rejoin, args, prompt), &args.how)
}

/// Carries out a turn that is described up to what all commands have in common.
pub(crate) fn carry_out(turn: TurnBuilder<'_>, how: &HowArgs) -> anyhow::Result<i32> {
    let rejoin = turn.rejoin();
    let mut turn = apply(turn, how);
    if how.dry_run {
        return dry_run::show(rejoin, &turn.dry_run()?, how.output);
    }
    let stopped = Arc::new(AtomicBool::new(false));
    if how.output == Output::Text && ask::can_ask() {
        let stopped = Arc::clone(&stopped);
        turn = turn.on_question(move |question| ask::ask(question, &stopped));
    }
    let canceller = turn.canceller()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Under `nohup` a turn outlives the terminal.
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        signal_hook::low_level::pipe::register(signal, canceller.socket()?)?;
        signal_hook::flag::register(signal, Arc::clone(&stopped))?;
    }
    let mut printer = Printer::new(rejoin, how.output);
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

/// Whether our caller wants a signal ignored, where the system can tell (Linux).
pub(super) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
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

/// Adds what all commands have in common.
pub(crate) fn apply<'a>(turn: TurnBuilder<'a>, how: &HowArgs) -> TurnBuilder<'a> {
    let mut turn = turn.extra_args(how.agent_args.iter().cloned());
    if let Some(agent) = &how.agent {
        turn = turn.agent(Agent::named(agent));
    }
    if how.fresh_session {
        turn = turn.fresh();
    }
    if let Some(model) = &how.model {
        turn = turn.model(model);
    }
    if let Some(level) = how.permissions {
        turn = turn.permissions(level.into());
    }
    if let Some(dir) = &how.cwd {
        turn = turn.cwd(dir);
    }
    for file in &how.attach {
        turn = turn.attach(file);
    }
    if let Some(dir) = &how.session_dir {
        turn = turn.session_dir(dir);
    }
    if let Some(limit) = how.timeout {
        turn = turn.timeout(limit);
    }
    if let Some(limit) = how.idle_timeout {
        turn = turn.idle_timeout(limit);
    }
    if let Some(text) = &how.system_prompt {
        turn = turn.system_prompt(text);
    }
    if let Some(text) = &how.append_system_prompt {
        turn = turn.append_system_prompt(text);
    }
    if let Some(limit) = how.wait {
        turn = turn.wait(limit);
    }
    turn
}
