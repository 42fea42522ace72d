//! A history that does not fit is shortened, visibly.

use crate::support::Bench;

fn with_budget(bytes: usize) -> Bench {
    let bench = Bench::new();
    bench.config(&format!("[agents.demo2]\nreplay_budget = {bytes}\n"));
    bench
}

#[test]
fn a_history_that_fits_is_whole() {
    let bench = with_budget(100_000);
    bench.first(&format!("{} MARK-a", "word ".repeat(10_000))).done();
    let said = bench.hand_to("demo2", "x MARK-b").done();
    said.calm().knows(&["a", "b"]);
    assert!(said.result()["lossy"].is_null());
}

#[test]
fn the_middle_is_left_out_with_marks_and_a_warning() {
    let bench = with_budget(3000);
    bench.first("the beginning MARK-a").done();
    for _ in 0..8 {
        bench.next(&"something long ".repeat(60)).done();
    }
    bench.next("the end MARK-b").done();
    let said = bench.hand_to("demo2", "and now MARK-c").done();
    said.fresh("no_session", 10).knows(&["a", "b", "c"]);
    assert!(said.warned("lossy").contains("shortened"));
    assert_eq!(said.result()["lossy"], true);
    said.sent_with(&["left out here by rejoin to fit"]);
    assert!(said.sent().len() < 4500, "{}", said.sent().len());
    let pins = bench.show()["pins"].clone();
    let pin = pins.as_array().unwrap().iter().find(|pin| pin["agent"] == "demo2").unwrap().clone();
    assert_eq!(pin["lossy"], true);
}

#[test]
fn outputs_of_tools_are_shortened_first() {
    let bench = with_budget(12_000);
    bench.first("TOOL-RUN [seq 1 5000] and keep my words MARK-a").done();
    let said = bench.hand_to("demo2", "x MARK-b").done();
    said.warned("lossy");
    said.knows(&["a", "b"]).sent_with(&["and keep my words MARK-a", "bytes left out here by rejoin"]);
}

/// Of a turn that is much larger than the budget, as much is read and told as fits.
#[test]
fn the_budget_is_used() {
    let bench = with_budget(10_000);
    bench.first("TOOL-RUN [seq 1 50000] and keep my words MARK-a").done();
    let said = bench.hand_to("demo2", "x MARK-b").done();
    said.knows(&["a", "b"]).sent_with(&["and keep my words MARK-a", "bytes left out here by rejoin"]);
    assert!((9_000..11_500).contains(&said.sent().len()), "{} bytes", said.sent().len());
}

#[test]
fn what_the_user_said_is_left_out_last() {
    let bench = with_budget(4000);
    bench.first("MARK-m0 TOOL-RUN [seq 1 1000]").done();
    for number in 1..12 {
        bench.next(&format!("MARK-m{number} TOOL-RUN [seq 1 1000]")).done();
    }
    let said = bench.hand_to("demo2", "x").done();
    let marks: Vec<String> = (0..12).map(|number| format!("m{number}")).collect();
    said.knows(&marks.iter().map(String::as_str).collect::<Vec<_>>());
    assert!((3600..5000).contains(&said.sent().len()), "{} bytes", said.sent().len());
}
