//! Journals and stores that were damaged.

use std::fs;
use std::io::Write;

use crate::support::Bench;

#[test]
fn a_torn_last_line_is_sealed_and_the_rest_goes_on() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    let journal = bench.journals().remove(0);
    let before = fs::read(&journal).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(br#"{"uuid":"11111111-1111-4111-8111-111111111111","type":"us"#).unwrap();
    bench.next("on MARK-b").done().resumed(&first.session(), 0).sent_only("on MARK-b").knows(&["a", "b"]);
    let after = fs::read(&journal).unwrap();
    assert!(after.starts_with(&before), "nothing was rewritten");
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 2);
    bench.rejoin(&["show"]).done();
}

#[test]
fn a_receipt_that_was_torn_off_means_interrupted() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").done();
    bench.next("more MARK-b").done();
    let journal = bench.journals().remove(0);
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines[..lines.len() - 1].join("\n") + "\n" + &lines[lines.len() - 1][..40];
    fs::write(&journal, kept).unwrap();
    assert_eq!(bench.conversations()[0]["state"], "interrupted");
    bench.next("on MARK-c").done().resumed(&first.session(), 0).knows(&["a", "b", "c"]);
}

#[test]
fn garbage_in_the_middle_is_passed_over_and_told() {
    let bench = Bench::new();
    bench.first("hello MARK-a").done();
    let journal = bench.journals().remove(0);
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{text}\u{0}\u{1} this is not a record\n")).unwrap();
    bench.next("on MARK-b").done().knows(&["a", "b"]);
    let said = bench.rejoin(&["show"]).done();
    assert!(said.stderr().starts_with("! "), "{}", said.stderr());
    assert_eq!(said.stdout().matches("── turn").count(), 2);
}

#[test]
fn order_comes_from_the_file_and_not_from_the_clock() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").done();
    bench.next("two MARK-b").done();
    let journal = bench.journals().remove(0);
    let mut year = 2999;
    let lines = fs::read_to_string(&journal).unwrap();
    let lines = lines.lines().map(|line| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        year -= 1;
        record["timestamp"] = format!("{year}-01-01T00:00:00.000Z").into();
        format!("{record}\n")
    });
    fs::write(&journal, lines.collect::<String>()).unwrap();
    bench.next("three MARK-c").done().resumed(&first.session(), 0).knows(&["a", "b", "c"]);
    let fresh = bench.next("four MARK-d").with(&["--fresh-session"]).done();
    fresh.knows(&["a", "b", "c", "d"]);
}

#[test]
fn a_session_id_that_was_tampered_with_never_becomes_an_argument() {
    let bench = Bench::new();
    let first = bench.first("one MARK-a").done();
    let journal = bench.journals().remove(0);
    let text = fs::read_to_string(&journal).unwrap().replace(&first.session(), "--permissions=full");
    fs::write(&journal, text).unwrap();
    let said = bench.next("on MARK-b").done();
    said.knows(&["a", "b"]);
    assert_eq!(said.result()["plan"]["decision"], "fresh");
}
