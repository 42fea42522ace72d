//! docs/reliability.md names the test that holds each promise: here is seen that those tests exist.

use std::fs;

use crate::workspace;

/// `FILE.rs::NAME` between backquotes.
fn named(document: &str) -> Vec<(String, String)> {
    let words = document.split('`').skip(1).step_by(2);
    let parts = words.filter_map(|word| word.split_once(".rs::"));
    parts.map(|(file, name)| (format!("{file}.rs"), name.to_owned())).collect()
}

#[test]
fn every_test_that_a_promise_names_exists() {
    let document = fs::read_to_string(workspace::root().join("docs/reliability.md")).unwrap();
    let tests = named(&document);
    assert!(tests.len() > 50, "only {} tests are named", tests.len());
    let mut missing = Vec::new();
    for (file, name) in tests {
        let path = match file.strip_prefix("it/") {
            Some(file) => workspace::root().join("crates/rejoin-cli/tests/it").join(file),
            None => workspace::root().join("crates").join(&file),
        };
        let source = fs::read_to_string(&path).unwrap_or_default();
        if !source.contains(&format!("fn {name}(")) {
            missing.push(format!("{file}::{name}"));
        }
    }
    assert!(missing.is_empty(), "docs/reliability.md names tests that are not there: {missing:#?}");
}

#[test]
fn every_row_stands_there_once() {
    let document = fs::read_to_string(workspace::root().join("docs/reliability.md")).unwrap();
    let first_cells = document.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let mut rows: Vec<u32> = first_cells.filter_map(|cell| cell.parse().ok()).collect();
    rows.sort_unstable();
    assert_eq!(rows, (1..=72).collect::<Vec<_>>());
}
