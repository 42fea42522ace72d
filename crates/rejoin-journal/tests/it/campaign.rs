//! Journals damaged at random: whatever happened to some lines, the others are read.

use std::collections::HashSet;
use std::fs;

use proptest::prelude::*;
use proptest::sample::Index;
use rejoin_core::{Envelope, MessageId, tool_calls};
use rejoin_journal::{Store, load, load_anew, messages};

use crate::support::Disk;

const STORY: &str = include_str!("../corpus/story.jsonl");

thread_local! {
    /// Making a home syncs the disk: once is enough.
    static DISK: std::rc::Rc<Disk> = std::rc::Rc::new(Disk::new());
}

/// Something that happens to a line.
#[derive(Clone, Debug)]
enum Damage {
    Flip { at: Index, bit: u8 },
    Zeros { at: Index, length: usize },
    Cut { at: Index },
    NoNewline,
    Twice,
    Elsewhere { to: Index },
    Before(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (at(), 1..500_usize).prop_map(|(at, length)| Damage::Zeros { at, length }),
        at().prop_map(|at| Damage::Cut { at }),
        Just(Damage::NoNewline),
        Just(Damage::Twice),
        at().prop_map(|to| Damage::Elsewhere { to }),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Damage::Before),
        Just(Damage::Before(vec![0; 4096])),
        Just(Damage::Before(b"{\"uuid\":\"".to_vec())),
    ]
}

/// A line and whether it is as it was written.
type Line = (Vec<u8>, bool);

fn hurt(lines: &mut Vec<Line>, which: Index, damage: Damage) {
    let which = which.index(lines.len());
    let (bytes, whole) = &mut lines[which];
    match damage {
        Damage::Flip { at, bit } => {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            *whole = false;
        }
        Damage::Zeros { at, length } => {
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes[at..end].fill(0);
            *whole = false;
        }
        Damage::Cut { at } => {
            bytes.truncate(at.index(bytes.len()).max(1));
            *whole = false;
        }
        Damage::NoNewline => {
            bytes.pop();
            *whole = false;
        }
        Damage::Twice => {
            let again = lines[which].clone();
            lines.push(again);
        }
        Damage::Elsewhere { to } => {
            let line = lines.remove(which);
            lines.insert(to.index(lines.len() + 1), line);
        }
        Damage::Before(mut bytes) => {
            bytes.retain(|byte| *byte != b'\n');
            bytes.push(b'\n');
            lines.insert(which, (bytes, false));
        }
    }
}

/// The messages of the lines that nothing happened to, neither to them nor to the end of the line before.
fn unhurt(lines: &[Line]) -> HashSet<MessageId> {
    let mut ids = HashSet::new();
    let mut begins = true;
    for (bytes, whole) in lines {
        if begins && *whole {
            ids.insert(serde_json::from_slice::<Envelope<'_>>(bytes).unwrap().uuid);
        }
        begins = bytes.ends_with(b"\n");
    }
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_nothing_happened_to_is_read(damages in prop::collection::vec((any::<Index>(), damage()), 1..12)) {
        let mut lines: Vec<Line> =
            STORY.lines().map(|line| (format!("{line}\n").into_bytes(), true)).collect();
        for (which, damage) in damages {
            hurt(&mut lines, which, damage);
        }
        let disk = DISK.with(std::rc::Rc::clone);
        let bytes: Vec<u8> = lines.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
        fs::write(disk.path(), &bytes).unwrap();
        let mut seen = HashSet::new();
        let end = disk.store.read(disk.id, 0, &mut |entry| {
            seen.extend(entry.content.ok().map(|envelope| envelope.uuid));
        });
        prop_assert!(end.unwrap() <= bytes.len() as u64);
        let lost: Vec<MessageId> = unhurt(&lines).difference(&seen).copied().collect();
        prop_assert!(lost.is_empty(), "{lost:?}");

        // Whatever is left can be shown, listed and gone on with.
        let loaded = load(&disk.store, disk.id).unwrap();
        prop_assert_eq!(loaded.problems, load_anew(&disk.store, disk.id).unwrap().problems);
        let tree = &loaded.conversation.tree;
        for turn in tree.turns() {
            tree.path(Some(turn.id));
            tool_calls(&messages(&disk.store, disk.id, turn, 1000).unwrap().messages, false);
        }
        disk.store.list(None).unwrap();
        let before = tree.turns().len();
        let next = crate::support::user(disk.id, 0xabc_def, None, "on");
        disk.append(&[next]);
        let now = load(&disk.store, disk.id).unwrap().conversation;
        prop_assert_eq!(now.tree.turns().len(), before + 1);
        prop_assert!(disk.bytes().starts_with(&bytes), "a journal only grows");
    }
}
