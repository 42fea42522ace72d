//! The OpenAPI document and the daemon that serves it: schemathesis looks for answers that the document does not
//! allow, and the examples' clients are generated from it, checked and run.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use rejoin_testkit::Lab;

use crate::bench::serve::Daemon;
use crate::{caller_env, install, workspace};

/// What schemathesis must not find.
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";
/// Streams have no end, and nobody makes up a bundle.
const LEFT_OUT: &str = "(/events|/stream|/import)$";
/// It would remove what the others ask for.
const REMOVES: &str = "remove_conversation";
/// Made-up requests per operation, besides those that go through every bound of its schema.
const EXAMPLES: &str = "15";

/// What both clients print, if the second turn went on with the agent's own session.
const EXPECTED: [&str; 2] = ["first:  completed fresh (first_turn)", "second: completed resumed"];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        bail!("clients takes no arguments, but got {argument:?}");
    }
    check()
}

/// The step of `cargo xtask test`.
pub(crate) fn check() -> Result<()> {
    if !has_python() {
        let missing = "this needs Python 3.11 or newer with venv and pip (Debian: apt install python3-venv)";
        if env::var_os("CI").is_some() {
            bail!(missing);
        }
        eprintln!("   left out: {missing}");
        return Ok(());
    }
    let tools = Tools::installed()?;
    workspace::run(workspace::cargo().args(["build", "--quiet", "--package=rejoin-cli"]))?;
    let served = Served::start(&workspace::target().join("debug/rejoin"))?;
    let document = served.save_document()?;
    tools.python_client(&served, &document)?;
    tools.typescript_client(&served, &document)?;
    tools.schemathesis(&served, &document)
}

fn has_python() -> bool {
    let needed = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    Command::new("python3").args(["-c", needed]).output().is_ok_and(|told| told.status.success())
}

/// A daemon on a home and a project that are gone afterwards; it serves no other project.
pub(crate) struct Served {
    lab: Lab,
    daemon: Daemon,
}

impl Served {
    pub(crate) fn start(rejoin: &Path) -> Result<Self> {
        let lab = Lab::new();
        let project = lab.project();
        let root = project.to_str().context("the project's path is no UTF-8")?;
        let daemon = Daemon::start(lab.command(rejoin), &lab.root().join("rejoin"), &["--project", root])?;
        Ok(Self { lab, daemon })
    }

    fn url(&self) -> String {
        format!("http://{}", self.daemon.client.address)
    }

    /// A directory for a client.
    fn make_dir(&self, name: &str) -> Result<PathBuf> {
        let dir = self.lab.root().join(name);
        fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
        Ok(dir)
    }

    /// The document as it is served, in a file.
    pub(crate) fn save_document(&self) -> Result<PathBuf> {
        let file = self.lab.root().join("openapi.json");
        let document = self.daemon.client.get("/api/v1/openapi.json")?;
        fs::write(&file, document.to_string()).context("cannot write the OpenAPI document")?;
        Ok(file)
    }

    /// Runs a client in the project, and looks at what it printed.
    fn runs_two_turns(&self, client: &mut Command) -> Result<()> {
        client.current_dir(self.lab.project());
        client.env("REJOIN_URL", self.url()).env("REJOIN_TOKEN", &self.daemon.client.token);
        caller_env::remove_proxies(client);
        let told = String::from_utf8_lossy(&workspace::output(client)?).into_owned();
        if told.lines().ne(EXPECTED) {
            bail!("a client printed\n{told}instead of\n{}", EXPECTED.join("\n"));
        }
        Ok(())
    }
}

/// The generators and checkers at their pinned versions, kept beside the real agents.
struct Tools {
    place: PathBuf,
}

impl Tools {
    fn installed() -> Result<Self> {
        let requirements = workspace::root().join("crates/xtask/clients/requirements.txt");
        let example = workspace::root().join("examples/typescript");
        let mut pinned = fs::read(&requirements).context("cannot read requirements.txt")?;
        pinned.extend(fs::read(example.join("package-lock.json")).context("cannot read package-lock.json")?);
        let cache = install::cache_dir()?;
        fs::create_dir_all(&cache).with_context(|| format!("cannot make the cache {}", cache.display()))?;
        let place = cache.join(format!("clients-{:016x}", install::fingerprint(&pinned)));
        install::once(&place, |staging| {
            workspace::run(Command::new("python3").args(["-m", "venv"]).arg(staging.join("venv")))?;
            let mut pip = Command::new(staging.join("venv/bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
            workspace::run(pip.arg(&requirements))?;
            for file in ["package.json", "package-lock.json"] {
                fs::copy(example.join(file), staging.join(file))
                    .with_context(|| format!("cannot copy {file}"))?;
            }
            install::npm_ci(staging)
        })?;
        Ok(Self { place })
    }

    /// A module of the virtual environment. Its scripts name the directory in which they were installed.
    fn python(&self, module: &str) -> Command {
        let mut command = Command::new(self.place.join("venv/bin/python"));
        command.args(["-m", module]);
        command
    }

    fn node(&self, program: &str) -> Command {
        Command::new(self.place.join("node_modules/.bin").join(program))
    }

    fn python_client(&self, served: &Served, document: &Path) -> Result<()> {
        let dir = served.make_dir("python")?;
        let example = copy("examples/python/two_turns.py", &dir)?;
        let mut generate = self.python("openapi_python_client");
        generate.args(["generate", "--meta", "none", "--path"]).arg(document);
        generate.arg("--output-path").arg(dir.join("rejoin_client"));
        // It tells of every schema that it cannot express; what the example needs of it is checked below.
        quietly(&mut generate)?;
        let mut check = self.python("mypy");
        check.args(["--strict", "--follow-imports=silent", "--no-error-summary"]).arg(&example);
        workspace::run(check.current_dir(&dir))?;
        let mut client = Command::new(self.place.join("venv/bin/python"));
        served.runs_two_turns(client.arg(&example)).context("the client in Python")
    }

    fn typescript_client(&self, served: &Served, document: &Path) -> Result<()> {
        let dir = served.make_dir("typescript")?;
        for file in ["two-turns.ts", "tsconfig.json", "package.json"] {
            copy(&format!("examples/typescript/{file}"), &dir)?;
        }
        symlink(self.place.join("node_modules"), dir.join("node_modules")).context("cannot link")?;
        let mut generate = self.node("openapi-typescript");
        generate.arg(document).args(["--default-non-nullable=false", "--output", "rejoin.d.ts"]);
        quietly(generate.current_dir(&dir))?;
        workspace::run(self.node("tsc").arg("--noEmit").current_dir(&dir))?;
        workspace::run(self.node("tsc").args(["--outDir", "out"]).current_dir(&dir))?;
        let mut client = Command::new("node");
        served.runs_two_turns(client.arg(dir.join("out/two-turns.js"))).context("the client in TypeScript")
    }

    /// One worker: with two, a run on Python 3.11 broke off in `ast.parse` (recursion depth mismatch).
    fn schemathesis(&self, served: &Served, document: &Path) -> Result<()> {
        let (run, conversation) = served.daemon.begin(&served.lab.project(), None, "hello MARK-a")?;
        served.daemon.wait_for(&run)?;
        let mut command = self.python("schemathesis.cli");
        command.arg("--config-file").arg(workspace::root().join("crates/xtask/clients/schemathesis.toml"));
        command.arg("run").arg(document).args(["--url", &served.url(), "--checks", CHECKS]);
        command.arg("--header").arg(format!("Authorization: Bearer {}", served.daemon.client.token));
        command.args(["--exclude-path-regex", LEFT_OUT, "--exclude-operation-id", REMOVES]);
        command.args(["--phases", "coverage,fuzzing", "--max-examples", EXAMPLES, "--seed", "1"]);
        command.args(["--workers", "1", "--request-timeout", "20", "--warnings", "off"]);
        command.env("REJOIN_RUN", run).env("REJOIN_CONVERSATION", conversation);
        caller_env::remove_proxies(&mut command);
        // It keeps notes where it runs.
        quietly(command.current_dir(served.make_dir("schemathesis")?))
    }
}

/// Copies a file of the workspace into a directory.
fn copy(file: &str, dir: &Path) -> Result<PathBuf> {
    let from = workspace::root().join(file);
    let to = dir.join(from.file_name().unwrap_or_default());
    fs::copy(&from, &to).with_context(|| format!("cannot copy {file}"))?;
    Ok(to)
}

/// Runs a command whose output is of interest only if it fails.
pub(crate) fn quietly(command: &mut Command) -> Result<()> {
    let told = command.output().context("cannot run a tool")?;
    if !told.status.success() {
        let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
        bail!("{} failed: {}\n{out}{err}", command.get_program().display(), told.status);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(file: &str) -> String {
        fs::read_to_string(workspace::root().join(file)).unwrap()
    }

    #[test]
    fn what_the_examples_ask_for_is_what_is_tested() {
        let pinned = text("crates/xtask/clients/requirements.txt");
        for line in text("examples/python/requirements.txt").lines() {
            assert!(pinned.lines().any(|known| known == line), "{line}");
        }
        assert!(pinned.lines().all(|line| line.contains("==")), "every version is pinned");
        let lock = text("examples/typescript/package-lock.json");
        assert!(!lock.contains("\"resolved\"") && !lock.contains("registry"));
    }

    #[test]
    fn the_examples_are_short() {
        for file in ["examples/python/two_turns.py", "examples/typescript/two-turns.ts"] {
            assert!(text(file).lines().count() <= 60, "{file}");
        }
    }
}
