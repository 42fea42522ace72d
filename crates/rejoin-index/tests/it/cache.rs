//! Whatever happens to the index, every question is answered, and no journal is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rejoin_core::System;
use rejoin_index::Index;
use rusqlite::Connection;

use crate::support::{Disk, all, conversation, hits, stats, system};

fn told() -> Disk {
    let disk = Disk::new();
    for number in 0..5 {
        disk.begin(number, "/p");
        disk.turn(number, 1, None, &format!("question{number} everywhere"), "an answer");
    }
    check(&mut disk.index());
    disk
}

fn check(index: &mut Index<'_>) {
    assert_eq!(all(index).conversations.len(), 5);
    assert_eq!(hits(index, &["everywhere"], 10).hits.len(), 5);
    assert_eq!(hits(index, &["question3"], 10).hits[0].conversation, conversation(3));
    assert_eq!(stats(index).all.turns, 5);
}

fn version(disk: &Disk) -> i64 {
    let connection = Connection::open(disk.database()).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn only_its_owner_may_read_it() {
    let disk = told();
    for entry in fs::read_dir(disk.cache()).unwrap() {
        let mode = entry.unwrap().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(disk.cache()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn one_that_was_deleted_is_made_again() {
    let disk = told();
    fs::remove_dir_all(disk.cache()).unwrap();
    check(&mut disk.index());
    assert!(disk.database().exists());
}

#[test]
fn one_of_another_version_is_made_anew() {
    let disk = told();
    let ours = version(&disk);
    Connection::open(disk.database()).unwrap().execute_batch("PRAGMA user_version = 999").unwrap();
    let mut index = disk.index();
    check(&mut index);
    assert!(index.warnings().is_empty());
    assert_eq!(version(&disk), ours);
}

#[test]
fn one_that_is_ruined_is_replaced() {
    let disk = told();
    let whole = fs::read(disk.database()).unwrap();
    let damages: [(&str, Vec<u8>); 6] = [
        ("not a database", b"hello".repeat(1000)),
        ("empty", Vec::new()),
        ("cut in the middle", whole[..whole.len() / 2].to_vec()),
        ("cut in a page", whole[..whole.len() - 1000].to_vec()),
        ("zeros behind the first page", [&whole[..8192], &vec![0; whole.len() - 8192]].concat()),
        ("no tables", {
            let path = disk.cache().join("other");
            Connection::open(&path)
                .unwrap()
                .execute_batch("PRAGMA user_version = 1; CREATE TABLE x (y)")
                .unwrap();
            fs::read(path).unwrap()
        }),
    ];
    for (what, bytes) in damages {
        fs::write(disk.database(), bytes).unwrap();
        println!("{what}");
        check(&mut disk.index());
        check(&mut disk.index());
    }
}

#[test]
fn every_page_may_be_ruined() {
    let disk = told();
    let whole = fs::read(disk.database()).unwrap();
    for page in 0..whole.len() / 8192 {
        let mut bytes = whole.clone();
        bytes[page * 8192..(page + 1) * 8192].fill(0xa5);
        fs::write(disk.database(), bytes).unwrap();
        check(&mut disk.index());
    }
}

/// Everything that can be asked, as one text.
fn answers(index: &mut Index<'_>) -> String {
    let list = all(index);
    let found =
        ["everywhere", "question3", "question*", "answer", "nowhere"].map(|word| hits(index, &[word], 10));
    format!("{list:?} {found:?} {:?} {:?}", stats(index), index.names("/p").unwrap())
}

/// Tries a damage to each of some bytes.
fn no_answer_is_wrong(disk: &Disk, damage: impl Fn(&mut Vec<u8>, usize), step: usize) {
    let expected = answers(&mut Index::open(&disk.store, &disk.nowhere()));
    assert_eq!(answers(&mut disk.index()), expected);
    let whole = fs::read(disk.database()).unwrap();
    for at in (0..whole.len()).step_by(step) {
        let mut bytes = whole.clone();
        damage(&mut bytes, at);
        fs::write(disk.database(), &bytes).unwrap();
        let mut index = disk.index();
        assert_eq!(answers(&mut index), expected, "byte {at}");
        assert!(index.warnings().is_empty(), "byte {at}: {:?}", index.warnings());
        drop(index);
        assert_eq!(answers(&mut disk.index()), expected, "byte {at}, the second time");
    }
}

/// A cache of several segments and of documents that are out of use.
fn grown() -> Disk {
    let disk = told();
    for round in 0..4 {
        disk.turn(round, 10, Some(2), &format!("more everywhere {round}"), "yes");
        check_found(&disk);
    }
    disk.append(2, &[system(conversation(2), None, &System::Title { name: "a name".into() })]);
    check_found(&disk);
    disk
}

fn check_found(disk: &Disk) {
    assert!(!disk.found(&["everywhere"]).is_empty());
}

/// Databases that have one page of an older time, of the newest and of all times before it.
fn with_an_older_page(times: &[Vec<u8>]) -> impl Iterator<Item = Vec<u8>> {
    let (newest, older) = times.split_last().unwrap();
    let page =
        |bytes: &[u8], number: usize| bytes.get(number * 8192..(number + 1) * 8192).map(<[u8]>::to_vec);
    older.iter().flat_map(move |older| {
        (0..newest.len() / 8192).filter_map(move |number| {
            let old = page(older, number).filter(|old| Some(old) != page(newest, number).as_ref())?;
            let mut bytes = newest.clone();
            bytes[number * 8192..(number + 1) * 8192].copy_from_slice(&old);
            Some(bytes)
        })
    })
}

/// A write that never reached the disk leaves the page that stood there before, whole and with right sums.
#[test]
fn a_page_of_an_older_time_never_makes_an_answer_wrong() {
    let disk = told();
    let mut times = vec![fs::read(disk.database()).unwrap()];
    for round in 0..6 {
        let prompt = format!("more question3 everywhere {round}");
        disk.turn(round % 5, 10 * (1 + round), Some(2), &prompt, "yes");
        check_found(&disk);
        times.push(fs::read(disk.database()).unwrap());
    }
    let expected = answers(&mut Index::open(&disk.store, &disk.nowhere()));
    assert_eq!(answers(&mut disk.index()), expected);
    let damaged: Vec<_> = with_an_older_page(&times).collect();
    assert!(damaged.len() > 20, "{}", damaged.len());
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(disk.database(), bytes).unwrap();
        assert_eq!(answers(&mut disk.index()), expected, "{number}");
    }
    // The same where it is met by writing: the next segment is the one with which they are merged.
    let journal = fs::read(disk.path(4)).unwrap();
    for (number, bytes) in damaged.iter().enumerate() {
        fs::write(disk.database(), bytes).unwrap();
        fs::write(disk.path(4), &journal).unwrap();
        disk.turn(4, 100, Some(2), "one more question3 everywhere", "yes");
        let expected = answers(&mut Index::open(&disk.store, &disk.nowhere()));
        assert_eq!(answers(&mut disk.index()), expected, "{number}, with one more");
        assert_eq!(answers(&mut disk.index()), expected, "{number}, the second time");
    }
}

#[test]
fn a_flipped_bit_never_makes_an_answer_wrong() {
    no_answer_is_wrong(&grown(), |bytes, at| bytes[at] ^= 1 << (at % 8), 499);
}

#[test]
fn a_flipped_bit_of_its_header_never_makes_an_answer_wrong() {
    let disk = told();
    let expected = answers(&mut disk.index());
    let whole = fs::read(disk.database()).unwrap();
    for bit in (0..100 * 8).step_by(3) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(disk.database(), &bytes).unwrap();
        assert_eq!(answers(&mut disk.index()), expected, "bit {bit}");
    }
}

#[test]
fn bytes_that_moved_or_vanished_never_make_an_answer_wrong() {
    let disk = grown();
    let zeros = |bytes: &mut Vec<u8>, at: usize| {
        let end = (at + 64).min(bytes.len());
        bytes[at..end].fill(0);
    };
    no_answer_is_wrong(&disk, zeros, 2039);
    let turned = |bytes: &mut Vec<u8>, at: usize| {
        let end = (at + 32).min(bytes.len());
        bytes[at..end].reverse();
    };
    no_answer_is_wrong(&disk, turned, 2039);
}

#[test]
fn one_that_somebody_else_holds_is_not_waited_for() {
    let disk = told();
    disk.turn(2, 10, Some(2), "another one everywhere", "yes");
    for lock in ["BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"] {
        let holder = Connection::open(disk.database()).unwrap();
        holder.execute_batch(lock).unwrap();
        let begun = std::time::Instant::now();
        let mut index = disk.index();
        assert_eq!(hits(&mut index, &["another"], 10).hits.len(), 1);
        assert_eq!(hits(&mut index, &["everywhere"], 10).hits.len(), 6);
        assert_eq!(all(&mut index).conversations.len(), 5);
        assert!(index.warnings().is_empty(), "{:?}", index.warnings());
        assert!(begun.elapsed().as_secs() < 5);
    }
    assert_eq!(disk.found(&["everywhere"]).len(), 6);
}

#[test]
fn without_a_place_for_it_the_journals_are_read() {
    let disk = told();
    let nowhere = disk.nowhere();
    let mut index = Index::open(&disk.store, &nowhere);
    check(&mut index);
    let warnings = index.warnings();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("the journals are read instead"), "{warnings:?}");
}

#[test]
fn journals_that_are_gone_are_forgotten_and_a_second_index_sees_what_the_first_wrote() {
    let disk = told();
    fs::remove_file(disk.path(3)).unwrap();
    assert!(disk.found(&["question3"]).is_empty());
    let rows = |disk: &Disk| -> i64 {
        let connection = Connection::open(disk.database()).unwrap();
        connection.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(&disk), 4);
    let (mut one, mut other) = (disk.index(), disk.index());
    disk.turn(0, 10, Some(2), "fresh news", "yes");
    assert_eq!(hits(&mut one, &["news"], 10).hits.len(), 1);
    assert_eq!(hits(&mut other, &["news"], 10).hits.len(), 1);
    disk.turn(0, 20, Some(11), "more news", "yes");
    assert_eq!(hits(&mut other, &["news"], 10).hits.len(), 2);
    assert_eq!(hits(&mut one, &["news"], 10).hits.len(), 2);
}
