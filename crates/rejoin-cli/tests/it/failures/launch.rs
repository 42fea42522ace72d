//! Agents that cannot be started, or asked what they can do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::support::{Bench, old_opencode};

/// Makes `claude` this script.
fn claude_is(bench: &Bench, script: &str) {
    let file = bench.outside("bin").join("claude");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
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
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
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

/// A bench whose agent breaks so many times before it starts.
fn stumbling(times: usize) -> Bench {
    let bench = Bench::new();
    let command = serde_json::json!(old_opencode(&bench.lab.root()));
    bench.config(&format!("agent = \"opencode\"\n[agents.opencode]\ncommand = {command}\nmodel = \"a/b\"\n"));
    fs::write(bench.lab.home().join("stumbles"), "once\n".repeat(times)).unwrap();
    bench
}

#[test]
fn a_program_that_stumbles_is_started_again() {
    let bench = stumbling(1);
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello MARK-a"]).done();
    said.fresh("first_turn", 0).knows(&["a"]);
    assert!(said.warned("started_again").contains("CREATE TABLE `workspace`"));
    assert_eq!(said.result()["runs"], 2);
    assert_eq!(said.result()["bytes"], "hello MARK-a".len());
    fs::write(bench.lab.home().join("stumbles"), "once\n").unwrap();
    bench.next("more MARK-b").done().resumed(&said.session(), 0).knows(&["a", "b"]);
}

#[test]
fn a_program_that_stumbles_twice_is_a_failed_turn() {
    let bench = stumbling(2);
    let said = bench.rejoin(&["run", "-o", "stream-json", "hello MARK-a"]).ends(1);
    said.came_to("failed", Some("setup"));
    bench.next("more MARK-b").done().fresh("no_session", 1).knows(&["a", "b"]);
}
