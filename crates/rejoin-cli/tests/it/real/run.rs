//! One `rejoin run`, described step by step.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rejoin_testkit::Outcome;

use super::running::Running;
use super::stage::Stage;
use super::turn::Turn;
use super::who::Who;

/// A turn that is not run yet.
pub(super) struct Run<'a> {
    stage: &'a Stage,
    args: Vec<OsString>,
    prompt: String,
    dir: PathBuf,
    env: Vec<(String, String)>,
    for_the_agent: Vec<&'static str>,
}

impl<'a> Run<'a> {
    /// A turn with nothing but a prompt, in the project.
    pub(super) fn new(stage: &'a Stage, prompt: &str) -> Self {
        let (args, env, for_the_agent) = (Vec::new(), Vec::new(), Vec::new());
        Self { stage, args, prompt: prompt.to_owned(), dir: stage.lab.project(), env, for_the_agent }
    }

    pub(super) fn with<const N: usize>(mut self, args: [&str; N]) -> Self {
        self.args.extend(args.map(OsString::from));
        self
    }

    /// By this agent.
    pub(super) fn by(self, who: Who) -> Self {
        self.with(["-a", who.name()])
    }

    /// With the user standing there.
    pub(super) fn from(mut self, dir: impl AsRef<Path>) -> Self {
        dir.as_ref().clone_into(&mut self.dir);
        self
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With an argument for the agent itself.
    pub(super) fn for_the_agent(mut self, arg: &'static str) -> Self {
        self.for_the_agent.push(arg);
        self
    }

    fn command(&self) -> Command {
        let mut command = self.stage.rejoin();
        command.arg("run").args(&self.args).current_dir(&self.dir);
        if !self.for_the_agent.is_empty() {
            command.arg("--").args(&self.for_the_agent);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it as it is described, the prompt on standard input.
    pub(super) fn plainly(self) -> Outcome {
        self.stage.lab.run(&mut self.command(), &self.prompt)
    }

    /// Runs it with the event stream, and looks it up in the journal.
    #[track_caller]
    pub(super) fn go(self) -> Turn {
        let before = self.stage.lab.model().calls().len();
        let stage = self.stage;
        let outcome = self.with(["-o", "stream-json"]).plainly();
        Turn::read(stage, before, &outcome)
    }

    /// Begins it, with the event stream.
    #[track_caller]
    pub(super) fn start(self) -> Running<'a> {
        let before = self.stage.lab.model().calls().len();
        let (stage, prompt) = (self.stage, self.prompt.clone());
        let mut command = self.with(["-o", "stream-json"]).command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(stage, before, &mut command, &prompt)
    }
}
