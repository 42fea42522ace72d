//! Whatever a prompt looks like, the model gets exactly its text.

use super::stage::Stage;

on_all!(
    a_long_one: ["300 KiB prompt"],
    one_that_looks_like_a_flag: ["prompt with -"],
    one_that_looks_like_a_command: ["prompt with / or !"],
    one_that_names_a_file: ["prompt with @"],
    quoted_history_does_not_act: ["quoted history"],
);
on_both!(odd_characters);

/// The first line of the file in the project that must not be inlined.
const FILE_TEXT: &str = "# A project for tests";

fn a_long_one(stage: &Stage) {
    let long = |mark: &str| format!("{}\nMARK-{mark}\n", "a line of some length é\n".repeat(12_500));
    assert!(long("one").len() > 300 << 10);
    let first = stage.first(&long("one")).go().done().verbatim(&long("one"));
    let second = stage.next(&long("two")).go().done().resumed(&first.session(), 0);
    second.verbatim(&long("two")).remembered(2, ["one", "two"]);
}

/// Both on the first turn and on a resumed one.
#[track_caller]
fn reach_the_model_as_text(stage: &Stage, prompts: &[&str]) {
    let mut session: Option<String> = None;
    for prompt in prompts {
        let turn = match &session {
            None => stage.first(prompt).go(),
            Some(session) => stage.next(prompt).go().resumed(session, 0),
        };
        let turn = turn.done().verbatim(prompt);
        assert_eq!(turn.calls.len(), 1, "{turn}");
        let body = turn.calls[0].body.to_string();
        assert!(!body.contains(FILE_TEXT), "{prompt}: the file was put into the prompt");
        session = Some(turn.session());
    }
}

fn one_that_looks_like_a_flag(stage: &Stage) {
    reach_the_model_as_text(stage, &["--help MARK-one", "- -p -c --resume MARK-two"]);
}

fn one_that_looks_like_a_command(stage: &Stage) {
    reach_the_model_as_text(stage, &["/clear MARK-one", "/compact", "/nosuch MARK-two", "!ls MARK-three"]);
}

fn one_that_names_a_file(stage: &Stage) {
    reach_the_model_as_text(stage, &["@README.md MARK-one", "see @README.md MARK-two\nand stop @README.md"]);
}

/// History that is replayed is text as well.
fn quoted_history_does_not_act(stage: &Stage) {
    stage.first("/clear @README.md MARK-one").go().done();
    let second = stage.next("go on MARK-two").with(["--fresh-session"]).go().done();
    let second = second.fresh("forced", 1).remembered(1, ["one", "two"]);
    let sent = second.prompt_sent();
    assert!(sent.contains(&stage.who.quoted("/clear @README.md MARK-one")), "{second}");
    assert_eq!((second.calls.len(), sent.contains(FILE_TEXT)), (1, false), "{second}");
    assert!(!second.calls[0].body.to_string().contains(FILE_TEXT), "{second}");
    // What was composed, and nothing else: without the marks, and with the line's end that some agents cut off.
    let composed = format!("{}\n", sent.replace("\\@", "@").trim());
    assert_eq!(second.receipt()["bytes"], composed.len(), "{second}");
    assert_eq!(sent, stage.who.handed_on(&composed), "{second}");
}

fn odd_characters(stage: &Stage) {
    let prompt = "\u{1f980} \u{1b}[31mred\u{1b}[0m \t\"quotes\" \\n `ticks` $(x) ${y} <tag> &amp; \u{200b}MARK-one\r\nend";
    let turn = stage.first(prompt).go().done();
    turn.verbatim(prompt);
}
