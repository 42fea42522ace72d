//! Taking in a journal: all of it or nothing, and never in the place of another.

use std::ffi::OsString;
use std::fs;

use rejoin_core::System;
use rejoin_journal::{Adopted, JournalError, JournalFiles, Store, Writer};

use crate::support::{Disk, PROJECT, conversation, first, info, system, user};

fn line(number: u128) -> Vec<u8> {
    let record = if number == 0 {
        first(conversation(9), PROJECT)
    } else {
        user(conversation(9), number, None, "said elsewhere")
    };
    serde_json::to_string(&record).unwrap().into_bytes().into_iter().chain(*b"\n").collect()
}

fn journal(turns: u128) -> Vec<u8> {
    (0..=turns).flat_map(line).collect()
}

fn names(disk: &Disk) -> Vec<String> {
    let directory = fs::read_dir(disk.path().parent().unwrap()).unwrap();
    let mut names: Vec<_> =
        directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn refuse(adopted: Adopted) -> Result<(), JournalError> {
    assert_ne!(adopted, Adopted::Known);
    Err(JournalError::Exists { id: conversation(9) })
}

#[test]
fn until_the_last_moment_nothing_can_be_seen_and_then_all_of_it() {
    let disk = Disk::new();
    let (id, before) = (conversation(9), names(&disk));
    for (bytes, found) in [(journal(1), None), (journal(3), Some(journal(1)))] {
        let result = disk.store.adopt(id, &info(PROJECT), &mut bytes.as_slice(), &mut refuse);
        assert!(result.is_err());
        assert_eq!(disk.store.path(id).ok().map(|path| fs::read(path).unwrap()), found);
        assert_eq!(names(&disk).len(), before.len() + usize::from(found.is_some()), "no draft is left");
        disk.store.adopt(id, &info(PROJECT), &mut bytes.as_slice(), &mut |_| Ok(())).unwrap();
        assert_eq!(fs::read(disk.store.path(id).unwrap()).unwrap(), bytes);
    }
    assert_eq!(names(&disk).len(), before.len() + 1);
}

#[test]
fn who_came_first_is_not_replaced() {
    let disk = Disk::new();
    let id = conversation(9);
    let path = disk.path().with_file_name(format!("{id}.jsonl"));
    let result = disk.store.adopt(id, &info(PROJECT), &mut journal(1).as_slice(), &mut |_| {
        // Another import was faster, and a turn was taken on it.
        fs::write(&path, journal(5)).unwrap();
        Ok(())
    });
    assert!(matches!(result, Err(JournalError::Exists { .. })), "{result:?}");
    assert_eq!(fs::read(&path).unwrap(), journal(5));
    assert_eq!(names(&disk).len(), 2, "no draft is left");
}

#[test]
fn who_waits_to_append_meanwhile_finds_the_longer_one() {
    let disk = Disk::new();
    let id = conversation(9);
    disk.store.adopt(id, &info(PROJECT), &mut journal(1).as_slice(), &mut |_| Ok(())).unwrap();
    let mut label = disk.store.appender(id, Writer::Label).unwrap();
    disk.store.adopt(id, &info(PROJECT), &mut journal(2).as_slice(), &mut |_| Ok(())).unwrap();
    label.append(&[user(id, 7, None, "appended")]).unwrap();
    let text = String::from_utf8(fs::read(disk.store.path(id).unwrap()).unwrap()).unwrap();
    assert_eq!((text.lines().count(), text.lines().last().unwrap().contains("appended")), (4, true));
}

#[test]
fn drafts_of_the_killed_are_swept_at_once_and_no_others() {
    let disk = Disk::new();
    let id = conversation(9);
    let place = |name: &str| disk.path().with_file_name(format!("{id}.jsonl.{name}.tmp"));
    let (held, left, foreign) = (place(&"a".repeat(32)), place(&"b".repeat(32)), place("notes"));
    let lock = fs::File::create(&held).unwrap();
    lock.lock().unwrap();
    fs::write(&foreign, "").unwrap();
    // The second time it is there already, and only looked at.
    for _ in 0..2 {
        fs::write(&left, "").unwrap();
        disk.store.adopt(id, &info(PROJECT), &mut journal(1).as_slice(), &mut |_| Ok(())).unwrap();
        assert!(!left.exists() && held.exists() && foreign.exists());
    }
    // Who begins a conversation does not look for them; who lists them does.
    fs::write(&left, "").unwrap();
    disk.store.look(Some(PROJECT)).unwrap();
    assert!(!left.exists() && held.exists() && foreign.exists());
}

#[test]
fn a_move_replaces_nothing() {
    let disk = Disk::new();
    let other = info("/srv/other");
    disk.store
        .create(conversation(9), &other, &[first(conversation(9), "/srv/other")], Writer::Label)
        .unwrap();
    let there = disk.store.path(conversation(9)).unwrap().with_file_name(format!("{}.jsonl", disk.id));
    fs::write(&there, "somebody's\n").unwrap();
    assert!(disk.store.relocate(disk.id, "/srv/other", &mut || Ok(())).is_err());
    assert_eq!(fs::read(&there).unwrap(), b"somebody's\n");
}

/// A kill at either step of a move: before the journal says that it moved, or before its file is renamed.
#[test]
fn a_move_that_was_cut_off_is_finished_or_undone_by_whoever_looks() {
    let new = "/srv/other";
    for said in [true, false] {
        let disk = Disk::new();
        let moved = System::Moved { project: new.into(), dir: new.into() };
        let cut = disk.store.relocate(disk.id, new, &mut || {
            if said {
                disk.store.appender(disk.id, Writer::Label)?.append(&[system(disk.id, 50, None, &moved)])?;
            }
            Err(JournalError::Deleted { path: "the mover was killed".into() })
        });
        assert!(cut.is_err());
        let here = if said { new } else { PROJECT };
        let all = disk.store.list(None).unwrap();
        let projects: Vec<_> =
            all.iter().map(|listed| listed.info.as_ref().unwrap().project.as_str()).collect();
        assert_eq!(projects, [here], "said: {said}");
        assert_eq!(disk.store.list(Some(here)).unwrap(), all);
        let (there, not_there) =
            (disk.store.look(Some(new)).unwrap(), disk.store.look(Some(PROJECT)).unwrap());
        assert_eq!((there.len(), not_there.len()), (usize::from(said), usize::from(!said)));
        let projects = disk.path().ancestors().nth(2).unwrap().to_owned();
        let files = fs::read_dir(projects.join("-srv-other")).unwrap().flatten();
        let is_marker = |name: &OsString| name.as_encoded_bytes().starts_with(b".moving");
        let left: Vec<_> = files.map(|entry| entry.file_name()).filter(is_marker).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A kill on the way must not leave it among those of a project it no longer belongs to.
#[test]
fn a_journal_is_taken_in_at_once_where_it_says_it_belongs() {
    let disk = Disk::new();
    let id = conversation(9);
    // The second project's directory has the name of the first one's.
    for (number, (begun, now)) in (0..).zip([("/srv/old", "/srv/new"), ("/srv/a-b", "/srv/a/b")]) {
        let moved = System::Moved { project: now.into(), dir: now.into() };
        let records = [first(id, begun), user(id, 1, None, "said"), system(id, 2, None, &moved)];
        let lines: Vec<String> = records.iter().map(|it| serde_json::to_string(it).unwrap() + "\n").collect();
        let taken = disk.store.adopt(id, &info(begun), &mut lines.concat().as_bytes(), &mut |_| Ok(()));
        assert_eq!(taken.unwrap(), Adopted::New);
        let listed = |project| disk.store.list(Some(project)).unwrap().len();
        assert_eq!((listed(begun), listed(now)), (0, 1), "{now}");
        assert_eq!(fs::read(disk.store.path(id).unwrap()).unwrap(), lines.concat().as_bytes());
        let projects = disk.home.root().join("projects");
        assert_eq!(fs::read_dir(projects).unwrap().count(), 2 + number, "nothing else was made");
        disk.store.remove(id).unwrap();
    }
}
