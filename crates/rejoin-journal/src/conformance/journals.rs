//! What every store promises, run on each of them.

use std::ops::ControlFlow;

use rejoin_core::{ConversationId, Envelope, Kind, Record, System};
use rejoin_journal::{
    Adopted, Cursor, Divergence, JournalError, LONGEST_LINE, Leases, MemoryStore, Problem, Store, Writer,
    load,
};

use super::support::{PROJECT, assistant, conversation, first, info, message, read, system, user};

fn begin(store: &dyn Store, number: u128) -> ConversationId {
    let id = conversation(number);
    store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    id
}

pub(super) fn what_was_appended_is_read_in_order(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let records = [user(id, 1, None, "hello\nworld \u{1f980} \0"), assistant(id, 2, 1, "hi")];
    let mut appender = store.appender(id, Writer::Label).unwrap();
    appender.append(&records).unwrap();
    appender.sync().unwrap();
    let seen = read(store, id, 0);
    assert_eq!(seen.records[0].kind, Kind::System);
    assert_eq!(seen.records[1..], records);
    assert!(seen.problems.is_empty());
}

pub(super) fn a_cursor_goes_on_where_it_stopped(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let before = read(store, id, 0).end;
    assert_eq!(read(store, id, before).records, []);
    let record = user(id, 1, None, "x");
    store.appender(id, Writer::Label).unwrap().append(std::slice::from_ref(&record)).unwrap();
    let seen = read(store, id, before);
    assert_eq!(seen.records, [record]);
    assert!(seen.end > before);
    assert_eq!(read(store, id, 0).end, seen.end);
}

pub(super) fn records_are_fetched_by_their_place(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let mut appender = store.appender(id, Writer::Label).unwrap();
    for number in 1..200 {
        // Some are larger than any buffer.
        let text = "x".repeat(if number % 50 == 0 { 700_000 } else { 30 });
        appender.append(&[user(id, number, None, &text)]).unwrap();
    }
    let all = read(store, id, 0);
    let wanted: Vec<usize> = vec![199, 3, 4, 50, 51, 3, 120, 0];
    let places: Vec<u64> = wanted.iter().map(|at| all.places[*at]).collect();
    let mut found = Vec::new();
    store.fetch(id, &places, &mut |place, raw| found.push((place, raw.unwrap().record().unwrap()))).unwrap();
    let expected = [0, 3, 4, 50, 51, 120, 199].map(|at: usize| (all.places[at], all.records[at].clone()));
    assert_eq!(found, expected);
}

pub(super) fn a_journal_is_read_back_from_its_end(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let mut appender = store.appender(id, Writer::Label).unwrap();
    for number in 1..200 {
        let text = "x".repeat(if number % 50 == 0 { 700_000 } else { 30 });
        appender.append(&[user(id, number, None, &text)]).unwrap();
    }
    let mut back = Vec::new();
    let mut each = |record: &Envelope<'_>| {
        back.push(record.uuid);
        ControlFlow::Continue(())
    };
    store.read_back(id, &mut each).unwrap();
    back.reverse();
    let all: Vec<_> = read(store, id, 0).records.iter().map(|record| record.uuid).collect();
    assert_eq!(back, all);
    let mut count = 0;
    let mut one = |_: &Envelope<'_>| {
        count += 1;
        ControlFlow::Break(())
    };
    store.read_back(id, &mut one).unwrap();
    assert_eq!(count, 1);
}

pub(super) fn a_place_without_a_record_is_told(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let mut found = Vec::new();
    store.fetch(id, &[5, 1_000_000], &mut |place, raw| found.push((place, raw.err()))).unwrap();
    assert!(matches!(found[0], (5, Some(Problem::NotJson { .. }))), "{found:?}");
    assert_eq!(found[1], (1_000_000, Some(Problem::Vanished)));
}

pub(super) fn what_is_not_there_is_an_error(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(9);
    let not_found = |error: JournalError| matches!(error, JournalError::NotFound { .. });
    assert!(store.appender(id, Writer::Label).err().is_some_and(not_found));
    assert!(store.read(id, 0, &mut |_| ()).err().is_some_and(not_found));
    assert!(store.fetch(id, &[0], &mut |_, _| ()).err().is_some_and(not_found));
    assert!(store.search(id, "x", &mut |_| ControlFlow::Continue(())).err().is_some_and(not_found));
    assert!(load(store, id).err().is_some_and(not_found));
    assert_eq!(store.ids().unwrap(), []);
    assert_eq!(store.list(None).unwrap(), []);
    assert_eq!(store.list(Some(PROJECT)).unwrap(), []);
}

pub(super) fn a_conversation_is_created_once(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    for project in [PROJECT, "/elsewhere"] {
        let error = store.create(id, &info(project), &[first(id, project)], Writer::Label).err().unwrap();
        assert!(matches!(error, JournalError::Exists { .. }), "{error}");
    }
    assert_eq!(read(store, id, 0).records.len(), 1);
}

pub(super) fn two_appenders_take_turns(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let (mut one, mut other) =
        (store.appender(id, Writer::Label).unwrap(), store.appender(id, Writer::Label).unwrap());
    for number in (1..20).step_by(2) {
        one.append(&[user(id, number, None, "one")]).unwrap();
        other.append(&[user(id, number + 1, None, "other")]).unwrap();
    }
    let seen = read(store, id, 0);
    assert!(seen.problems.is_empty());
    assert_eq!(seen.ids(), (0..21).map(message).collect::<Vec<_>>());
}

pub(super) fn a_list_is_newest_first_and_knows_projects(_: &dyn Leases, store: &dyn Store) {
    for (number, project) in [(1, "/a/b"), (2, "/a-b"), (3, "/a/b")] {
        let id = conversation(number);
        store.create(id, &info(project), &[first(id, project)], Writer::Label).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(15));
    }
    let ids =
        |project| -> Vec<_> { store.list(project).unwrap().into_iter().map(|listed| listed.id).collect() };
    assert_eq!(ids(None), [conversation(3), conversation(2), conversation(1)]);
    assert_eq!(ids(Some("/a/b")), [conversation(3), conversation(1)]);
    assert_eq!(ids(Some("/a-b")), [conversation(2)]);
    assert_eq!(ids(Some("/a.b")), []);
    let listed = &store.list(Some("/a-b")).unwrap()[0];
    assert_eq!(listed.info.as_ref().unwrap().project, "/a-b");
    assert_eq!(listed.bytes, read(store, conversation(2), 0).end);
    let mut all = store.ids().unwrap();
    all.sort();
    assert_eq!(all, [conversation(1), conversation(2), conversation(3)]);
}

pub(super) fn a_conversation_appears_with_its_first_records_or_not_at_all(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let too_long = user(id, 1, None, &"x".repeat(LONGEST_LINE));
    assert!(store.create(id, &info(PROJECT), &[first(id, PROJECT), too_long], Writer::Label).is_err());
    assert_eq!((store.ids().unwrap(), store.list(None).unwrap()), (vec![], vec![]));
    let records = [first(id, PROJECT), user(id, 1, None, "x")];
    let mut end = store.create(id, &info(PROJECT), &records, Writer::Label).unwrap();
    assert_eq!(read(store, id, 0).records, records);
    end.append(&[user(id, 2, Some(1), "y")]).unwrap();
    end.sync().unwrap();
    assert_eq!(read(store, id, 0).ids(), [0, 1, 2].map(message));
}

pub(super) fn a_search_stops_when_told(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let records: Vec<_> = (1..10).map(|number| user(id, number, None, &format!("t{}", number % 2))).collect();
    store.appender(id, Writer::Label).unwrap().append(&records).unwrap();
    let mut found = Vec::new();
    let mut search = |most: usize| {
        found.clear();
        let searched = store.search(id, "\"t1\"", &mut |raw| {
            found.push(raw.record().unwrap().uuid);
            if found.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        searched.unwrap();
        found.clone()
    };
    assert_eq!(search(100), [1, 3, 5, 7, 9].map(message));
    assert_eq!(search(2), [1, 3].map(message));
}

pub(super) fn a_record_that_nobody_could_read_is_refused(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let before = read(store, id, 0).end;
    let batch = [user(id, 1, None, "short"), user(id, 2, None, &"x".repeat(LONGEST_LINE))];
    let mut appender = store.appender(id, Writer::Label).unwrap();
    let error = appender.append(&batch).unwrap_err();
    assert!(matches!(error, JournalError::RecordTooLong { .. }), "{error}");
    assert_eq!(read(store, id, before).records, []);
    let longest = user(id, 3, None, &"x".repeat(LONGEST_LINE - 1000));
    appender.append(std::slice::from_ref(&longest)).unwrap();
    assert_eq!(read(store, id, before).records, [longest]);
}

pub(super) fn an_empty_batch_writes_nothing(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let before = read(store, id, 0).end;
    store.appender(id, Writer::Label).unwrap().append(&[]).unwrap();
    assert_eq!(read(store, id, 0).end, before);
}

pub(super) fn a_reader_may_append_while_it_reads(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let mut appender = store.appender(id, Writer::Label).unwrap();
    let mut seen = 0;
    store
        .read(id, 0, &mut |_| {
            seen += 1;
            if seen == 1 {
                appender.append(&[user(id, 1, None, "x")]).unwrap();
            }
        })
        .unwrap();
    assert_eq!(read(store, id, 0).records.len(), 2);
}

pub(super) fn a_cursor_behind_the_end_is_an_error(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let error = store.read(id, 1_000_000, &mut |_| ()).unwrap_err();
    assert!(matches!(error, JournalError::Shrunk { .. }), "{error}");
}

pub(super) fn a_conversation_loads(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let batch = [user(id, 1, None, "q"), assistant(id, 2, 1, "a"), user(id, 3, Some(2), "q2")];
    store.appender(id, Writer::Label).unwrap().append(&batch).unwrap();
    let loaded = load(store, id).unwrap();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(loaded.conversation.info, Some(info(PROJECT)));
    let turns = loaded.conversation.tree.turns();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[1].parent, Some(turns[0].id));
    assert_eq!(loaded.end, read(store, id, 0).end);
}

fn bytes_of(store: &dyn Store, id: ConversationId) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut store.files().unwrap().raw(id).unwrap(), &mut bytes).unwrap();
    bytes
}

/// A conversation in a store of its own, as bytes.
fn foreign(id: ConversationId, turns: u128) -> Vec<u8> {
    let store = MemoryStore::new();
    let mut appender = store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    for number in 1..=turns {
        appender.append(&[user(id, number, None, "said elsewhere")]).unwrap();
    }
    bytes_of(&store, id)
}

pub(super) fn an_adopted_conversation_is_the_same_to_the_byte(_: &dyn Leases, store: &dyn Store) {
    // Whoever keeps no bytes promises nothing about them.
    let Ok(_) = store.files() else { return };
    let id = conversation(1);
    let mut bytes = foreign(id, 3);
    bytes.extend_from_slice(b"garbage\n{\"torn");
    assert_eq!(
        store.adopt(id, &info(PROJECT), &mut bytes.as_slice(), &mut |_| Ok(())).unwrap(),
        Adopted::New
    );
    assert_eq!(bytes_of(store, id), bytes);
    assert_eq!(store.list(Some(PROJECT)).unwrap().len(), 1);
    assert_eq!(load(store, id).unwrap().conversation.tree.turns().len(), 3);
}

pub(super) fn only_a_continuation_is_adopted_over_what_is_there(_: &dyn Leases, store: &dyn Store) {
    // Whoever keeps no bytes promises nothing about them.
    let Ok(_) = store.files() else { return };
    let id = conversation(1);
    let (short, long) = (foreign(id, 2), foreign(id, 4));
    store.adopt(id, &info(PROJECT), &mut short.as_slice(), &mut |_| Ok(())).unwrap();
    let more = (long.len() - short.len()) as u64;
    assert_eq!(
        store.adopt(id, &info(PROJECT), &mut short.as_slice(), &mut |_| Ok(())).unwrap(),
        Adopted::Known
    );
    assert_eq!(
        store.adopt(id, &info(PROJECT), &mut long.as_slice(), &mut |_| Ok(())).unwrap(),
        Adopted::Longer(more)
    );
    assert_eq!(
        store.adopt(id, &info(PROJECT), &mut short.as_slice(), &mut |_| Ok(())).unwrap(),
        Adopted::Known
    );
    assert_eq!(bytes_of(store, id), long);
    store.appender(id, Writer::Label).unwrap().append(&[user(id, 9, None, "said here")]).unwrap();
    let here = bytes_of(store, id);
    let other = foreign(id, 6);
    let refused = store.adopt(id, &info(PROJECT), &mut other.as_slice(), &mut |_| Ok(()));
    assert!(matches!(refused, Err(JournalError::Differs { .. })), "{refused:?}");
    assert_eq!(bytes_of(store, id), here, "nothing is touched");
}

pub(super) fn a_moved_conversation_belongs_to_its_new_project(_: &dyn Leases, store: &dyn Store) {
    // Whoever keeps no bytes promises nothing about them.
    let Ok(_) = store.files() else { return };
    for (number, new) in [(1, "/srv/other"), (2, "/home/ann-app")] {
        let id = conversation(number);
        let bytes = foreign(id, 1);
        store.adopt(id, &info(PROJECT), &mut bytes.as_slice(), &mut |_| Ok(())).unwrap();
        let moved = System::Moved { project: new.into(), dir: format!("{new}/sub") };
        let say_so =
            &mut || store.appender(id, Writer::Label)?.append(&[system(id, 50, None, &moved)]).map(drop);
        store.files().unwrap().relocate(id, new, say_so).unwrap();
        assert_eq!(store.list(Some(PROJECT)).unwrap(), [], "the names of directories may be the same");
        let list = store.list(Some(new)).unwrap();
        assert_eq!(list.len(), 1);
        let info = list[0].info.as_ref().unwrap();
        assert_eq!((info.project.as_str(), info.dir.clone()), (new, format!("{new}/sub")));
        assert_eq!(load(store, id).unwrap().conversation.info.as_ref(), Some(info));
        assert!(store.appender(id, Writer::Label).is_ok());
    }
}

pub(super) fn a_removed_conversation_is_gone(_: &dyn Leases, store: &dyn Store) {
    let (id, other) = (conversation(1), conversation(2));
    for id in [id, other] {
        store.adopt(id, &info(PROJECT), &mut foreign(id, 1).as_slice(), &mut |_| Ok(())).unwrap();
    }
    store.remove(id).unwrap();
    assert!(matches!(store.remove(id), Err(JournalError::NotFound { .. })));
    assert_eq!(store.ids().unwrap(), [other]);
}

pub(super) fn an_append_says_where_it_ended(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let mut one = store.create(id, &info(PROJECT), &[first(id, PROJECT)], Writer::Label).unwrap();
    assert_eq!(one.position(), Some(read(store, id, 0).end));
    let mut other = store.appender(id, Writer::Label).unwrap();
    assert_eq!(other.position(), None);
    for number in 1..6 {
        let before = read(store, id, 0).end;
        let end = if number % 2 == 0 { &mut one } else { &mut other };
        let record = user(id, number, None, "x");
        let place = end.append(std::slice::from_ref(&record)).unwrap();
        assert_eq!((end.position(), read(store, id, 0).end), (Some(place), place));
        assert_eq!(read(store, id, before).records, [record]);
        assert_eq!(read(store, id, place).records, []);
        assert_eq!(one.append(&[]).unwrap(), place);
    }
}

/// Whether a cursor is refused, and why.
fn diverges(store: &dyn Store, id: ConversationId, cursor: &Cursor) -> Divergence {
    match store.place(id, cursor) {
        Err(JournalError::Diverged { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

fn put(store: &dyn Store, id: ConversationId, bytes: &[u8]) {
    let _ = store.remove(id);
    store.adopt(id, &info(PROJECT), &mut { bytes }, &mut |_| Ok(())).unwrap();
}

pub(super) fn a_cursor_brings_back_its_place(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    let text = |number| [1, 2_000, 20_000][number % 3];
    let records: Vec<_> =
        (1..20_u128).map(|number| user(id, number, None, &"é".repeat(text(number as usize)))).collect();
    store.appender(id, Writer::Label).unwrap().append(&records).unwrap();
    let mut ends = Vec::new();
    let end = store.read(id, 0, &mut |entry| ends.push(entry.end)).unwrap();
    assert_eq!(ends.last(), Some(&end));
    let cursors: Vec<Cursor> = ends.iter().map(|end| store.cursor(id, *end).unwrap()).collect();
    // Whatever comes after them.
    store.appender(id, Writer::Label).unwrap().append(&[user(id, 99, None, "more")]).unwrap();
    for (number, (cursor, end)) in cursors.iter().zip(ends).enumerate() {
        let carried: Cursor = cursor.to_string().parse().unwrap();
        let place = store.place(id, &carried).unwrap();
        assert_eq!((place, cursor.position()), (end, end));
        assert_eq!(read(store, id, place).records.len(), records.len() - number + 1);
    }
}

pub(super) fn a_cursor_of_the_beginning_fits_every_journal(_: &dyn Leases, store: &dyn Store) {
    let id = begin(store, 1);
    assert_eq!(store.cursor(id, 0).unwrap(), Cursor::BEGINNING);
    assert_eq!(store.place(id, &Cursor::BEGINNING).unwrap(), 0);
}

pub(super) fn a_cursor_of_another_conversation_is_refused(_: &dyn Leases, store: &dyn Store) {
    let (id, other) = (begin(store, 1), begin(store, 2));
    let cursor = store.cursor(id, read(store, id, 0).end).unwrap();
    assert_eq!(diverges(store, other, &cursor), Divergence::AnotherJournal);
}

pub(super) fn a_cursor_of_a_journal_that_was_replaced_is_refused(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let begun = |number| {
        let record = Record { uuid: message(number), ..first(id, PROJECT) };
        format!("{}\n", serde_json::to_string(&record).unwrap()).into_bytes()
    };
    put(store, id, &begun(1));
    let cursor = store.cursor(id, read(store, id, 0).end).unwrap();
    put(store, id, &begun(2));
    assert_eq!(diverges(store, id, &cursor), Divergence::AnotherJournal);
    put(store, id, &begun(1));
    assert_eq!(store.place(id, &cursor).unwrap(), cursor.position());
    store.remove(id).unwrap();
    assert!(matches!(store.place(id, &cursor), Err(JournalError::NotFound { .. })));
}

pub(super) fn a_cursor_of_a_journal_that_was_put_back_is_refused(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    put(store, id, &foreign(id, 5));
    let cursor = store.cursor(id, read(store, id, 0).end).unwrap();
    put(store, id, &foreign(id, 3));
    assert!(matches!(diverges(store, id, &cursor), Divergence::Shorter { .. }));
    let error = store.place(id, &cursor).unwrap_err().to_string();
    assert!(error.contains("read it again from the beginning"), "{error}");
}

pub(super) fn a_cursor_of_a_journal_that_went_another_way_is_refused(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    put(store, id, &foreign(id, 3));
    let went = |numbers: [u128; 2]| {
        put(store, id, &foreign(id, 3));
        let records = numbers.map(|number| user(id, number, None, "the same words"));
        let place = store.appender(id, Writer::Label).unwrap().append(&records).unwrap();
        store.cursor(id, place).unwrap()
    };
    let one = went([4, 5]);
    for other in [[4, 6], [6, 5]] {
        assert_eq!(went(other).position(), one.position(), "the same length");
        assert!(matches!(diverges(store, id, &one), Divergence::OtherRecords { .. }));
    }
    let short = store.appender(id, Writer::Label).unwrap().append(&[user(id, 8, None, "x")]).unwrap();
    put(store, id, &foreign(id, 3));
    store.appender(id, Writer::Label).unwrap().append(&[user(id, 7, None, &"x".repeat(10_000))]).unwrap();
    assert!(short > one.position());
    assert!(matches!(diverges(store, id, &one), Divergence::InsideARecord { .. }));
}

pub(super) fn a_long_record_does_not_hide_that_it_is_another_one(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    for length in [3_000, 4_000, 5_000, 70_000, 300_000] {
        let went = |number| {
            put(store, id, &foreign(id, 1));
            let output = user(id, number, None, &"the same output\n".repeat(length / 16));
            let place = store.appender(id, Writer::Label).unwrap().append(&[output]).unwrap();
            store.cursor(id, place).unwrap()
        };
        let (one, other) = (went(4), went(5));
        assert_eq!(one.position(), other.position());
        assert!(matches!(diverges(store, id, &one), Divergence::OtherRecords { .. }), "{length}");
        assert_eq!(store.place(id, &other).unwrap(), other.position());
    }
}

pub(super) fn no_cursor_stands_inside_of_a_record(_: &dyn Leases, store: &dyn Store) {
    // Whoever keeps no bytes promises nothing about them.
    let Ok(_) = store.files() else { return };
    let id = conversation(1);
    put(store, id, &foreign(id, 1));
    let bytes = bytes_of(store, id);
    for place in 1..=bytes.len() as u64 + 1 {
        let whole =
            bytes.get(place as usize - 1) == Some(&b'\n') || bytes.get(place as usize) == Some(&b'\n');
        let made = store.cursor(id, place);
        assert_eq!(made.is_ok(), whole, "{place}: {made:?}");
        assert!(matches!(made, Ok(_) | Err(JournalError::Diverged { .. })));
    }
}

pub(super) fn a_cursor_before_a_torn_line_goes_on_with_what_comes_after_it(
    _: &dyn Leases,
    store: &dyn Store,
) {
    let id = conversation(1);
    let whole = foreign(id, 2);
    put(store, id, &[&whole[..], b"{\"uuid\":\"1000"].concat());
    let seen = read(store, id, 0);
    assert_eq!(seen.end, whole.len() as u64, "before the torn line");
    assert!(matches!(seen.problems.as_slice(), [(_, _, Problem::Torn { bytes: 13 })]), "{:?}", seen.problems);
    let cursor = store.cursor(id, seen.end).unwrap();
    let record = user(id, 9, None, "after it");
    let place = store.appender(id, Writer::Label).unwrap().append(std::slice::from_ref(&record)).unwrap();
    let after = read(store, id, store.place(id, &cursor).unwrap());
    assert_eq!((after.records, after.end), (vec![record], place));
    assert_eq!(after.problems.len(), 1, "what was torn is told: {:?}", after.problems);
    assert_eq!(store.place(id, &store.cursor(id, place).unwrap()).unwrap(), place);
}

pub(super) fn glued_records_have_cursors_between_them(_: &dyn Leases, store: &dyn Store) {
    let id = conversation(1);
    let mut bytes = foreign(id, 3);
    let newline = bytes.iter().rposition(|byte| *byte == b'\n').unwrap();
    let before = bytes[..newline].iter().rposition(|byte| *byte == b'\n').unwrap();
    bytes.remove(before);
    for ended in [true, false] {
        put(store, id, &bytes[..bytes.len() - usize::from(!ended)]);
        let mut ends = Vec::new();
        let end = store.read(id, 0, &mut |entry| ends.push(entry.end)).unwrap();
        assert_eq!((ends.len(), ends[3]), (4, end));
        for (number, end) in ends.iter().enumerate() {
            let cursor = store.cursor(id, *end).unwrap();
            assert_eq!(read(store, id, store.place(id, &cursor).unwrap()).records.len(), 3 - number);
        }
        // The newline that was missing comes with the next append.
        let cursor = store.cursor(id, end).unwrap();
        store.appender(id, Writer::Label).unwrap().append(&[user(id, 9, None, "x")]).unwrap();
        assert_eq!(read(store, id, store.place(id, &cursor).unwrap()).ids(), [message(9)]);
    }
}
