//! Names and labels.

use serde_json::json;

use crate::support::Bench;

#[test]
fn a_conversation_is_renamed_and_found_by_its_new_name_only() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["name", "@", "release"]).done();
    bench.rejoin(&["name", "release", "shipping"]).done();
    bench.rejoin(&["show", "shipping"]).done();
    bench.rejoin(&["show", "release"]).ends(4);
    bench.first("another").done();
    bench.rejoin(&["name", "@", "shipping"]).ends(2).tells(&["has the name \"shipping\" already"]);
    bench.rejoin(&["name", "shipping", "shipping"]).done();
    for bad in ["", "4f1c2a9e", "a/b"] {
        bench.rejoin(&["name", "@", bad]).ends(2);
    }
}

#[test]
fn naming_and_labelling_do_not_make_a_conversation_the_newest() {
    let bench = Bench::new();
    bench.first("old MARK-a").done();
    let newest = bench.first("new MARK-b").done().conversation();
    bench.rejoin(&["name", "@~1", "older"]).done();
    bench.rejoin(&["tag", "@~1", "+x"]).done();
    assert_eq!(bench.rejoin(&["tag", "@~1"]).done().stdout(), "x\n");
    assert_eq!(bench.next("on").done().conversation(), newest);
}

#[test]
fn labels_are_put_on_taken_off_and_shown() {
    let bench = Bench::after_a_turn();
    assert_eq!(bench.rejoin(&["tag", "@", "+urgent", "+later"]).done().stdout(), "later\nurgent\n");
    assert_eq!(bench.rejoin(&["tag", "@", "-later"]).done().stdout(), "urgent\n");
    assert_eq!(bench.rejoin(&["tag", "@"]).done().stdout(), "urgent\n");
    assert_eq!(bench.show()["tags"], json!(["urgent"]));
    assert!(bench.rejoin(&["show"]).done().stdout().contains(" +urgent"));
    bench.rejoin(&["tag", "@", "-later"]).ends(4).tells(&["no tag \"later\""]);
    bench.rejoin(&["tag", "@", "later"]).ends(2).tells(&["+LABEL"]);
}
