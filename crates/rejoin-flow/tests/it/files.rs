use std::collections::BTreeMap;

use rejoin_flow::{Flow, Kind, Source, schema};
use serde_json::json;

fn source(text: &str) -> Source {
    Source { file: "x.flow.yaml".into(), text: text.into(), prompts: BTreeMap::new() }
}

#[track_caller]
fn flow(text: &str) -> Flow {
    source(text).flow().unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_flow_is_named_after_its_file_unless_it_says_otherwise() {
    assert_eq!(flow("steps: { a: { run: x } }").name, "x");
    assert_eq!(flow("name: other\nsteps: { a: { run: x } }").name, "other");
}

#[test]
fn problems_come_in_the_order_of_the_file_and_all_at_once() {
    let problems =
        source("steps:\n  a: { run: x, tiemout: 5 }\n  b: { prompt: y, needs: c }\n").flow().unwrap_err();
    let told = problems.to_string();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines,
        [
            "x.flow.yaml:2:16: unknown field \"tiemout\", did you mean \"timeout\"?",
            "x.flow.yaml:3:26: no step is named \"c\"",
        ]
    );
}

#[test]
fn anchors_and_block_texts_are_understood() {
    let flow = flow(
        "steps:\n  a: { run: x, env: &e { A: 1 } }\n  b: { run: y, env: *e }\n  c:\n    prompt: |\n      two\n      lines\n",
    );
    let Kind::Command(b) = &flow.step("b").unwrap().kind else { panic!("a command") };
    assert_eq!(b.how.env[0].1.text, "1");
    let Kind::Agent(c) = &flow.step("c").unwrap().kind else { panic!("a turn") };
    assert_eq!(c.prompt.text, "two\nlines\n");
}

#[test]
fn yes_and_no_are_words() {
    let flow = flow("steps: { a: { prompt: yes, model: n }, b: { run: x, allow_failure: true } }");
    let Kind::Agent(a) = &flow.step("a").unwrap().kind else { panic!("a turn") };
    assert_eq!((a.prompt.text.as_str(), a.model.as_ref().unwrap().text.as_str()), ("yes", "n"));
    assert!(flow.step("b").unwrap().allow_failure);
}

#[test]
fn inputs_are_texts_unless_their_default_is_none() {
    let flow = flow("inputs: { a: { default: 1 }, b: { default: [x] }, c: { } }\nsteps: { s: { run: x } }");
    let given = |given: &[(&str, &str)]| {
        let given: Vec<_> =
            given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        flow.inputs_from(&given)
    };
    let values = given(&[("a", "2"), ("c", "[1]")]).unwrap();
    assert_eq!((&values["a"], &values["b"], &values["c"]), (&json!(2), &json!(["x"]), &json!("[1]")));
    assert!(given(&[("b", "{}")]).unwrap_err().contains("like its default [\"x\"]"));
}

/// The published schema and the reader must not drift apart.
#[test]
fn the_schema_takes_what_is_read() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let right = json!({"steps": {"a": {"prompt": "x", "retry": {"times": 2, "on": ["timeout"]}, "env": {"A": "b"}},
        "p": {"parallel": {"b": {"run": "y", "env": {"A": 1}}}, "strategy": "any"},
        "q": {"parallel": {"m": {"for_each": [2], "step": {"prompt": "x"}}}},
        "l": {"for_each": [1], "max_concurrent": 2, "step": {"run": "z"}}}});
    assert!(validator.is_valid(&right));
    assert!(source(&right.to_string()).flow().is_ok());
    let group = json!({"parallel": {"b": {"run": "y"}}});
    for wrong in [
        json!({"steps": {"a": {"promt": "x"}}}),
        json!({"steps": {"a": {"for_each": [1], "step": group}}}),
        json!({"steps": {"a": {"parallel": {"c": group}}}}),
    ] {
        assert!(!validator.is_valid(&wrong) && source(&wrong.to_string()).flow().is_err(), "{wrong}");
    }
}
