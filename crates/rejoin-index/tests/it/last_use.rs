//! Newest first means used last: the records say when, whatever the files say.

use std::fs::File;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rejoin_core::{ConversationId, Kind, Record, System};
use rejoin_index::{ConversationFilter, ConversationState, Index, ListPlace};

use crate::support::{Disk, conversation, said, system};

fn at(record: Record, day: u64) -> Record {
    Record { timestamp: format!("2026-03-{day:02}T12:00:00.000Z"), ..record }
}

fn noon(day: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_772_366_400 + (day - 1) * 86_400)
}

/// Conversations 1 to 4, last used on these days of March.
fn used_on(days: [u64; 4]) -> Disk {
    let disk = Disk::new();
    for (number, day) in (1..).zip(days) {
        disk.begin(number, "/p");
        disk.append(number, &[at(said(conversation(number), 1, None, Kind::User, "x"), day)]);
    }
    disk
}

fn touch(disk: &Disk, number: u128, time: SystemTime) {
    File::options().append(true).open(disk.path(number)).unwrap().set_modified(time).unwrap();
}

fn order(index: &mut Index<'_>, filter: &ConversationFilter<'_>) -> Vec<ConversationId> {
    index.list(filter).unwrap().conversations.iter().map(|listed| listed.id).collect()
}

/// All of them, a page at a time, each behind the last one of the page before.
fn paged(index: &mut Index<'_>, limit: usize) -> Vec<ConversationId> {
    let mut filter = ConversationFilter { limit: Some(limit), ..ConversationFilter::default() };
    let mut all = Vec::new();
    loop {
        let page = index.list(&filter).unwrap().conversations;
        all.extend(page.iter().map(|entry| entry.id));
        let Some(last) = page.last() else { return all };
        let used_ms = last.used.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        filter.behind = Some(ListPlace { used_ms, id: last.id });
    }
}

#[test]
fn conversations_of_one_time_come_by_their_ids_and_none_is_left_out_between_pages() {
    let disk = used_on([2, 2, 2, 2]);
    for (number, seconds) in [(3, 40), (1, 30), (4, 20), (2, 10)] {
        touch(&disk, number, SystemTime::now() - Duration::from_secs(seconds));
    }
    check(&disk, [1, 2, 3, 4]);
}

#[test]
fn where_the_file_counts_pages_go_on_within_its_millisecond() {
    let disk = Disk::new();
    let second = UNIX_EPOCH + Duration::from_hours(492_324);
    for number in 1..=4 {
        disk.begin(number, "/p");
        let silent =
            Record { timestamp: "soon".into(), ..said(conversation(number), 1, None, Kind::User, "x") };
        disk.append(number, &[silent]);
        touch(&disk, number, second + Duration::from_nanos(100 * number as u64));
    }
    check(&disk, [1, 2, 3, 4]);
}

#[test]
fn a_list_of_some_has_those_and_rows_tell_the_same_as_summaries() {
    let disk = used_on([4, 2, 3, 1]);
    let nowhere = disk.nowhere();
    for index in [&mut disk.index(), &mut Index::open(&disk.store, &nowhere)] {
        let only = [2, 4, 9].map(conversation).into();
        let some = ConversationFilter { only: Some(&only), ..ConversationFilter::default() };
        assert_eq!(order(index, &some), [2, 4].map(conversation));
        let not_the_third = |id: ConversationId, _: &_| id != conversation(3);
        let limit = Some(2);
        let some =
            ConversationFilter { accept: Some(&not_the_third), limit, ..ConversationFilter::default() };
        assert_eq!(order(index, &some), [1, 2].map(conversation));
        let rows = index.rows(None).unwrap();
        assert_eq!(rows.len(), 4);
        for row in rows {
            let entry = index.entry(row.id).unwrap().unwrap();
            assert_eq!(
                (row.used, row.project, row.name),
                (entry.used, entry.summary.project, entry.summary.name)
            );
            assert!(row.unended && entry.summary.state == ConversationState::Interrupted);
        }
        assert_eq!(index.entry(conversation(9)).unwrap(), None);
    }
}

/// Whatever part is asked for, with or without a cache, it is a part of this.
fn check(disk: &Disk, expected: [u128; 4]) {
    let expected = expected.map(conversation);
    let nowhere = disk.nowhere();
    for _ in 0..2 {
        for index in [&mut disk.index(), &mut Index::open(&disk.store, &nowhere)] {
            for limit in 1..=5 {
                let some = ConversationFilter { limit: Some(limit), ..ConversationFilter::default() };
                assert_eq!(order(index, &some), expected[..limit.min(4)]);
                assert_eq!(index.list(&some).unwrap().more, limit < 4, "{limit}");
            }
            assert_eq!(order(index, &ConversationFilter::default()), expected);
            for limit in 1..=3 {
                assert_eq!(paged(index, limit), expected, "in pages of {limit}");
            }
            for before in 0..=5 {
                assert_eq!(index.newest("/p", before).unwrap(), expected.get(before).copied(), "{before}");
            }
        }
    }
}

#[test]
fn a_copied_file_does_not_make_a_conversation_newer() {
    let disk = used_on([4, 2, 3, 1]);
    check(&disk, [1, 3, 2, 4]);
    for number in 1..=4 {
        touch(&disk, number, SystemTime::now() - Duration::from_secs(100) * (5 - number as u32));
    }
    check(&disk, [1, 3, 2, 4]);
}

#[test]
fn files_that_say_they_are_older_than_their_records_are_not_believed() {
    let disk = used_on([4, 2, 3, 1]);
    for number in 1..=4 {
        touch(&disk, number, UNIX_EPOCH + Duration::from_secs(number as u64));
    }
    check(&disk, [1, 3, 2, 4]);
}

#[test]
fn where_no_record_tells_or_its_clock_was_wrong_the_file_counts() {
    let disk = used_on([4, 2, 3, 1]);
    let silent = Record { timestamp: "soon".into(), ..said(conversation(5), 1, None, Kind::User, "x") };
    disk.begin(5, "/p");
    disk.append(5, &[silent]);
    let future = Record {
        timestamp: "2099-01-01T00:00:00Z".into(),
        ..said(conversation(6), 1, None, Kind::User, "x")
    };
    disk.begin(6, "/p");
    disk.append(6, &[future]);
    touch(&disk, 5, noon(3) + Duration::from_hours(1));
    touch(&disk, 6, noon(1) - Duration::from_hours(1));
    assert_eq!(
        order(&mut disk.index(), &ConversationFilter::default()),
        [1, 5, 3, 2, 4, 6].map(conversation)
    );
}

#[test]
fn a_label_is_no_use_and_since_goes_by_the_last_one() {
    let disk = used_on([4, 2, 3, 1]);
    let id = conversation(2);
    for label in [
        System::Title { name: "old".into() },
        System::Tags { add: vec!["x".into()], remove: Vec::new() },
        System::Moved { project: "/p".into(), dir: "/p".into() },
    ] {
        disk.append(2, &[at(system(id, None, &label), 20)]);
    }
    check(&disk, [1, 3, 2, 4]);
    let since = ConversationFilter { since: Some(noon(3)), ..ConversationFilter::default() };
    assert_eq!(order(&mut disk.index(), &since), [1, 3].map(conversation));
    let since = ConversationFilter { since: Some(noon(3)), limit: Some(2), ..ConversationFilter::default() };
    assert!(!disk.index().list(&since).unwrap().more);
    disk.append(2, &[at(system(id, None, &System::Head { to: None, branch: None }), 21)]);
    check(&disk, [2, 1, 3, 4]);
}

#[test]
fn only_those_with_all_labels_are_listed() {
    let disk = used_on([4, 2, 3, 1]);
    let tag = |number: u128, tags: &[&str]| {
        let add = tags.iter().map(|tag| (*tag).to_owned()).collect();
        disk.append(
            number,
            &[at(system(conversation(number), None, &System::Tags { add, remove: Vec::new() }), 4)],
        );
    };
    tag(2, &["a", "b"]);
    tag(4, &["b"]);
    let tags = ["b".to_owned(), "a".to_owned()];
    let of = |tags: &[String]| {
        order(
            &mut disk.index(),
            &ConversationFilter { tags, limit: Some(3), ..ConversationFilter::default() },
        )
    };
    assert_eq!(of(&tags), [2].map(conversation));
    assert_eq!(of(&tags[..1]), [2, 4].map(conversation));
}

/// `/p/q` and `/p-q` are kept in one directory.
#[test]
fn the_newest_one_is_of_the_project_that_is_asked_for_wherever_it_was_moved() {
    let disk = Disk::new();
    for (number, project) in [(1, "/p/q"), (2, "/p-q"), (3, "/p/q")] {
        disk.begin(number, project);
        disk.append(number, &[at(said(conversation(number), 1, None, Kind::User, "x"), number as u64)]);
    }
    let newest = |project: &str, before: usize| {
        let nowhere = Index::open(&disk.store, &disk.nowhere()).newest(project, before).unwrap();
        assert_eq!(disk.index().newest(project, before).unwrap(), nowhere);
        let all = ConversationFilter { project: Some(project), ..ConversationFilter::default() };
        let all = order(&mut Index::open(&disk.store, &disk.nowhere()), &all);
        assert_eq!(all.get(before).copied(), nowhere);
        nowhere
    };
    assert_eq!(newest("/p/q", 0), Some(conversation(3)));
    assert_eq!(newest("/p/q", 1), Some(conversation(1)));
    assert_eq!(newest("/p/q", 2), None);
    assert_eq!(newest("/p-q", 0), Some(conversation(2)));
    let moved = System::Moved { project: "/p-q".to_owned(), dir: "/p-q".to_owned() };
    disk.append(3, &[system(conversation(3), None, &moved)]);
    assert_eq!(newest("/p/q", 0), Some(conversation(1)));
    assert_eq!(newest("/p-q", 0), Some(conversation(3)));
    // What the cache knows is the same.
    assert_eq!(disk.index().list(&ConversationFilter::default()).unwrap().conversations.len(), 3);
    assert_eq!(newest("/p-q", 0), Some(conversation(3)));
    // Without its first line, all of it must be read.
    let path = disk.path(2);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("?{text}")).unwrap();
    for project in ["/p/q", "/p-q"] {
        for before in 0..3 {
            newest(project, before);
        }
    }
}
