//! A run that goes on with its file as it is now.

use std::collections::BTreeSet;
use std::path::Path;

use super::prepare::with_what_they_wait_for;
use super::record::Begun;
use super::run_by::RunBy;
use crate::FlowError;
use crate::check::order;
use crate::model::{Flow, Step};

/// A run whose file was read again.
pub(super) struct Updated {
    /// What is run from now on.
    pub(super) begun: Begun,
    pub(super) flow: Flow,
    /// The steps that say something else now, those that are gone, and those that wait for one of them.
    pub(super) anew: Vec<String>,
}

impl Updated {
    /// Reads the file of a run again. What it was given stays.
    pub(super) fn read(begun: &Begun, old: &Flow, by: RunBy) -> Result<Self, FlowError> {
        let (source, flow) = begun.source.anew(Path::new(&begun.dir), by)?;
        let inputs = flow.inputs_again(&begun.inputs).map_err(|words| {
            FlowError::Usage(format!("{words}; this run was begun without it: begin a new one"))
        })?;
        let steps = steps(begun, old, &flow);
        let anew = anew(old, &flow);
        let begun = Begun { flow: flow.name.clone(), source, inputs, steps, ..begun.clone() };
        Ok(Self { begun, flow, anew })
    }
}

/// The steps to run: all, if it was all; else those that were asked for, with what they wait for now.
fn steps(begun: &Begun, old: &Flow, new: &Flow) -> Vec<String> {
    let is_run = |step: &Step| begun.steps.contains(&step.name);
    let wanted: BTreeSet<usize> = if old.steps.iter().all(is_run) {
        (0..new.steps.len()).collect()
    } else {
        with_what_they_wait_for(new, (0..new.steps.len()).filter(|at| is_run(&new.steps[*at])).collect())
    };
    wanted.into_iter().map(|at| new.steps[at].name.clone()).collect()
}

fn anew(old: &Flow, new: &Flow) -> Vec<String> {
    let is_kept = |step: &Step| old.step(&step.name).is_some_and(|known| known == step);
    let before = new.before();
    let waits = |at: usize, touched: &BTreeSet<usize>| !before[at].is_disjoint(touched);
    let mut touched = BTreeSet::new();
    for at in order(&before) {
        if !is_kept(&new.steps[at]) || waits(at, &touched) {
            touched.insert(at);
        }
    }
    let gone = old.all_steps().into_iter().filter(|step| new.step(&step.name).is_none());
    let mut names: Vec<String> = gone.map(|step| step.name.clone()).collect();
    for at in &touched {
        let step = &new.steps[*at];
        names.push(step.name.clone());
        // Of a group in which one step changed, the others are kept.
        let all = waits(*at, &touched);
        names.extend(
            step.inner().iter().filter(|inner| all || !is_kept(inner)).map(|inner| inner.name.clone()),
        );
    }
    names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Source;

    fn flow(text: &str) -> Flow {
        Source { file: "x.flow.yaml".into(), text: text.into(), prompts: BTreeMap::new() }.flow().unwrap()
    }

    const OLD: &str = "
steps:
  build: { run: make }
  lint: { run: make lint }
  checks:
    needs: build
    parallel: { unit: { run: make unit }, system: { run: make system } }
  report: { prompt: 'Say: {{ steps.unit.output }}' }
";

    #[track_caller]
    fn anew_after(change: &str, to: &str, expected: &[&str]) {
        assert!(OLD.contains(change));
        assert_eq!(anew(&flow(OLD), &flow(&OLD.replace(change, to))), expected);
    }

    #[test]
    fn a_step_is_kept_while_it_and_all_it_waits_for_say_the_same() {
        anew_after("steps:", "# only a remark\nsteps:", &[]);
        anew_after("make lint", "make lint -k", &["lint"]);
        anew_after("run: make }", "run: make all }", &["build", "checks", "unit", "system", "report"]);
        anew_after("make unit", "make unit -k", &["checks", "unit", "report"]);
        anew_after("Say:", "Tell:", &["report"]);
        anew_after("  lint: { run: make lint }\n", "", &["lint"]);
        anew_after("lint: {", "style: {", &["lint", "style"]);
    }
}
