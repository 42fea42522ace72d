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
    wrong("steps: { a: { run: x, when: '{{ 1 }}' } }", &["1:29: ", "without the braces"]);
    wrong("steps: { a: { prompt: '{{ 1|nonsense }}' } }", &["1:23: filter nonsense is unknown"]);
    wrong(
        "inputs: { area: }\nsteps:\n  a:\n    prompt: |\n      one\n      {{ inputs.aera }}\n",
        &["did you mean \"area\"? (line 2 of the text)"],
    );
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
    wrong("steps: { a: { run: x } }\n---\nsteps: { b: { run: x } }\n", &["multiple YAML documents"]);
    wrong(
        "steps: { l: { for_each: [1], step: { run: x, needs: [nobody] } } }",
        &["1:54: no step is named \"nobody\""],
    );
    wrong("steps: { a: { run: x, timeout: 0 } }", &["1:32: \"timeout\": no time at all"]);
}

/// Each is one problem, not several.
#[test]
fn groups_and_lists_inside_of_others() {
    let only = |yaml: &str, words: &str| {
        let bench = Bench::new();
        bench.file("bad.flow.yaml", yaml);
        let said = bench.rejoin(&["flow", "validate", "bad.flow.yaml"]).ends(2);
        assert_eq!(said.tells(&[words]).stderr().lines().count(), 1, "{}", said.stderr());
    };
    only(
        "steps: { p: { parallel: { q: { max_concurrent: 2, parallel: { a: { run: x } } } } } }",
        "1:51: parallel",
    );
    only(
        "steps: { l: { for_each: [1], step: { parallel: { a: { run: x } } } } }",
        "1:38: what is done with each item",
    );
    only("steps: { l: { for_each: [1], step: { for_each: [2], step: { run: x } } } }", "1:38: a list inside");
}

#[test]
fn files_that_are_none() {
    let bench = Bench::new();
    let validate = |file: &str| bench.rejoin(&["flow", "validate", file]);
    validate("none.flow.yaml").ends(4).tells(&["cannot read none.flow.yaml"]);
    validate(".").ends(2).tells(&["cannot read .: it is a directory, not a file"]);
    validate("/dev/zero").ends(2).tells(&["cannot read /dev/zero: it is a device, not a file"]);
    bench.file("long.flow.yaml", "#".repeat((4 << 20) + 1));
    validate("long.flow.yaml").ends(2).tells(&["larger than 4 MiB"]);
    bench.file("bytes.flow.yaml", [0xff, 0xfe]);
    validate("bytes.flow.yaml").ends(2).tells(&["not UTF-8"]);
    // Nobody writes into it: it is not waited for.
    let pipe = bench.project().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    validate("pipe").ends(2).tells(&["cannot read pipe: it is a pipe, not a file"]);
    bench.file("asks.flow.yaml", "steps: { a: { prompt_file: pipe } }");
    validate("asks.flow.yaml").ends(2).tells(&["cannot read the prompt \"pipe\": it is a pipe, not a file"]);
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
    bench.file("end.flow.yaml", "steps: { end: { run: x }, end_: { run: y, needs: end } }");
    let graph = bench.rejoin(&["flow", "graph", "end.flow.yaml"]).done();
    assert!(graph.stdout().contains("    end__ --> end_\n"), "{}", graph.stdout());
    bench.rejoin(&["flow", "validate", "none.flow.yaml"]).ends(4);
}
