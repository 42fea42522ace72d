//! A flow as a picture.

use std::fmt::Write as _;

use crate::model::{Flow, Kind, Step};

impl Flow {
    /// A Mermaid flowchart: arrows show what waits for what, thick ones where a conversation goes on,
    /// dotted ones where one begins with another's path.
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
        for (name, from, arrow) in self.origins() {
            let _ = writeln!(out, "    {from} {arrow} {name}");
        }
        for (at, before) in self.before().iter().enumerate() {
            let step = &self.steps[at];
            for earlier in before.iter().map(|earlier| &self.steps[*earlier]) {
                let shown = self.origins().any(|(name, from, _)| name == step.name && from == earlier.name);
                if !shown {
                    let _ = writeln!(out, "    {} --> {}", earlier.name, step.name);
                }
            }
        }
        out
    }

    /// Each step that goes on from another, with that one and its arrow.
    fn origins(&self) -> impl Iterator<Item = (&str, &str, &'static str)> {
        self.all_steps().into_iter().filter_map(|step| match &step.kind {
            Kind::Agent(agent) => {
                let arrow = if agent.continue_from.is_some() { "==>" } else { "-.->" };
                agent.origin().map(|from| (step.name.as_str(), from.text.as_str(), arrow))
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
