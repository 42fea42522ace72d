//! What a flow's steps are and how they hang together, for whoever draws them.

use serde::Serialize;

use crate::check::turn_of;
use crate::model::{Flow, Kind, Step};

/// The steps of a flow and how they hang together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FlowGraph {
    /// In the order of the file, those inside of others after the one they are in.
    pub steps: Vec<GraphStep>,
    /// Which waits for which.
    pub connections: Vec<Connection>,
}

/// A step as it is drawn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphStep {
    /// Its name, unique in the flow.
    pub name: String,
    /// What it does.
    pub kind: StepKind,
    /// The step it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// Who does it, as the file says: it may be a template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// A turn of an agent.
    Agent,
    /// A command.
    Command,
    /// Several steps at once.
    Parallel,
    /// The same for each item of a list.
    ForEach,
}

/// One step comes after another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Connection {
    /// The earlier one.
    pub from: String,
    /// The later one.
    pub to: String,
    /// How.
    pub how: ConnectionKind,
}

/// How a step comes after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// It waits for it.
    Waits,
    /// It goes on in its conversation.
    Continues,
    /// It begins a conversation of its own with its path.
    Forks,
}

impl Flow {
    /// What its steps are and how they hang together.
    pub fn graph(&self) -> FlowGraph {
        let mut connections = Vec::new();
        for step in self.all_steps() {
            let Some(agent) = turn_of(step) else { continue };
            let Some(from) = agent.origin() else { continue };
            let how =
                if agent.continue_from.is_some() { ConnectionKind::Continues } else { ConnectionKind::Forks };
            connections.push(Connection { from: from.text.clone(), to: step.name.clone(), how });
        }
        for (at, before) in self.before().iter().enumerate() {
            let to = &self.steps[at].name;
            for from in before.iter().map(|earlier| &self.steps[*earlier].name) {
                if !connections.iter().any(|known| known.from == *from && known.to == *to) {
                    let (from, to) = (from.clone(), to.clone());
                    connections.push(Connection { from, to, how: ConnectionKind::Waits });
                }
            }
        }
        let steps = self.steps.iter().flat_map(|step| {
            let inner = step.inner().iter().map(|inner| drawn(inner, Some(&step.name)));
            std::iter::once(drawn(step, None)).chain(inner)
        });
        FlowGraph { steps: steps.collect(), connections }
    }
}

fn drawn(step: &Step, inside: Option<&String>) -> GraphStep {
    let kind = match &step.kind {
        Kind::Agent(_) => StepKind::Agent,
        Kind::Command(_) => StepKind::Command,
        Kind::Parallel(_) => StepKind::Parallel,
        Kind::ForEach(_) => StepKind::ForEach,
    };
    let agent = turn_of(step).and_then(|turn| Some(turn.agent.as_ref()?.text.clone()));
    GraphStep { name: step.name.clone(), kind, inside: inside.cloned(), agent }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Source;

    #[test]
    fn steps_hang_together_by_what_they_wait_for_go_on_from_and_fork_from() {
        let text = "
steps:
  look: { agent: demo, prompt: look }
  both:
    parallel:
      tests: { run: 'true' }
      more: { fork_from: look, prompt: more }
  fix: { continue_from: look, prompt: '{{ steps.tests.output }}' }
  each: { for_each: '[1, 2]', needs: fix, step: { run: 'true' } }
";
        let (_, flow) = Source::text_within(Path::new("/"), Path::new("a.flow.yaml"), text.into()).unwrap();
        let FlowGraph { steps, connections } = flow.graph();
        let names: Vec<_> =
            steps.iter().map(|step| (&*step.name, step.kind, step.inside.as_deref())).collect();
        let expected = [
            ("look", StepKind::Agent, None),
            ("both", StepKind::Parallel, None),
            ("tests", StepKind::Command, Some("both")),
            ("more", StepKind::Agent, Some("both")),
            ("fix", StepKind::Agent, None),
            ("each", StepKind::ForEach, None),
        ];
        assert_eq!(names, expected);
        let mut drawn: Vec<_> =
            connections.iter().map(|drawn| (&*drawn.from, &*drawn.to, drawn.how)).collect();
        drawn.sort_by_key(|(from, to, _)| (*to, *from));
        let expected = [
            ("look", "both", ConnectionKind::Waits),
            ("fix", "each", ConnectionKind::Waits),
            ("both", "fix", ConnectionKind::Waits),
            ("look", "fix", ConnectionKind::Continues),
            ("look", "more", ConnectionKind::Forks),
        ];
        assert_eq!(drawn, expected);
    }
}
