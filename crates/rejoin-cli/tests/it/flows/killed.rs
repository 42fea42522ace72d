//! Runs that are killed in every kind of step, and go on: what is done is not paid for twice, what was cut goes on
//! where it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::{log, marks, step};
use crate::support::{Bench, eventually};

/// Waits in a command or in an agent's tool until the file `go` is there, and leaves a sign.
const WAIT: &str = "echo x >> sign; until test -e go; do sleep 0.05; done";

/// Kills a run as soon as its sign is there, and goes on with it.
#[track_caller]
fn killed_and_resumed(yaml: &str, code: i32) -> (Bench, Value) {
    let bench = Bench::new();
    bench.file("test.flow.yaml", yaml.replace("WAIT", WAIT));
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join("sign");
    eventually("the step", || sign.exists().then_some(()));
    run.kill();
    bench.comes_to_rest();
    bench.file("go", "");
    let run = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).ends(code).json();
    (bench, run)
}

/// How often the turn of each prompt came to its end, over all conversations; a fork's copies count once.
fn paid(bench: &Bench) -> BTreeMap<String, usize> {
    let (mut prompts, mut completed) = (BTreeMap::new(), BTreeSet::new());
    for journal in bench.journals() {
        let text = fs::read_to_string(journal).unwrap();
        for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if record["type"] == "user" {
                let prompt = record["message"].to_string();
                let mark = prompt.split("MARK-").nth(1).unwrap_or_default();
                let mark: String = mark.chars().take_while(char::is_ascii_alphanumeric).collect();
                prompts.insert(record["uuid"].to_string(), mark);
            }
            if record["subtype"] == "receipt" && record["systemPayload"]["outcome"] == "completed" {
                completed.insert(record["systemPayload"]["turn"].to_string());
            }
        }
    }
    let mut counts = BTreeMap::new();
    for turn in completed {
        *counts.entry(prompts[&turn].clone()).or_default() += 1;
    }
    counts
}

#[track_caller]
fn each_was_paid_once(bench: &Bench, marks: &[&str]) {
    let expected: BTreeMap<String, usize> = marks.iter().map(|mark| ((*mark).to_owned(), 1)).collect();
    assert_eq!(paid(bench), expected);
}

#[test]
fn in_the_first_turn_it_goes_on_in_the_same_conversation() {
    let (bench, run) =
        killed_and_resumed("steps: { one: { agent: demo, prompt: 'MARK-a TOOL-RUN [WAIT]' } }", 0);
    assert_eq!(bench.conversations().len(), 1);
    assert_eq!(step(&run, "one")["receipt"]["plan"]["decision"], "resume");
    each_was_paid_once(&bench, &["a"]);
}

#[test]
fn in_a_parallel_group_only_what_was_cut_goes_on() {
    let (bench, run) = killed_and_resumed(
        "
steps:
  one: { agent: demo, prompt: MARK-one }
  group:
    parallel:
      done: { agent: demo, prompt: MARK-done }
      fork: { fork_from: one, prompt: 'MARK-fork TOOL-RUN [until test -s done-too; do sleep 0.05; done; sleep 0.2; WAIT]' }
      shell: { run: 'echo x >> done-too' }
  last: { continue_from: fork, prompt: MARK-last }
",
        0,
    );
    assert_eq!(marks(&step(&run, "last")), "MARK-one,MARK-fork,MARK-last");
    assert_eq!(bench.conversations().len(), 3, "no other fork was made");
    each_was_paid_once(&bench, &["one", "done", "fork", "last"]);
    assert_eq!(fs::read_to_string(bench.project().join("done-too")).unwrap(), "x\n");
}

#[test]
fn after_the_one_success_that_was_enough_nothing_is_begun() {
    let (bench, run) = killed_and_resumed(
        "
steps:
  race:
    strategy: any
    parallel:
      quick: { agent: demo, prompt: MARK-quick }
      slow: { run: 'trap \"\" INT TERM; until grep -qs [s]tep_ended \"$REJOIN_HOME\"/flows/*; do sleep 0.05; done; WAIT; touch slow' }
",
        0,
    );
    assert_eq!(step(&run, "race")["state"], "done");
    assert!(!bench.project().join("slow").exists());
    each_was_paid_once(&bench, &["quick"]);
}

#[test]
fn in_a_list_the_items_that_are_done_stay_so() {
    let (bench, run) = killed_and_resumed(
        "steps: { each: { for_each: ['echo', WAIT, 'true'], step: { agent: demo, prompt: 'MARK-item{{ index }} TOOL-RUN [{{ item }}]' } } }"
            .replace("WAIT", &format!("'{WAIT}'"))
            .as_str(),
        0,
    );
    assert_eq!(step(&run, "each")["json"].as_array().unwrap().len(), 3);
    assert_eq!(bench.conversations().len(), 3);
    each_was_paid_once(&bench, &["item0", "item1", "item2"]);
}

#[test]
fn in_a_second_try_all_tries_stay_one_conversation() {
    let (bench, run) = killed_and_resumed(
        "
steps:
  one:
    agent: demo
    prompt: 'MARK-a TOOL-RUN [echo x >> tries; test $(wc -l < tries) = 1 || { WAIT; }] FAIL server x'
    retry: { times: 1 }
",
        1,
    );
    assert_eq!(bench.conversations().len(), 1);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 4, "failed, cut, and two more tries");
    assert_eq!(step(&run, "one")["receipt"]["plan"]["decision"], "resume");
}

#[test]
fn while_an_answer_is_sent_back_it_is_sent_back_once_all_the_same() {
    let yaml = "steps: { one: { agent: demo, prompt: MARK-a, output: json, schema: { description: ' MARK-b TOOL-RUN [WAIT] ' } } }";
    let (bench, run) = killed_and_resumed(yaml, 1);
    assert_eq!(step(&run, "one")["failure"], "output");
    each_was_paid_once(&bench, &["a", "b"]);
    // Asked for, it is sent back another time.
    bench.rejoin(&["flow", "resume", "@"]).ends(1);
    assert_eq!(paid(&bench)["b"], 2);
}

/// As if the power had gone after a record of the run or of the conversation, wherever that was.
#[test]
fn between_the_note_of_a_turn_and_the_turn_itself() {
    let two =
        "steps:\n  one: { agent: demo, prompt: MARK-one }\n  two: { continue_from: one, prompt: MARK-two }\n";
    for (begun, turns) in [(true, 3), (false, 2)] {
        let bench = Bench::new();
        bench.file("test.flow.yaml", two);
        bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
        let log = log(&bench).unwrap();
        let text = fs::read_to_string(&log).unwrap();
        let noted = text.find("{\"type\":\"turn\",\"step\":\"two\"").unwrap();
        let end = noted + text[noted..].find('\n').unwrap() + 1;
        fs::write(&log, &text[..end]).unwrap();
        let journal = bench.journals().remove(0);
        let text = fs::read_to_string(&journal).unwrap();
        let (first, second) = text.split_at(text.find("\"MARK-two\"").unwrap());
        let user = first.rfind('\n').unwrap() + 1;
        let intent = first.len() + second.match_indices('\n').nth(1).unwrap().0 + 1;
        fs::write(&journal, &text[..if begun { intent } else { user }]).unwrap();
        let run = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done().json();
        assert_eq!(marks(&step(&run, "two")), "MARK-one,MARK-two");
        assert_eq!(bench.conversations().len(), 1);
        assert_eq!(bench.show()["turns"].as_array().unwrap().len(), turns, "begun: {begun}");
        each_was_paid_once(&bench, &["one", "two"]);
    }
}

/// Else a kill between the two would leave a conversation that nobody knows.
#[test]
fn a_fork_is_noted_before_it_is_made() {
    let bench = Bench::new();
    let yaml = "
steps:
  one: { agent: demo, prompt: MARK-one }
  shell: { run: 'rm -r \"$REJOIN_HOME\"/projects' }
  fork: { fork_from: one, prompt: MARK-fork, needs: shell }
";
    bench.file("test.flow.yaml", yaml);
    bench.rejoin(&["flow", "run", "test.flow.yaml"]).ends(4);
    let text = fs::read_to_string(log(&bench).unwrap()).unwrap();
    assert!(text.contains("{\"type\":\"turn\",\"step\":\"fork\""), "{text}");
}

#[test]
fn whenever_it_is_killed_nothing_is_paid_for_twice() {
    let yaml = "
steps:
  one: { agent: demo, prompt: MARK-one }
  shell: { run: echo x }
  two: { continue_from: one, prompt: MARK-two }
  group:
    parallel:
      left: { fork_from: one, prompt: MARK-left }
      right: { agent: demo2, prompt: MARK-right }
  each: { for_each: [a, b], max_concurrent: 2, step: { fork_from: two, prompt: 'MARK-{{ item }}' } }
  last: { continue_from: two, prompt: 'MARK-last {{ steps.each.output }}' }
";
    let all = ["one", "two", "left", "right", "a", "b", "last"];
    let mut lines = 1;
    loop {
        let bench = Bench::new();
        bench.file("test.flow.yaml", yaml);
        let mut run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
        let written = || log(&bench).and_then(|log| fs::read_to_string(log).ok()).unwrap_or_default();
        eventually("the end, or that many lines", || {
            (written().lines().count() >= lines || !run.is_running()).then_some(())
        });
        if !run.is_running() {
            each_was_paid_once(&bench, &all);
            break;
        }
        run.kill();
        let run = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done().json();
        each_was_paid_once(&bench, &all);
        assert!(bench.conversations().len() == 5, "killed after {lines} lines: {:#?}", bench.conversations());
        assert!(marks(&step(&run, "last")).starts_with("MARK-one,MARK-two,MARK-"), "{run:#}");
        lines += 3;
    }
}
