//! A flow as a picture.

use std::fmt::Write as _;

use crate::check::turn_of;
use crate::model::{Flow, Kind, Step};

/// Words that cannot name a node.
const RESERVED: [&str; 13] = [
    "end",
    "graph",
    "flowchart",
    "subgraph",
    "style",
    "linkstyle",
    "class",
    "classdef",
    "click",
    "call",
    "href",
    "default",
    "direction",
];

impl Flow {
    /// A Mermaid flowchart: arrows show what waits for what, thick ones where a conversation goes on,
    /// dotted ones where one begins with another's path.
    pub fn mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        for step in &self.steps {
            if let Kind::Parallel(parallel) = &step.kind {
                let _ = writeln!(out, "    subgraph {}", self.id(&step.name));
                for inner in &parallel.steps {
                    let _ = writeln!(out, "        {}", self.shape(inner));
                }
                out.push_str("    end\n");
            } else {
                let _ = writeln!(out, "    {}", self.shape(step));
            }
        }
        for (name, from, arrow) in self.origins() {
            let _ = writeln!(out, "    {} {arrow} {}", self.id(from), self.id(name));
        }
        for (at, before) in self.before().iter().enumerate() {
            let step = &self.steps[at];
            for earlier in before.iter().map(|earlier| &self.steps[*earlier]) {
                let shown = self.origins().any(|(name, from, _)| name == step.name && from == earlier.name);
                if !shown {
                    let _ = writeln!(out, "    {} --> {}", self.id(&earlier.name), self.id(&step.name));
                }
            }
        }
        out
    }

    /// Each step that goes on from another, with that one and its arrow.
    fn origins(&self) -> impl Iterator<Item = (&str, &str, &'static str)> {
        self.all_steps().into_iter().filter_map(|step| {
            let agent = turn_of(step)?;
            let arrow = if agent.continue_from.is_some() { "==>" } else { "-.->" };
            agent.origin().map(|from| (step.name.as_str(), from.text.as_str(), arrow))
        })
    }

    /// What the chart calls a step: its name, unless that is a word of Mermaid's own.
    fn id(&self, name: &str) -> String {
        let mut id = name.to_owned();
        while RESERVED.contains(&id.to_ascii_lowercase().as_str()) || (id != name && self.step(&id).is_some())
        {
            id.push('_');
        }
        id
    }

    fn shape(&self, step: &Step) -> String {
        let (id, name) = (self.id(&step.name), &step.name);
        match &step.kind {
            Kind::Agent(agent) => {
                let who = agent.agent.as_ref().map(|agent| format!("<br>{}", escaped(&agent.text)));
                format!("{id}(\"{name}{}\")", who.unwrap_or_default())
            }
            Kind::ForEach(_) => format!("{id}[[\"{name}, for each\"]]"),
            Kind::Command(_) | Kind::Parallel(_) => format!("{id}[\"{name}\"]"),
        }
    }
}

/// A text that cannot end a label.
fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || " .-_".contains(c) {
                c.to_string()
            } else {
                format!("#{};", c as u32)
            }
        })
        .collect()
}
