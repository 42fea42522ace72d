//! Questions in the middle of a turn.

use std::fs;

use crate::support::{Bench, Screen};

#[test]
fn with_nobody_there_a_question_is_declined_and_the_turn_goes_on() {
    let bench = Bench::new();
    let said = bench.first("ASK MARK-a").done();
    let questions = said.events_of("question");
    assert_eq!((questions.len(), &questions[0]["text"]), (1, &"Tea or coffee?".into()));
    assert!(said.text("text").contains("Nobody answered my question."), "{}", said.text("text"));
    said.knows(&["a"]);
    let answered = said.events_of("question_answered");
    assert_eq!((&answered[0]["question"], &answered[0]["by"]), (&questions[0]["id"], &"nobody".into()));
    assert_eq!(bench.notes("question")[0]["options"][1]["id"], "2");
    assert_eq!(bench.notes("question_answered").len(), 1);
    bench.rejoin(&["run", "-a", "demo", "ASK"]).done();
}

#[test]
fn what_was_asked_and_answered_is_not_to_be_asked_again() {
    let bench = Bench::new();
    let first = bench.first("ASK MARK-a").done();
    let said = bench.next("next MARK-b").done();
    said.sent_with(&["was already answered or declined there: do not ask it again", "next MARK-b"]);
    said.knows(&["a", "b"]);
    assert_eq!(said.session(), first.session());
    // Once.
    assert_eq!(bench.next("last MARK-c").done().result()["bytes"], "last MARK-c".len());
}

/// A turn that ended, or was killed, while its agent waited.
#[test]
fn a_question_that_nobody_answered_is_shown_as_lost_with_its_options() {
    let bench = Bench::new();
    bench.first("ASK MARK-a").done();
    let answered = bench.rejoin(&["show"]).done();
    assert!(!answered.stdout().contains("Tea or coffee?"), "{}", answered.stdout());
    let text = fs::read_to_string(&bench.journals()[0]).unwrap();
    let asked = text.lines().find(|line| line.contains("\"subtype\":\"question\"")).unwrap();
    let mut lost: serde_json::Value = serde_json::from_str(asked).unwrap();
    lost["uuid"] = "10000000-0000-4000-8000-0000000000aa".into();
    lost["systemPayload"]["id"] = "another".into();
    lost["systemPayload"]["text"] = "Sure?\u{1b}]0;title\u{7}\nsecond line".into();
    // A copy of a record counts once.
    fs::write(&bench.journals()[0], format!("{text}{lost}\n{lost}\n")).unwrap();
    for shown in [&["show"][..], &["show", "--tree"]] {
        let said = bench.rejoin(shown).done();
        let lines: Vec<&str> = said.stdout().lines().filter(|line| line.contains("? asked")).collect();
        let [line] = lines[..] else { panic!("{}", said.stdout()) };
        assert!(line.contains("? asked, lost before anybody answered: Sure?"), "{line}");
        assert!(line.ends_with(" (tea / coffee)") && !line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn who_is_asked_at_a_terminal_and_does_not_answer_in_time_is_nobody() {
    let bench = Bench::new();
    let asks = "run -a demo --answer-timeout 3s 'ASK MARK-a'";
    let Some(mut screen) = Screen::open(&bench, asks) else { return };
    // What can be no answer is asked for again.
    screen.shows("(number or text, empty to decline)").types("1, 2\n").shows("only one option");
    screen.shows("nobody answered within 3 s: Tea or coffee?").shows("Nobody answered my question.");
    screen.ends(0);
    assert_eq!(bench.notes("question_answered")[0]["by"], "nobody");
    assert!(bench.notes("warning").iter().any(|warning| warning["code"] == "unanswered"));
}
