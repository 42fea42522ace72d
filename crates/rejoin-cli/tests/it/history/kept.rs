//! Conversations as files: moved with their project, deleted when that is meant.

use std::fs;

use crate::support::Bench;

#[test]
fn a_moved_project_keeps_its_conversations() {
    let bench = Bench::new();
    let old = bench.outside("old");
    let first = bench.first("one MARK-a").within(&old).done();
    bench.rejoin(&["name", "@", "release"]).within(&old).done();
    let new = bench.outside("else").join("new");
    bench.rejoin(&["mv", old.to_str().unwrap(), new.to_str().unwrap()]).ends(4).tells(&["does not exist"]);
    fs::rename(&old, &new).unwrap();
    bench
        .rejoin(&["mv", old.to_str().unwrap(), new.to_str().unwrap()])
        .done()
        .tells(&["1 conversation moved"]);
    let said = bench.rejoin(&["run", "-o", "stream-json", "-s", "release", "two MARK-b"]).within(&new).done();
    assert_eq!(said.conversation(), first.conversation());
    said.fresh("workdir_changed", 1).knows(&["a", "b"]);
    let next = bench.next("three MARK-c").within(&new).done();
    next.resumed(&said.session(), 0);
    let list = bench.rejoin(&["ls", "--json"]).within(&new).done().json();
    assert_eq!(list[0]["project"], new.to_str().unwrap());
    fs::create_dir(&old).unwrap();
    assert_eq!(bench.rejoin(&["ls", "--json"]).within(&old).done().json(), serde_json::json!([]));
    bench
        .rejoin(&["mv", old.to_str().unwrap(), bench.outside("else").to_str().unwrap()])
        .ends(2)
        .tells(&["still there"]);
    let nowhere = old.join("never");
    bench
        .rejoin(&["mv", nowhere.to_str().unwrap(), new.to_str().unwrap()])
        .ends(4)
        .tells(&["no conversation belongs"]);
}

#[test]
fn a_moved_directory_takes_the_projects_in_it_along() {
    let bench = Bench::new();
    let one = bench.outside("code/one");
    let two = bench.outside("code/two");
    bench.first("one").within(&one).done();
    bench.first("two").within(&two).done();
    let (code, moved) = (bench.outside("code"), bench.outside("x").join("code"));
    fs::rename(&code, &moved).unwrap();
    bench
        .rejoin(&["mv", code.to_str().unwrap(), moved.to_str().unwrap()])
        .done()
        .tells(&["2 conversations moved"]);
    bench.next("on").within(moved.join("two")).done().fresh("workdir_changed", 1);
}

#[test]
fn a_name_that_two_conversations_came_by_is_ambiguous() {
    let bench = Bench::new();
    let (one, two) = (bench.outside("one"), bench.outside("two"));
    bench.first("x").with(&["-s", "release"]).within(&one).done();
    bench.first("y").with(&["-s", "release"]).within(&two).done();
    fs::remove_dir(&one).unwrap();
    bench.rejoin(&["mv", "../one", "."]).within(&two).done();
    for args in [&["show", "release"][..], &["run", "-s", "release", "z"]] {
        bench.rejoin(args).within(&two).ends(2).tells(&[
            "2 conversations are called \"release\"",
            "release: x",
            "release: y",
        ]);
    }
}

#[test]
fn deleting_is_meant_or_refused() {
    let bench = Bench::after_a_turn();
    bench.rejoin(&["rm", "@"]).ends(2).tells(&["--yes"]);
    assert_eq!(bench.journals().len(), 1);
    bench.rejoin(&["rm", "@", "nonsense", "--yes"]).ends(4);
    assert_eq!(bench.journals().len(), 1, "all are found before the first is deleted");
    bench.rejoin(&["rm", "@", "@", "--yes"]).done().tells(&["deleted"]);
    assert_eq!(bench.journals().len(), 0);
    bench.next("after it").with(&["-a", "demo"]).done().fresh("first_turn", 0);
}

#[test]
fn pruning_goes_by_the_last_use_not_by_the_file() {
    let bench = Bench::new();
    let old = bench.first("old").done().conversation();
    let young = bench.first("young").done().conversation();
    for path in bench.journals() {
        let of_old = path.to_str().unwrap().contains(&old);
        if of_old {
            let text = fs::read_to_string(&path).unwrap();
            let (_, year) = text.split_once("\"timestamp\":\"").unwrap();
            fs::write(&path, text.replace(&format!("\":\"{}-", &year[..4]), "\":\"2001-")).unwrap();
        } else {
            let long_ago = std::time::SystemTime::UNIX_EPOCH;
            fs::File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        }
    }
    bench.rejoin(&["prune", "--older-than", "90d", "--yes"]).done();
    assert_eq!(bench.conversations().len(), 1);
    assert_eq!(bench.conversations()[0]["id"], young.as_str());
}

#[test]
fn what_was_not_used_for_a_while_is_pruned() {
    let bench = Bench::new();
    bench.first("one").with(&["-s", "release"]).done();
    bench.first("two").done();
    let prune = |more: &[&str]| bench.rejoin(&["prune", "--older-than"]).with(more);
    prune(&["1h", "--yes"]).done().tells(&["nothing is that old"]);
    assert!(prune(&["0s", "--dry-run"]).done().stdout().contains("release"));
    prune(&["0s"]).ends(2).tells(&["2 conversations"]);
    prune(&["0s", "--keep-named", "--yes"]).done();
    assert_eq!(bench.journals().len(), 1);
    prune(&["0s", "--yes"]).done();
    assert_eq!(bench.journals().len(), 0);
}
