//! Every example of docs/flows.md is run, and every command, as they are printed.

use std::path::Path;

use crate::support::{Bench, Call};

/// What cannot be done where it is printed: nobody is at a run that is over.
const NOTHING_TO_STOP: &str = "rejoin flow cancel @";

#[test]
fn every_example_runs() {
    let bench = Bench::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_rejoin")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    bench.file("ask.md", "Look at the whole project.");
    let text = include_str!("../../../../../docs/flows.md");
    let (mut examples, mut commands) = (0, 0);
    for block in text.split("\n```").skip(1).step_by(2) {
        if let Some(yaml) = block.strip_prefix("yaml\n") {
            let name = yaml.lines().next().unwrap().trim_start_matches("# ");
            assert!(name.ends_with(".flow.yaml"), "an example says its file first: {name}");
            bench.file(name, yaml);
            bench.rejoin(&["flow", "validate", name]).done();
            bench.rejoin(&["flow", "run", name, "-i", "agent=demo"]).done();
            examples += 1;
        }
        for line in block.strip_prefix("text\n").unwrap_or_default().lines() {
            let code = if line.starts_with(NOTHING_TO_STOP) { 4 } else { 0 };
            Call::of(&bench, "sh", &["-c", line]).env("PATH", &path).ends(code);
            commands += 1;
        }
    }
    assert!(examples >= 4 && commands >= 15, "{examples} examples, {commands} commands");
}
