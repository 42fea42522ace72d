//! Writes that were cut.

use std::fs;

use rejoin_journal::{Problem, Store, Writer, load};

use crate::support::{Disk, assistant, message, user};

#[test]
fn a_cut_at_any_byte_of_the_last_three_records_loses_only_what_was_cut() {
    let disk = Disk::new();
    let id = disk.id;
    disk.append(&[user(id, 1, None, "kept")]);
    let kept = disk.bytes().len();
    disk.append(&[
        assistant(id, 2, 1, "äöü \u{1f980}"),
        user(id, 3, Some(2), "{\"a\":[1]}"),
        assistant(id, 4, 3, ""),
    ]);
    let whole = disk.bytes();
    let ends: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();

    for cut in kept..=whole.len() {
        fs::write(disk.path(), &whole[..cut]).unwrap();
        // A record is whole with its last brace; the newline only ends the line.
        let survivors = ends.iter().filter(|end| **end <= cut).count();
        let expected: Vec<_> = (0..survivors as u128).map(message).collect();
        let is_torn = cut > ends[survivors - 1] + 1;

        let seen = disk.read();
        assert_eq!(seen.ids(), expected, "cut at {cut}");
        assert_eq!(seen.problems.len(), usize::from(is_torn), "cut at {cut}: {:?}", seen.problems);
        if is_torn {
            let (place, line, problem) = &seen.problems[0];
            assert_eq!((*place, *line), (ends[survivors - 1] as u64 + 1, Some(survivors as u64 + 1)));
            assert_eq!(*problem, Problem::Torn { bytes: cut as u64 - place });
            assert_eq!(seen.end, *place, "a torn line is looked at again");
        }

        disk.append(&[user(id, 9, Some(1), "next")]);
        assert_eq!(&disk.bytes()[..cut], &whole[..cut], "append-only");
        let after = disk.read();
        assert_eq!(after.ids(), [expected, vec![message(9)]].concat(), "cut at {cut}");
        assert_eq!(after.problems.len(), usize::from(is_torn), "cut at {cut}: {:?}", after.problems);
        assert!(after.problems.iter().all(|(.., problem)| matches!(problem, Problem::Torn { .. })));
        let loaded = load(&disk.store, id).unwrap();
        assert!(loaded.conversation.tree.turn(message(9)).is_some());
        assert!(loaded.problems.noted.iter().all(|noted| noted.problem.is_harmless()));
    }
}

#[test]
fn a_cut_first_record_leaves_a_journal_that_can_be_read_and_listed() {
    let disk = Disk::new();
    let whole = disk.bytes();
    for cut in 1..whole.len() - 1 {
        fs::write(disk.path(), &whole[..cut]).unwrap();
        assert_eq!(disk.read().records, []);
        let list = disk.store.list(Some(crate::support::PROJECT)).unwrap();
        assert_eq!((list.len(), &list[0].info), (1, &None), "a damaged journal is shown, not hidden");
    }
    disk.append(&[user(disk.id, 1, None, "x")]);
    assert_eq!(disk.read().ids(), [message(1)]);
}

#[test]
fn an_open_appender_seals_what_another_one_tore() {
    let disk = Disk::new();
    let mut appender = disk.store.appender(disk.id, Writer::Label).unwrap();
    appender.append(&[user(disk.id, 1, None, "a")]).unwrap();
    disk.smear(br#"{"uuid":"torn"#);
    appender.append(&[user(disk.id, 2, None, "b")]).unwrap();
    let seen = disk.read();
    assert_eq!(seen.ids(), [0, 1, 2].map(message));
    assert_eq!(seen.problems.len(), 1);
}

#[test]
fn a_cursor_before_a_torn_line_finds_what_came_after_it() {
    let disk = Disk::new();
    disk.smear(br#"{"uuid":"torn"#);
    let end = disk.read().end;
    disk.append(&[user(disk.id, 1, None, "a")]);
    let seen = crate::support::read(&disk.store, disk.id, end);
    assert_eq!(seen.ids(), [message(1)]);
    assert_eq!(seen.problems[0].1, None, "a reader from the middle knows no line numbers");
}

#[test]
fn zeros_after_a_loss_of_power_are_sealed_like_any_torn_line() {
    let disk = Disk::new();
    disk.smear(&[0; 4096]);
    assert!(matches!(disk.read().problems[..], [(_, _, Problem::Torn { bytes: 4096 })]));
    disk.append(&[user(disk.id, 1, None, "a")]);
    let seen = disk.read();
    assert_eq!(seen.ids(), [0, 1].map(message));
    assert!(matches!(seen.problems[..], [(_, Some(2), Problem::NotJson { .. })]), "{:?}", seen.problems);
}

#[test]
fn nothing_is_written_into_a_deleted_journal() {
    let disk = Disk::new();
    let mut appender = disk.store.appender(disk.id, Writer::Label).unwrap();
    fs::remove_file(disk.path()).unwrap();
    let error = appender.append(&[user(disk.id, 1, None, "a")]).unwrap_err();
    assert!(matches!(error, rejoin_journal::JournalError::Deleted { .. }), "{error}");
}
