//! What a run would do, step by step: nothing is run.

use rejoin::one_line;
use serde::{Deserialize, Serialize};

use super::prepare::Prepared;
use crate::model::{Kind, Step};

/// How much of a prompt or a command is shown, in columns.
const WIDTH: usize = 60;

/// A step as `rejoin flow run --dry-run -o json` prints it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedStep {
    /// Its name.
    pub step: String,
    /// What it does, in a few words.
    pub does: String,
    /// The steps in it that are run at once; `None` for those themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<Vec<PlannedStep>>,
}

impl PlannedStep {
    fn of(step: &Step) -> Self {
        Self { step: step.name.clone(), does: what(&step.kind), at_once: None }
    }
}

impl Prepared<'_> {
    /// The steps that would be run, in their order.
    pub fn planned_steps(&self) -> Vec<PlannedStep> {
        let steps = self.plan().into_iter().filter_map(|name| self.flow().step(name));
        let planned = |step: &Step| PlannedStep {
            at_once: Some(step.inner().iter().map(PlannedStep::of).collect()),
            ..PlannedStep::of(step)
        };
        steps.map(planned).collect()
    }
}

fn what(kind: &Kind) -> String {
    match kind {
        Kind::Agent(step) => {
            let who = step.agent.as_ref().map_or("agent", |agent| agent.text.as_str());
            let from = match (&step.continue_from, &step.fork_from) {
                (Some(from), _) => format!(", goes on from {}", from.text),
                (None, Some(from)) => format!(", forks from {}", from.text),
                (None, None) => String::new(),
            };
            format!("{who}{from}: {}", one_line(&step.prompt.text, WIDTH))
        }
        Kind::Command(step) => format!("run: {}", one_line(&step.command.text, WIDTH)),
        Kind::Parallel(group) => {
            let count = group.steps.len().min(group.max_concurrent);
            format!("{count} step{} at once", if count == 1 { "" } else { "s" })
        }
        Kind::ForEach(each) => format!("for each item: {}", what(&each.step.kind)),
    }
}
