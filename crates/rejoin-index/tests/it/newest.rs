//! The newest conversation is found without reading a large one anew each time.

use rejoin_core::{Kind, System};
use rejoin_index::Index;
use rejoin_journal::{JournalFiles, load};

use crate::support::{Disk, conversation, said, system};

/// A conversation whose load is kept whenever all of it is read, which tells whether it was.
fn large() -> Disk {
    let disk = Disk::new();
    disk.begin(1, "/p/q");
    for turn in 0..5 {
        disk.turn(1, 1 + turn * 10, None, "prompt", &"x".repeat(1 << 20));
    }
    disk
}

fn newest(index: &mut Index<'_>, project: &str) -> bool {
    index.newest(project, 0).unwrap() == Some(conversation(1))
}

/// Whether all of it is read to say what it is of.
fn is_read_whole(disk: &Disk, ask: impl FnOnce()) -> bool {
    disk.store.forget_load(conversation(1));
    ask();
    disk.store.cached_load(conversation(1)).is_some()
}

#[test]
fn what_was_learnt_of_a_large_journal_is_kept() {
    let disk = large();
    assert!(is_read_whole(&disk, || assert!(newest(&mut disk.index(), "/p/q"))), "the first time");
    assert!(!is_read_whole(&disk, || assert!(newest(&mut disk.index(), "/p/q"))), "the second time");
}

#[test]
fn of_a_large_journal_that_grew_only_what_is_new_is_read() {
    let disk = large();
    assert!(newest(&mut disk.index(), "/p/q"));
    disk.turn(1, 100, None, "one more", "yes");
    let untouched = || Index::open_untouched(&disk.store, &disk.cache());
    assert!(!is_read_whole(&disk, || assert!(newest(&mut untouched(), "/p/q"))), "by one that only looks");
    assert!(!is_read_whole(&disk, || assert!(newest(&mut disk.index(), "/p/q"))));
    disk.turn(1, 110, None, "much more", &"x".repeat(2 << 20));
    assert!(is_read_whole(&disk, || assert!(newest(&mut disk.index(), "/p/q"))), "much is new");
    assert!(!is_read_whole(&disk, || assert!(newest(&mut untouched(), "/p/q"))), "which was kept");
}

/// `/p/q` and `/p-q` are kept in one directory.
#[test]
fn a_large_journal_that_was_moved_is_of_the_other_project() {
    let disk = large();
    let untouched = || Index::open_untouched(&disk.store, &disk.cache());
    assert!(newest(&mut disk.index(), "/p/q"));
    let moved = |project: &str| System::Moved { project: project.to_owned(), dir: project.to_owned() };
    for (number, (project, other)) in (200..).zip([("/p-q", "/p/q"), ("/p/q", "/p-q"), ("/p-q", "/p/q")]) {
        let id = conversation(1);
        disk.append(1, &[system(id, None, &moved(project)), said(id, number, None, Kind::User, "\"moved\"")]);
        for index in [&mut untouched(), &mut disk.index()] {
            assert!(newest(index, project));
            assert!(!newest(index, other));
        }
    }
}

#[test]
fn a_journal_in_the_place_of_a_large_one_is_read() {
    let disk = large();
    assert!(newest(&mut disk.index(), "/p/q"));
    let other = Disk::new();
    other.begin(1, "/p-q");
    for turn in 0..7 {
        other.turn(1, 1 + turn * 10, None, "prompt", &"y".repeat(1 << 20));
    }
    // The same file, with other bytes and more of them.
    std::fs::write(disk.path(1), std::fs::read(other.path(1)).unwrap()).unwrap();
    assert!(load(&disk.store, conversation(1)).is_ok());
    assert!(newest(&mut disk.index(), "/p-q"));
    assert!(!newest(&mut disk.index(), "/p/q"));
}
