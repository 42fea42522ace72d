//! Flows, as a user runs them, on the embedded agents.

mod commands;
mod cut;
mod documented;
mod killed;
mod lists;
mod memory;
mod parallel;
mod projects;
mod refused;
mod runs;
mod terminal;
mod unnamed;
mod updated;
mod values;
mod variables;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Bench, Call, Said};

/// A flow file in the project, and the call that runs it.
fn flow<'a>(bench: &'a Bench, yaml: &str) -> Call<'a> {
    bench.file("test.flow.yaml", yaml);
    bench.rejoin(&["flow", "run", "test.flow.yaml", "-o", "json"])
}

/// The run's file.
fn log(bench: &Bench) -> Option<PathBuf> {
    fs::read_dir(bench.home().join("flows")).ok()?.next().map(|entry| entry.unwrap().path())
}

/// What a step of a run came to.
#[track_caller]
fn step(run: &Value, name: &str) -> Value {
    let results = run["results"].as_array().unwrap_or_else(|| panic!("no results: {run}"));
    let found = results.iter().find(|ended| ended["step"] == name && ended["index"].is_null());
    found.unwrap_or_else(|| panic!("no step {name}: {run:#}")).clone()
}

/// Every step with its state, in the order they ended.
fn states(said: &Said) -> Vec<String> {
    let run = said.json();
    let results = run["results"].as_array().unwrap();
    results.iter().map(|ended| format!("{} {}", ended["step"], ended["state"]).replace('"', "")).collect()
}

/// What a demo agent knew in a step.
#[track_caller]
fn marks(ended: &Value) -> &str {
    let output = ended["output"].as_str().unwrap();
    output.rsplit_once("marks=").unwrap_or_else(|| panic!("no marks: {output}")).1
}
