//! Conversations by name: `-s`.

use crate::support::Bench;

#[test]
fn a_name_begins_a_conversation_and_then_continues_it() {
    let bench = Bench::new();
    let named = |prompt: &str| bench.rejoin(&["run", "-o", "stream-json", "-s", "release", prompt]);
    let first = named("bump MARK-a").with(&["-a", "demo"]).done();
    first.fresh("first_turn", 0).calm();
    bench.first("something else").done();
    let second = named("again MARK-b").done();
    assert_eq!(second.conversation(), first.conversation());
    second.resumed(&first.session(), 0).knows(&["a", "b"]);
    let listed: Vec<_> = bench.conversations().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(listed.iter().filter(|name| *name == "release").count(), 1, "{listed:?}");
}

#[test]
fn a_name_belongs_to_its_project() {
    let bench = Bench::new();
    let other = bench.lab.make_project("other").unwrap();
    bench.first("hello MARK-a").with(&["-s", "release"]).done();
    bench.first("hello MARK-x").with(&["-s", "release"]).within(other).done().fresh("first_turn", 0);
}

#[test]
fn a_name_is_found_again_when_the_agent_runs_elsewhere() {
    let bench = Bench::new();
    let (here, web) = (bench.outside("app"), bench.outside("app/web"));
    let named = |prompt: &str| {
        let call = bench.first(prompt).with(&["-s", "site", "--cwd", "web"]);
        call.within(&here).done()
    };
    let first = named("hello MARK-a");
    assert_eq!(first.events()[0]["cwd"], web.to_str().unwrap());
    let second = named("again MARK-b");
    assert_eq!(second.conversation(), first.conversation());
    second.resumed(&first.session(), 0).knows(&["a", "b"]);
    bench.next("and MARK-c").within(&here).done().resumed(&first.session(), 0).knows(&["a", "b", "c"]);
}

#[test]
fn a_name_cannot_look_like_an_id_or_a_flag() {
    let bench = Bench::new();
    for (name, why) in [
        ("4f1c2a9e", "looks like an id"),
        ("dead-beef", "looks like an id"),
        ("", "empty"),
        ("@", "begins with"),
        ("a/b", "slash"),
        (" x", "space"),
    ] {
        bench.first("hi").with(&["-s", name]).ends(2).tells(&["cannot be the name", why]);
    }
    bench.first("hi").with(&["--name=-c"]).ends(2).tells(&["cannot be the name", "begins with"]);
    assert!(bench.journals().is_empty());
}

#[test]
fn two_that_create_one_name_at_once_make_one_conversation() {
    let bench = Bench::new();
    let start =
        |mark: &str| bench.first(&format!("SLOW 3 MARK-{mark}")).with(&["-s", "release", "--wait"]).start();
    let all = ["a", "b", "c", "d"].map(start);
    let all = all.map(|one| one.ends(0));
    let conversations: std::collections::BTreeSet<String> =
        all.iter().map(|one| one.conversation()).collect();
    assert_eq!(conversations.len(), 1);
    assert_eq!(bench.conversations()[0]["turns"], 4);
    let begun = all.iter().filter(|one| one.result()["plan"]["reason"] == "first_turn").count();
    assert_eq!(begun, 1, "one began it, the others went on");
    let text = bench.next("so? MARK-e").done().text("text");
    assert!(text.contains("SEEN n=5"), "all of them are remembered: {text}");
}

#[test]
fn without_wait_the_second_is_told_who_is_at_it() {
    let bench = Bench::new();
    let mut first = bench.first("HANG").with(&["-s", "release"]).start();
    first.hears("session");
    let said = bench.first("me too").with(&["-s", "release"]).ends(6);
    said.tells(&[&format!("process {}", first.pid()), "--wait"]);
    first.kill();
    assert_eq!(bench.journals().len(), 1);
}
