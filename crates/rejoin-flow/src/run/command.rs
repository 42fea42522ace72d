//! A step that is a shell command.

use std::collections::BTreeMap;
use std::path::Path;

use rejoin::{CancelWatch, CommandEnd, CommandOutcome, ShellCommand};

use super::output;
use super::record::{Ended, State};
use super::stop::Stop;
use super::walk::{Task, Tried, Walk};
use crate::FlowError;
use crate::model::{CommandStep, Failure};

impl Walk<'_> {
    pub(super) fn command(
        &self,
        task: &Task<'_>,
        step: &CommandStep,
        halt: &Stop,
    ) -> Result<Tried, FlowError> {
        let ended = match self.shell_command(task, step) {
            Ok(command) => {
                let (canceller, watch) = CancelWatch::pair()
                    .map_err(|cause| FlowError::System { what: "cannot make a socket pair".into(), cause })?;
                let _registered = halt.register(&canceller);
                let outcome = self.rejoin.run_command(&command, &watch)?;
                judged(task, step, &outcome)
            }
            Err(refused) => *refused,
        };
        Ok(Tried { ended, turn: None })
    }

    fn shell_command(&self, task: &Task<'_>, step: &CommandStep) -> Result<ShellCommand, Box<Ended>> {
        let mut env = BTreeMap::new();
        for (name, text) in &step.env {
            let value = self.fill(task, &format!("env.{name}"), &text.text)?;
            if value.contains('\0') {
                return Err(Box::new(self.refused(task, &format!("env.{name}"), "it contains a NUL byte")));
            }
            env.insert(name.clone(), value);
        }
        let dir = Path::new(&self.begun.dir);
        let dir = match &step.how.cwd {
            Some(text) => dir.join(self.fill(task, "cwd", &text.text)?),
            None => dir.to_owned(),
        };
        if !dir.is_dir() {
            let words = format!("{} is not a directory", dir.display());
            return Err(Box::new(self.refused(task, "cwd", &words)));
        }
        Ok(ShellCommand { command: step.command.text.clone(), dir, env, timeout: step.how.timeout })
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
