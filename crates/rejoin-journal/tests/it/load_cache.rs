//! What is kept of a large journal is as good as reading it, or it is not used.

use std::fs;

use rejoin_core::{Conversation, System};
use rejoin_journal::{JournalFiles, load, load_anew};

use crate::support::{Disk, assistant, message, system, user};

/// A journal large enough that a load is kept, and what stands there.
fn large() -> Disk {
    let disk = Disk::new();
    let id = disk.id;
    let text = "x".repeat(512 << 10);
    for turn in 0..10_u128 {
        let parent = turn.checked_sub(1).map(|before| before * 10 + 2);
        disk.append(&[
            user(id, turn * 10 + 1, parent, "prompt"),
            assistant(id, turn * 10 + 2, turn * 10 + 1, &text),
        ]);
    }
    disk
}

/// Everything that was loaded, but for the order of maps.
fn whole(conversation: &Conversation) -> (String, Vec<Vec<u64>>) {
    let mut messages: Vec<_> = conversation.tree.messages().collect();
    messages.sort_unstable();
    let turns = conversation.tree.turns().iter().map(|turn| turn.records.clone()).collect();
    (format!("{} {messages:?}", serde_json::to_string(conversation).unwrap()), turns)
}

fn same_as_anew(disk: &Disk) {
    let kept = load(&disk.store, disk.id).unwrap();
    let anew = load_anew(&disk.store, disk.id).unwrap();
    assert_eq!(whole(&kept.conversation), whole(&anew.conversation));
    assert_eq!((kept.end, kept.problems.count), (anew.end, anew.problems.count));
}

#[test]
fn a_load_is_kept_and_goes_on_with_what_is_new() {
    let disk = large();
    assert!(disk.store.cached_load(disk.id).is_none());
    load(&disk.store, disk.id).unwrap();
    assert!(disk.store.cached_load(disk.id).is_some(), "a cache was kept");
    same_as_anew(&disk);
    let id = disk.id;
    disk.append(&[
        user(id, 200, Some(92), "next"),
        assistant(id, 201, 200, "answer"),
        system(id, 202, None, &System::Head { to: Some(message(12)), branch: Some("idea".into()) }),
        system(id, 203, None, &System::Amendment { target: message(1), parts: Vec::new() }),
        system(id, 204, None, &System::Tags { add: vec!["x".into()], remove: Vec::new() }),
        user(id, 205, Some(12), "on the branch"),
    ]);
    same_as_anew(&disk);
}

#[test]
fn only_what_is_new_is_looked_at() {
    let disk = large();
    load(&disk.store, disk.id).unwrap();
    // A prompt in the middle is spoilt: whoever read it again would notice.
    let mut bytes = disk.bytes();
    let at = bytes.windows(6).position(|window| window == b"prompt").unwrap();
    bytes[at - 40] = 0xff;
    fs::write(disk.path(), bytes).unwrap();
    assert!(load(&disk.store, disk.id).unwrap().problems.is_empty());
    assert!(!load_anew(&disk.store, disk.id).unwrap().problems.is_empty());
}

#[test]
fn a_cached_load_of_another_journal_is_not_used() {
    let disk = large();
    load(&disk.store, disk.id).unwrap();
    let bytes = disk.bytes();
    let line_ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    // Shorter; a line taken out of the middle; nothing but the beginning.
    let cut = line_ends[line_ends.len() - 3] + 1;
    let without = [&bytes[..=line_ends[4]], &bytes[line_ends[5] + 1..]].concat();
    for changed in [&bytes[..cut], &without, &bytes[..=line_ends[0]]] {
        fs::write(disk.path(), changed).unwrap();
        same_as_anew(&disk);
        fs::write(disk.path(), &bytes).unwrap();
        same_as_anew(&disk);
    }
}

#[test]
fn a_damaged_cache_is_not_used() {
    let disk = large();
    load(&disk.store, disk.id).unwrap();
    let kept = disk.store.cached_load(disk.id).unwrap();
    for length in (0..kept.len()).step_by(499).chain([kept.len() - 1]) {
        disk.store.keep_load(disk.id, &kept[..length]);
        same_as_anew(&disk);
    }
    disk.store.keep_load(disk.id, &[kept.as_slice(), b"more"].concat());
    same_as_anew(&disk);
    // Every single bit is tried in `load_cache.rs`; here, that the journal is read instead.
    for at in (0..kept.len()).step_by(499) {
        let mut flipped = kept.clone();
        flipped[at] ^= 1 << (at % 8);
        disk.store.keep_load(disk.id, &flipped);
        same_as_anew(&disk);
        assert_ne!(disk.store.cached_load(disk.id).unwrap(), flipped, "a damaged one is replaced");
    }
}

#[test]
fn records_that_were_passed_over_are_met_again_by_a_version_that_knows_them() {
    let disk = large();
    disk.smear(b"{\"uuid\":\"10000000-0000-4000-8000-000000000fff\",\"type\":\"hologram\"}\n");
    assert_eq!(load(&disk.store, disk.id).unwrap().conversation.unknown, 1);
    assert!(disk.store.cached_load(disk.id).is_none());
}

#[test]
fn a_journal_with_damage_is_read_whole_every_time() {
    let disk = large();
    disk.smear(b"garbage\n");
    load(&disk.store, disk.id).unwrap();
    assert!(disk.store.cached_load(disk.id).is_none());
    same_as_anew(&disk);
}
