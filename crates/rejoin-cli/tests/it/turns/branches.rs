//! `--checkpoint`: another branch is another history.

use crate::support::Bench;

#[test]
fn a_branch_inside_what_the_session_holds_turns_resume_off() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.next("one way MARK-b").done().resumed(&first.session(), 0);
    let branch = bench.next("another MARK-c").with(&["--checkpoint", &first.turn()]).done();
    branch.fresh("history_changed", 1).knows(&["a", "c"]);
    assert_ne!(branch.session(), first.session());
    assert!(!branch.sent().contains("MARK-b"), "what was left is not told");
    bench
        .next("on MARK-d")
        .done()
        .resumed(&branch.session(), 0)
        .sent_only("on MARK-d")
        .knows(&["a", "c", "d"]);
}

#[test]
fn going_back_to_the_other_branch_resumes_its_own_session() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let one = bench.next("one way MARK-b").done();
    bench.next("another MARK-c").with(&["--checkpoint", &first.turn()]).done();
    let back = bench.next("as before MARK-d").with(&["--checkpoint", &one.turn()]).done();
    back.resumed(&first.session(), 0).sent_only("as before MARK-d").knows(&["a", "b", "d"]);
}

#[test]
fn any_message_of_a_turn_means_its_end() {
    let bench = Bench::after_a_turn();
    bench.next("THINK TOOL-RUN [echo x] MARK-b").done();
    bench.next("more MARK-c").done();
    let turn = bench.show()["turns"][1].clone();
    for message in turn["messages"].as_array().unwrap() {
        let id = message["id"].as_str().unwrap();
        let plan = bench.rejoin(&["run", "-c", "--checkpoint", id, "--dry-run", "-o", "json", "x"]);
        assert_eq!(plan.done().json()["plan"]["replayed"], 2, "{message}");
    }
}

#[test]
fn a_branch_at_the_end_is_no_branch() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let said = bench.next("on MARK-b").with(&["--checkpoint", &first.turn()]).done();
    said.resumed(&first.session(), 0).sent_only("on MARK-b");
}

#[test]
fn a_branch_by_another_agent_leaves_the_first_ones_session_alone() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.hand_to("demo2", "one way MARK-b").done();
    let call = bench.hand_to("demo2", "another MARK-c").with(&["--checkpoint", &first.turn()]);
    call.done().fresh("history_changed", 1).knows(&["a", "c"]);
    let back = bench.hand_to("demo", "and you? MARK-d").done();
    back.resumed(&first.session(), 1).knows(&["a", "c", "d"]);
}
