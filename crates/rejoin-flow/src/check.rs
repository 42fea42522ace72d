//! What must hold across steps, and the order that follows from it.

use std::collections::{BTreeMap, BTreeSet};

use rejoin::suggestion;

use crate::Problem;
use crate::model::{AgentStep, Flow, Kind, Step, Text};
use crate::uses::{mentions, no_step};

/// For each step of the flow itself, by its place in the file, those that must be done before it.
pub(crate) type Before = Vec<BTreeSet<usize>>;

/// Checks a flow that was read, and tells what must come before what.
pub(crate) fn check(flow: &Flow, problems: &mut Vec<Problem>) -> Before {
    unique_names(flow, problems);
    known_agents(flow, problems);
    continuations(flow, problems);
    let before = dependencies(flow, true, problems);
    if let Some(cycle) = cycle(&before) {
        let names: Vec<&str> = cycle.iter().map(|at| flow.steps[*at].name.as_str()).collect();
        let first = &flow.steps[cycle[0]];
        let text = format!("steps wait for each other: {} → {}", names.join(" → "), first.name);
        problems.push(Problem::at(first.place, text));
    }
    before
}

fn unique_names(flow: &Flow, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for step in flow.all_steps() {
        match seen.get(step.name.as_str()) {
            Some(line) => {
                let text = format!("the name {:?} is taken by the step in line {line}", step.name);
                problems.push(Problem::at(step.place, text));
            }
            None => {
                seen.insert(&step.name, step.place.line);
            }
        }
    }
}

/// The agent's turn that a step is, or does with each item.
pub(crate) fn turn_of(step: &Step) -> Option<&AgentStep> {
    match &step.kind {
        Kind::Agent(agent) => Some(agent),
        Kind::ForEach(each) => turn_of(&each.step),
        _ => None,
    }
}

fn known_agents(flow: &Flow, problems: &mut Vec<Problem>) {
    let named = flow.all_steps().into_iter().filter_map(|step| turn_of(step)?.agent.as_ref());
    for Text { text, place } in named.filter(|agent| !agent.text.contains('{')) {
        let known = || rejoin::known_agents().map(|(agent, _)| agent.as_str().to_owned());
        if known().all(|agent| agent != *text) {
            let list: Vec<String> = known().collect();
            let hint = suggestion(text, known());
            let text = format!("unknown agent {text:?}; known are {}{hint}", list.join(", "));
            problems.push(Problem::at(*place, text));
        }
    }
}

/// A turn has one successor in its conversation, so only one step may go on from another.
fn continuations(flow: &Flow, problems: &mut Vec<Problem>) {
    let mut successors: BTreeMap<&str, &str> = BTreeMap::new();
    for step in flow.all_steps() {
        let Some(agent) = turn_of(step) else { continue };
        let Some(from) = agent.origin() else { continue };
        let mut wrong = |text: String| problems.push(Problem::at(from.place, text));
        match flow.step(&from.text).map(|target| &target.kind) {
            None => wrong(no_step(flow, &from.text)),
            Some(Kind::Agent(_)) if from.text != step.name => {}
            Some(_) => wrong(format!("{:?} is not a turn of an agent that one can go on from", from.text)),
        }
        if agent.continue_from.is_none() {
            continue;
        }
        if matches!(step.kind, Kind::ForEach(_)) {
            let text = format!(
                "the items of {:?} cannot all go on from one step; fork_from: {}",
                step.name, from.text
            );
            wrong(text);
        } else if let Some(other) = successors.get(from.text.as_str()) {
            wrong(format!(
                "step {other:?} already goes on from {:?}: go on from {other:?} (continue_from: {other}), \
                 or begin a conversation of its own there (fork_from: {})",
                from.text, from.text
            ));
        } else {
            successors.insert(&from.text, &step.name);
        }
    }
}

/// For each step of the flow itself, those whose outputs or conversations it cannot do without: `needs` alone only says
/// when.
pub(crate) fn taken_from(flow: &Flow) -> Before {
    dependencies(flow, false, &mut Vec::new())
}

fn dependencies(flow: &Flow, with_needs: bool, problems: &mut Vec<Problem>) -> Before {
    let homes = flow.homes();
    let mut before: Before = vec![BTreeSet::new(); flow.steps.len()];
    for (at, outer) in flow.steps.iter().enumerate() {
        for step in std::iter::once(outer).chain(outer.inner()) {
            let item = match &step.kind {
                Kind::ForEach(each) => each.step.needs.as_slice(),
                _ => &[],
            };
            for need in step.needs.iter().chain(item) {
                if flow.step(&need.text).is_none() {
                    problems.push(Problem::at(need.place, no_step(flow, &need.text)));
                }
            }
            let needs = step.needs.iter().chain(item).filter(|_| with_needs);
            let explicit = needs.chain(turn_of(step).and_then(AgentStep::origin));
            let explicit = explicit.map(|text| (text.text.clone(), text.place)).collect::<Vec<_>>();
            let spoken_of = mentions(flow, step, problems);
            let all = explicit.into_iter().chain(spoken_of.into_iter().map(|one| (one.step, one.place)));
            for (name, place) in all {
                match homes.get(name.as_str()) {
                    Some(home) if *home == at => {
                        let text = if name == step.name {
                            format!("step {name:?} cannot wait for itself")
                        } else {
                            format!(
                                "{:?} and {name:?} run at once: neither can wait for the other",
                                step.name
                            )
                        };
                        problems.push(Problem::at(place, text));
                    }
                    Some(home) => {
                        before[at].insert(*home);
                    }
                    None => {}
                }
            }
        }
    }
    before
}

/// The order in which steps run: as written, but none before what it waits for. Those of a cycle are left out.
pub(crate) fn order(before: &Before) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let free = |order: &[usize]| {
        (0..before.len())
            .find(|at| !order.contains(at) && before[*at].iter().all(|other| order.contains(other)))
    };
    while let Some(next) = free(&order) {
        order.push(next);
    }
    order
}

/// Steps that wait for each other, if there are any.
fn cycle(before: &Before) -> Option<Vec<usize>> {
    let order = order(before);
    let mut at = (0..before.len()).find(|at| !order.contains(at))?;
    let mut way = Vec::new();
    loop {
        if let Some(first) = way.iter().position(|seen| *seen == at) {
            return Some(way.split_off(first));
        }
        way.push(at);
        // Each that is left out waits for another one that is.
        at = before[at].iter().copied().find(|other| !order.contains(other))?;
    }
}
