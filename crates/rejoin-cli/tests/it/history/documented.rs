//! docs/journal.md tells of journals as they are.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::Bench;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal.md");

/// A conversation with most of what a user can do to one.
fn bench() -> Bench {
    let bench = Bench::new();
    let picture = bench.file("note.txt", "attached");
    let attach = ["--permissions", "edit", "--attach", picture.to_str().unwrap()];
    bench.first("ASK TOOL-RUN [echo hi] MARK-a").with(&attach).done();
    bench.hand_to("demo2", "two MARK-b").done();
    bench.rejoin(&["name", "@", "files"]).done();
    bench.rejoin(&["tag", "@", "+urgent"]).done();
    bench.rejoin(&["edit", "@", "1", "-f", "-"]).given("reworded MARK-x").done();
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "idea"]).done();
    bench.next("three MARK-c").done();
    bench
}

#[test]
fn a_real_journal_has_the_fields_the_document_names_and_hangs_together_as_it_says() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let examples: Vec<Value> = document
        .lines()
        .filter(|line| line.starts_with("{\"uuid\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let records = bench().records();
    let mut seen = BTreeSet::new();
    for record in &records {
        for field in record.as_object().unwrap().keys() {
            assert!(document.contains(&format!("| `{field}` |")), "{field} is not in the table");
        }
        let Some(subtype) = record["subtype"].as_str() else { continue };
        seen.insert(subtype);
        let example = examples.iter().find(|example| example["subtype"] == subtype).unwrap();
        assert_eq!(record["parentUuid"].is_null(), example["parentUuid"].is_null(), "{subtype}");
        for field in record["systemPayload"].as_object().unwrap().keys() {
            let shown = example["systemPayload"].get(field).is_some();
            assert!(shown || document.contains(&format!("`{field}`")), "{field} of {subtype} is not told");
        }
    }
    let all = "amendment conversation head intent permissions pin project question question_answered receipt session tags title warning";
    assert_eq!(seen.into_iter().collect::<Vec<_>>().join(" "), all);
    let place = |subtype: &str| records.iter().position(|record| record["subtype"] == subtype).unwrap();
    let prompt = records.iter().position(|record| record["type"] == "user").unwrap();
    assert!(place("conversation") == 0 && place("permissions") < prompt && prompt < place("intent"));
}

#[test]
fn everything_that_lies_in_a_home_is_named() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let bench = bench();
    let names = fs::read_dir(bench.home()).unwrap().map(|entry| entry.unwrap().file_name());
    for name in names.map(|name| name.into_string().unwrap()) {
        let told = [format!("\n  {name}"), format!(", {name}/")];
        assert!(told.iter().any(|told| document.contains(told)), "{name} is not told");
    }
}
