//! What a flow is made of.

use std::collections::BTreeMap;
use std::time::Duration;

use rejoin::Permissions;
use serde::Serialize;
use serde_json::Value;

use crate::Place;

/// Steps, in the order they are written.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name; without one, that of the file.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it is given.
    pub inputs: Vec<Input>,
    /// What it does.
    pub steps: Vec<Step>,
}

/// A value that is given when a flow is run.
#[derive(Clone, Debug)]
pub struct Input {
    /// How templates call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether a run without it is refused: without a default it is, unless the flow says otherwise.
    pub required: bool,
    /// What it is without being given.
    pub default: Option<Value>,
    /// The only values it may have.
    pub one_of: Option<Vec<Value>>,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub struct Step {
    /// Unique in the whole flow.
    pub name: String,
    /// Only if this expression is true.
    pub when: Option<Text>,
    /// Not before these.
    pub needs: Vec<Text>,
    /// Whether the flow goes on without it.
    pub allow_failure: bool,
    /// What is done.
    pub kind: Kind,
    pub(crate) place: Place,
}

/// A text of the file, with its place.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it begins.
    pub place: Place,
}

/// The kinds of steps.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A turn of an agent.
    Agent(Box<AgentStep>),
    /// A shell command.
    Command(Box<CommandStep>),
    /// Several steps at once.
    Parallel(Parallel),
    /// One step for each item of a list.
    ForEach(ForEach),
}

/// A turn of an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentStep {
    /// Who; without it as `rejoin run` would choose.
    pub agent: Option<Text>,
    /// The model.
    pub model: Option<Text>,
    /// What it may do.
    pub permissions: Option<Permissions>,
    /// What it is told.
    pub prompt: Text,
    /// Whether that stands in a file beside the flow.
    pub(crate) prompt_is_file: bool,
    /// Replaces its system prompt.
    pub system_prompt: Option<Text>,
    /// The step in whose conversation it goes on.
    pub continue_from: Option<Text>,
    /// The step whose path it begins a conversation of its own with.
    pub fork_from: Option<Text>,
    /// Whether it gets a new session in any case.
    pub fresh_session: bool,
    /// What all that run something have in common.
    pub how: How,
}

/// Two texts are the same wherever they stand.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Two steps are the same if they say the same, wherever they stand.
impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        let Self { name, when, needs, allow_failure, kind, place: _ } = self;
        *name == other.name
            && *when == other.when
            && *needs == other.needs
            && *allow_failure == other.allow_failure
            && *kind == other.kind
    }
}

/// The same, of a list.
impl PartialEq for ForEach {
    fn eq(&self, other: &Self) -> bool {
        let Self { items, max_items, max_concurrent, step, place: _ } = self;
        *items == other.items
            && (*max_items, *max_concurrent) == (other.max_items, other.max_concurrent)
            && *step == other.step
    }
}

impl AgentStep {
    /// The step it goes on from, in that conversation or in one of its own.
    pub(crate) fn origin(&self) -> Option<&Text> {
        self.continue_from.as_ref().or(self.fork_from.as_ref())
    }
}

/// A shell command.
#[derive(Clone, PartialEq, Debug)]
pub struct CommandStep {
    /// For `sh -c`, never a template.
    pub command: Text,
    /// What all that run something have in common.
    pub how: How,
}

/// What agents and commands have in common.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct How {
    /// Where it runs.
    pub cwd: Option<Text>,
    /// Its variables.
    pub env: Vec<(String, Text)>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Whether it is tried again.
    pub retry: Retry,
    /// Whether its output is JSON.
    pub json: bool,
    /// What that JSON must look like.
    pub schema: Option<Value>,
}

impl How {
    /// All of it that is a template.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.env.iter().map(|(_, text)| text).chain(&self.cwd)
    }
}

/// When to try again.
#[derive(Clone, PartialEq, Debug)]
pub struct Retry {
    /// How often at most.
    pub times: u32,
    /// How long to wait before; each time twice as long as the last.
    pub wait: Duration,
    /// After which failures; none named means all.
    pub on: Vec<Failure>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { times: 0, wait: Duration::from_secs(1), on: Vec::new() }
    }
}

impl Retry {
    /// How long to wait before a try; the second one is the first that waits.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        const LONGEST: Duration = Duration::from_hours(1);
        let factor = 2_u32.checked_pow(attempt.saturating_sub(2)).unwrap_or(u32::MAX);
        self.wait.saturating_mul(factor).min(LONGEST.max(self.wait))
    }

    /// Whether to try again after so many tries and such a failure.
    pub(crate) fn again(&self, tries: u32, failure: Failure) -> bool {
        tries <= self.times
            && failure != Failure::Refused
            && (self.on.is_empty() || self.on.contains(&failure))
    }
}

/// In which way a step failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepFailure))]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The agent, or its model.
    AgentFailed,
    /// The command ended with another code than 0.
    CommandFailed,
    /// A time limit ran out.
    Timeout,
    /// The output is not what was asked for.
    Output,
    /// It could not be begun: a template, an agent that is not there, a step it should go on from.
    Refused,
}

impl Failure {
    pub(crate) const NAMES: [(&'static str, Failure); 4] = [
        ("agent_failed", Failure::AgentFailed),
        ("command_failed", Failure::CommandFailed),
        ("timeout", Failure::Timeout),
        ("output", Failure::Output),
    ];
}

/// Several steps at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Parallel {
    /// All of them.
    pub steps: Vec<Step>,
    /// How many at a time.
    pub max_concurrent: usize,
    /// When they are done.
    pub strategy: Strategy,
}

/// When parallel steps are done well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// All must succeed; after a failure none is begun any more.
    All,
    /// One must succeed; the others are stopped then.
    Any,
    /// All are run, and whatever comes of them is fine.
    BestEffort,
}

/// One step for each item of a list.
#[derive(Clone, Debug)]
pub struct ForEach {
    /// The list.
    pub items: Items,
    /// More than that many are refused.
    pub max_items: usize,
    /// How many at a time.
    pub max_concurrent: usize,
    /// What is done with each, called `item` in its templates.
    pub step: Box<Step>,
    pub(crate) place: Place,
}

/// A list to go through.
#[derive(Clone, PartialEq, Debug)]
pub enum Items {
    /// As it stands in the file.
    Listed(Vec<Value>),
    /// What an expression gives.
    Expression(Text),
}

impl Flow {
    /// Every step, those inside of others after the one they are in.
    pub fn all_steps(&self) -> Vec<&Step> {
        self.steps.iter().flat_map(|step| std::iter::once(step).chain(step.inner())).collect()
    }

    /// A step by its name.
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.all_steps().into_iter().find(|step| step.name == name)
    }

    /// The step of the flow itself in which each step is, by name.
    pub(crate) fn homes(&self) -> BTreeMap<&str, usize> {
        let indexed = self.steps.iter().enumerate();
        indexed
            .flat_map(|(at, step)| {
                std::iter::once(step).chain(step.inner()).map(move |one| (one.name.as_str(), at))
            })
            .collect()
    }
}

impl Step {
    /// The steps that run at once inside of it.
    pub fn inner(&self) -> &[Step] {
        match &self.kind {
            Kind::Parallel(parallel) => &parallel.steps,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_as_long_and_an_hour_at_most_unless_asked_for() {
        let pauses = |wait| {
            let retry = Retry { wait: Duration::from_secs(wait), ..Retry::default() };
            [2, 3, 4, 40].map(|attempt| retry.pause(attempt).as_secs())
        };
        assert_eq!(pauses(1), [1, 2, 4, 3600]);
        assert_eq!(pauses(2500), [2500, 3600, 3600, 3600]);
        assert_eq!(pauses(7200), [7200; 4]);
    }
}
