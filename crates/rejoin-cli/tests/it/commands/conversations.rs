//! Which conversation is meant: `-c`, `-r`, ids, prefixes, other projects.

use std::fs;

use crate::support::Bench;

#[test]
fn with_nothing_to_continue_it_warns_and_begins() {
    let bench = Bench::new();
    let said = bench.next("hello MARK-a").with(&["-a", "demo"]).done();
    assert!(said.warned("nothing_to_continue").contains("a new conversation begins"));
    said.fresh("first_turn", 0).knows(&["a"]);
    assert_eq!(bench.conversations().len(), 1);
    bench.next("again MARK-b").done().resumed(&said.session(), 0).calm();
}

#[test]
fn the_newest_conversation_of_the_project_is_continued_from_anywhere_in_it() {
    let bench = Bench::after_a_turn();
    let newer = bench.first("another MARK-x").done();
    let said = bench.next("more MARK-y").within(bench.subdir("deep/down")).done();
    said.resumed(&newer.session(), 0).knows(&["x", "y"]);
    assert_eq!(said.events()[0]["cwd"], bench.project().to_str().unwrap(), "it runs where it lives");
}

#[test]
fn a_conversation_of_another_project_is_not_continued() {
    let bench = Bench::after_a_turn();
    let other = bench.lab.make_project("other").unwrap();
    let said = bench.next("who? MARK-x").with(&["-a", "demo"]).within(other).done();
    said.warned("nothing_to_continue");
    said.knows(&["x"]);
}

#[test]
fn an_unknown_reference_is_not_found() {
    let bench = Bench::after_a_turn();
    for unknown in ["4f1c2a9e", "release", "00000000-0000-4000-8000-000000000000"] {
        let said = bench.rejoin(&["run", "-r", unknown, "go on"]).ends(4);
        said.tells(&[unknown, "rejoin ls"]);
        assert_eq!(said.stdout(), "");
    }
    assert_eq!(bench.conversations().len(), 1, "and nothing was begun");
}

#[test]
fn an_unknown_reference_suggests_a_name_that_is_near() {
    let bench = Bench::new();
    bench.first("x").with(&["-s", "release"]).done();
    bench.rejoin(&["run", "-r", "relaese", "go on"]).ends(4).tells(&["did you mean \"release\"?"]);
}

#[test]
fn only_one_conversation_can_be_meant() {
    let bench = Bench::after_a_turn();
    for flags in [["-c", "-r", "x"], ["-c", "-s", "x"]] {
        bench.rejoin(&["run", "hi"]).with(&flags).ends(2).tells(&["--continue", "cannot be used with"]);
    }
    bench.rejoin(&["run", "hi", "-s", "x", "-r", "y"]).ends(2).tells(&["cannot be used with"]);
}

#[test]
fn a_conversation_is_found_by_id_prefix_name_and_session() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").with(&["-s", "release"]).done();
    bench.first("another").done();
    let (id, session) = (first.conversation(), first.session());
    let references =
        [id.as_str(), &id[..8], &id[..4], &id.to_uppercase(), &id.replace('-', ""), "release", &session];
    for reference in references {
        let said = bench.rejoin(&["run", "-o", "stream-json", "-r", reference, "on"]).done();
        assert_eq!(said.conversation(), id, "by {reference}");
        said.resumed(&session, 0).calm();
    }
}

#[test]
fn ids_are_found_everywhere_and_say_whose_they_are() {
    let bench = Bench::new();
    let first = bench.first("hello MARK-a").with(&["-s", "release"]).done();
    let other = bench.lab.make_project("other").unwrap();
    for reference in [&first.conversation()[..8], &first.session()] {
        let call = bench.rejoin(&["run", "-o", "stream-json", "-r", reference, "on"]);
        let said = call.within(&other).done();
        let warning = said.warned("other_project");
        assert!(warning.contains(bench.project().to_str().unwrap()), "{warning}");
        said.resumed(&first.session(), 0);
    }
    bench.rejoin(&["run", "-r", "release", "on"]).within(&other).ends(4);
    bench.rejoin(&["show", &first.conversation()]).within(&other).done();
}

#[test]
fn a_prefix_of_several_is_refused_with_all_of_them() {
    let bench = Bench::after_a_turn();
    let id = bench.conversations()[0]["id"].as_str().unwrap().to_owned();
    let twin = format!("{}-0000-4000-8000-000000000000", &id[..8]);
    let journal = bench.journals().remove(0);
    let text = fs::read_to_string(&journal).unwrap().replace(&id, &twin);
    fs::write(journal.with_file_name(format!("{twin}.jsonl")), text).unwrap();
    bench.rejoin(&["run", "-r", &id[..8], "on"]).ends(2).tells(&[&id, &twin, "type more"]);
    bench.rejoin(&["show", &id[..8]]).ends(2).tells(&[&id, &twin]);
    bench.rejoin(&["run", "-r", &id[..13], "on"]).done();
}

#[test]
fn a_checkpoint_needs_its_conversation() {
    let bench = Bench::after_a_turn();
    let message = bench.show()["turns"][0]["id"].as_str().unwrap().to_owned();
    bench.rejoin(&["run", "--checkpoint", &message, "hi"]).ends(2).tells(&["checkpoint", "continue"]);
    bench
        .rejoin(&["run", "-c", "--checkpoint", "deadbeef", "hi"])
        .ends(4)
        .tells(&["deadbeef", "rejoin show"]);
    let call = bench.rejoin(&["run", "-c", "--checkpoint", &message, "hi", "-a", "demo"]);
    call.within(bench.outside("new")).ends(4).tells(&["no conversation yet"]);
    assert_eq!(bench.show()["turns"].as_array().unwrap().len(), 1, "and nothing was begun");
}

#[test]
fn a_directory_that_is_gone_is_told() {
    let bench = Bench::new();
    let dir = bench.subdir("web");
    let first = bench.first("hello MARK-a").within(&dir).done();
    fs::remove_dir_all(&dir).unwrap();
    bench.next("go on").ends(4).tells(&[dir.to_str().unwrap(), "gone", "--cwd"]);
    let said = bench.next("go on MARK-b").with(&["--cwd", "."]).done();
    assert_eq!(said.conversation(), first.conversation());
    said.fresh("workdir_changed", 1).knows(&["a", "b"]);
}

#[test]
fn outside_git_the_directory_itself_is_the_project() {
    let bench = Bench::new();
    let (one, other) = (bench.outside("one"), bench.outside("other"));
    let first = bench.first("hello MARK-a").within(&one).done();
    bench.next("on MARK-b").within(&one).done().resumed(&first.session(), 0).knows(&["a", "b"]);
    bench.next("x MARK-x").with(&["-a", "demo"]).within(&other).done().knows(&["x"]);
}

#[test]
fn projects_whose_names_collide_are_told_apart() {
    let bench = Bench::new();
    let (one, other) = (bench.outside("a-b"), bench.outside("a/b"));
    bench.first("hello MARK-a").within(&one).done();
    let said = bench.next("hello MARK-x").with(&["-a", "demo"]).within(&other).done();
    said.warned("nothing_to_continue");
    said.knows(&["x"]);
    let directories: Vec<_> = bench.journals().iter().map(|path| path.parent().unwrap().to_owned()).collect();
    assert_eq!(directories[0], directories[1], "they share a directory");
    let listed = bench.rejoin(&["ls", "--json"]).within(&one).done().json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_path_that_is_no_text_is_refused_clearly() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let dir = bench.lab.root().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&dir).unwrap();
    bench.first("hello").within(&dir).ends(2).tells(&["not valid UTF-8"]);
    bench.first("hello").with(&["--cwd", "README.md"]).ends(2).tells(&["README.md", "not a directory"]);
    bench.rejoin(&["ls"]).within(&dir).done();
    assert!(bench.journals().is_empty());
}

#[test]
fn a_project_reached_through_a_link_is_the_same_one() {
    let bench = Bench::after_a_turn();
    let link = bench.lab.root().join("link");
    std::os::unix::fs::symlink(bench.project(), &link).unwrap();
    bench.next("on MARK-b").within(link).done().knows(&["a", "b"]);
}
