//! The same question gets the same answer, whatever the index knows by now, and however few hits are wanted.

use rejoin_core::{Attachment, Kind, Part, Record};
use rejoin_index::{Hit, Hits, Index, TextSource};
use rusqlite::Connection;

use crate::support::{Disk, conversation, hits, message, parts, record, said};

const DEFAULT_LIMIT: usize = 20;

/// A time of a day in 2026: `minute` counts from its beginning.
fn at(minute: u128, record: Record) -> Record {
    let timestamp = format!("2026-11-10T{:02}:{:02}:00.000Z", minute / 60, minute % 60);
    Record { timestamp, ..record }
}

fn without_index(disk: &Disk, words: &[&str], limit: usize) -> Hits {
    hits(&mut Index::open(&disk.store, &disk.nowhere()), words, limit)
}

/// Conversations that take turns, the older ones indexed later; words said, done, side by side and scattered.
fn many_turns() -> Disk {
    let disk = Disk::new();
    for number in (0..6).rev() {
        disk.begin(number, "/p");
        let id = conversation(number);
        for turn in 0..20_u128 {
            let (prompt, result) = match (turn + number) % 4 {
                0 => ("zanzibar harbour", "nothing"),
                1 => ("look", "a harbour of zanzibar"),
                2 => ("harbour or zanzibar", "zanzibar"),
                _ => ("look again", "zanzibar harbour"),
            };
            let first = 1 + turn * 2;
            let parent = (turn > 0).then_some(first - 1);
            // Every conversation goes on all day, in an order of its own.
            let minute = turn * 60 + (number * 7 + turn * 13) % 60;
            let output = vec![Part::response("1", "Bash", result, false)];
            disk.append(
                number,
                &[
                    at(minute, said(id, first, parent, Kind::User, prompt)),
                    at(minute, parts(id, first + 1, Some(first), Kind::ToolResult, output)),
                ],
            );
            if turn % 7 == number % 7 {
                disk.found(&["zanzibar"]);
            }
        }
    }
    disk
}

#[test]
fn the_index_gives_the_answer_of_the_journals_at_any_limit() {
    let disk = many_turns();
    for words in
        [&["zanzibar"][..], &["zanzibar", "harbour"], &["zanzibar harbour"], &["harb*"], &["nothing"]]
    {
        for limit in [1, 2, 7, DEFAULT_LIMIT, 50, 1000] {
            let answer = hits(&mut disk.index(), words, limit);
            assert_eq!(answer, without_index(&disk, words, limit), "{words:?}, {limit}");
            assert!(answer.hits.len() == limit || !answer.more, "{words:?}, {limit}");
        }
    }
}

#[test]
fn with_a_busy_index_the_newest_comes_first() {
    let disk = many_turns();
    let before = hits(&mut disk.index(), &["zanzibar"], DEFAULT_LIMIT);
    let holder = Connection::open(disk.database()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let newest = said(conversation(3), 900, Some(40), Kind::User, "the newest word of zanzibar");
    disk.append(3, &[at(23 * 60 + 59, newest)]);
    let busy = hits(&mut disk.index(), &["zanzibar"], DEFAULT_LIMIT);
    assert_eq!(busy.hits[0].turn, Some(message(900)), "{:#?}", busy.hits[0]);
    let turns = |hits: &[Hit]| hits.iter().map(|hit| (hit.conversation, hit.turn)).collect::<Vec<_>>();
    assert_eq!(turns(&busy.hits[1..]), turns(&before.hits[..DEFAULT_LIMIT - 1]), "the rest as before");
    assert_eq!(busy, without_index(&disk, &["zanzibar"], DEFAULT_LIMIT));
    drop(holder);
    assert_eq!(hits(&mut disk.index(), &["zanzibar"], DEFAULT_LIMIT), busy);
}

#[test]
fn what_stands_behind_a_colour_is_found() {
    let disk = Disk::new();
    disk.begin(1, "/p");
    let id = conversation(1);
    let output =
        vec![Part::response("1", "Bash", "error: \u{1b}[31mzanzibar\u{1b}[0m is\u{1b}[1;4mburning", false)];
    disk.append(
        1,
        &[
            said(id, 1, None, Kind::User, "\u{1b}[32mmombasa\u{1b}[0m"),
            parts(id, 2, Some(1), Kind::ToolResult, output),
        ],
    );
    for words in ["zanzibar", "mombasa", "burning", "zanzibar is burning", "\u{1b}[31mzanzibar"] {
        assert_eq!(disk.found(&[words]), [id], "{words}");
        assert_eq!(without_index(&disk, &[words], 1).hits.len(), 1, "{words}");
    }
    assert!(disk.found(&["31mzanzibar"]).is_empty());
    let hit = &hits(&mut disk.index(), &["zanzibar"], 1).hits[0];
    assert_eq!(&hit.snippet[hit.marks[0].clone()], "zanzibar");
}

#[test]
fn a_file_that_was_sent_along_is_found_by_its_name() {
    let disk = Disk::new();
    disk.begin(1, "/p");
    let id = conversation(1);
    let attachment = Attachment {
        name: "zanzibar-harbour.png".into(),
        media_type: "image/png".into(),
        size: 1,
        sha256: String::new(),
    };
    let prompt = vec![Part::text("why is it red?"), Part::Attachment { attachment }];
    disk.append(1, &[parts(id, 1, None, Kind::User, prompt)]);
    for words in [&["zanzibar"][..], &["zanzibar-harbour.png"], &["red", "harb*"]] {
        let answer = hits(&mut disk.index(), words, 1);
        assert_eq!(answer, without_index(&disk, words, 1), "{words:?}");
        assert_eq!(answer.hits[0].turn, Some(message(1)), "{words:?}");
        assert!(answer.hits[0].said, "{words:?}");
    }
    let hit = &hits(&mut disk.index(), &["zanzibar"], 1).hits[0];
    assert_eq!((hit.source, hit.snippet.as_str()), (TextSource::User, "zanzibar-harbour.png"));
    assert!(disk.found(&["image"]).is_empty(), "what kind of file it was is not what was said");
}

#[test]
fn a_clock_that_was_set_back_changes_no_answer() {
    let disk = Disk::new();
    for number in 0..4 {
        disk.begin(number, "/p");
        let id = conversation(number);
        for turn in 0..10_u128 {
            let parent = (turn > 0).then_some(turn);
            let minute = if turn < 5 { 600 + turn * 4 + number } else { turn * 4 + number };
            disk.append(number, &[at(minute, said(id, turn + 1, parent, Kind::User, "zanzibar"))]);
        }
    }
    // One that tells no time at all.
    let untold = record(conversation(2), message(50), Some(10), Kind::User);
    let said = said(conversation(2), 50, Some(10), Kind::User, "zanzibar").message;
    disk.append(2, &[Record { timestamp: "then".to_owned(), message: said, ..untold }]);
    for limit in 1..25 {
        let answer = hits(&mut disk.index(), &["zanzibar"], limit);
        assert_eq!(answer, without_index(&disk, &["zanzibar"], limit), "{limit}");
    }
}
