//! The commands at the prompt of `rejoin chat`.

use std::fs;

use serde_json::Value;

use super::chat::prompts;
use crate::support::{Bench, Screen};

const CTRL_C: &str = "\u{3}";
const ESC: &str = "\u{1b}";

#[test]
fn what_else_can_be_done_is_done_as_in_the_shell() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "/rewind").shows("nothing was said yet, so there is nothing to /rewind");
    screen.says("demo", "one MARK-a").shows("✓").says("demo", "two MARK-b").shows("✓");
    screen.says("demo", "/agnet").shows("there is no /agnet; did you mean \"/agent\"?");
    screen.says("demo", "/agent dmeo").shows("unknown agent \"dmeo\"").shows("did you mean \"demo\"?");
    screen.says("demo", "/agent").shows("● demo\n").shows("demo2");
    screen.says("demo", "/why").shows("next turn on demo: resume").shows("✓ history unchanged");
    screen.says("demo", "/name the parser").shows("is called \"the parser\" now");
    screen.says("demo", "/rewind 1").shows("goes on after turn 1").shows("fresh: history changed since");
    screen.says("demo", "other MARK-c").shows("fresh: ").shows("marks=MARK-a,MARK-c").shows("✓");
    screen.says("demo", "/branch").shows("two MARK-b").shows("← head");
    screen.says("demo", "/fresh").shows("begins a new session");
    screen.says("demo", "three MARK-d").shows("fresh: ").shows("2 turns replayed").shows("✓");
    screen.says("demo", "four MARK-e").shows("resumed").shows("✓");
    screen.says("demo", "/retry").shows("fresh: ").shows("✓");
    screen.says("demo", "/show -n 1").shows("── turn 4 · demo").shows("> four MARK-e");
    screen
        .says("demo", "/rewind --two")
        .shows("unexpected argument '--two'")
        .shows("/rewind [TURNS | MESSAGE]");
    screen.says("demo", "/retry --dry-run").shows("--dry-run is for one turn");
    screen.says("demo", "/agent demo2").shows("next turn on demo2: fresh: no session of this agent");
    screen.says("demo2", "five MARK-f").shows("○ demo2 · fresh").shows("✓");
    screen.says("demo2", "/help").shows("/model [NAME]").shows("Ctrl-D leaves");
    screen.says("demo2", "/etc/hosts is a path").shows("● demo2 · resumed").shows("✓");
    screen.says("demo2", "/exit");
    screen.ends(0);
    let conversation = bench.show();
    assert_eq!(conversation["name"], "the parser");
    let said =
        ["one MARK-a", "other MARK-c", "three MARK-d", "four MARK-e", "five MARK-f", "/etc/hosts is a path"];
    assert_eq!(prompts(&conversation), said);
}

#[test]
fn an_edit_is_made_at_the_prompt_where_no_editor_is_known() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo 'one MARK-a'") else { return };
    screen.shows("✓").says("demo", "/edit 1").shows("edit › one MARK-a").types("z\r");
    screen.shows("has a new wording").shows("next turn on demo: fresh: history changed since");
    screen
        .says("demo", "/edit @ --from-here")
        .shows("edit › one MARK-az")
        .types("y\r")
        .shows("marks=MARK-azy");
    screen
        .says("demo", "/edit")
        .shows("edit › ")
        .types(CTRL_C)
        .shows("nothing changed")
        .says("demo", "/quit");
    screen.ends(0);
    assert_eq!(prompts(&bench.show()), ["one MARK-azy"]);
}

#[test]
fn new_begins_another_conversation_and_keeps_this_one() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo2 --permissions read") else { return };
    screen.says("demo2", "one MARK-a").shows("✓").says("demo2", "/new").shows("kept: `rejoin chat -r ");
    screen
        .shows("a new conversation with demo2")
        .says("demo2", "two MARK-b")
        .shows("○ demo2 · new conversation");
    screen
        .shows("marks=MARK-b")
        .shows("✓")
        .says("demo2", "/new three MARK-c")
        .shows("marks=MARK-c")
        .shows("✓");
    screen.says("demo2", "/quit");
    screen.ends(0);
    assert_eq!(bench.journals().len(), 3);
    assert_eq!(prompts(&bench.show()), ["three MARK-c"]);
    // What was named for the chat counts in the new one, too: a new conversation is no way out.
    let ceilings: Vec<Value> = bench.conversations().iter().map(|listed| ceiling(&bench, listed)).collect();
    assert_eq!(ceilings, ["read", "read", "read"]);
}

/// The level of permissions that was named last in a conversation.
fn ceiling(bench: &Bench, listed: &Value) -> Value {
    let raw = bench.rejoin(&["show", "--raw", listed["id"].as_str().unwrap()]).done();
    let mut records = raw.stdout().lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named = records.rfind(|record| record["subtype"] == "permissions");
    named.map(|record| record["systemPayload"]["ceiling"].clone()).unwrap_or_default()
}

#[test]
fn another_conversation_is_picked_or_named() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["name", "@", "the first"]).done();
    bench.first("other MARK-b").done();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen.shows("other MARK-b").says("demo", "/ls").shows("2/2 · Enter goes on with it").types(ESC);
    screen.says("demo", "/ls").shows("2/2 · Enter goes on with it").types("first").shows("1/2").types("\r");
    screen.shows("kept: `rejoin chat -r ").shows("Resumed session").shows("demo › hello MARK-a");
    screen.says("demo", "go on MARK-c").shows("marks=MARK-a,MARK-c").shows("✓");
    let other = bench.conversations()[1]["id"].as_str().unwrap()[..8].to_owned();
    screen.says("demo", &format!("/ls {other}")).shows("Resumed session").shows("demo › other MARK-b");
    // What nobody is called is what the list is filtered by.
    screen.says("demo", "/ls the fir").shows("1/2").types("\r").shows("the first").shows("MARK-c");
    screen.shows("demo › ").types("/ls the\t").shows("/ls the first ").types("\r");
    screen.says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn what_the_agent_may_do_is_named_and_kept() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "/permissions").shows("no level was named");
    screen
        .says("demo", "/permissions raed")
        .shows("not a permission level")
        .shows("did you")
        .shows("mean \"read\"?");
    screen.shows("demo › ").types("/permissions re\t").shows("/permissions read ").types("\r");
    screen.shows("permissions of the next turns: read").says("demo", "one MARK-a").shows("✓");
    screen.says("demo", "/quit");
    screen.ends(0);
    assert_eq!(bench.notes("permissions")[0]["ceiling"], "read");
    let mut screen = Screen::open(&bench, "chat -c").unwrap();
    screen.says("demo", "/permissions").shows("permissions of this conversation: read").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn files_are_attached_to_the_next_prompt() {
    let bench = Bench::new();
    bench.file("notes.txt", "some notes");
    bench.file("two words.txt", "more");
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "/attach").shows("nothing goes along");
    screen.says("demo", "/attach nowhere.txt").shows("nowhere.txt");
    screen.says("demo", "/attach notes.txt").shows("+ notes.txt goes along").says("demo", "/attach -");
    screen.shows("nothing goes along").shows("demo › ").types("/attach no\t").shows("/attach notes.txt ");
    screen.types("two\t").shows("two\\ words.txt ").types("\r").shows("+ notes.txt").shows("+ two words.txt");
    screen
        .says("demo", "read @notes.txt")
        .shows("+ notes.txt · text/plain")
        .shows("+ two words.txt")
        .shows("✓");
    screen.says("demo", "and now").shows("✓").says("demo", "/quit");
    screen.ends(0);
    let turns = bench.show()["turns"].clone();
    let parts = |turn: usize| turns[turn]["messages"][0]["parts"].as_array().unwrap().len();
    assert_eq!((parts(0), parts(1)), (3, 1));
}

#[test]
fn the_tree_and_what_it_cost_are_shown() {
    let bench = Bench::after_a_turn();
    let Some(mut screen) = Screen::open(&bench, "chat -c") else { return };
    screen
        .says("demo", "two MARK-b")
        .shows("✓")
        .says("demo", "/cost")
        .shows("last turn     1 turn, 1 resumed · ");
    screen
        .shows("this path     2 turns, 1 resumed · ")
        .shows(" out · ")
        .says("demo", "/rewind 1")
        .shows("goes on");
    screen.says("demo", "three MARK-c").shows("✓").says("demo", "/cost").shows("all branches  3 turns");
    screen.says("demo", "/tree").shows("two MARK-b").shows("three MARK-c").shows("← head");
    screen.says("demo", "/tree x").shows("/tree takes nothing behind it").says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn an_answer_is_copied_by_the_terminal_where_nothing_else_can() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "/copy").shows("nothing was said yet").says("demo", "one").shows("✓");
    screen.says("demo", "/copy").shows("handed to the terminal").says("demo", "/copy 7").shows("7");
    // "I am the demo agent"
    assert!(screen.raw().contains("\u{1b}]52;c;SSBhbSB0aGUgZGVtbyBhZ2VudC"), "{:?}", screen.raw());
    screen.says("demo", "/quit");
    screen.ends(0);
}

#[test]
fn the_conversation_is_exported_as_the_name_of_the_file_says() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::open(&bench, "chat -a demo") else { return };
    screen.says("demo", "one MARK-a").shows("✓").says("demo", "/export 'my talk.html'").shows("is in ");
    screen.says("demo", "/export").shows("is in ").says("demo", "/export --format docx").shows("docx");
    screen.says("demo", "/export talk.json --redact").shows("redacted").says("demo", "/quit");
    screen.ends(0);
    let read = |name: &str| fs::read_to_string(bench.project().join(name)).unwrap();
    assert!(read("my talk.html").contains("<html") && read("my talk.html").contains("MARK-a"));
    let id = bench.show()["id"].as_str().unwrap()[..8].to_owned();
    assert!(read(&format!("rejoin-{id}.md")).contains("one MARK-a"));
    let json: Value = serde_json::from_str(&read("talk.json")).unwrap();
    assert_eq!(prompts(&json), ["one MARK-a"]);
}

#[test]
fn help_fits_a_narrow_terminal() {
    let bench = Bench::new();
    let Some(mut screen) = Screen::sized(&bench, "chat -a demo", &[], (40, 24)) else { return };
    screen
        .says("demo", "/help")
        .shows("/permissions [LEVEL]\n    what the agent may do: read, edit,\n    full, agent\n");
    screen.says("demo", "/quit");
    screen.ends(0);
}
