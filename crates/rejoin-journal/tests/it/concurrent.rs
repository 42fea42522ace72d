//! Many writers and readers at once.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rejoin_journal::{Home, Store, Writer};

use crate::child::{BATCHES, child, write_batches};
use crate::support::{Disk, Seen, first, info, read, user};

#[test]
fn writers_in_threads_and_processes_never_come_between_each_others_records() {
    let disk = Disk::new();
    let children: Vec<_> = (1..=3)
        .map(|writer| child(":", &format!("append {writer}"), disk.home.root()).spawn().unwrap())
        .collect();
    std::thread::scope(|scope| {
        for writer in 4..=6 {
            let store = &disk.store;
            scope.spawn(move || write_batches(store, disk.id, writer));
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }

    let seen = disk.read();
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let records = &seen.records[1..];
    assert_eq!(records.len() as u128, 6 * BATCHES * 3);
    for batch in records.chunks(3) {
        let first = batch[0].uuid.uuid().as_u128();
        let together =
            batch.iter().zip(first..).all(|(record, wanted)| record.uuid.uuid().as_u128() == wanted);
        assert!(together, "a batch was torn apart");
    }
}

#[test]
fn a_watcher_sees_every_record_once_and_never_a_half_one() {
    let disk = Disk::new();
    let done = AtomicBool::new(false);
    let mut seen = Seen::default();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=2)
            .map(|writer| {
                scope.spawn({
                    let disk = &disk;
                    move || write_batches(&disk.store, disk.id, writer)
                })
            })
            .collect();
        let done = &done;
        let watcher = scope.spawn({
            let disk = &disk;
            move || {
                let mut all = Seen::default();
                loop {
                    let last = done.load(Ordering::Acquire);
                    let more = read(&disk.store, disk.id, all.end);
                    all.end = more.end;
                    all.records.extend(more.records);
                    all.problems.extend(more.problems);
                    if last {
                        return all;
                    }
                }
            }
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
        seen = watcher.join().unwrap();
    });
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.ids(), disk.read().ids());
    assert_eq!(seen.end, disk.bytes().len() as u64);
}

#[test]
fn a_line_that_is_just_being_written_is_waited_for() {
    let disk = Disk::new();
    let record = user(disk.id, 1, None, "x");
    let line = serde_json::to_string(&record).unwrap() + "\n";
    let (half, rest) = line.split_at(40);
    let mut writer = OpenOptions::new().append(true).open(disk.path()).unwrap();
    writer.lock().unwrap();
    writer.write_all(half.as_bytes()).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| disk.read());
        std::thread::sleep(Duration::from_millis(100));
        writer.write_all(rest.as_bytes()).unwrap();
        writer.unlock().unwrap();
        let seen = reader.join().unwrap();
        assert_eq!(seen.records[1..], [record]);
        assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    });
}

#[test]
fn two_who_make_a_home_at_once_agree_on_its_id() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("home");
        let ids: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Home::open(&root).unwrap().id().to_owned())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let names: Vec<_> =
            std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "nothing is left lying around: {names:?}");
    }
}

#[test]
fn one_of_many_creates_a_conversation() {
    let disk = Disk::new();
    let id = crate::support::conversation(5);
    let made = std::thread::scope(|scope| {
        let create = || disk.store.create(id, &info("/p"), &[first(id, "/p")], Writer::Label).is_ok();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>()
    });
    assert_eq!(made, 1);
}
