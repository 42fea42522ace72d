//! Who may know whom: dependencies between our crates point upward only, and the core stays pure.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;

/// Every crate with the crates of ours it may depend on. A crate that is not here is refused.
const ROOMS: [(&str, &[&str]); 14] = [
    ("rejoin-core", &[]),
    ("rejoin-files", &[]),
    ("rejoin-agents", &["rejoin-core", "rejoin-files"]),
    ("rejoin-journal", &["rejoin-core", "rejoin-files"]),
    ("rejoin-index", &["rejoin-core", "rejoin-journal"]),
    ("rejoin-engine", &["rejoin-core", "rejoin-files", "rejoin-agents", "rejoin-journal"]),
    (
        "rejoin",
        &["rejoin-core", "rejoin-files", "rejoin-agents", "rejoin-journal", "rejoin-index", "rejoin-engine"],
    ),
    (
        "rejoin-flow",
        &["rejoin-core", "rejoin-files", "rejoin-agents", "rejoin-journal", "rejoin-engine", "rejoin"],
    ),
    (
        "rejoin-server",
        &["rejoin-core", "rejoin-agents", "rejoin-journal", "rejoin-engine", "rejoin", "rejoin-flow"],
    ),
    (
        "rejoin-cli",
        &[
            "rejoin-core",
            "rejoin-agents",
            "rejoin-journal",
            "rejoin-engine",
            "rejoin",
            "rejoin-flow",
            "rejoin-server",
            "rejoin-demo",
            "rejoin-openai",
        ],
    ),
    ("rejoin-demo", &[]),
    ("rejoin-openai", &[]),
    ("rejoin-testkit", &[]),
    ("xtask", &["rejoin-testkit"]),
];

/// The one crate that everybody may use in tests and nobody elsewhere.
const FOR_TESTS: &str = "rejoin-testkit";

/// What the pure core may not touch.
const IMPURE_MODULES: [&str; 2] = ["fs", "process"];
const IMPURE_TYPES: [&str; 2] = ["SystemTime", "Instant"];

/// Checks the dependency table and the purity of the core.
pub(crate) fn check() -> Result<()> {
    let metadata =
        workspace::output(workspace::cargo().args(["metadata", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_slice(&metadata).context("cargo metadata did not print JSON")?;
    let mut complaints = forbidden_dependencies(&metadata);
    let core = workspace::root().join("crates/rejoin-core/src");
    for file in rust_files(&core)? {
        let source = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let shown = file.strip_prefix(workspace::root()).unwrap_or(&file).display().to_string();
        complaints.extend(impurities(&source).into_iter().map(|what| {
            format!("{shown} uses {what}: rejoin-core knows no files, processes or clocks; take the value as an argument")
        }));
    }
    for complaint in &complaints {
        eprintln!("   {complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} broken rule(s)", complaints.len());
    }
    Ok(())
}

fn forbidden_dependencies(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours: BTreeSet<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let mut complaints = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = ROOMS.iter().find(|(room, _)| *room == name) else {
            complaints.push(format!("{name} has no room: add it to the table in crates/xtask/src/rooms.rs"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        for dependency in dependencies {
            let other = dependency["name"].as_str().unwrap_or_default();
            let in_tests = dependency["kind"] == "dev";
            // A crate that is its own dependency in tests switches a feature of itself on.
            let fine = allowed.contains(&other) || (in_tests && (other == FOR_TESTS || other == name));
            if ours.contains(other) && !fine {
                complaints.push(format!("{name} may not depend on {other}"));
            }
        }
    }
    complaints
}

fn rust_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry.with_context(|| format!("cannot list {}", dir.display()))?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Impure names in a source text. A check of text, not of meaning: comments are left out, the rest is looked at
/// word by word, with `use std::{…}` unfolded.
fn impurities(source: &str) -> BTreeSet<String> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for word in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if IMPURE_TYPES.contains(&word) {
            found.insert(format!("std::time::{word}"));
        }
    }
    let packed: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    for (at, path) in packed.match_indices("std::") {
        for first in first_segments(&packed[at + path.len()..]) {
            if IMPURE_MODULES.contains(&first) {
                found.insert(format!("std::{first}"));
            }
        }
    }
    found
}

/// The first segment after `std::`, or each one of a braced group.
fn first_segments(rest: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(group) = rest.strip_prefix('{') else { return vec![&rest[..name(rest)]] };
    let mut depth = 1;
    let mut segments = vec![&group[..name(group)]];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => segments.push(&group[at + 1..at + 1 + name(&group[at + 1..])]),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let dependencies: Vec<Value> =
            dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
        json!({"name": name, "dependencies": dependencies})
    }

    #[test]
    fn a_dependency_that_points_down_is_refused() {
        let metadata = json!({"packages": [
            package("rejoin-core", &[("serde", None), ("rejoin-journal", None), ("rejoin-testkit", Some("dev"))]),
            package("rejoin-journal", &[("rejoin-core", None), ("rejoin-journal", Some("dev"))]),
            package("rejoin-cli", &[("rejoin-testkit", None)]),
            package("rejoin-testkit", &[]),
            package("rejoin-surprise", &[]),
        ]});
        assert_eq!(
            forbidden_dependencies(&metadata),
            [
                "rejoin-core may not depend on rejoin-journal",
                "rejoin-cli may not depend on rejoin-testkit",
                "rejoin-surprise has no room: add it to the table in crates/xtask/src/rooms.rs",
            ]
        );
    }

    #[test]
    fn impure_names_are_found_however_they_are_written() {
        let found = |source: &str| impurities(source).into_iter().collect::<Vec<_>>();
        assert_eq!(found("use std::fs;"), ["std::fs"]);
        assert_eq!(
            found("use std::{\n    io,\n    process::{Command, Stdio},\n    fmt,\n};"),
            ["std::process"]
        );
        assert_eq!(found("let t = std::time::Instant::now();"), ["std::time::Instant"]);
        assert_eq!(found("use std::{collections::{BTreeMap, fs}, fmt};"), Vec::<String>::new());
        assert_eq!(
            found("// std::fs\n/// SystemTime\nstruct InstantAnswer; std::fs_like();"),
            Vec::<String>::new()
        );
    }
}
