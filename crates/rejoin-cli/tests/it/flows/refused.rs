//! Flows that are wrong: each with its place, before anything is run.

use crate::support::Bench;

#[track_caller]
fn wrong(yaml: &str, words: &[&str]) {
    let bench = Bench::new();
    bench.file("bad.flow.yaml", yaml);
    for command in ["validate", "run"] {
        bench.rejoin(&["flow", command, "bad.flow.yaml"]).ends(2).tells(words);
    }
    assert!(!bench.home().join("flows").exists());
}

#[test]
fn misspelt_fields_and_names() {
    let first = "bad.flow.yaml:3:5: unknown field \"promt\", did you mean \"prompt\"?";
    wrong("steps:\n  one:\n    promt: x\n", &[first]);
    wrong("stesp: {}", &["1:1: unknown field \"stesp\", did you mean \"steps\"?"]);
    wrong("steps: { a: { agent: cluade, prompt: x } }", &["unknown agent", "did you mean \"claude\"?"]);
    wrong("steps: { a: { prompt: x, permissions: ful } }", &["did you mean \"full\"?"]);
    wrong("steps: { first: { run: x }, b: { prompt: x, needs: frist } }", &["did you mean \"first\"?"]);
    wrong("steps: { a-b: { prompt: x } }", &["1:10: \"a-b\" cannot be a name"]);
}

#[test]
fn templates_that_cannot_work() {
    let shell = "steps: { a: { run: 'echo {{ inputs.x }}' } }";
    wrong(shell, &["1:20: a command cannot be a template", "\"env\""]);
    wrong(
        "inputs: { area: }\nsteps: { a: { prompt: '{{ inputs.aera }}' } }",
        &["2:23: no input is named \"aera\"; did you mean \"area\"?"],
    );
    wrong("steps: { a: { prompt: '{{ steps.b.output }}' } }", &["no step is named \"b\""]);
    wrong("steps: { b: { run: x }, a: { prompt: '{{ steps.b.outptu }}' } }", &["did you mean \"output\"?"]);
    wrong("steps: { a: { prompt: '{{ item }}' } }", &["unknown name \"item\""]);
    wrong("steps: { a: { prompt: '{{ broken' } }", &["1:23: "]);
    wrong("steps: { a: { run: x, when: '1 ==' } }", &["1:29: "]);
}

#[test]
fn steps_that_do_not_fit_together() {
    wrong("steps: {}", &["there are no steps"]);
    wrong("name: x", &["a flow needs \"steps\""]);
    wrong("", &["a flow must be a mapping"]);
    wrong("steps: { a: { } }", &["step \"a\" does nothing"]);
    wrong("steps: { a: { run: x, parallel: {} } }", &["has run and parallel: a step is one of them"]);
    wrong("steps:\n  a: { run: x }\n  a: { run: y }\n", &["3:3: ", "duplicate mapping key: a"]);
    wrong("steps: { a: { run: x }, p: { parallel: { a: { run: y } } } }", &["the name \"a\" is taken"]);
    wrong("steps: { a: { run: x, needs: b }, b: { run: y, needs: a } }", &["wait for each other: a → b → a"]);
    wrong("steps: { p: { parallel: { a: { run: x }, b: { run: y, needs: a } } } }", &["run at once"]);
    wrong("steps: { a: { run: x }, b: { prompt: x, continue_from: a } }", &["is not a turn of an agent"]);
    wrong(
        "steps: { a: { prompt: x }, l: { for_each: [1], step: { prompt: x, continue_from: a } } }",
        &["cannot all go on"],
    );
    wrong("steps: { a: { prompt: x, output: json, schema: { type: nonsense } } }", &["is no JSON schema"]);
    wrong("steps: { a: [", &["not readable as YAML"]);
}

#[test]
fn the_schema_knows_every_flow_that_is_right_here() {
    let bench = Bench::new();
    let schema = bench.rejoin(&["flow", "schema"]).done().json();
    assert_eq!(schema["required"], serde_json::json!(["steps"]));
    bench.file("good.flow.yaml", "steps: { a: { prompt: x }, b: { run: y } }");
    bench.rejoin(&["flow", "validate", "good.flow.yaml"]).done().tells(&["2 steps"]);
    let graph = bench.rejoin(&["flow", "graph", "good.flow.yaml"]).done();
    assert!(graph.stdout().starts_with("flowchart TD\n    a(\"a\")\n    b[\"b\"]\n"), "{}", graph.stdout());
    bench.rejoin(&["flow", "validate", "none.flow.yaml"]).ends(4);
}
