//! Which words of a step are templates, and what they speak of.

use rejoin::suggestion;

use crate::model::{Flow, Items, Kind, Step, Text};
use crate::template::{self, Language};
use crate::{Place, Problem};

/// What templates can know of a step.
const ABOUT_STEPS: [&str; 5] = ["ok", "state", "output", "exit_code", "json"];

/// Another step that a step speaks of.
pub(crate) struct Mention {
    pub(crate) step: String,
    pub(crate) place: Place,
}

/// All texts of a step that are templates or expressions, but those of the steps inside of it.
fn texts(step: &Step) -> Vec<(&Text, Language)> {
    let mut texts: Vec<(&Text, Language)> = Vec::new();
    texts.extend(step.when.as_ref().map(|text| (text, Language::Expression)));
    let mut templates: Vec<&Text> = Vec::new();
    match &step.kind {
        Kind::Agent(agent) => {
            templates.push(&agent.prompt);
            templates.extend([&agent.agent, &agent.model, &agent.system_prompt].into_iter().flatten());
            templates.extend(agent.how.texts());
        }
        Kind::Command(command) => templates.extend(command.how.texts()),
        Kind::ForEach(each) => {
            if let Items::Expression(text) = &each.items {
                texts.push((text, Language::Expression));
            }
        }
        Kind::Parallel(_) => {}
    }
    texts.extend(templates.into_iter().map(|text| (text, Language::Template)));
    texts
}

/// The steps that a step speaks of, those that its item's step speaks of included. What it cannot speak of is
/// noted.
pub(crate) fn mentions(flow: &Flow, step: &Step, problems: &mut Vec<Problem>) -> Vec<Mention> {
    let mut found = Vec::new();
    mentions_in(flow, step, false, &mut found, problems);
    if let Kind::ForEach(each) = &step.kind {
        mentions_in(flow, &each.step, true, &mut found, problems);
    }
    found
}

fn mentions_in(
    flow: &Flow,
    step: &Step,
    has_item: bool,
    found: &mut Vec<Mention>,
    problems: &mut Vec<Problem>,
) {
    for (text, language) in texts(step) {
        let names = match template::names(&text.text, language) {
            Ok(names) => names,
            Err(words) => {
                problems.push(Problem::at(text.place, words));
                continue;
            }
        };
        for name in names {
            match check_name(flow, &name, has_item) {
                Ok(Some(step)) => found.push(Mention { step, place: text.place }),
                Ok(None) => {}
                Err(words) => {
                    let words = template::about_name(words, &text.text, &name);
                    problems.push(Problem::at(text.place, words));
                }
            }
        }
    }
}

/// The step that a name is about, if it is about one; an error for a name that nothing has.
fn check_name(flow: &Flow, name: &str, has_item: bool) -> Result<Option<String>, String> {
    let mut parts = name.split('.');
    let (root, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    match (root, second) {
        ("inputs", None) => Ok(None),
        ("item" | "index", _) if has_item => Ok(None),
        ("inputs", Some(input)) if flow.inputs.iter().any(|known| known.name == input) => Ok(None),
        ("inputs", Some(input)) => {
            let hint = suggestion(input, flow.inputs.iter().map(|input| input.name.clone()));
            Err(format!("no input is named {input:?}{hint}"))
        }
        ("steps", None) => Err("name the step: steps.NAME.output".into()),
        ("steps", Some(step)) => {
            if flow.step(step).is_none() {
                return Err(no_step(flow, step));
            }
            match third {
                Some(about) if !ABOUT_STEPS.contains(&about) => {
                    let hint = suggestion(about, ABOUT_STEPS.into_iter().map(str::to_owned));
                    Err(format!("nothing is known about a step by the name of {about:?}{hint}"))
                }
                _ => Ok(Some(step.to_owned())),
            }
        }
        _ => {
            let roots = ["inputs", "steps", "item", "index"];
            let roots = roots.into_iter().take(if has_item { 4 } else { 2 }).map(str::to_owned);
            Err(format!("unknown name {root:?}{}", suggestion(root, roots)))
        }
    }
}

/// In words, with the nearest one that there is.
pub(crate) fn no_step(flow: &Flow, name: &str) -> String {
    let hint = suggestion(name, flow.all_steps().into_iter().map(|step| step.name.clone()));
    format!("no step is named {name:?}{hint}")
}
