//! The record that limits what agents may do: damage to it never widens.

use rejoin_core::{Permissions, System};
use rejoin_journal::{load_anew, load_before};

use crate::support::{Disk, system, user};

fn disk() -> (Disk, usize, usize) {
    let disk = Disk::new();
    disk.append(&[system(disk.id, 1, None, &System::Permissions { ceiling: Permissions::Full })]);
    let begin = disk.bytes().len();
    disk.append(&[system(disk.id, 2, None, &System::Permissions { ceiling: Permissions::Read })]);
    let end = disk.bytes().len();
    disk.append(&[user(disk.id, 3, None, "limited")]);
    (disk, begin, end)
}

#[test]
fn no_flipped_bit_of_it_widens_the_level() {
    let (disk, begin, end) = disk();
    let whole = disk.bytes();
    for at in begin..end {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            std::fs::write(disk.path(), &bytes).unwrap();
            let conversation = load_anew(&disk.store, disk.id).unwrap().conversation;
            assert_eq!(conversation.ceiling, Some(Permissions::Read), "byte {at}, bit {bit}");
        }
    }
}

/// After a loss of power there may be zeros; after a fault of the disk, anything.
#[test]
fn what_nothing_is_left_of_may_have_been_a_level() {
    let (disk, begin, end) = disk();
    let whole = disk.bytes();
    let level_after = |from: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[from..end - 1].fill(byte);
        std::fs::write(disk.path(), &bytes).unwrap();
        let lost = load_anew(&disk.store, disk.id).unwrap().conversation;
        (lost.ceiling, lost.ceiling_lost)
    };
    let fails_closed = (Some(Permissions::Read), true);
    for from in [begin, begin + 20] {
        assert_eq!(level_after(from, 0), fails_closed);
    }
    assert_eq!(level_after(begin, b'?'), fails_closed);
    // A write of something else that was cut limited nothing.
    for cut in
        ["{", "{\"uuid\":\"0000", "{\"uuid\":\"00000000-0000-4000-8000-000000000009\",\"parentUuid\":nu"]
    {
        std::fs::write(disk.path(), [&whole, cut.as_bytes()].concat()).unwrap();
        disk.append(&[user(disk.id, 7, None, "after it was sealed")]);
        assert!(!load_anew(&disk.store, disk.id).unwrap().conversation.ceiling_lost, "{cut}");
    }
}

#[test]
fn a_level_of_a_newer_rejoin_is_the_narrowest_until_one_is_named() {
    let (disk, ..) = disk();
    let mut newer = system(disk.id, 4, None, &System::Permissions { ceiling: Permissions::Full });
    newer.system_payload = Some(serde_json::json!({ "ceiling": "network" }));
    disk.append(&[newer]);
    let lost = load_anew(&disk.store, disk.id).unwrap().conversation;
    assert_eq!((lost.ceiling, lost.ceiling_lost), (Some(Permissions::Read), true));
    disk.append(&[system(disk.id, 5, None, &System::Permissions { ceiling: Permissions::Edit })]);
    let named = load_anew(&disk.store, disk.id).unwrap().conversation;
    assert_eq!((named.ceiling, named.ceiling_lost), (Some(Permissions::Edit), false));
}

#[test]
fn what_is_torn_off_in_it_is_the_narrowest() {
    let (disk, begin, end) = disk();
    let whole = disk.bytes();
    let cut = whole[begin..end].windows(9).position(|word| word == b"\"ceiling\"").unwrap();
    std::fs::write(disk.path(), &whole[..begin + cut + 9]).unwrap();
    assert!(load_anew(&disk.store, disk.id).unwrap().conversation.ceiling_lost);
    disk.append(&[user(disk.id, 3, None, "after it was sealed")]);
    assert!(load_anew(&disk.store, disk.id).unwrap().conversation.ceiling_lost);
}

/// What is left out of a conversation is left out; all the rest is as whoever reads all of it sees it.
#[test]
fn a_conversation_before_a_turn_is_read_as_the_whole_one_is() {
    let (disk, begin, end) = disk();
    let first = disk.bytes().iter().position(|byte| *byte == b'\n').unwrap() + 1;
    disk.append(&[user(disk.id, 5, Some(3), "running")]);
    let mut bytes = disk.bytes();
    bytes[begin..end - 1].fill(b'?');
    bytes[begin..begin + 24].copy_from_slice(b"{\"subtype\":\"permissions\"");
    std::fs::write(disk.path(), &bytes[first..]).unwrap();
    let whole = load_anew(&disk.store, disk.id).unwrap();
    let [_, running] = whole.conversation.tree.turns() else { panic!() };
    let before = load_before(&disk.store, disk.id, running.records[0]).unwrap();
    assert_eq!((before.conversation.tree.turns().len(), before.end), (1, running.records[0]));
    let about = |loaded: &rejoin_journal::Loaded| {
        let conversation = &loaded.conversation;
        (
            conversation.info.clone(),
            conversation.info_is_derived,
            conversation.ceiling,
            conversation.ceiling_lost,
        )
    };
    assert!(about(&whole).1 && about(&whole).3, "its first record and its level are lost");
    assert_eq!(about(&before), about(&whole));
}
