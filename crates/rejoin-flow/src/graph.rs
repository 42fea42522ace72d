//! A flow as a picture.

use std::fmt::Write as _;

use crate::model::{Flow, Kind, Step};

impl Flow {
    /// A Mermaid flowchart: arrows show what waits for what, thick ones where a conversation goes on.
    pub fn mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        for step in &self.steps {
            if let Kind::Parallel(parallel) = &step.kind {
                let _ = writeln!(out, "    subgraph {}", step.name);
                for inner in &parallel.steps {
                    let _ = writeln!(out, "        {}", shape(inner));
                }
                out.push_str("    end\n");
            } else {
                let _ = writeln!(out, "    {}", shape(step));
            }
        }
        for (name, from) in self.continuations() {
            let _ = writeln!(out, "    {from} ==> {name}");
        }
        for (at, before) in self.before().iter().enumerate() {
            let step = &self.steps[at];
            for earlier in before.iter().map(|earlier| &self.steps[*earlier]) {
                let shown =
                    self.continuations().any(|(name, from)| name == step.name && from == earlier.name);
                if !shown {
                    let _ = writeln!(out, "    {} --> {}", earlier.name, step.name);
                }
            }
        }
        out
    }

    /// Each step that goes on from another, with that one.
    fn continuations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all_steps().into_iter().filter_map(|step| match &step.kind {
            Kind::Agent(agent) => {
                agent.continue_from.as_ref().map(|from| (step.name.as_str(), from.text.as_str()))
            }
            _ => None,
        })
    }
}

fn shape(step: &Step) -> String {
    let name = &step.name;
    match &step.kind {
        Kind::Agent(agent) => {
            let who = agent.agent.as_ref().map(|agent| format!("<br>{}", escaped(&agent.text)));
            format!("{name}(\"{name}{}\")", who.unwrap_or_default())
        }
        Kind::ForEach(_) => format!("{name}[[\"{name}, for each\"]]"),
        Kind::Command(_) | Kind::Parallel(_) => format!("{name}[\"{name}\"]"),
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
