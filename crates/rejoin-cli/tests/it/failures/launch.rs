//! Agents that cannot be started, or asked what they can do.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::{Bench, eventually, old_opencode};

/// Makes `claude` this script.
fn claude_is(bench: &Bench, script: &str) {
    let file = bench.outside("bin").join("claude");
    rejoin_testkit::write_program(&file, script).unwrap();
    bench.claude_is(&file, "");
}

#[test]
fn a_program_that_cannot_be_started_is_a_failed_turn() {
    let bench = Bench::new();
    claude_is(&bench, "#!/no/such/interpreter\n");
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello MARK-a"]).ends(1);
    said.came_to("failed", Some("launch"));
    assert!(said.text("error").contains("could not be started"), "{}", said.text("error"));
    let said = bench.hand_to("demo", "you then MARK-b").done();
    said.fresh("no_session", 1).knows(&["a", "b"]);
}

#[test]
fn a_program_that_refuses_its_arguments_is_a_failed_turn() {
    let bench = Bench::new();
    claude_is(&bench, "#!/bin/sh\necho 'unknown option --verbose' >&2\nexit 64\n");
    let said = bench.rejoin(&["run", "hello"]).ends(1);
    said.tells(&["unknown option --verbose", "✗ failed"]);
}

#[test]
fn a_program_that_hangs_when_asked_is_not_waited_for_and_not_remembered() {
    let bench = Bench::new();
    claude_is(&bench, "#!/bin/sh\ncase \"$1\" in --version) sleep 300 ;; esac\n");
    let begun = Instant::now();
    let said = bench.rejoin(&["agents"]).done();
    assert!(begun.elapsed() < Duration::from_mins(2), "{:?}", begun.elapsed());
    assert!(said.stdout().contains("Claude Code version unknown"), "{}", said.stdout());
    bench.comes_to_rest();
    let cache = fs::read_to_string(bench.home().join("cache/probes.json")).unwrap_or_default();
    assert!(!cache.contains("claude "), "{cache}");
}

#[test]
fn what_a_program_can_do_is_asked_once_per_installation() {
    let bench = Bench::new();
    let asked = bench.lab.root().join("asked");
    let script = format!("#!/bin/sh\necho \"$1\" >> {}\necho '1.2.3 (Claude Code)'\n", asked.display());
    claude_is(&bench, &script);
    let count = || fs::read_to_string(&asked).unwrap().lines().count();
    bench.rejoin(&["agents"]).done();
    let once = count();
    bench.rejoin(&["agents"]).done();
    assert_eq!(count(), once);
    claude_is(&bench, &format!("{script}# an update\n"));
    bench.rejoin(&["agents"]).done();
    assert_eq!(count(), 2 * once);
}

#[test]
fn a_program_that_failed_when_asked_is_asked_again() {
    let bench = Bench::new();
    let broken = bench.lab.root().join("broken");
    fs::write(&broken, "").unwrap();
    let script = format!(
        "#!/bin/sh\nif [ -e {} ]; then echo 'env: node: No such file or directory' >&2; exit 127; fi\n\
         echo '1.2.3 (Claude Code)'\n",
        broken.display()
    );
    claude_is(&bench, &script);
    assert!(bench.rejoin(&["agents"]).done().stdout().contains("Claude Code version unknown"));
    fs::remove_file(&broken).unwrap();
    assert!(bench.rejoin(&["agents"]).done().stdout().contains("1.2.3"));

    // What an older rejoin kept of such a failure is not believed either.
    let file = bench.home().join("cache/probes.json");
    let kept = fs::read_to_string(&file).unwrap();
    let older = kept.replace("\"succeeded\": true,", "").replace("1.2.3", "0.0.0");
    assert!(older != kept && older.contains("0.0.0"), "{kept}");
    fs::write(&file, older).unwrap();
    assert!(bench.rejoin(&["agents"]).done().stdout().contains("1.2.3"));
}

#[test]
fn a_question_ends_with_who_asked_it() {
    let bench = Bench::new();
    claude_is(&bench, "#!/bin/sh\nsetsid sleep 300 & sleep 301\n");
    let asking = bench.rejoin(&["agents"]).start();
    eventually("the question", || {
        let running = bench.processes();
        let runs = |command: &str| running.iter().any(|process| process.command.starts_with(command));
        (runs("sleep 300") && runs("sleep 301")).then_some(())
    });
    asking.kill();
    bench.comes_to_rest();
}

/// A bench whose agent breaks when two of it start for the first time at once.
fn with_opencode() -> Bench {
    let bench = Bench::new();
    let command = serde_json::json!(old_opencode(&bench.lab.root()));
    bench.config(&format!("agent = \"opencode\"\n[agents.opencode]\ncommand = {command}\nmodel = \"a/b\"\n"));
    bench
}

#[test]
fn first_starts_of_one_store_are_taken_one_after_another() {
    let bench = with_opencode();
    let all = ["a", "b", "c"]
        .map(|mark| bench.rejoin(&["run", "-o", "stream-json", &format!("hello MARK-{mark}")]).start());
    for (one, mark) in all.into_iter().zip(["a", "b", "c"]) {
        one.ends(0).fresh("first_turn", 0).knows(&[mark]);
    }
    bench.next("more MARK-d").done().calm();
}

#[test]
fn a_wait_for_another_first_start_is_told_and_can_be_given_up() {
    let bench = with_opencode();
    fs::write(bench.lab.home().join("slow"), "").unwrap();
    let one = bench.rejoin(&["run", "-o", "stream-json", "hello MARK-a"]).start();
    eventually("the first start", || bench.lab.home().join("setting-up").exists().then_some(()));
    let mut other = bench.rejoin(&["run", "-o", "stream-json", "hello MARK-b"]).start();
    let told = other.hears("warning");
    assert!(told["code"] == "waiting" && told.to_string().contains("OpenCode"), "{told}");
    other.interrupt();
    other.ends(130).came_to("cancelled", None);
    fs::remove_file(bench.lab.home().join("slow")).unwrap();
    one.ends(0);
}
