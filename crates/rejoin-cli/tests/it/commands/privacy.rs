//! Who may read what, and what is never written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Bench, Call};

const REJOIN: &str = env!("CARGO_BIN_EXE_rejoin");

#[test]
fn files_belong_to_their_owner_alone_whatever_the_umask() {
    let bench = Bench::new();
    let script = format!(
        "umask 000; {REJOIN} run -a demo -s named hello && {REJOIN} run -c -a demo2 hello && {REJOIN} agents && {REJOIN} ls"
    );
    Call::of(&bench, "sh", &["-c", &script]).done();
    assert_eq!(fs::metadata(bench.home()).unwrap().permissions().mode() & 0o777, 0o700);
    let files = bench.files();
    assert!(files.iter().any(|path| path.starts_with("cache")), "agents were asked: {files:?}");
    for path in files {
        let metadata = fs::symlink_metadata(bench.home().join(&path)).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{}", path.display());
    }
}

#[test]
fn the_umask_of_the_agent_is_the_users_own() {
    let bench = Bench::new();
    let script = format!("umask 027; {REJOIN} run -o stream-json -a demo 'TOOL-RUN [umask]'");
    let said = Call::of(&bench, "sh", &["-c", &script]).done();
    assert_eq!(said.events_of("tool_result")[0]["output"], "0027\n");
}

#[test]
fn nothing_of_the_environment_is_recorded() {
    let bench = Bench::new();
    let secret = "s3cr3t-value-4711";
    bench.config(&format!("[agents.demo]\nenv = {{ API_KEY = \"{secret}-configured\" }}\n"));
    let call = bench.first("TOOL-RUN [true] MARK-a").env("OTHER_KEY", secret);
    let said = call.done();
    bench.next("REJECT MARK-b").env("OTHER_KEY", secret).done();
    bench.next("DIE").env("OTHER_KEY", secret).ends(1);
    assert!(!said.stdout().contains(secret));
    for path in bench.files() {
        let bytes = fs::read(bench.home().join(&path)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{}", path.display());
    }
}

#[test]
fn an_ephemeral_turn_leaves_nothing_here_nor_with_the_agent() {
    let bench = Bench::after_a_turn();
    let before = bench.files();
    let call = bench.rejoin(&["run", "-o", "stream-json", "-a", "demo", "--ephemeral", "hello MARK-x"]);
    let said = call.done();
    said.fresh("ephemeral", 0).knows(&["x"]);
    assert!(said.result()["conversation"].is_null(), "{}", said.result());
    assert_eq!(bench.files(), before);
}

#[test]
fn an_ephemeral_turn_of_a_conversation_knows_it_and_leaves_it_as_it_was() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let (before, journal) = (bench.files(), bench.journals().remove(0));
    let text = fs::read(&journal).unwrap();
    bench.next("what if MARK-x").with(&["--ephemeral"]).done().fresh("ephemeral", 1).knows(&["a", "x"]);
    assert_eq!((bench.files(), fs::read(&journal).unwrap()), (before, text));
    bench.next("on MARK-b").done().resumed(&first.session(), 0).knows(&["a", "b"]);
}

#[test]
fn an_ephemeral_turn_and_a_kept_session_exclude_each_other() {
    let bench = Bench::new();
    bench.first("x").with(&["--ephemeral", "--fresh-session"]).ends(2).tells(&["cannot be used with"]);
}

#[test]
fn a_failed_ephemeral_turn_promises_nothing() {
    let bench = Bench::new();
    let said = bench.rejoin(&["run", "-a", "demo", "--ephemeral", "FAIL server x"]).ends(1);
    assert!(!said.stderr().contains("what was said is kept"), "{}", said.stderr());
}

#[test]
fn looking_into_a_home_that_is_not_there_does_not_make_it() {
    let bench = Bench::new();
    for args in [
        &["ls"][..],
        &["ls", "--all-projects", "--json"],
        &["search", "x"],
        &["stats"],
        &["show"],
        &["fsck", "--all"],
        &["why"],
        &["rm", "@"],
        &["prune", "--older-than", "1d"],
        &["run", "-a", "demo", "--dry-run", "x"],
    ] {
        let said = bench.rejoin(args).command().output().unwrap();
        assert!([0, 4].contains(&said.status.code().unwrap()), "{args:?}: {said:?}");
        assert!(!bench.home().exists(), "{args:?}");
    }
    bench.first("now it is").done();
    assert!(bench.home().join("home-id").exists());
}
