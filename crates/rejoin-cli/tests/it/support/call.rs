use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use rejoin_testkit::run_to_end;

use super::{Bench, Live, PATIENCE, Said};

/// The program under test.
pub(crate) const REJOIN: &str = env!("CARGO_BIN_EXE_rejoin");

/// A call of `rejoin` that is still being described.
pub(crate) struct Call<'a> {
    bench: &'a Bench,
    command: Command,
    input: Vec<u8>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(bench: &'a Bench, args: &[&str]) -> Self {
        Self::of(bench, REJOIN, args)
    }

    /// A call of another program on the bench.
    pub(crate) fn of(bench: &'a Bench, program: impl AsRef<OsStr>, args: &[&str]) -> Self {
        let mut command = bench.lab.command(program);
        // Nobody is there to turn pages.
        command.args(args).env("REJOIN_HOME", bench.home()).env("PAGER", "cat");
        Self { bench, command, input: Vec::new() }
    }

    pub(crate) fn with(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// With nothing on `PATH`: no agent is installed.
    pub(crate) fn without_agents(self) -> Self {
        let empty = self.bench.outside("empty");
        self.env("PATH", empty)
    }

    pub(crate) fn within(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// What stands on its standard input.
    pub(crate) fn given(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// The call as a plain command.
    pub(crate) fn command(self) -> Command {
        self.command
    }

    /// Runs it to its end, which must be this exit code.
    #[track_caller]
    pub(crate) fn ends(mut self, code: i32) -> Said {
        let outcome = run_to_end(&mut self.command, &self.input, PATIENCE).unwrap();
        Said::new(self.bench, outcome).has_code(code)
    }

    #[track_caller]
    pub(crate) fn done(self) -> Said {
        self.ends(0)
    }

    /// Whether it ends with this exit code.
    pub(crate) fn try_ends(mut self, code: i32) -> bool {
        run_to_end(&mut self.command, &self.input, PATIENCE).is_ok_and(|outcome| outcome.code() == Some(code))
    }

    /// Starts it, and leaves its standard input closed.
    pub(crate) fn start(self) -> Live<'a> {
        Live::start(self.bench, self.command)
    }
}
