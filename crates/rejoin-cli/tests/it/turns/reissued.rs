//! Codex, answering a resume with another id; and its count of the whole thread.

use serde_json::json;

use crate::support::{Bench, Call, Said, fake_codex};

fn bench() -> Bench {
    let bench = Bench::new();
    let config = fake_codex(&bench.outside("bin"));
    bench.config(&config);
    bench
}

fn first<'a>(bench: &'a Bench, prompt: &'a str) -> Call<'a> {
    bench.rejoin(&["run", "-o", "stream-json", prompt])
}

#[test]
fn another_id_is_accepted_where_the_store_shows_the_old_history() {
    let bench = bench();
    let first = first(&bench, "hello MARK-a").done();
    let said = bench.next("REISSUE MARK-b").done();
    said.knows(&["a", "b"]).came_to("completed", None);
    let result = said.result();
    assert_eq!((&result["runs"], &result["asked"]), (&1.into(), &first.session().into()), "{result}");
    assert_eq!(result["plan"]["decision"], "resume");
    assert_ne!(said.session(), first.session());
    assert!(said.events_of("resume_rejected").is_empty());
    bench.next("on MARK-c").done().resumed(&said.session(), 0).knows(&["a", "b", "c"]);
}

#[test]
fn a_turn_that_failed_under_the_new_id_goes_on_there() {
    let bench = bench();
    first(&bench, "hello MARK-a").done();
    let failed = bench.next("REISSUE-FAIL MARK-b").ends(1);
    // The turn that failed is told again, and not the whole history.
    bench.next("on MARK-c").done().resumed(&failed.session(), 1).knows(&["a", "b", "c"]);
}

#[test]
fn another_id_without_the_old_history_is_stopped_and_replayed() {
    let bench = bench();
    let first = first(&bench, "hello MARK-a").done();
    let said = bench.next("FORGET MARK-b").done();
    said.fresh("session_rejected", 1).knows(&["a", "b"]);
    let result = said.result();
    assert_eq!((&result["runs"], &result["asked"]), (&2.into(), &first.session().into()), "{result}");
    let pins = bench.show()["pins"].clone();
    let old = pins.as_array().unwrap().iter().find(|pin| pin["session"] == first.session()).unwrap();
    assert_eq!(old["state"], "retired", "{pins}");
}

fn used(said: &Said) -> (u64, u64) {
    let result = said.result();
    let count = |name: &str| result["usage"][name].as_u64().unwrap_or_default();
    (count("input"), count("output"))
}

/// The thread counts ten and one for each prompt, whatever becomes of the turn.
#[test]
fn a_turn_that_was_stopped_is_not_counted_again_in_the_next() {
    let bench = bench();
    assert_eq!(used(&first(&bench, "one").done()), (10, 1));
    let stopped = bench.next("HANG two").with(&["--timeout", "2s"]).ends(3);
    assert_eq!(used(&stopped), (10, 1), "as the thread's file tells");
    assert_eq!(used(&bench.next("three").done()), (10, 1));
    assert_eq!(used(&bench.next("FAIL four").ends(1)), (10, 1));
    let mut turn = bench.next("HANG five").start();
    turn.hears("session");
    turn.kill();
    bench.comes_to_rest();
    assert_eq!(used(&bench.next("six").done()), (10, 1), "nor one that nobody settled");
    let last = bench.show()["pins"][0]["total"].clone();
    assert_eq!(last, json!({ "input": 60, "cached": 0, "output": 6 }));
}
