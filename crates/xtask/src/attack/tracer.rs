//! The program that puts faults into commands, made from `tracer.c` when it is needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace;

const SOURCE: &str = include_str!("tracer.c");

pub(crate) struct Tracer {
    program: PathBuf,
}

impl Tracer {
    /// Compiles it, and sees that this machine lets it work.
    pub(crate) fn build() -> Result<Self> {
        let dir = workspace::target().join("attack");
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let source = dir.join("tracer.c");
        let program = dir.join("tracer");
        if !program.exists() || fs::read_to_string(&source).ok().as_deref() != Some(SOURCE) {
            // Under another name first: whoever is cut here leaves no old program beside a new source.
            let draft = dir.join("draft.c");
            fs::write(&draft, SOURCE).with_context(|| format!("cannot write {}", draft.display()))?;
            workspace::run(Command::new("cc").arg("-O2").arg("-o").arg(&program).arg(&draft))?;
            fs::rename(&draft, &source)?;
        }
        let tracer = Self { program };
        let mut check = Command::new(tracer.program());
        check.arg("/dev/null").arg(&dir).args(["10000", "1000", "count", "/bin/true"]);
        workspace::run(&mut check)
            .context("faults need ptrace and seccomp, and this machine grants them not")?;
        Ok(tracer)
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }
}
