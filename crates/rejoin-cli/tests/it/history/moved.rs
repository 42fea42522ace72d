//! Projects that were renamed, moved, cloned anew, or are reached another way.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Bench, Call, Said};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A git work tree of that name in which a turn was done, `MARK-a`, in a conversation called `release`, and another
/// one in a conversation that was used before.
fn worked_in(bench: &Bench, name: &str) -> (PathBuf, Said) {
    let dir = bench.lab.make_project(name).unwrap();
    // So that no two of them begin with the same commit, made in the same second.
    fs::write(dir.join("name"), name).unwrap();
    git(bench, &dir, &["add", "."]);
    git(bench, &dir, &["commit", "-q", "--amend", "-m", name]);
    (dir.clone(), turns_in(bench, &dir))
}

fn turns_in(bench: &Bench, dir: &Path) -> Said {
    bench.first("earlier").within(dir).done();
    bench.first("one MARK-a").with(&["-s", "release"]).within(dir).done()
}

#[track_caller]
fn git(bench: &Bench, dir: &Path, args: &[&str]) {
    Call::of(bench, "git", args).within(dir).done();
}

/// The journals of the bench lose what tells of their project, as those of older versions.
fn of_an_older_version(bench: &Bench) {
    for journal in bench.journals() {
        let all = fs::read_to_string(&journal).unwrap();
        let old = all.lines().filter(|line| !line.contains("\"subtype\":\"project\""));
        fs::write(&journal, old.flat_map(|line| [line, "\n"]).collect::<String>()).unwrap();
    }
}

fn listed(bench: &Bench, dir: &Path) -> (Vec<Value>, Said) {
    let said = bench.rejoin(&["ls", "--json"]).within(dir).done();
    (said.json().as_array().unwrap().clone(), said)
}

/// It begins anew, and says so.
#[track_caller]
fn begins_anew(bench: &Bench, dir: &Path) -> String {
    let said = bench.next("two").with(&["-a", "demo"]).within(dir).done();
    said.fresh("first_turn", 0);
    said.warned("nothing_to_continue")
}

/// The conversation goes on here, belongs here from then on, and says so once.
#[track_caller]
fn goes_on(bench: &Bench, from: &Path, here: &Path, first: &Said) {
    let said = bench.next("two MARK-b").within(here).done();
    assert_eq!(said.conversation(), first.conversation());
    said.fresh("workdir_changed", 1).knows(&["a", "b"]);
    let told = said.warned("project_moved");
    let was =
        format!("this project was {}: 2 conversations came along, and `rejoin mv` is not needed", text(from));
    assert_eq!(told, was);
    let next = bench.next("three MARK-c").within(here).done();
    next.resumed(&said.session(), 0).calm();
    let (list, said) = listed(bench, here);
    assert_eq!(said.stderr(), "");
    let projects: Vec<&str> = list.iter().map(|one| one["project"].as_str().unwrap()).collect();
    assert_eq!(projects, [text(here), text(here)], "the other one came along");
}

#[test]
fn a_renamed_work_tree_is_known_again() {
    let bench = Bench::new();
    let (old, first) = worked_in(&bench, "old");
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    // Whoever only looks changes nothing.
    let (list, said) = listed(&bench, &new);
    assert_eq!(list.len(), 2);
    let was = format!("this project was {}: 2 conversations found", text(&old));
    said.tells(&[&was]);
    bench.rejoin(&["search", "MARK-a"]).within(&new).done().tells(&[&was]);
    let along = format!("this project was {}: its conversations come along with the next turn", text(&old));
    for args in [&["show", "@"][..], &["show", "release"], &["show", "@~1"], &["exists", "@"]] {
        let said = bench.rejoin(args).within(&new).done();
        if args[0] == "show" {
            said.tells(&[&along]);
        }
    }
    bench.rejoin(&["show", "@~2"]).within(&new).ends(4);
    let why = bench.rejoin(&["why", "--json"]).within(&new).done().json();
    assert_eq!(why["plan"]["reason"], "workdir_changed");
    assert_eq!((&why["plan"]["was"], &why["plan"]["now"]), (&text(&old).into(), &text(&new).into()));
    bench.rejoin(&["run", "-c", "--dry-run", "x"]).within(&new).done().tells(&[&along]);
    bench.rejoin(&["run", "-c", "--ephemeral", "x"]).within(&new).done().tells(&[&along]);
    assert!(listed(&bench, &new).0.iter().all(|one| one["project"] == text(&old)));
    goes_on(&bench, &old, &new, &first);
}

#[test]
fn nothing_comes_along_with_a_turn_that_is_refused() {
    let bench = Bench::new();
    let (old, first) = worked_in(&bench, "old");
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    let journals = || bench.journals().into_iter().map(|path| (fs::read(&path).unwrap(), path));
    let before: Vec<_> = journals().collect();
    for (args, code) in [
        (["--scope", "own"], 2),
        (["--attach", "missing.txt"], 4),
        (["--agent", "nobody"], 2),
        (["--checkpoint", "nowhere"], 4),
        (["--session-dir", "missing"], 4),
    ] {
        let said = bench.rejoin(&["run", "-c"]).with(&args).with(&["x"]).within(&new).ends(code);
        assert!(!said.stderr().contains("this project was"), "{}", said.stderr());
        assert_eq!(journals().collect::<Vec<_>>(), before, "{args:?}");
    }
    goes_on(&bench, &old, &new, &first);
}

#[test]
fn a_renamed_directory_outside_of_git_is_known_again() {
    let bench = Bench::new();
    let old = bench.outside("old");
    let first = turns_in(&bench, &old);
    let new = bench.outside("new").join("deep");
    fs::rename(&old, &new).unwrap();
    goes_on(&bench, &old, &new, &first);
}

#[test]
fn a_directory_in_it_goes_along() {
    let bench = Bench::new();
    let (old, _) = worked_in(&bench, "old");
    fs::create_dir(old.join("sub")).unwrap();
    bench.first("three").within(old.join("sub")).done();
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    bench.next("on").within(&new).done();
    let dirs: Vec<Value> = listed(&bench, &new).0.iter().map(|one| one["dir"].clone()).collect();
    assert_eq!(dirs[0], text(&new.join("sub")));
    assert_eq!(dirs[1], text(&new));
}

#[test]
fn a_link_left_behind_leads_to_the_conversations() {
    for old_journals in [false, true] {
        let bench = Bench::new();
        let old = bench.outside("old");
        let first = turns_in(&bench, &old);
        let new = bench.outside("elsewhere").join("new");
        fs::rename(&old, &new).unwrap();
        symlink(&new, &old).unwrap();
        if old_journals {
            of_an_older_version(&bench);
        }
        // By whatever way one comes in.
        assert_eq!(listed(&bench, &old).0.len(), 2);
        goes_on(&bench, &old, &new, &first);
    }
}

#[test]
fn a_project_is_the_same_through_a_link() {
    let bench = Bench::new();
    let (dir, first) = worked_in(&bench, "app");
    let link = bench.lab.root().join("link");
    symlink(&dir, &link).unwrap();
    let said = bench.next("two").within(&link).done();
    said.resumed(&first.session(), 0).calm();
}

#[test]
fn a_clone_is_the_project_only_once_the_old_one_is_gone() {
    let bench = Bench::new();
    let (origin, old, new) =
        (bench.lab.root().join("origin"), bench.lab.root().join("old"), bench.lab.root().join("new"));
    bench.lab.make_project("origin").unwrap();
    git(&bench, &bench.lab.root(), &["clone", "-q", text(&origin), text(&old)]);
    let first = turns_in(&bench, &old);
    git(&bench, &bench.lab.root(), &["clone", "-q", text(&origin), text(&new)]);
    let (list, said) = listed(&bench, &new);
    assert_eq!(list.len(), 0);
    let others =
        format!("other checkouts of this project have conversations: {} (2 conversations)", text(&old));
    said.tells(&[&others]);
    bench.rejoin(&["show", "@"]).within(&new).ends(4).tells(&[&others]);
    assert!(begins_anew(&bench, &new).contains(&others));
    // Named, it goes on where it is.
    let said =
        bench.rejoin(&["run", "-o", "stream-json", "-r", &first.conversation(), "two"]).within(&new).done();
    said.resumed(&first.session(), 0).warned("other_project");
    let again = bench.lab.root().join("again");
    fs::remove_dir_all(&old).unwrap();
    fs::remove_dir_all(&new).unwrap();
    git(&bench, &bench.lab.root(), &["clone", "-q", text(&origin), text(&again)]);
    // The other one was begun in a clone that is gone as well.
    let said = bench.rejoin(&["run", "-c", "x"]).within(&again).ends(2);
    said.tells(&[
        "2 projects that are gone may have been this one",
        &format!("{} (2 conversations)", text(&old)),
        &format!("{} (1 conversation)", text(&new)),
        &format!("`rejoin mv {} .`", text(&old)),
    ]);
    bench.rejoin(&["show", "@"]).within(&again).ends(2).tells(&["2 projects that are gone"]);
    assert_eq!(listed(&bench, &again).0.len(), 0);
    bench.rejoin(&["mv", text(&new), "."]).within(&again).done();
    bench.rejoin(&["rm", "@", "--yes"]).within(&again).done();
    let said = bench.next("on MARK-b").within(&again).done();
    said.fresh("workdir_changed", 2).knows(&["a", "b"]).warned("project_moved");
}

#[test]
fn another_repository_with_the_same_beginning_is_another_project() {
    let bench = Bench::new();
    let (old, _) = worked_in(&bench, "old");
    git(&bench, &old, &["remote", "add", "origin", "https://ann:s3cret-t0ken@example.org/ann/app.git"]);
    bench.next("with a remote").within(&old).done();
    let fork = bench.lab.root().join("fork");
    git(&bench, &bench.lab.root(), &["clone", "-q", text(&old), text(&fork)]);
    fs::remove_dir_all(&old).unwrap();
    assert!(!begins_anew(&bench, &fork).contains("checkout"), "cloned from elsewhere");
    for journal in bench.journals() {
        assert!(!fs::read_to_string(journal).unwrap().contains("s3cret"), "logins are not recorded");
    }
    // The same address, whoever logs in.
    git(&bench, &fork, &["remote", "set-url", "origin", "git@example.org:ann/app"]);
    let said = bench.rejoin(&["ls"]).within(&fork).done();
    said.tells(&["this project was"]);
}

#[test]
fn a_work_tree_is_itself_wherever_it_was_moved() {
    let bench = Bench::new();
    let (main, _) = worked_in(&bench, "app");
    let (tree, moved) = (bench.lab.root().join("tree"), bench.lab.root().join("moved"));
    git(&bench, &main, &["worktree", "add", "-q", text(&tree)]);
    let (list, said) = listed(&bench, &tree);
    assert_eq!(list.len(), 0);
    said.tells(&["other checkouts", text(&main)]);
    let first = turns_in(&bench, &tree);
    git(&bench, &main, &["worktree", "move", text(&tree), text(&moved)]);
    goes_on(&bench, &tree, &moved, &first);
    // One that was removed did not become another one.
    git(&bench, &main, &["worktree", "remove", "--force", text(&moved)]);
    let other = bench.lab.root().join("other");
    git(&bench, &main, &["worktree", "add", "-q", text(&other)]);
    let told = begins_anew(&bench, &other);
    assert!(told.contains(&format!("{} (2 conversations, not there now)", text(&moved))), "{told}");
    // Named, it may go on here: its place is gone.
    let id = first.conversation();
    let said = bench.rejoin(&["run", "-o", "stream-json", "-r", &id, "on MARK-d"]).within(&other).done();
    said.fresh("workdir_changed", 3).knows(&["a", "b", "c", "d"]);
    assert!(said.warned("project_moved").contains("a checkout of this repository that is gone"));
    assert_eq!(listed(&bench, &other).0.len(), 2, "that one alone came along");
}

#[test]
fn a_name_or_an_id_brings_the_conversations_along_too() {
    let bench = Bench::new();
    let (old, first) = worked_in(&bench, "old");
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    // Begun here without a word about the others.
    bench.first("another").within(&new).done();
    assert_eq!(listed(&bench, &new).0.len(), 3);
    let said = bench.rejoin(&["run", "-o", "stream-json", "-s", "release", "two MARK-b"]).within(&new).done();
    assert_eq!(said.conversation(), first.conversation());
    said.fresh("workdir_changed", 1).knows(&["a", "b"]).warned("project_moved");
    let third = bench.lab.root().join("third");
    fs::rename(&new, &third).unwrap();
    let id = first.conversation();
    let said = bench.rejoin(&["run", "-o", "stream-json", "-r", &id[..8], "three"]).within(&third).done();
    said.fresh("workdir_changed", 2);
    assert!(said.warned("project_moved").contains("3 conversations came along"));
}

#[test]
fn what_came_from_another_home_stays() {
    let bench = Bench::new();
    let (old, first) = worked_in(&bench, "old");
    let bundle = bench.lab.root().join("bundle");
    let id = first.conversation();
    bench.rejoin(&["export", &id, "--format", "bundle", "--to", text(&bundle)]).within(&old).done();
    for reference in ["@", "@"] {
        bench.rejoin(&["rm", reference, "--yes"]).within(&old).done();
    }
    bench.rejoin(&["import", text(&bundle)]).within(&old).done();
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    let told = begins_anew(&bench, &new);
    let ask = format!("{0} (1 conversation, not there now)", text(&old));
    assert!(told.contains(&ask) && told.contains(&format!("`rejoin mv {} .`", text(&old))), "{told}");
    bench.rejoin(&["show", "release"]).within(&new).ends(4);
    let said = bench.rejoin(&["run", "-o", "stream-json", "-r", &id, "two"]).within(&new).done();
    said.warned("other_project");
    bench.rejoin(&["mv", text(&old), "."]).within(&new).done().tells(&["1 conversation moved"]);
}

#[test]
fn a_new_project_in_the_place_of_a_deleted_one_is_not_that() {
    let bench = Bench::new();
    let old = bench.outside("old");
    turns_in(&bench, &old);
    fs::remove_dir_all(&old).unwrap();
    // Its number is given to the next one.
    let new = bench.outside("new");
    begins_anew(&bench, &new);
}

#[test]
fn journals_of_older_versions_take_rejoin_mv() {
    let bench = Bench::new();
    let old = bench.outside("old");
    turns_in(&bench, &old);
    of_an_older_version(&bench);
    let new = bench.outside("new").join("deep");
    fs::rename(&old, &new).unwrap();
    assert_eq!(listed(&bench, &new).0.len(), 0);
    bench.rejoin(&["mv", text(&old), "."]).within(&new).done().tells(&["2 conversations moved"]);
}

#[test]
fn it_is_written_down_once_and_when_it_changes() {
    let bench = Bench::after_a_turn();
    bench.next("two").done();
    let noted = bench.notes("project");
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert_eq!(noted[0]["git_common_dir"], text(&bench.project().join(".git")));
    assert_eq!(noted[0]["first_commit"].as_str().unwrap().len(), 40);
    git(&bench, &bench.project(), &["remote", "add", "origin", "https://example.org/app"]);
    bench.next("three").done();
    bench.next("four").done();
    let noted = bench.notes("project");
    assert_eq!(noted.len(), 2);
    assert_eq!(noted[1]["remote"].as_str().unwrap().len(), 32);
    assert_eq!(noted[0]["first_commit"], noted[1]["first_commit"]);
}

#[test]
fn one_in_use_comes_along_later() {
    let bench = Bench::new();
    let (old, first) = worked_in(&bench, "old");
    let live = bench.first("HANG").within(&old).start();
    crate::support::eventually("the turn", || {
        let (list, _) = listed(&bench, &old);
        list.iter().any(|one| one["state"] == "running").then_some(())
    });
    let new = bench.lab.root().join("new");
    fs::rename(&old, &new).unwrap();
    let id = first.conversation();
    let said = bench.rejoin(&["run", "-o", "stream-json", "-r", &id, "two"]).within(&new).done();
    let told = said.warned("project_moved");
    assert!(told.contains("2 conversations came along") && told.contains("1 conversation in use"), "{told}");
    live.kill();
}
