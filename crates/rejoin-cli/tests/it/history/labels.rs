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
fn labels_are_listed_filtered_by_and_offered() {
    let bench = Bench::new();
    bench.first("fix the parser").done();
    bench.first("write the docs").done();
    bench.rejoin(&["tag", "@~1", "+urgent", "+bug"]).done();
    assert_eq!(bench.conversations()[1]["tags"], json!(["bug", "urgent"]));
    let lists = |args: &[&str]| {
        let said = bench.rejoin(args).done();
        (said.stdout().contains("fix the parser"), said.stdout().contains("write the docs"))
    };
    assert!(bench.rejoin(&["ls"]).done().stdout().contains("+bug +urgent"));
    assert_eq!(lists(&["ls", "--tag", "urgent", "--tag", "bug"]), (true, false));
    assert_eq!(lists(&["search", "the", "--tag", "bug"]), (true, false));
    assert_eq!(lists(&["prune", "--older-than", "0s", "--dry-run", "--tag", "bug"]), (true, false));
    bench
        .rejoin(&["ls", "--tag", "urgnt"])
        .done()
        .tells(&["no conversation here has the label \"urgnt\"", "\"urgent\"?"]);
    bench.rejoin(&["search", "the", "--tag", "later"]).ends(4);
    for (words, offered) in [(&["ls", "--tag", ""][..], "urgent\n"), (&["tag", "@", ""], "+urgent\n")] {
        let said = bench.rejoin(&["--", "rejoin"]).with(words).env("_REJOIN_COMPLETE", "fish").done();
        assert!(said.stdout().contains(offered), "{words:?}: {}", said.stdout());
    }
}

#[test]
fn a_bad_name_says_what_it_cannot_be_the_name_of() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["tag", "@", "+a/b"]).ends(2).tells(&["\"a/b\" cannot be a label: it contains"]);
    bench.rejoin(&["name", "@", "a/b"]).ends(2).tells(&["cannot be the name of a conversation"]);
    for name in ["a/b", "12"] {
        let said = bench.rejoin(&["branch", "@", "--at", "1", "--name", name]).ends(2);
        said.tells(&[&format!("{name:?} cannot be the name of a branch")]);
    }
    for command in [&["ls"][..], &["search", "hello"]] {
        bench.rejoin(command).with(&["--agent", "claud"]).ends(2).tells(&["did you mean \"claude\"?"]);
    }
}

#[test]
fn labels_are_put_on_taken_off_and_shown() {
    let bench = Bench::after_a_turn();
    assert_eq!(bench.rejoin(&["tag", "@", "+urgent", "+later"]).done().stdout(), "later\nurgent\n");
    assert_eq!(bench.rejoin(&["tag", "@", "-later"]).done().stdout(), "urgent\n");
    assert_eq!(bench.rejoin(&["tag", "@"]).done().stdout(), "urgent\n");
    assert_eq!(bench.show()["tags"], json!(["urgent"]));
    assert!(bench.rejoin(&["show"]).done().stdout().contains(" +urgent"));
    bench.rejoin(&["tag", "@", "-urgnt"]).ends(4).tells(&["no label \"urgnt\"", "\"urgent\"?"]);
    bench.rejoin(&["tag", "@", "later"]).ends(2).tells(&["+LABEL"]);
}
