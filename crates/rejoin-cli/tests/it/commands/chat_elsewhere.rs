//! `rejoin chat` while others go on with the same conversation.

use super::chat::prompts;
use super::screens::unreadable;
use crate::support::{Bench, Screen};

const CTRL_U: &str = "\u{15}";

#[test]
fn turns_made_elsewhere_appear_above_what_is_typed() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("next turn on demo").shows("demo › ").types("half a sen").shows("half a sen");
    bench.next("elsewhere MARK-b TOOL-RUN [echo hi] TOOL-RUN [false]").done();
    screen.shows("demo › elsewhere MARK-b").shows("● demo · resumed").shows("turn 2").shows("· elsewhere");
    screen.shows("✓ shell echo hi\n").shows("✗ shell false").shows("marks=MARK-a,MARK-b").shows("✓ ");
    screen
        .shows("demo › half a sen")
        .types("tence MARK-c\r")
        .shows("turn 3")
        .shows("MARK-b,MARK-c")
        .shows("✓");
    // One's own turn was seen when it was made.
    screen.says("demo", "/name done").shows("is called").shows("demo › ").types(CTRL_U).types("/quit\r");
    let text = screen.ends(0);
    assert_eq!(text.matches("demo · resumed").count(), 2, "{text}");
    assert_eq!(text.matches("· elsewhere").count(), 1, "{text}");
    assert_eq!(prompts(&bench.show())[2], "half a sentence MARK-c");
}

#[test]
fn a_conversation_that_begins_here_is_followed_from_its_second_turn() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo 'one MARK-a'") else { return };
    screen.shows("✓").shows("demo › ");
    bench.hand_to("demo2", "two MARK-b").done();
    screen
        .shows("demo2 › two MARK-b")
        .shows("○ demo2 · fresh")
        .shows("· elsewhere")
        .shows("marks=MARK-a,MARK-b");
    screen.shows("demo › ").types("/new\r").shows("a new conversation").shows("demo › ");
    bench.next("three MARK-c").done();
    // What is said in a conversation that was left is nobody's business here.
    screen.types("four MARK-d\r").shows("new conversation").shows("marks=MARK-d").says("demo", "/quit");
    let text = screen.ends(0);
    assert!(!text.contains("demo › one MARK-a"), "{text}");
    assert!(!text.contains("MARK-c"), "{text}");
}

#[test]
fn changes_made_elsewhere_are_told_and_own_ones_are_not() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.says("demo", "/name mine").shows("is called \"mine\" now").shows("demo › ");
    bench.rejoin(&["name", "@", "theirs"]).done();
    screen.shows("elsewhere: it is called \"theirs\" now").shows("demo › ");
    bench.rejoin(&["rewind", "@", "1"]).done();
    screen.shows("elsewhere: the next turn goes on after ").shows("demo › ").types("three MARK-c\r");
    screen.shows("fresh: ").shows("marks=MARK-a,MARK-c").says("demo", "/quit");
    let text = screen.ends(0);
    assert!(!text.contains("elsewhere: it is called \"mine\""), "{text}");
}

#[test]
fn who_does_the_next_turn_is_whom_the_prompt_names() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("next turn on demo").shows("demo › ");
    bench.hand_to("demo2", "two MARK-b").done();
    screen.shows("marks=MARK-a,MARK-b").shows("demo › ").types("three MARK-c\r");
    screen
        .shows("● demo · resumed")
        .shows("told 1 turn it missed")
        .shows("MARK-b,MARK-c")
        .says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn a_question_asked_elsewhere_is_seen_and_not_asked_again() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("next turn on demo").shows("demo › ");
    bench.next("ASK MARK-b").done();
    screen.shows("? Tea or coffee? (asked elsewhere; Enter answers it)").shows("declined").shows("✓ ");
    screen
        .says("demo", "/answer")
        .shows("nothing waits for an answer")
        .says("demo", "")
        .says("demo", "/quit");
    screen.ends(0);
}

/// Somebody at the prompt, and somebody else whose turn asks.
fn asked_elsewhere(bench: &Bench) -> Option<(Screen, Screen)> {
    let mut here = Screen::open(bench, "chat -c")?;
    here.shows("next turn on demo").shows("demo › ");
    let mut there = Screen::open(bench, "chat -c 'ASK MARK-b'")?;
    there.shows("? Tea or coffee?").shows("Esc declines");
    here.shows("? Tea or coffee? (asked elsewhere; Enter answers it)").shows("demo › ");
    Some((here, there))
}

#[test]
fn a_question_asked_elsewhere_is_answered_here_by_the_same_menu() {
    let bench = Bench::after_a_turn();
    let Some((mut here, mut there)) = asked_elsewhere(&bench) else { return };
    here.types("\r").shows("› 1 tea").shows("Esc leaves it open").types("2").shows("answered: coffee");
    there.shows("answered: coffee (elsewhere, by chat)").shows("You answered “coffee”.");
    here.shows("You answered “coffee”.").shows("✓ ").says("demo", "/quit");
    assert_eq!([unreadable(&here), unreadable(&there)].concat(), [""; 0]);
    there.says("demo", "/quit");
    there.ends(0);
    let text = here.ends(0);
    assert_eq!(text.matches("answered: coffee").count(), 1, "it is said once: {text}");
}

#[test]
fn words_that_come_while_the_agent_asks_elsewhere_are_kept_and_told_of_the_way() {
    let bench = Bench::after_a_turn();
    let Some((mut here, mut there)) = asked_elsewhere(&bench) else { return };
    here.types("and then\r").shows("the agent waits for an answer elsewhere: Tea or coffee?");
    here.shows("`/answer`").shows("demo › and then");
    assert!(!here.raw().contains("--wait"), "{}", here.raw());
    here.types("\u{3}").says("demo", "/answer").shows("Esc leaves it open").types("1").shows("answered: tea");
    here.shows("You answered “tea”.").says("demo", "/quit");
    there.shows("You answered “tea”.").says("demo", "/quit");
    here.ends(0);
    there.ends(0);
}

#[test]
fn of_two_who_answer_the_first_one_stands_and_the_other_is_told() {
    let bench = Bench::after_a_turn();
    let Some((mut here, mut there)) = asked_elsewhere(&bench) else { return };
    here.types("/answer\r").shows("Esc leaves it open");
    there.types("1").shows("answered: tea");
    here.shows("somebody else was faster: answered: tea").shows("You answered “tea”.");
    here.says("demo", "/quit").shows("kept");
    there.says("demo", "/quit");
    here.ends(0);
    there.ends(0);
}

#[test]
fn a_question_that_is_left_open_waits_and_whoever_comes_later_sees_it() {
    let bench = Bench::after_a_turn();
    let Some((mut here, mut there)) = asked_elsewhere(&bench) else { return };
    here.types("\r").shows("Esc leaves it open").types("\u{3}").shows("left open");
    here.says("demo", "/quit");
    here.ends(0);
    let Some(mut late) = Screen::open(&bench, "chat -c") else { return };
    late.shows("? Tea or coffee? (asked elsewhere; Enter answers it)").says("demo", "");
    late.shows("Esc leaves it open").types("milk\r").shows("answered: milk");
    there.shows("You answered “milk”.").says("demo", "/quit");
    late.shows("You answered “milk”.").says("demo", "/quit");
    there.ends(0);
    late.ends(0);
}
