//! What keeps a session from being resumed, one guard each.

use std::fs;

use crate::support::{Bench, Call, fake_claude};

const REJOIN: &str = env!("CARGO_BIN_EXE_rejoin");

#[test]
fn another_directory_is_another_session_and_both_can_be_gone_back_to() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let web = bench.subdir("web");
    let there = bench.next("and here? MARK-b").with(&["--cwd", "web"]).done();
    there.fresh("workdir_changed", 1).knows(&["a", "b"]);
    let plan = there.result()["plan"].clone();
    assert_eq!((&plan["was"], &plan["now"]), (&path(&bench.project()), &path(&web)));
    let back = bench.next("back MARK-c").done();
    back.resumed(&first.session(), 1).knows(&["a", "b", "c"]);
    let again = bench.next("there MARK-d").with(&["--cwd", "web"]).done();
    again.resumed(&there.session(), 1).knows(&["a", "b", "c", "d"]);
}

fn path(path: &std::path::Path) -> serde_json::Value {
    path.to_str().unwrap().into()
}

#[test]
fn the_message_about_another_directory_names_both() {
    let bench = Bench::after_a_turn();
    bench.subdir("web");
    let said = bench.rejoin(&["run", "-c", "--cwd", "web", "x"]).env("HOME", bench.lab.root()).done();
    said.tells(&[
        "○ demo · fresh: working directory changed (was ~/project, now ~/project/web) · 1 turn replayed",
    ]);
}

#[test]
fn a_program_of_another_name_is_another_runtime() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let fork = bench.outside("bin").join("rejoin-fork");
    rejoin_testkit::copy_program(REJOIN.as_ref(), &fork).unwrap();
    let said = Call::of(&bench, &fork, &["run", "-o", "stream-json", "-c", "on MARK-b"]).done();
    said.fresh("runtime_changed", 1).knows(&["a", "b"]);
    let plan = &said.result()["plan"];
    assert_eq!(
        (&plan["was"], &plan["now"]),
        (&"rejoin (rejoin demo)".into(), &"rejoin-fork (rejoin demo)".into())
    );
    bench.next("on MARK-c").done().resumed(&first.session(), 1).knows(&["a", "b", "c"]);
}

#[test]
fn a_program_in_another_place_is_the_same_runtime() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let moved = bench.outside("bin").join("rejoin");
    rejoin_testkit::copy_program(REJOIN.as_ref(), &moved).unwrap();
    let said = Call::of(&bench, &moved, &["run", "-o", "stream-json", "-c", "on MARK-b"]).done();
    said.resumed(&first.session(), 0).sent_only("on MARK-b").knows(&["a", "b"]);
}

#[test]
fn a_configured_command_of_another_name_is_another_runtime() {
    let bench = Bench::new();
    let bin = bench.outside("bin");
    let use_command = |name: &str| {
        let command = fake_claude(&bin, name);
        bench.claude_is(&command, "");
    };
    use_command("claude");
    let first = bench.rejoin(&["run", "-o", "stream-json", "hello"]).done();
    bench.next("on").done().resumed(&first.session(), 0);
    use_command("openclaude");
    bench.next("on").done().fresh("runtime_changed", 2);
    use_command("claude");
    bench.next("on").done().resumed(&first.session(), 1);
}

#[test]
fn another_store_is_another_account() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let store = bench.outside("store");
    bench.config(&format!("[agents.demo]\nenv = {{ REJOIN_DEMO_STORE = '{}' }}\n", store.display()));
    let said = bench.next("on MARK-b").done();
    said.fresh("store_changed", 1).knows(&["a", "b"]);
    assert_eq!(said.result()["plan"]["now"], store.to_str().unwrap());
    bench.config("");
    bench.next("on MARK-c").done().resumed(&first.session(), 1).knows(&["a", "b", "c"]);
}

#[test]
fn a_copied_journal_is_inert_elsewhere() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let copy = bench.lab.root().join("copy");
    let status = bench.lab.run(bench.lab.command("cp").arg("-r").args([bench.home(), copy.clone()]), "");
    status.assert_success();
    fs::remove_file(copy.join("home-id")).unwrap();
    // Even with the very same store.
    let store = bench.home().join("demo-agent");
    bench.config(&format!("[agents.demo]\nenv = {{ REJOIN_DEMO_STORE = '{}' }}\n", store.display()));
    let said = bench.next("on MARK-b").env("REJOIN_HOME", &copy).done();
    said.fresh("store_changed", 1).knows(&["a", "b"]);
    assert_ne!(said.session(), first.session());
    bench.config("");
    bench.next("here MARK-c").done().resumed(&first.session(), 0).knows(&["a", "c"]);
}

#[test]
fn a_restored_snapshot_goes_on() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let snapshot = bench.lab.root().join("snapshot");
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        bench.lab.run(bench.lab.command("cp").arg("-a").args([from, to]), "").assert_success();
    };
    copy(&bench.home(), &snapshot);
    fs::remove_dir_all(bench.home()).unwrap();
    copy(&snapshot, &bench.home());
    let said = bench.next("on MARK-b").env("HOSTNAME", "another-host").done();
    said.resumed(&first.session(), 0).sent_only("on MARK-b").calm();
}

#[test]
fn a_stored_session_that_is_gone_is_noticed_before_launch() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    fs::remove_file(bench.stored("demo", &first.session())).unwrap();
    let said = bench.next("on MARK-b").done();
    said.fresh("session_missing", 1).knows(&["a", "b"]);
    assert_eq!(said.result()["runs"], 1, "not by trying");
    assert_ne!(said.session(), first.session());
    bench.next("on MARK-c").done().resumed(&said.session(), 0).sent_only("on MARK-c");
}

/// An older copy was put back, or the machine lost power: it would go on without what was said since.
#[test]
fn a_stored_session_that_lacks_its_end_is_not_resumed() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let file = bench.stored("demo", &first.session());
    let older = fs::read(&file).unwrap();
    bench.next("on MARK-b").done().resumed(&first.session(), 0);
    fs::write(file, older).unwrap();
    bench.next("and on MARK-c").done().fresh("session_missing", 2).knows(&["a", "b", "c"]);
}

/// After a loss of power a file may have its size and zeros for what was in it.
#[test]
fn a_stored_session_that_holds_zeros_is_not_taken_for_one_that_was_used_elsewhere() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let file = bench.stored("demo", &first.session());
    let size = fs::metadata(&file).unwrap().len();
    fs::write(file, vec![0; size as usize]).unwrap();
    let said = bench.next("on MARK-b").done();
    said.fresh("session_missing", 1).knows(&["a", "b"]);
    assert_eq!(said.result()["plan"]["why"], "it holds zeros where words should be");
    assert!(said.result()["warnings"].is_null(), "{}", said.result());
}

#[test]
fn a_session_that_was_named_but_never_stored_is_not_resumed_blindly() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a DIE-EARLY").ends(1);
    first.came_to("failed", Some("no_result"));
    assert_eq!(bench.show()["pins"][0]["state"], "tentative");
    let said = bench.next("again MARK-b").done();
    said.fresh("session_unconfirmed", 1).knows(&["a", "b"]);
}

#[test]
fn a_journal_of_a_newer_version_is_read_as_far_as_understood() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let journal = bench.journals().remove(0);
    let last = bench.records().pop().unwrap();
    let mut future = last.clone();
    future["uuid"] = "11111111-1111-4111-8111-111111111111".into();
    future["subtype"] = "from_the_future".into();
    future["systemPayload"] = serde_json::json!({ "anything": [1, 2, 3] });
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{text}{future}\n")).unwrap();
    let said = bench.next("on MARK-b").done();
    said.resumed(&first.session(), 0).knows(&["a", "b"]);
    assert!(said.warned("journal").contains("newer"), "and that is told");
    let kept = fs::read_to_string(&journal).unwrap();
    assert!(kept.starts_with(&format!("{text}{future}\n")), "nothing was rewritten");
}
