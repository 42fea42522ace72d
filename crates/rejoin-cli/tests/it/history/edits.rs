//! `edit`: a new wording is a new revision, seen by whoever saw the old one.

use crate::support::Bench;

fn edit<'a>(bench: &'a Bench, message: &'a str, text: &str) -> crate::support::Call<'a> {
    bench.rejoin(&["edit", "@", message, "-f", "-"]).given(text)
}

#[test]
fn an_edit_inside_the_slice_turns_resume_off_and_is_told_in_its_new_wording() {
    let bench = Bench::new();
    bench.first("colour it MARK-a").done();
    bench.next("more MARK-b").done();
    edit(&bench, "1", "paint it MARK-x").done().tells(&["new wording", "rejoin why"]);
    let said = bench.next("on MARK-c").done();
    said.fresh("history_changed", 2).sent_with(&["paint it MARK-x", "more MARK-b"]);
    assert!(!said.sent().contains("\ncolour it MARK-a\n"), "{}", said.sent());
    let shown = bench.show();
    assert_eq!(shown["turns"].as_array().unwrap().len(), 3, "later turns are kept");
    assert_eq!((&shown["turns"][0]["revision"], &shown["turns"][1]["revision"]), (&1.into(), &0.into()));
    assert!(bench.rejoin(&["show"]).done().stdout().contains("> paint it MARK-x"));
    assert!(
        bench.rejoin(&["show", "--raw"]).done().stdout().contains("colour it"),
        "the old words stay in the file"
    );
    bench.next("and on MARK-d").done().resumed(&said.session(), 0);
}

#[test]
fn an_edit_of_another_agents_turn_under_scope_own_leaves_resume_on() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").with(&["--scope", "own"]).done();
    bench.hand_to("demo2", "two MARK-b").done();
    edit(&bench, "2", "two, reworded").done();
    bench.hand_to("demo", "three MARK-c").done().resumed(&first.session(), 0).knows(&["a", "c"]);
    bench.hand_to("demo2", "four MARK-d").done().fresh("history_changed", 1);
}

#[test]
fn running_the_boundary_turn_of_another_agent_again_takes_back_what_came_after_it() {
    let bench = Bench::new();
    bench.first("one MARK-a").with(&["--scope", "own"]).done();
    bench.hand_to("demo2", "two MARK-b").done();
    let third = bench.hand_to("demo", "three MARK-c").done();
    assert_eq!(third.result()["plan"]["decision"], "resume");
    bench.rejoin(&["retry", "@", "--at", "2", "-o", "stream-json"]).done();
    let after = bench.hand_to("demo", "four MARK-d").done();
    after.fresh("history_changed", 1).knows(&["a", "d"]);
}

#[test]
fn an_edit_after_what_a_session_holds_is_only_caught_up() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").done();
    bench.hand_to("demo2", "two MARK-b").done();
    edit(&bench, "2", "two, reworded MARK-x").done();
    let back = bench.hand_to("demo", "three MARK-c").done();
    back.resumed(&first.session(), 1).sent_with(&["two, reworded MARK-x"]);
}

#[test]
fn an_answer_can_be_edited_and_keeps_its_tool_calls() {
    let bench = Bench::new();
    bench.first("TOOL-RUN [echo hi] MARK-a").done();
    let messages = bench.show()["turns"][0]["messages"].clone();
    let messages = messages.as_array().unwrap();
    let called =
        messages.iter().find(|message| message["parts"].to_string().contains("functionCall")).unwrap();
    edit(&bench, called["id"].as_str().unwrap(), "I ran something.").done();
    let parts = bench.show()["turns"][0]["messages"][1]["parts"].clone();
    assert_eq!(parts[0]["text"], "I ran something.");
    assert!(parts.to_string().contains("functionCall"), "{parts}");
    let result = messages.iter().find(|message| message["type"] == "tool_result").unwrap();
    edit(&bench, result["id"].as_str().unwrap(), "x").ends(2).tells(&["cannot be edited"]);
}

#[test]
fn the_same_words_are_no_edit() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").done();
    let before = bench.records().len();
    edit(&bench, "@", "one MARK-a").done().tells(&["nothing changed"]);
    assert_eq!(bench.records().len(), before);
    bench.next("two MARK-b").done().resumed(&first.session(), 0);
    bench.rejoin(&["edit", "@", "1"]).ends(2).tells(&["-f FILE"]);
    edit(&bench, "1", " \n").ends(2).tells(&["empty"]);
    edit(&bench, "1", "x").with(&["--dry-run"]).ends(2).tells(&["--from-here"]);
    assert_eq!(bench.show()["turns"][0]["revision"], 0);
    edit(&bench, "9", "x").ends(4);
}

#[test]
fn from_here_leaves_the_turn_and_runs_the_new_words_beside_it() {
    let bench = Bench::new();
    bench.first("one MARK-a").done();
    bench.next("two MARK-b").done();
    bench.next("three MARK-c").done();
    let call = bench.rejoin(&["edit", "@", "2", "--from-here", "-f", "-", "-o", "stream-json"]);
    call.given("two, better MARK-x").done().fresh("history_changed", 1).knows(&["a", "x"]);
    let shown = bench.rejoin(&["show", "--tree", "--json"]).done().json();
    let turns = shown["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 4);
    assert_eq!(turns[3]["parent"], turns[0]["id"]);
    assert_eq!(turns[1]["revision"], 0, "the old turn is as it was");
    let answer = turns[1]["messages"][1]["id"].as_str().unwrap();
    bench
        .rejoin(&["edit", "@", answer, "--from-here", "-f", "-"])
        .given("x")
        .ends(2)
        .tells(&["only a prompt"]);
    let first = bench.rejoin(&["edit", "@", "1", "--from-here", "-f", "-", "-o", "stream-json"]);
    first.given("one, better MARK-y").done().fresh("first_turn", 0).knows(&["y"]);
}

#[test]
fn the_id_of_an_answer_is_shown_where_it_can_be_used() {
    let bench = Bench::after_a_turn();
    let plain = bench.rejoin(&["show"]).done();
    let said = bench.rejoin(&["show", "--ids"]).done();
    let new: Vec<&str> = said.stdout().lines().filter(|line| !plain.stdout().contains(line)).collect();
    let [id] = new.as_slice() else { panic!("one answer, one id: {}", said.stdout()) };
    let id = id.trim_matches(['[', ']']);
    edit(&bench, id, "as you say").done();
    assert!(bench.rejoin(&["show"]).done().stdout().contains("\nas you say\n"));
}

#[test]
fn an_edit_that_is_too_long_is_refused_like_a_prompt_that_is() {
    let bench = Bench::after_a_turn();
    let before = std::fs::read(&bench.journals()[0]).unwrap();
    edit(&bench, "1", &"\u{1}".repeat(3 << 20))
        .ends(2)
        .tells(&["too long for a journal", "nothing was written"]);
    assert_eq!(std::fs::read(&bench.journals()[0]).unwrap(), before);
}
