//! Whoever reads on in the middle of a journal is told where the turns begin that are open there.

use rejoin_core::{Agent, Decision, Outcome, Receipt, Record, Reteller, Retold, System};
use rejoin_journal::{JournalFiles, load, open_turns_begin};

use crate::support::{Disk, assistant, message, system, user};

const STORY: &str = include_str!("../corpus/story.jsonl");

fn receipt(disk: &Disk, number: u128, turn: u128) -> Record {
    let plan = Decision::Resume { session: "s".into(), catch_up: 0 };
    let receipt = Receipt::new(message(turn), Agent::Claude, plan, Outcome::Completed);
    system(disk.id, number, Some(turn), &System::Receipt(Box::new(receipt)))
}

/// For each record by its number, and for the end, that of the record to begin with.
fn begins(disk: &Disk) -> Vec<usize> {
    let seen = disk.read();
    let places: Vec<u64> = seen.places.iter().copied().chain([seen.end]).collect();
    let begin = |place: &u64| {
        let begin = open_turns_begin(&disk.store, disk.id, *place).unwrap();
        places.iter().position(|at| *at == begin).unwrap()
    };
    places.iter().map(begin).collect()
}

#[test]
fn inside_a_turn_it_is_its_prompt_and_behind_its_receipt_the_place_itself() {
    let disk = Disk::new();
    disk.append(&[
        user(disk.id, 1, None, "prompt"),
        assistant(disk.id, 2, 1, "answer"),
        receipt(&disk, 3, 1),
        system(disk.id, 4, None, &System::Title { name: "a name".into() }),
        user(disk.id, 5, Some(2), "prompt"),
        assistant(disk.id, 6, 5, "answer"),
    ]);
    assert_eq!(begins(&disk), [0, 1, 1, 1, 4, 5, 5, 5]);
}

#[test]
fn of_several_open_turns_it_is_the_prompt_of_the_earliest() {
    let disk = Disk::new();
    disk.append(&[
        user(disk.id, 1, None, "prompt"),
        user(disk.id, 2, None, "another"),
        assistant(disk.id, 3, 2, "answer"),
        receipt(&disk, 4, 2),
        assistant(disk.id, 5, 1, "answer"),
        receipt(&disk, 6, 1),
    ]);
    assert_eq!(begins(&disk), [0, 1, 1, 1, 1, 1, 1, 7]);
}

#[test]
fn a_turn_that_was_cut_is_over_when_the_next_one_begins() {
    let disk = Disk::new();
    disk.append(&[
        user(disk.id, 1, None, "prompt"),
        assistant(disk.id, 2, 1, "half an ans"),
        user(disk.id, 3, Some(2), "again"),
        assistant(disk.id, 4, 3, "answer"),
        receipt(&disk, 5, 3),
    ]);
    assert_eq!(begins(&disk), [0, 1, 1, 1, 3, 3, 6]);
}

#[test]
fn what_is_kept_of_a_large_journal_tells_the_same() {
    let disk = Disk::new();
    let text = "x".repeat(1 << 20);
    for turn in 0..8_u128 {
        let number = turn * 10 + 1;
        disk.append(&[
            user(disk.id, number, None, "prompt"),
            assistant(disk.id, number + 1, number, &text),
            receipt(&disk, number + 2, number),
        ]);
    }
    load(&disk.store, disk.id).unwrap();
    assert!(disk.store.cached_load(disk.id).is_some(), "a cache was kept");
    disk.append(&[user(disk.id, 100, None, "prompt"), assistant(disk.id, 101, 100, "answer")]);
    let kept = begins(&disk);
    let expected: Vec<usize> =
        (0..28).map(|at| if at % 3 == 1 || at == 0 { at } else { (at - 1) / 3 * 3 + 1 }).collect();
    assert_eq!(kept, expected);
}

#[test]
fn a_story_is_told_from_there_as_from_its_beginning() {
    // Once, and glued to a copy of itself.
    for bytes in [STORY.to_owned(), STORY.repeat(2)] {
        let disk = Disk::new();
        disk.smear(bytes.as_bytes());
        let all = told(&disk, 0);
        for place in disk.read().places {
            let begin = open_turns_begin(&disk.store, disk.id, place).unwrap();
            let behind = |told: Vec<(u64, Retold)>| -> Vec<_> {
                told.into_iter().filter(|(at, _)| *at >= place).collect()
            };
            assert_eq!(behind(told(&disk, begin)), behind(all.clone()), "from {place}");
        }
    }
}

/// What is told from a place on, and where it stands.
fn told(disk: &Disk, from: u64) -> Vec<(u64, Retold)> {
    let seen = crate::support::read(&disk.store, disk.id, from);
    let mut reteller = Reteller::default();
    let told =
        seen.places.into_iter().zip(seen.records).flat_map(|(place, record)| {
            reteller.apply(record).into_iter().map(move |retold| (place, retold))
        });
    told.collect()
}
