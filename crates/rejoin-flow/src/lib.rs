//! Flows: steps that hand their memory on.
//!
//! A flow is a YAML file of steps: turns of agents, shell commands, several at once, one for each item of a list.
//! A step that goes on from another one does so in the same conversation, in the agent's own session wherever that
//! is provably safe. See docs/flows.md.

mod check;
mod connections;
mod error;
mod fields;
mod graph;
mod inputs;
mod model;
mod node;
mod place;
mod read;
mod run;
mod schema;
mod source;
mod template;
mod uses;

pub use connections::{Connection, ConnectionKind, FlowGraph, GraphStep, StepKind};
pub use error::{BrokenOffRun, FlowError};
pub use model::{
    AgentStep, CommandStep, Failure, Flow, ForEach, How, Input, Items, Kind, Parallel, Retry, Step, Strategy,
    Text,
};
pub use place::{Place, Problem, Problems};
pub use run::{
    Begun, Ended, FORMAT, Key, LABEL, Notice, Open, Options, Overview, PlannedStep, Prepared, Record,
    ResumeOptions, Run, RunBy, RunId, RunLines, RunStart, Standing, State, Steps, Stop, TurnPlaces, Written,
    cancel, find, find_id, holder, open, prunable, remove, runs, short_run_id,
};
pub use schema::schema;
pub use source::Source;
