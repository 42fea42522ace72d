//! How far a run of a flow may go: never further than its caller.

use std::path::Path;

use rejoin::Permissions;
use rejoin_flow::{AgentStep, Flow, How, Kind, Step};

use crate::app::App;
use crate::caller::Caller;
use crate::problem::{Code, Problem};
use crate::routes::access::sees;
use crate::routes::project_dir::sees_all;

/// Refuses a flow of which a step would go further than the caller may. Its steps run in `dir` where they do not say
/// otherwise.
pub(crate) fn check(app: &App, caller: &Caller, flow: &Flow, dir: &Path) -> Result<(), Problem> {
    flow.all_steps().into_iter().try_for_each(|step| check_step(app, caller, step, dir))
}

fn check_step(app: &App, caller: &Caller, step: &Step, dir: &Path) -> Result<(), Problem> {
    let refused = |why: String, next: &str| {
        let words = format!("step {:?} {why}", step.name);
        Err(Problem::new(Code::CeilingExceeded, words).hint(next).with("step", &step.name))
    };
    match (&step.kind, caller.ceiling) {
        // Those inside are among all steps.
        (Kind::Parallel(_), _) => Ok(()),
        (Kind::ForEach(each), _) => check_step(app, caller, &each.step, dir),
        (Kind::Command(_), Some(_)) => {
            refused("is a shell command, which no ceiling allows".to_owned(), "use a token without a ceiling")
        }
        (Kind::Command(command), None) => check_place(app, caller, step, &command.how, dir),
        (Kind::Agent(agent), None) => check_place(app, caller, step, &agent.how, dir),
        (Kind::Agent(agent), Some(ceiling)) => match beyond(agent, ceiling) {
            Some(why) => refused(why, "give it less in the flow, or use a token without a ceiling"),
            None => check_place(app, caller, step, &agent.how, dir),
        },
    }
}

/// What of an agent's step is beyond a ceiling.
fn beyond(agent: &AgentStep, ceiling: Permissions) -> Option<String> {
    let ceiling_name = ceiling.name();
    match agent.permissions {
        None => Some(format!(
            "names no permissions, so the agent's own settings would decide; the ceiling is {ceiling_name:?}"
        )),
        Some(level @ Permissions::Agent) => {
            Some(format!("asks for level {:?}, which no ceiling allows", level.name()))
        }
        Some(level) if !level.fits_under(ceiling) => {
            Some(format!("asks for level {:?}, the ceiling is {ceiling_name:?}", level.name()))
        }
        // A variable can name another program for the agent to be, or code for it to load.
        Some(_) if !agent.how.env.is_empty() => {
            Some("sets variables of the agent's program, which no ceiling allows".to_owned())
        }
        Some(_) => None,
    }
}

/// A step runs where the caller may see what is there.
fn check_place(app: &App, caller: &Caller, step: &Step, how: &How, dir: &Path) -> Result<(), Problem> {
    let Some(cwd) = how.cwd.as_ref().filter(|_| !sees_all(app, caller)) else { return Ok(()) };
    let refused = |why: &str| {
        Err(Problem::new(Code::NotAllowed, format!("step {:?} runs in {:?}: {why}", step.name, cwd.text))
            .with("step", &step.name))
    };
    if cwd.text.contains('{') {
        return refused("where that is turns out too late for a token that does not see all projects");
    }
    match dir.join(&cwd.text).canonicalize() {
        Ok(real) if sees(app, caller, &real) => Ok(()),
        _ => refused("that is not in one of the projects of this token"),
    }
}
