//! Answers on a terminal: rendered, in lines that fit, in `run` and in `show`; and the pager.

use super::screens::unreadable;
use super::status_line::settled;
use crate::support::{Bench, Screen};

const ANSWER: &str = "# The parser, mended

The bug was in **`parser.rs`**: it took `*.rs` for *emphasis*. See https://example.org/a_b_c, or \
[the docs](https://example.org/docs).

- one thing, which is described at such a length that it does not fit on a line
  - a nested one

| file | lines | what was done |
|:-----|------:|:-------------:|
| `parser.rs` | 12 | the loop now ends where the text ends, and not one character before |
| lexer.rs | 1,204 | nothing |

```rust
fn main() {} // not wrapped, however long this line of code may be, since it is code
```

> A quotation that goes on until the line is full.
";

fn on_screen(bench: &Bench, args: &str, columns: usize) -> Option<Screen> {
    Screen::sized(bench, args, &[("PAGER", "cat"), ("TZ", "UTC")], (columns, 60))
}

#[test]
fn an_answer_is_rendered_where_it_is_seen_and_as_it_came_elsewhere() {
    let bench = Bench::new();
    bench.file("answer.md", ANSWER);
    for columns in [40, 80, 200] {
        let Some(mut screen) = on_screen(&bench, "run -a demo 'RECITE answer.md MARK-a'", columns) else {
            return;
        };
        let _guards = settled(&bench);
        screen.shows("code=0");
        insta::assert_snapshot!(format!("answer_at_{columns}_columns"), screen.picture());
        assert_eq!(unreadable(&screen), [""; 0]);
        assert!(screen.raw().contains("\u{1b}[35mfn\u{1b}[0m"), "code has colours: {:?}", screen.raw());
        screen.ends_here();
    }
    let mut screen = on_screen(&bench, "run -a demo --plain 'RECITE answer.md'", 200).unwrap();
    let picture = screen.shows("code=0").picture();
    assert!(ANSWER.trim_end().lines().all(|line| picture.contains(line)), "{picture}");
    screen.ends_here();
    let piped = bench.rejoin(&["run", "-a", "demo", "RECITE answer.md"]).done();
    assert!(piped.stdout().starts_with(ANSWER), "{}", piped.stdout());
    let piped = bench.rejoin(&["show"]).done();
    assert!(piped.stdout().contains(ANSWER.trim_end()), "{}", piped.stdout());
}

#[test]
fn show_tells_who_said_what_in_lines_that_fit() {
    let bench = Bench::new();
    bench.file("answer.md", ANSWER);
    bench.first("look at it, and then say at some length what there is to be done about it MARK-a").done();
    bench.next("THINK TOOL-RUN [echo one; echo two] RECITE answer.md").done();
    bench.next("TOOL-RUN [ls /nowhere]").done();
    bench.hand_to("demo2", "MARK-b FAIL quota come back tomorrow").ends(1);
    for columns in [40, 80, 200] {
        let Some(mut screen) = on_screen(&bench, "show", columns) else { return };
        let _guards = settled(&bench);
        screen.shows("code=0");
        insta::assert_snapshot!(format!("show_at_{columns}_columns"), screen.picture());
        screen.ends_here();
    }
    let _guards = settled(&bench);
    let mut screen = on_screen(&bench, "show --tree", 80).unwrap();
    insta::assert_snapshot!("tree_at_80_columns", screen.shows("code=0").picture());
    screen.ends_here();
}

#[test]
fn an_edited_turn_is_marked_and_has_both_wordings_on_request() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["edit", "@", "1", "-f", "-"]).given("another wording").done();
    let shown = bench.rejoin(&["show"]).done();
    assert!(shown.stdout().contains(" · ✎ edited · "), "{}", shown.stdout());
    assert!(!shown.stdout().contains("hello MARK-a"), "{}", shown.stdout());
    let both = bench.rejoin(&["show", "--originals"]).done();
    let words = "> another wording\n  before it was edited:\n  ┊ hello MARK-a\n";
    assert!(both.stdout().contains(words), "{}", both.stdout());
}

#[test]
fn times_stand_beside_what_was_said() {
    let bench = Bench::new();
    bench.first("TOOL-RUN [true]").done();
    let said = bench.rejoin(&["show", "--times"]).env("TZ", "UTC").done();
    let turn = bench.show()["turns"][0].clone();
    let begun = turn["tool_calls"][0]["timestamp"].as_str().unwrap().to_owned();
    let clock = &begun[11..19];
    assert!(said.stdout().contains(&format!("⚙ shell true ✓ · {clock}\n")), "{}", said.stdout());
    assert!(said.stdout().contains(&format!(" · {} ", &begun[..10])), "{}", said.stdout());
    assert!(said.stdout().contains(&format!("[{}", &clock[..5])), "{}", said.stdout());
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let bench = Bench::new();
    bench.file("long.txt", "a line\n".repeat(40));
    bench.first("RECITE long.txt").done();
    let paged = |args: &str, pager: &str| {
        let mut screen = Screen::with(&bench, args, &[("NO_COLOR", "1"), ("PAGER", pager)])?;
        let picture = screen.shows("code=0").picture();
        screen.ends_here();
        Some(picture)
    };
    let Some(picture) = paged("show", "echo \"with LESS=$LESS\"; sed 's/^/P /'") else { return };
    assert!(picture.starts_with("with LESS=FRX\nP conversation "), "{picture}");
    assert_eq!(picture.matches("P a line\n").count(), 40, "{picture}");
    let sed = "sed 's/^/P /'";
    for (args, pager) in [("show --no-pager", sed), ("--no-pager show", sed), ("ls", sed), ("show", "")] {
        let picture = paged(args, pager).unwrap();
        assert!(!picture.contains("P "), "{args}, {pager:?}: {picture}");
    }
    let picture = paged("show", "no-such-pager").unwrap();
    assert_eq!(picture.matches("a line\n").count(), 40, "what cannot be paged is printed: {picture}");
    for _ in 0..30 {
        bench.first("another one").done();
    }
    assert!(paged("ls", "sed 's/^/P /'").unwrap().contains("P id "));
}
