//! From the text of a file to a flow. What hangs together across steps is checked afterwards.

use std::path::Path;

use rejoin::Permissions;

use crate::fields::{Fields, text_of};
use crate::model::{
    AgentStep, CommandStep, Failure, Flow, ForEach, How, Input, Items, Kind, Parallel, Retry, Step, Strategy,
    Text,
};
use crate::node::{self, Data, Node};
use crate::{Place, Problem};

/// How many parallel steps run at a time, if the flow does not say.
const USUAL_CONCURRENCY: usize = 4;
/// How many items a list may have, if the flow does not say.
const USUAL_ITEMS: usize = 100;

const LEVELS: [(&str, Permissions); 4] = [
    ("read", Permissions::Read),
    ("edit", Permissions::Edit),
    ("full", Permissions::Full),
    ("agent", Permissions::Agent),
];

const STRATEGIES: [(&str, Strategy); 3] =
    [("all", Strategy::All), ("any", Strategy::Any), ("best_effort", Strategy::BestEffort)];

/// Which steps may stand where.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Top,
    InParallel,
    InForEach,
}

/// Reads a flow; `file` names it where it has no name of its own. Prompts in files are still the names of those.
pub(crate) fn read(file: &Path, text: &str, problems: &mut Vec<Problem>) -> Option<Flow> {
    let root = match node::parse(text) {
        Ok(root) => root,
        Err(problem) => {
            problems.push(problem);
            return None;
        }
    };
    let mut fields = Fields::of(&root, "a flow", problems)?;
    let name = fields.text("name").map(|name| name.text);
    let description = fields.text("description").map(|text| text.text);
    let inputs = fields.take("inputs").map(|(_, node)| inputs(node, fields.problems())).unwrap_or_default();
    let steps = if let Some((_, node)) = fields.take("steps") {
        steps(node, Level::Top, fields.problems())
    } else {
        let place = fields.place;
        fields.wrong(place, "a flow needs \"steps\"");
        Vec::new()
    };
    fields.end();
    let stem = || {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split('.').next().unwrap_or_default().to_owned()
    };
    Some(Flow { name: name.unwrap_or_else(stem), description, inputs, steps })
}

fn inputs(node: &Node, problems: &mut Vec<Problem>) -> Vec<Input> {
    let Data::Map(entries) = &node.data else {
        problems
            .push(Problem::at(node.place, format!("\"inputs\" must be a mapping, this is {}", node.kind())));
        return Vec::new();
    };
    entries.iter().map(|(name, place, node)| input(name, *place, node, problems)).collect()
}

fn input(name: &str, place: Place, node: &Node, problems: &mut Vec<Problem>) -> Input {
    let mut input =
        Input { name: name.to_owned(), description: None, required: false, default: None, one_of: None };
    check_name(name, place, problems);
    if matches!(&node.data, Data::Scalar(value) if value.is_null()) {
        input.required = true;
        return input;
    }
    let Some(mut fields) = Fields::of(node, "an input", problems) else { return input };
    input.description = fields.text("description").map(|text| text.text);
    input.default = fields.take("default").map(|(_, node)| node.to_json());
    input.required = fields.truth_or("required", input.default.is_none());
    if let Some((_, list)) = fields.take("enum") {
        match &list.data {
            Data::List(items) if !items.is_empty() => {
                input.one_of = Some(items.iter().map(Node::to_json).collect());
            }
            _ => fields.wrong(list.place, "\"enum\" must be a list of values"),
        }
    }
    if let (Some(default), Some(allowed)) = (&input.default, &input.one_of)
        && !allowed.contains(default)
    {
        fields.wrong(place, format!("the default {default} of input {name:?} is not in its \"enum\""));
    }
    if input.required && input.default.is_some() {
        fields.wrong(place, format!("input {name:?} has a default, so it cannot be required"));
    }
    fields.end();
    input
}

fn steps(node: &Node, level: Level, problems: &mut Vec<Problem>) -> Vec<Step> {
    let Data::Map(entries) = &node.data else {
        let text = format!("steps must be a mapping from names to steps, this is {}", node.kind());
        problems.push(Problem::at(node.place, text));
        return Vec::new();
    };
    if entries.is_empty() {
        problems.push(Problem::at(node.place, "there are no steps"));
    }
    entries.iter().filter_map(|(name, place, node)| step(name, *place, node, level, problems)).collect()
}

/// Names are used in templates, so they are words.
fn check_name(name: &str, place: Place, problems: &mut Vec<Problem>) {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if !plain || !begins || name.len() > 64 {
        let text = format!("{name:?} cannot be a name: use up to 64 of A-Z a-z 0-9 _, no digit first");
        problems.push(Problem::at(place, text));
    }
}

fn step(name: &str, place: Place, node: &Node, level: Level, problems: &mut Vec<Problem>) -> Option<Step> {
    if level != Level::InForEach {
        check_name(name, place, problems);
    }
    let mut fields = Fields::of(node, &format!("step {name:?}"), problems)?;
    let when = fields.text("when");
    let needs = fields.texts("needs");
    let allow_failure = fields.truth("allow_failure");
    let kinds = ["run", "parallel", "for_each"];
    let named: Vec<&str> = kinds.into_iter().filter(|kind| fields.has(kind)).collect();
    let kind = match named.as_slice() {
        [] => agent(name, &mut fields),
        ["run"] => command(&mut fields),
        ["parallel"] => parallel(&mut fields, level),
        ["for_each"] => for_each(name, &mut fields, level),
        several => {
            let text = format!("step {name:?} has {}: a step is one of them", several.join(" and "));
            fields.wrong(place, text);
            return None;
        }
    };
    fields.end();
    kind.map(|kind| Step { name: name.to_owned(), when, needs, allow_failure, kind, place })
}

fn agent(name: &str, fields: &mut Fields<'_>) -> Option<Kind> {
    let agent = fields.text("agent");
    let model = fields.text("model");
    let permissions = fields.word("permissions", &LEVELS);
    let (prompt, file) = (fields.text("prompt"), fields.text("prompt_file"));
    let system_prompt = fields.text("system_prompt");
    let continue_from = fields.text("continue_from");
    let fork_from = fields.text("fork_from");
    if let (Some(_), Some(fork)) = (&continue_from, &fork_from) {
        fields.wrong(fork.place, "\"continue_from\" and \"fork_from\" exclude each other");
    }
    let fresh_session = fields.truth("fresh_session");
    let how = how(fields);
    let (prompt, prompt_is_file) = match (prompt, file) {
        (Some(text), None) => (text, false),
        (None, Some(file)) => (file, true),
        (Some(text), Some(_)) => {
            fields.wrong(text.place, "\"prompt\" and \"prompt_file\" exclude each other");
            return None;
        }
        (None, None) => {
            // Known here, too, so that a misspelt one is suggested.
            for kind in ["run", "parallel", "for_each"] {
                fields.take(kind);
            }
            // A field that nobody knows was meant to say it.
            if fields.is_empty() {
                let place = fields.place;
                fields.wrong(
                    place,
                    format!("step {name:?} does nothing: give it a prompt, a command to run, parallel steps or for_each"),
                );
            }
            return None;
        }
    };
    Some(Kind::Agent(Box::new(AgentStep {
        agent,
        model,
        permissions,
        prompt,
        prompt_is_file,
        system_prompt,
        continue_from,
        fork_from,
        fresh_session,
        how,
    })))
}

fn command(fields: &mut Fields<'_>) -> Option<Kind> {
    let command = fields.text("run");
    let how = how(fields);
    let command = command?;
    if command.text.contains("{{") || command.text.contains("{%") {
        fields.wrong(
            command.place,
            "a command cannot be a template: what is pasted into a shell may be anything; \
             hand the value over by \"env\" and write \"$NAME\"",
        );
    }
    if command.text.trim().is_empty() || command.text.contains('\0') {
        fields.wrong(command.place, "\"run\" is not a command");
    }
    Some(Kind::Command(Box::new(CommandStep { command, how })))
}

fn env(node: &Node, problems: &mut Vec<Problem>) -> Vec<(String, Text)> {
    let Data::Map(entries) = &node.data else {
        problems.push(Problem::at(node.place, format!("\"env\" must be a mapping, this is {}", node.kind())));
        return Vec::new();
    };
    let mut env = Vec::new();
    for (name, place, node) in entries {
        if name.is_empty() || name.contains(['=', '\0']) {
            problems.push(Problem::at(*place, format!("{name:?} cannot name a variable")));
        }
        match text_of(node) {
            Some(text) => env.push((name.clone(), text)),
            None => problems
                .push(Problem::at(node.place, format!("{name} must be a text, this is {}", node.kind()))),
        }
    }
    env
}

fn parallel(fields: &mut Fields<'_>, level: Level) -> Option<Kind> {
    let (place, node) = fields.take("parallel")?;
    match level {
        Level::Top => {}
        Level::InParallel => {
            fields.refuse(place, "parallel steps cannot hold others: put them all into one group");
            return None;
        }
        Level::InForEach => {
            let text = "what is done with each item is one turn or command; max_concurrent beside for_each runs \
                        several items at once";
            fields.refuse(place, text);
            return None;
        }
    }
    let steps = steps(node, Level::InParallel, fields.problems());
    let max_concurrent = fields.count("max_concurrent", USUAL_CONCURRENCY);
    let strategy = fields.word("strategy", &STRATEGIES).unwrap_or(Strategy::All);
    Some(Kind::Parallel(Parallel { steps, max_concurrent, strategy }))
}

fn for_each(name: &str, fields: &mut Fields<'_>, level: Level) -> Option<Kind> {
    let (place, list) = fields.take("for_each")?;
    if level == Level::InForEach {
        fields.refuse(place, "a list inside of a list is not possible: make one list of both");
        return None;
    }
    let items = match (&list.data, text_of(list)) {
        (Data::List(items), _) => Items::Listed(items.iter().map(Node::to_json).collect()),
        (_, Some(expression)) => Items::Expression(expression),
        (_, None) => {
            let text = format!("\"for_each\" must be a list or an expression, this is {}", list.kind());
            fields.wrong(list.place, text);
            return None;
        }
    };
    let max_items = fields.count("max_items", USUAL_ITEMS);
    let max_concurrent = fields.count("max_concurrent", 1);
    let Some((place, node)) = fields.take("step") else {
        fields.wrong(place, format!("step {name:?} needs a \"step\" to do with each item"));
        return None;
    };
    let step = step(name, place, node, Level::InForEach, fields.problems())?;
    Some(Kind::ForEach(ForEach { items, max_items, max_concurrent, step: Box::new(step), place: list.place }))
}

fn how(fields: &mut Fields<'_>) -> How {
    let cwd = fields.text("cwd");
    let env = fields.take("env").map(|(_, node)| env(node, fields.problems())).unwrap_or_default();
    let timeout = fields.time("timeout");
    let retry = fields.take("retry").map(|(_, node)| retry(node, fields.problems())).unwrap_or_default();
    let json = fields.word("output", &[("text", false), ("json", true)]).unwrap_or(false);
    let schema = fields.take("schema").and_then(|(place, node)| {
        let schema = node.to_json();
        if !json {
            fields.wrong(place, "a \"schema\" is about JSON: say \"output: json\", too");
        }
        match jsonschema::validator_for(&schema) {
            Ok(_) => Some(schema),
            Err(error) => {
                fields.wrong(node.place, format!("\"schema\" is no JSON schema: {error}"));
                None
            }
        }
    });
    How { cwd, env, timeout, retry, json, schema }
}

fn retry(node: &Node, problems: &mut Vec<Problem>) -> Retry {
    let Some(mut fields) = Fields::of(node, "\"retry\"", problems) else { return Retry::default() };
    let times = u32::try_from(fields.count("times", 1)).unwrap_or(u32::MAX);
    let mut on = Vec::new();
    for text in fields.texts("on") {
        on.extend(fields.one_of("on", &text, &Failure::NAMES));
    }
    let wait = fields.time("wait").unwrap_or(Retry::default().wait);
    fields.end();
    Retry { times, wait, on }
}
