//! A step that is a shell command.

use rejoin::{CancelWatch, CommandEnd, CommandOutcome, ShellCommand};

use super::output;
use super::record::{Ended, State};
use super::stop::Stop;
use super::walk::{Task, Walk};
use crate::FlowError;
use crate::model::{CommandStep, Failure};

impl Walk<'_> {
    pub(super) fn command(
        &self,
        task: &Task<'_>,
        step: &CommandStep,
        halt: &Stop,
    ) -> Result<Ended, FlowError> {
        let command = match self.shell_command(task, step) {
            Ok(command) => command,
            Err(refused) => return Ok(*refused),
        };
        let (canceller, watch) = CancelWatch::pair().map_err(rejoin::Error::from)?;
        let _registered = halt.register(&canceller);
        let outcome = self.rejoin.run_command(&command, &watch, self.commands.as_ref())?;
        Ok(judged(task, step, &outcome))
    }

    fn shell_command(&self, task: &Task<'_>, step: &CommandStep) -> Result<ShellCommand, Box<Ended>> {
        Ok(ShellCommand {
            command: step.command.text.clone(),
            dir: self.directory(task, &step.how)?,
            env: self.variables(task, &step.how)?,
            timeout: step.how.timeout,
        })
    }
}

/// What a command's end means for its step.
fn judged(task: &Task<'_>, step: &CommandStep, outcome: &CommandOutcome) -> Ended {
    let key = task.key;
    let output = outcome.stdout.trim_end_matches(['\n', '\r']).to_owned();
    let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned);
    let complaint = last(&outcome.stderr).or_else(|| last(&output));
    let because = complaint.map(|line| format!(": {line}")).unwrap_or_default();
    let mut ended = match &outcome.end {
        CommandEnd::Exited(0) => match step.how.json.then(|| output::read(&output, step.how.schema.as_ref()))
        {
            Some(Ok(json)) => Ended { json: Some(json), ..Ended::new(key, State::Done) },
            Some(Err(why)) => Ended::failed(key, Failure::Output, format!("the output: {why}")),
            None => Ended::new(key, State::Done),
        },
        CommandEnd::Exited(code) => {
            Ended::failed(key, Failure::CommandFailed, format!("the command exited with {code}{because}"))
        }
        CommandEnd::Killed(signal) => {
            let by = signal.map(|signal| format!(" by signal {signal}")).unwrap_or_default();
            Ended::failed(key, Failure::CommandFailed, format!("the command was killed{by}{because}"))
        }
        CommandEnd::Timeout => Ended::failed(key, Failure::Timeout, "the command took too long"),
        CommandEnd::NotStarted(text) => {
            Ended::failed(key, Failure::CommandFailed, format!("the command could not be started: {text}"))
        }
        CommandEnd::Cancelled => Ended::new(key, State::Cancelled),
    };
    ended.output = output;
    ended.exit_code = match outcome.end {
        CommandEnd::Exited(code) => Some(code),
        _ => None,
    };
    ended
}
