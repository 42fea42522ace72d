//! `fsck`: every problem with its line, repaired by appending only.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::support::Bench;

fn append(bench: &Bench, bytes: &[u8]) {
    let journal = &bench.journals()[0];
    OpenOptions::new().append(true).open(journal).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_sound_journal_and_none_at_all() {
    let bench = Bench::new();
    bench.rejoin(&["fsck"]).done().tells(&["0 conversations checked"]);
    bench.first("one").done();
    let said = bench.rejoin(&["fsck"]).done();
    assert_eq!(said.stdout(), "");
    said.tells(&["1 conversation checked, 1 sound"]);
}

#[test]
fn an_empty_journal_and_a_circle_are_seen() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b").done();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    let user = |line: &&str| line.contains("\"type\":\"user\"");
    let first = text.lines().find(user).unwrap();
    let second: serde_json::Value = serde_json::from_str(text.lines().rfind(user).unwrap()).unwrap();
    let turned = first.replace("\"parentUuid\":null", &format!("\"parentUuid\":{}", second["uuid"]));
    fs::write(&journal, text.replace(first, &turned)).unwrap();
    let drawn = bench.rejoin(&["show", "--tree"]).done();
    assert!(drawn.stdout().contains("MARK-a") && drawn.stdout().contains("MARK-b"), "{}", drawn.stdout());
    bench.rejoin(&["fsck"]).ends(1);
    fs::write(&journal, "").unwrap();
    // What had a turn and has none any more is a loss: a new journal appears with its first records in it.
    let said = bench.rejoin(&["fsck", "--all"]).ends(1);
    assert!(said.stdout().contains("is empty: its first record is lost"), "{}", said.stdout());
    assert_eq!(bench.rejoin(&["ls"]).done().stdout(), "");
    let id = journal.file_stem().unwrap().to_str().unwrap();
    bench.rejoin(&["rm", "--yes", id]).done();
    bench.rejoin(&["fsck", "--all"]).done();
}

#[test]
fn a_torn_end_is_sealed_and_nothing_else_is_touched() {
    let bench = Bench::after_a_turn();
    append(&bench, b"{\"uuid\":\"1000");
    let before = fs::read(&bench.journals()[0]).unwrap();
    let said = bench.rejoin(&["fsck"]).ends(1);
    let lines = before.split(|byte| *byte == b'\n').count();
    assert!(said.stdout().contains(&format!("line {lines} (byte ")), "{}", said.stdout());
    assert_eq!(fs::read(&bench.journals()[0]).unwrap(), before, "a check changes nothing");
    bench.rejoin(&["fsck", "--repair"]).done().tells(&["1 sound"]);
    let after = fs::read(&bench.journals()[0]).unwrap();
    assert_eq!(after, [before.as_slice(), b"\n"].concat());
    bench.next("two MARK-b").done().knows(&["a", "b"]);
}

#[test]
fn a_journal_glued_to_a_copy_of_itself_says_everything_once() {
    let bench = Bench::after_a_turn();
    bench.next("two MARK-b TOOL-RUN [echo hi]").done();
    bench.rejoin(&["edit", "@", "1", "-f", "-"]).given("hello MARK-x").done();
    bench.rejoin(&["rewind", "@"]).done();
    bench.next("three MARK-c").done();
    let told = || {
        let all = ["show", "--tree", "--json"];
        (bench.rejoin(&all).done().json(), bench.rejoin(&["stats", "--json"]).done().json())
    };
    let before = told();
    let text = fs::read(&bench.journals()[0]).unwrap();
    append(&bench, &text);
    assert_eq!(told(), before);
    let said = bench.rejoin(&["fsck"]).done();
    assert!(
        said.stdout().contains("stands here again; the copy of its turn is passed over"),
        "{}",
        said.stdout()
    );
    bench.next("four MARK-d").done().knows(&["x", "a", "c", "d"]);
}

#[test]
fn a_journal_of_a_newer_format_is_read_and_not_written() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"schema\":1", "\"schema\":7")).unwrap();
    let before = fs::read(&journal).unwrap();
    bench.rejoin(&["show"]).done().tells(&["written in format 7 by a newer rejoin"]);
    for command in [
        &["run", "-c", "on"][..],
        &["rewind", "@"],
        &["branch", "@", "--at", "1"],
        &["edit", "@", "1", "-f", "-"],
        &["retry", "@"],
    ] {
        bench.rejoin(command).given("other words").ends(2).tells(&["format 7", "update rejoin"]);
    }
    assert_eq!(fs::read(&journal).unwrap(), before);
    bench.rejoin(&["name", "@", "release"]).done().tells(&["written in format 7"]);
}

#[test]
fn every_kind_of_damage_is_told_with_its_line() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    let user = text.lines().find(|line| line.contains("\"type\":\"user\"")).unwrap();
    append(&bench, format!("garbage\n{user}\n{{\"a\":1}}\n\0\n").as_bytes());
    let said = bench.rejoin(&["fsck", "--json"]).ends(1);
    let problems = said.json()[0]["problems"].clone();
    let first = text.lines().count() as u64 + 1;
    let told: Vec<(u64, String)> = problems
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (problem["line"].as_u64().unwrap(), problem["problem"].as_str().unwrap().to_owned()))
        .collect();
    let told: Vec<(u64, &str)> =
        told.iter().map(|(line, text)| (*line, text.split(' ').next().unwrap())).collect();
    assert_eq!(
        told,
        [(first, "not"), (first + 2, "not"), (first + 3, "not"), (first + 1, "prompt")],
        "{problems}"
    );
}

#[test]
fn the_verdict_is_about_how_it_stands_when_fsck_ends() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.split_once('\n').unwrap().1).unwrap();
    assert!(bench.rejoin(&["fsck"]).ends(1).stdout().contains("the first record is lost"));
    assert!(bench.rejoin(&["fsck", "--repair"]).done().stdout().contains("repaired: "));
    bench.rejoin(&["fsck"]).done().tells(&["1 sound"]);
}

#[test]
fn a_conversation_goes_on_without_its_first_line() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    fs::write(&journal, rest).unwrap();
    let id = journal.file_stem().unwrap().to_str().unwrap().to_owned();
    let listed = bench.rejoin(&["ls", "--json"]).done().json();
    assert_eq!(listed[0]["id"], id.as_str());
    assert!(listed[0]["project"].is_string(), "{listed}");
    bench.rejoin(&["show"]).done().tells(&["the first record is lost"]);
    bench.next("two MARK-b").done().knows(&["a", "b"]);
    bench.rejoin(&["run", "-o", "stream-json", "-r", &id, "three MARK-c"]).done().knows(&["a", "b", "c"]);
    assert!(bench.rejoin(&["fsck"]).ends(1).stdout().contains("the first record is lost"));
}

#[test]
fn a_lost_first_record_is_written_anew() {
    let bench = Bench::after_a_turn();
    let journal = bench.journals()[0].clone();
    let text = fs::read_to_string(&journal).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    fs::write(&journal, format!("{{lost\n{rest}")).unwrap();
    let id = journal.file_stem().unwrap().to_str().unwrap().to_owned();
    let said = bench.rejoin(&["fsck", "--repair"]).ends(1);
    assert!(
        said.stdout().contains("repaired: what the conversation is was written anew"),
        "{}",
        said.stdout()
    );
    let call = bench.rejoin(&["run", "-o", "stream-json", "-r", &id, "two MARK-b"]);
    call.done().knows(&["a", "b"]);
}
