//! Runs that are killed or stopped, and go on.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::{log, marks, states, step};
use crate::support::{Bench, eventually};

const THREE: &str = "
steps:
  one: { agent: demo, prompt: first MARK-a }
  shell: { run: 'echo x >> shell; test -e go || sleep 300' }
  two: { continue_from: one, prompt: 'second MARK-b TOOL-RUN [echo x >> agent; test -e go || sleep 300]' }
  three: { continue_from: two, prompt: third MARK-c }
";

/// Kills a run in the middle of a step, and goes on with it.
#[track_caller]
fn killed_at(sign: &str) -> Bench {
    let bench = Bench::new();
    bench.file("test.flow.yaml", THREE);
    if sign == "agent" {
        bench.file("go", "");
        bench.file(
            "test.flow.yaml",
            THREE.replace("[echo x >> agent; test -e go", "[echo x >> agent; test -e go2"),
        );
    }
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join(sign);
    eventually("the step", || sign.exists().then_some(()));
    run.kill();
    assert_eq!(bench.rejoin(&["flow", "ls", "--json"]).done().json()[0]["standing"], "interrupted");
    fs::remove_file(bench.project().join("test.flow.yaml")).unwrap();
    bench.file("go", "");
    bench.file("go2", "");
    bench
}

#[test]
fn a_run_killed_in_a_command_goes_on_with_it() {
    let bench = killed_at("shell");
    bench.comes_to_rest();
    let said = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done();
    assert_eq!(states(&said), ["one done", "shell done", "two done", "three done"]);
    let run = said.json();
    assert_eq!(step(&run, "three")["receipt"]["plan"]["decision"], "resume");
    assert_eq!(marks(&step(&run, "three")), "MARK-a,MARK-b,MARK-c");
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 3, "what was done is not run again");
}

#[test]
fn a_run_killed_in_a_turn_takes_that_turn_up_again() {
    let bench = killed_at("agent");
    let said = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done();
    let run = said.json();
    assert_eq!(marks(&step(&run, "three")), "MARK-a,MARK-b,MARK-c");
    let (one, three) = (step(&run, "one"), step(&run, "three"));
    assert_eq!(three["receipt"]["conversation"], one["receipt"]["conversation"]);
    assert_eq!(three["receipt"]["session"], one["receipt"]["session"], "the same session all along");
    assert_eq!(fs::read_to_string(bench.project().join("shell")).unwrap(), "x\n", "not run again");
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 4, "the cut turn, and it again");
    bench.rejoin(&["flow", "resume", "@"]).done();
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 4, "nothing is left to do");
}

#[test]
fn a_turn_that_ended_before_the_kill_is_not_paid_for_twice() {
    let (bench, log) = done();
    let text = fs::read_to_string(&log).unwrap();
    let end = text.find("{\"type\":\"step_ended\",\"step\":\"three\"").unwrap();
    // As if the power had gone in the middle of that line.
    fs::write(&log, &text[..end + 30]).unwrap();
    let run = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done().json();
    assert_eq!(marks(&step(&run, "three")), "MARK-a,MARK-b,MARK-c");
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 3);
}

/// A run that was done, and its file.
fn done() -> (Bench, PathBuf) {
    let bench = Bench::new();
    bench.file("test.flow.yaml", THREE);
    bench.file("go", "");
    bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    let log = log(&bench).unwrap();
    (bench, log)
}

#[test]
fn a_turn_whose_note_is_damaged_is_not_paid_for_twice_in_silence() {
    let (bench, log) = done();
    let whole = fs::read_to_string(&log).unwrap();
    let note = whole.find("{\"type\":\"turn\",\"step\":\"three\"").unwrap();
    let end = note + whole[note..].find('\n').unwrap() + 1;
    let number = whole[..end].lines().count();
    // Killed before it ended: a digit of its id, a quotation mark, the end of the line before it.
    for (at, byte) in [(end - 40, b'g'), (note + 1, b'\''), (note - 1, b' ')] {
        let mut bytes = whole.as_bytes()[..end].to_vec();
        bytes[at] = byte;
        fs::write(&log, bytes).unwrap();
        let line = if at < note { number - 1 } else { number };
        let said = bench.rejoin(&["flow", "resume", "@"]).ends(7);
        said.tells(&[&format!("line {line} of "), "is damaged", "a turn that was paid for", "--from three"]);
        let shown = bench.rejoin(&["flow", "show", "@"]).done();
        assert!(
            shown.stdout().contains(&format!("line {line} of its file is damaged")),
            "{}",
            shown.stdout()
        );
        assert_eq!(bench.conversations()[0]["turns"], 3, "nothing was run");
    }
    // Asked for, it is.
    bench.rejoin(&["flow", "resume", "@", "--from", "three"]).done();
    assert_eq!(bench.conversations()[0]["turns"], 4);
    bench.rejoin(&["flow", "resume", "@"]).done();
    assert_eq!(bench.conversations()[0]["turns"], 4, "nothing is left to do");
}

/// Left out, it would make an older run the newest.
#[test]
fn a_run_whose_first_line_is_lost_is_listed_and_not_taken_for_none() {
    let (bench, older) = done();
    let text = fs::read_to_string(&older).unwrap();
    fs::write(&older, &text[..text.find("{\"type\":\"result\"").unwrap()]).unwrap();
    bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    let flows = fs::read_dir(older.parent().unwrap()).unwrap();
    let log = flows.map(|entry| entry.unwrap().path()).find(|path| *path != older).unwrap();
    let whole = fs::read(&log).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap();
    let mut zeroed = whole.clone();
    zeroed[..first].fill(0);
    for bytes in [&zeroed[..], &zeroed[..=first], &whole[first + 1..]] {
        fs::write(&log, bytes).unwrap();
        let runs = bench.rejoin(&["flow", "ls", "--json"]).done().json();
        assert_eq!(
            (runs[0]["standing"].as_str(), &runs[1]["standing"]),
            (Some("damaged"), &"interrupted".into())
        );
        let list = bench.rejoin(&["flow", "ls"]).done();
        assert!(list.stdout().contains(log.file_name().unwrap().to_str().unwrap()), "{}", list.stdout());
        for command in ["show", "resume"] {
            bench.rejoin(&["flow", command, "@"]).ends(7).tells(&[
                "line 1 of ",
                "is damaged",
                "begin a new one",
            ]);
        }
    }
}

#[test]
fn ctrl_c_stops_the_step_and_the_run_can_go_on() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", THREE);
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join("shell");
    eventually("the step", || sign.exists().then_some(()));
    run.interrupt();
    run.ends(130).tells(&["■ shell · cancelled", "go on with `rejoin flow resume "]);
    bench.comes_to_rest();
    assert_eq!(bench.rejoin(&["flow", "show", "--json"]).done().json()["standing"], "cancelled");
    bench.file("go", "");
    bench.rejoin(&["flow", "resume", "@"]).done();
}

#[test]
fn ctrl_c_ends_the_wait_for_another_try() {
    let bench = Bench::new();
    let yaml = "steps: { one: { run: 'exit 1', retry: { times: 1, wait: 1h } } }";
    bench.file("test.flow.yaml", yaml);
    let mut run = bench.rejoin(&["flow", "run", "test.flow.yaml", "-o", "stream-json"]).start();
    assert_eq!(run.hears("step_begun")["attempt"], 1);
    assert_eq!(run.hears("step_begun")["wait_ms"], 3_600_000);
    run.interrupt();
    assert_eq!(run.ends(130).result()["state"], "cancelled");
}

#[test]
fn ctrl_c_stops_all_that_runs_at_once() {
    let bench = Bench::new();
    let yaml = "
steps:
  both:
    parallel:
      shell: { run: 'touch begun; test -e go || sleep 300' }
      agent: { agent: demo, prompt: 'MARK-a TOOL-RUN [until test -e begun; do sleep 0.05; done; touch sign; test -e go || sleep 300]' }
  each: { for_each: [1, 2], step: { run: 'echo x >> items' } }
";
    bench.file("test.flow.yaml", yaml);
    let run = bench.rejoin(&["flow", "run", "test.flow.yaml"]).start();
    let sign = bench.project().join("sign");
    eventually("the steps", || sign.exists().then_some(()));
    run.interrupt();
    let said = run.ends(130);
    said.tells(&["■ shell · cancelled", "■ agent · demo · new session · cancelled", "■ both · cancelled"]);
    assert_eq!(said.stdout(), "", "no output of a run that did not come to its end");
    bench.comes_to_rest();
    bench.file("go", "");
    let run = bench.rejoin(&["flow", "resume", "@", "-o", "json"]).done().json();
    assert_eq!(step(&run, "agent")["receipt"]["plan"]["decision"], "resume");
    assert_eq!(bench.conversations().len(), 1);
    assert_eq!(fs::read_to_string(bench.project().join("items")).unwrap(), "x\nx\n");
}

#[test]
fn another_process_can_stop_a_run_and_none_can_join_it() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", "steps: { one: { agent: demo, prompt: HANG } }");
    let mut run = bench.rejoin(&["flow", "run", "test.flow.yaml", "-o", "stream-json"]).start();
    run.hears("event");
    assert_eq!(bench.rejoin(&["flow", "ls", "--json"]).done().json()[0]["standing"], "running");
    bench.rejoin(&["flow", "resume", "@"]).ends(6).tells(&["is going on in process"]);
    bench.rejoin(&["flow", "cancel", "@"]).done();
    let said = run.ends(130);
    assert_eq!(said.result()["state"], "cancelled");
    bench.rejoin(&["flow", "cancel", "@"]).ends(4).tells(&["nothing to stop"]);
}

/// The number of a process that is gone may be somebody else's by now.
#[test]
fn only_the_process_that_took_the_lock_is_asked_to_stop() {
    let (bench, run) = done();
    let id = run.file_stem().unwrap().to_str().unwrap().to_owned();
    let lock =
        fs::File::options().write(true).open(bench.home().join(format!("locks/flow-{id}.lock"))).unwrap();
    lock.try_lock().unwrap();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    for owner in [json!({ "pid": other.id() }), json!({ "pid": other.id(), "born": 1 })] {
        lock.set_len(0).unwrap();
        lock.write_all_at(owner.to_string().as_bytes(), 0).unwrap();
        bench.rejoin(&["flow", "cancel", "@"]).ends(6).tells(&["not surely the process to stop"]);
    }
    assert!(other.try_wait().unwrap().is_none(), "nothing happened to it");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_run_can_begin_anew_from_a_step_on() {
    let bench = Bench::new();
    bench.file("test.flow.yaml", THREE);
    bench.file("go", "");
    bench.rejoin(&["flow", "run", "test.flow.yaml"]).done();
    let said = bench.rejoin(&["flow", "resume", "@", "--from", "two", "-o", "json"]).done();
    assert_eq!(states(&said), ["one done", "shell done", "two done", "three done"]);
    assert_eq!(marks(&step(&said.json(), "three")), "MARK-a,MARK-b,MARK-c");
    assert_eq!(fs::read_to_string(bench.project().join("shell")).unwrap(), "x\n");
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 3);
    assert_eq!(bench.conversations()[0]["turns"], 5, "two branches on one turn");
}
