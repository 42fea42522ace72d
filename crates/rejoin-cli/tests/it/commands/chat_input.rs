//! What is typed into `rejoin chat`: lines, files, commands of the shell, and what was typed before.

use super::chat::prompts;
use crate::support::{Bench, Process, Screen, eventually};

const CTRL_C: &str = "\u{3}";
const CTRL_R: &str = "\u{12}";
const CTRL_U: &str = "\u{15}";
const ARROW_UP: &str = "\u{1b}[A";
const ALT_ENTER: &str = "\u{1b}\r";
const EDITOR_KEYS: &str = "\u{18}\u{5}";

#[test]
fn several_lines_are_one_prompt_typed_or_pasted() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", &format!("one\\\rtwo{ALT_ENTER}three")).shows("✓");
    screen.shows("demo › ").types("run \u{1b}[200~make \\\r  all\r\rthen this\u{1b}[201~ now\r").shows("✓");
    screen
        .says("demo", " /quit is a word")
        .shows("✓")
        .shows("demo › ")
        .types(ARROW_UP)
        .shows("then this now")
        .types(ARROW_UP)
        .types(CTRL_C);
    screen.says("demo", "/quit");
    screen.ends(0);
    assert_eq!(
        prompts(&bench.show()),
        ["one\ntwo\nthree", "run make \\\n  all\n\nthen this now", "/quit is a word"]
    );
}

#[test]
fn what_is_typed_during_a_turn_is_there_afterwards() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo 'SLOW 20'") else { return };
    screen.shows("piece 1").types("and then").shows("✓").shows("demo › and then").types(" MARK-a\r");
    screen.shows("marks=MARK-a").says("demo", "/quit");
    screen.ends(0);
    assert_eq!(prompts(&bench.show()), ["SLOW 20", "and then MARK-a"]);
}

#[test]
fn tab_completes_commands_agents_and_turns() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["branch", "@", "--at", "1", "--name", "sideways"]).done();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("demo › ").types("/ag\t").shows("/agent ").types("demo2\r").shows("next turn on demo2");
    screen
        .shows("demo2 › ")
        .types("/branch side\t")
        .shows("/branch sideways ")
        .types("\r")
        .shows("after turn 1");
    screen.shows("demo2 › ").types("/edit \t\t").shows("sideways  branch").shows("1  hello MARK-a");
    screen.shows("/edit ").types(CTRL_U).types("/quit\r");
    screen.ends(0);
}

#[test]
fn a_line_goes_to_the_editor_and_comes_back() {
    let bench = Bench::new();
    let editor = [("EDITOR", "sed -i s/first/second/")];
    let Some(mut screen) = Screen::with(&bench, "chat -a demo", &editor) else { return };
    screen.shows("demo › ").types("first MARK-a").shows("first MARK-a").types(EDITOR_KEYS);
    screen.shows("demo › second MARK-a").types("\r").shows("marks=MARK-a").shows("✓");
    screen.says("demo", "/quit");
    screen.ends(0);
    assert_eq!(prompts(&bench.show()), ["second MARK-a"]);
}

#[test]
fn without_an_editor_the_line_stays_as_it_was() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.shows("demo › ").types("keep me").shows("keep me").types(EDITOR_KEYS);
    screen.shows("no editor is known").shows("demo › keep me").types(CTRL_U).types("/quit\r");
    screen.ends(0);
}

#[test]
fn what_was_said_in_another_conversation_is_found_again() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo 'anything'") else { return };
    screen.shows("✓").says("demo", "a needle MARK-a").shows("✓").says("demo", "some hay").shows("✓");
    screen.says("demo", "/quit");
    screen.ends(0);
    let mut screen = Screen::open(&bench, "chat -a demo").unwrap();
    screen.shows("demo › ").types(CTRL_R).types("need").shows("a needle MARK-a").types("\r");
    screen.shows("new conversation").shows("marks=MARK-a").shows("✓").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn a_file_that_is_mentioned_goes_along() {
    let bench = Bench::new();
    bench.file("notes.txt", "some notes");
    bench.file("two words.txt", "more");
    bench.subdir("src");
    bench.file("src/main.rs", "fn main() {}");
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen
        .shows("demo › ")
        .types("read @not\t")
        .shows("@notes.txt ")
        .types("and @src/\t")
        .shows("@src/main.rs ");
    screen.types("but not @dataclass\r").shows("+ notes.txt").shows("+ main.rs").shows("✓");
    screen.shows("demo › ").types("this: @two\t").shows("@\"two words.txt\" ").types("\r");
    screen.shows("+ two words.txt").shows("✓").says("demo", "nothing now").shows("✓").says("demo", "/quit");
    screen.ends(0);
    let turns = bench.show()["turns"].clone();
    let parts = |turn: usize| turns[turn]["messages"][0]["parts"].as_array().unwrap().len();
    assert_eq!((parts(0), parts(1), parts(2)), (3, 2, 1));
    let said = prompts(&bench.show());
    assert_eq!(said[0], "read @notes.txt and @src/main.rs but not @dataclass");
}

#[test]
fn a_command_of_the_shell_is_told_only_with_two_marks() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "!echo for me").shows("\nfor me\n").says("demo", "one").shows("✓");
    screen.says("demo", "!!echo for you; false").shows("\nfor you\n").shows("✗ exit code 1");
    screen.shows("8 bytes of output go along with the next prompt").says("demo", "two").shows("✓");
    screen
        .says("demo", "!!echo taken back")
        .shows("go along")
        .says("demo", "/attach -")
        .shows("nothing goes along");
    screen.says("demo", "three").shows("✓").says("demo", " !is a word").shows("✓").says("demo", "/quit");
    screen.ends(0);
    let two = "two\n\n`echo for you; false` printed (exit code 1):\n```\nfor you\n```";
    assert_eq!(prompts(&bench.show()), ["one", two, "three", "!is a word"]);
}

#[test]
fn ctrl_c_ends_a_command_of_the_shell_and_nothing_else() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "!echo begun; sleep 60").shows("\nbegun\n");
    // A shell that is about to begin a command may not pass on that it should not.
    let sleeps = |process: &Process| process.command.starts_with("sleep 60");
    eventually("the sleep", || bench.processes().iter().any(sleeps).then_some(()));
    screen.types(CTRL_C).shows("✗ ");
    screen.says("demo", "still here MARK-a").shows("marks=MARK-a").shows("✓").says("demo", "/quit");
    screen.ends(0);
    bench.comes_to_rest();
}
