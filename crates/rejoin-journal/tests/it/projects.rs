//! Names of directories, and what happens when they collide.

use std::fs;

use rejoin_journal::{JournalError, Store, Writer};

use crate::support::{Disk, conversation, first, info, read};

#[test]
fn projects_with_one_name_are_told_apart() {
    let disk = Disk::new();
    let projects = ["/srv/a-b", "/srv/a/b", "/srv/a b", "/srv/a\u{e4}b"];
    for (number, project) in (1..).zip(projects) {
        let id = conversation(number);
        disk.store.create(id, &info(project), &[first(id, project)], Writer::Label).unwrap();
        assert!(disk.store.path(id).unwrap().parent().unwrap().ends_with("-srv-a-b"));
    }
    for (number, project) in (1..).zip(projects) {
        let ids: Vec<_> =
            disk.store.list(Some(project)).unwrap().into_iter().map(|listed| listed.id).collect();
        assert_eq!(ids, [conversation(number)], "{project}");
    }
    assert_eq!(disk.store.list(None).unwrap().len(), 5);
}

#[test]
fn a_very_long_path_fits_into_a_name() {
    let disk = Disk::new();
    let project = format!("/{}", "directory/".repeat(100));
    let id = conversation(1);
    disk.store.create(id, &info(&project), &[first(id, &project)], Writer::Label).unwrap();
    assert_eq!(disk.store.list(Some(&project)).unwrap().len(), 1);
}

#[test]
fn another_process_finds_a_conversation_by_its_id_alone() {
    let disk = Disk::new();
    let stranger = disk.home.store();
    assert_eq!(read(&stranger, disk.id, 0).records.len(), 1);
}

#[test]
fn a_journal_that_was_moved_is_found_again() {
    let disk = Disk::new();
    let from = disk.path();
    let to = from.parent().unwrap().with_file_name("elsewhere");
    fs::create_dir(&to).unwrap();
    fs::rename(&from, to.join(from.file_name().unwrap())).unwrap();
    assert_eq!(disk.read().records.len(), 1);
}

#[test]
fn two_journals_of_one_id_are_an_error_not_a_guess() {
    let disk = Disk::new();
    let copy = disk.path().parent().unwrap().with_file_name("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(disk.path(), copy.join(disk.path().file_name().unwrap())).unwrap();
    let error = disk.home.store().read(disk.id, 0, &mut |_| ()).unwrap_err();
    assert!(matches!(error, JournalError::Twice { .. }), "{error}");
    assert!(error.to_string().contains("copy"), "{error}");
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let disk = Disk::new();
    let directory = disk.path().parent().unwrap().to_owned();
    fs::write(directory.join("notes.txt"), "x").unwrap();
    fs::write(directory.join("notes.jsonl"), "x").unwrap();
    fs::write(directory.join(format!("{}.jsonl", disk.id.uuid().simple())), "x").unwrap();
    fs::create_dir(directory.join(format!("{}.jsonl", conversation(7)))).unwrap();
    fs::write(directory.with_file_name("file"), "x").unwrap();
    assert_eq!(disk.store.list(None).unwrap().len(), 1);
    assert!(disk.store.ids().unwrap().contains(&disk.id));
}
