//! What goes from step to step.

use super::{flow, marks, states, step};
use crate::support::Bench;

#[test]
fn inputs_reach_prompts_and_commands() {
    let bench = Bench::new();
    let yaml = "
inputs:
  area: { required: true, description: where to look }
  count: { default: 2 }
  level: { default: low, enum: [low, high] }
steps:
  shell: { run: 'printf %s \"$AREA\"', env: { AREA: '{{ inputs.area }}' } }
  agent: { agent: demo, prompt: 'MARK-{{ inputs.level }} {{ inputs.count + 1 }} {{ steps.shell.output }}' }
";
    let nasty = "a'b\"; echo pwned $(id) {{ 1 }}";
    let run = flow(&bench, yaml).with(&["-i", &format!("area={nasty}"), "-i", "level=high"]).done().json();
    assert_eq!(step(&run, "shell")["output"], nasty, "values are never pasted into a command");
    assert_eq!(marks(&step(&run, "agent")), "MARK-high");
    flow(&bench, yaml).ends(2).tells(&["input \"area\" (where to look) is missing: give it with -i area=…"]);
    // Without a default it has to be given, said or not, unless the flow says otherwise.
    let asked =
        ["inputs: { area: }", "inputs: { area: { description: where } }", "inputs: { area: { enum: [x] } }"];
    for inputs in asked {
        let yaml = format!(
            "{inputs}\nsteps: {{ a: {{ run: 'echo \"<$A>\"', env: {{ A: '{{{{ inputs.area }}}}' }} }} }}"
        );
        flow(&bench, &yaml).ends(2).tells(&["input \"area\"", "is missing: give it with -i area=…"]);
        flow(&bench, &yaml).with(&["-i", "area=x"]).done();
    }
    let optional = "inputs: { area: { required: false } }\nsteps: { a: { run: 'echo \"<$A>\"', env: { A: '{{ inputs.area }}' } } }";
    assert_eq!(step(&flow(&bench, optional).done().json(), "a")["output"], "<>");
    flow(&bench, yaml).with(&["-i", "aera=x"]).ends(2).tells(&["did you mean \"area\"?"]);
    flow(&bench, yaml).with(&["-i", "area=x", "-i", "level=mid"]).ends(2).tells(&["one of low, high"]);
    flow(&bench, yaml).with(&["-i", "area=x", "-i", "count=many"]).ends(2).tells(&["like its default 2"]);
}

#[test]
fn a_condition_decides_and_order_follows_from_what_is_used() {
    let bench = Bench::new();
    let yaml = "
steps:
  last: { run: 'echo \"$B\"', env: { B: '{{ steps.first.output }}' } }
  first: { run: echo 1 }
  never: { run: echo never, when: steps.first.output == '2' }
  always: { run: echo always, when: steps.first.ok and steps.first.exit_code == 0 and not steps.never.ok }
";
    let said = flow(&bench, yaml).done();
    assert_eq!(states(&said), ["first done", "last done", "never skipped", "always done"]);
}

#[test]
fn a_failure_stops_the_flow_unless_it_is_allowed() {
    let bench = Bench::new();
    let yaml = "
steps:
  one: { run: 'echo out; echo problem >&2; exit 7', allow_failure: true }
  two: { agent: demo, prompt: 'FAIL server x' }
  three: { run: echo never }
";
    let said = flow(&bench, yaml).ends(1);
    assert_eq!(states(&said), ["one failed", "two failed"]);
    let one = step(&said.json(), "one");
    assert_eq!(
        (&one["exit_code"], &one["output"], &one["allowed"]),
        (&7.into(), &"out".into(), &true.into())
    );
    said.tells(&["exited with 7: problem · allowed to fail", "✗ two", "the model's service failed"]);
    flow(&bench, "steps: { slow: { run: sleep 300, timeout: 100ms } }").ends(3);
    flow(&bench, "steps: { slow: { agent: demo, prompt: HANG, timeout: 300ms } }").ends(3);
    flow(&bench, "steps: { none: { agent: demo, prompt: x, cwd: nowhere } }").ends(4);
}

#[test]
fn a_step_is_tried_again_in_the_same_session() {
    let bench = Bench::new();
    let yaml = "
steps:
  shell: { run: 'test -e again || { touch again; exit 1; }', retry: { times: 1, wait: 50ms } }
  agent: { agent: demo, prompt: 'MARK-a TOOL-RUN [test -e twice] FAIL server x', retry: { times: 2, wait: 50ms, on: agent_failed } }
";
    let said = flow(&bench, yaml).ends(1);
    said.tells(&[
        "↻ shell · try 2 in 0.05 s · ",
        "✓ shell",
        "↻ agent · try 3 in 0.10 s",
        "✗ agent · demo · resumed",
    ]);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 3, "all tries are one conversation");
    let once = yaml.replace("on: agent_failed", "on: timeout");
    assert!(!flow(&bench, &once).ends(1).stderr().contains("↻ agent"));
}

#[test]
fn json_is_parsed_and_held_against_a_schema() {
    let bench = Bench::new();
    let yaml = "
steps:
  shell: { run: 'echo {\\\"verdict\\\": \\\"fine\\\", \\\"files\\\": [\\\"a\\\", \\\"b\\\"]}', output: json, schema: { required: [verdict] } }
  each: { for_each: steps.shell.json.files, step: { run: 'echo \"$N $F\"', env: { N: '{{ index }}', F: '{{ item }}' } } }
  after: { run: 'echo \"$V $E\"', env: { V: '{{ steps.shell.json.verdict }}', E: '{{ steps.each.json|join(\"+\") }}' } }
";
    let run = flow(&bench, yaml).done().json();
    assert_eq!(step(&run, "after")["output"], "fine 0 a+1 b");
    flow(&bench, &yaml.replace("required: [verdict]", "required: [other]"))
        .ends(1)
        .tells(&["\"other\" is a required property"]);
    flow(&bench, &yaml.replace("for_each:", "max_items: 1, for_each:"))
        .ends(1)
        .tells(&["2 items, more than max_items (1)"]);
}

#[test]
fn an_answer_that_cannot_be_used_is_sent_back_once_in_the_same_session() {
    let bench = Bench::new();
    let said = flow(&bench, "steps: { one: { agent: demo, prompt: MARK-a, output: json } }").ends(1);
    let one = step(&said.json(), "one");
    assert_eq!((&one["failure"], &one["receipt"]["plan"]["decision"]), (&"output".into(), &"resume".into()));
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 2);
    let session = one["receipt"]["session"].as_str().unwrap();
    let stored = std::fs::read_to_string(bench.stored("demo", session)).unwrap();
    assert!(stored.contains("Your answer cannot be used: it is not JSON"), "{stored}");
}

#[test]
fn prompts_may_stand_in_files_and_go_along_with_the_run() {
    let bench = Bench::new();
    let prompt = bench.file("ask.md", "MARK-{{ inputs.who }} from a file FAIL other x\n");
    let yaml = "inputs: { who: { default: me } }\nsteps: { one: { agent: demo, prompt_file: ask.md } }";
    flow(&bench, yaml).ends(1);
    std::fs::remove_file(prompt).unwrap();
    bench.rejoin(&["flow", "resume", "@"]).ends(1);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 2, "tried again from the copy");
    flow(&bench, yaml).ends(2).tells(&["test.flow.yaml:2:43: cannot read the prompt \"ask.md\""]);
}
