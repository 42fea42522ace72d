//! What only files can do to those who follow them.

use std::fs;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use rejoin_core::{ConversationId, MessageId, System};
use rejoin_journal::{JournalFiles, Mark, Store, Waker, Writer};

use crate::support::{Disk, PROJECT, conversation, first, info, message, system, user};

const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(30);

/// The records that a tail hands out, and where it ended.
fn tail(store: &dyn Store, id: ConversationId, from: u64, timeout: Duration) -> (Vec<MessageId>, u64) {
    let mut ids = Vec::new();
    let end = store.tail(id, from, timeout, &Waker::new(), &mut |entry| {
        ids.extend(entry.content.ok().map(|envelope| envelope.uuid));
        ControlFlow::Continue(())
    });
    (ids, end.unwrap())
}

#[test]
fn a_follower_goes_along_when_the_journal_is_moved() {
    let disk = Disk::new();
    let (store, id) = (&disk.store, disk.id);
    let end = disk.read().end;
    thread::scope(|scope| {
        let follower = scope.spawn(|| {
            let (mut ids, end) = tail(store, id, end, LONG);
            ids.extend(tail(store, id, end, LONG).0);
            ids
        });
        thread::sleep(SHORT);
        let moved = System::Moved { project: "/srv/other".into(), dir: "/srv/other".into() };
        let say_so =
            &mut || store.appender(id, Writer::Label)?.append(&[system(id, 5, None, &moved)]).map(drop);
        store.relocate(id, "/srv/other", say_so).unwrap();
        thread::sleep(SHORT);
        store.appender(id, Writer::Label).unwrap().append(&[user(id, 6, None, "x")]).unwrap();
        assert_eq!(follower.join().unwrap(), [message(5), message(6)]);
    });
}

/// As where no notice comes: a store that opened its journals by another way sees them all the same.
#[test]
fn what_another_process_writes_is_seen() {
    let disk = Disk::new();
    let end = disk.read().end;
    let other = disk.home.store();
    thread::scope(|scope| {
        let follower = scope.spawn(|| tail(&disk.store, disk.id, end, LONG));
        thread::sleep(SHORT);
        other.appender(disk.id, Writer::Label).unwrap().append(&[user(disk.id, 1, None, "x")]).unwrap();
        assert_eq!(follower.join().unwrap().0, [message(1)]);
    });
}

#[test]
fn many_followers_share_one_notice_of_the_system() {
    let disk = Disk::new();
    let (store, id) = (&disk.store, disk.id);
    let end = disk.read().end;
    let notices = || {
        let links = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let name = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        links
            .filter(|task| task.path().is_dir())
            .map(name)
            .filter(|name| name.starts_with("journal-"))
            .count()
    };
    thread::scope(|scope| {
        let followers: Vec<_> = (0..100)
            .map(|_| {
                thread::Builder::new()
                    .stack_size(256 << 10)
                    .spawn_scoped(scope, || tail(store, id, end, LONG))
                    .unwrap()
            })
            .collect();
        thread::sleep(SHORT);
        // Other tests run in this process, too.
        assert!(notices() < 50, "{}", notices());
        store.appender(id, Writer::Label).unwrap().append(&[user(id, 1, None, "x")]).unwrap();
        for follower in followers {
            assert_eq!(follower.join().unwrap().0, [message(1)]);
        }
    });
}

/// The list of a process that was killed is not the one of the next: it is told everything anew.
#[test]
fn a_mark_does_not_outlive_its_process() {
    let disk = Disk::new();
    let mark = disk.store.changes(&Mark::BEGINNING).unwrap().mark;
    let next = disk.home.store();
    fs::remove_file(disk.path()).unwrap();
    let id = conversation(7);
    next.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    let changes = next.changes(&mark).unwrap();
    assert!(changes.whole);
    assert_eq!(changes.written.iter().map(|state| state.id).collect::<Vec<_>>(), [id]);
}
