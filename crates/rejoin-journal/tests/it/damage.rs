//! Journals that somebody or something has damaged.

use std::fs;

use rejoin_core::{ConversationInfo, Record, System};
use rejoin_journal::{LONGEST_LINE, Problem, Problems, Store, load};

use crate::support::{Disk, PROJECT, assistant, info, message, system, user};

fn line(record: &Record) -> Vec<u8> {
    let mut line = serde_json::to_vec(record).unwrap();
    line.push(b'\n');
    line
}

#[test]
fn every_kind_of_garbage_is_told_with_its_place_and_reading_goes_on() {
    let disk = Disk::new();
    let id = disk.id;
    let bad: [&[u8]; 8] = [
        b"garbage\n",
        b"{\"uuid\":\"x\"}\n",
        b"\xff\xfe{}\n",
        b"\0\0\0\n",
        b"[1,2]\n",
        b"42\n",
        b"{\"uuid\":\"cut\n",
        b"\"}{\"\n",
    ];
    for (number, bad) in (1..).zip(bad) {
        disk.smear(bad);
        disk.append(&[user(id, number, None, "between")]);
    }
    let seen = disk.read();
    assert_eq!(seen.ids(), (0..9).map(message).collect::<Vec<_>>());
    let lines: Vec<_> = seen.problems.iter().map(|(_, line, _)| line.unwrap()).collect();
    assert_eq!(lines, [2, 4, 6, 8, 10, 12, 14, 16]);
    let bytes = disk.bytes();
    for (at, (place, ..)) in seen.problems.iter().enumerate() {
        assert!(bytes[usize::try_from(*place).unwrap()..].starts_with(bad[at]), "{at}");
    }
    let kinds: Vec<_> = seen.problems.iter().map(|(.., problem)| problem.clone()).collect();
    assert!(
        matches!(
            &kinds[..],
            [
                Problem::NotJson { .. },
                Problem::NotARecord { .. },
                Problem::NotUtf8,
                Problem::NotJson { .. },
                Problem::NotJson { .. },
                Problem::NotJson { .. },
                Problem::Torn { bytes: 12 },
                Problem::NotJson { .. },
            ]
        ),
        "{kinds:?}"
    );
}

#[test]
fn empty_lines_blanks_and_carriage_returns_do_not_matter() {
    let disk = Disk::new();
    let text = String::from_utf8(line(&user(disk.id, 1, None, "x"))).unwrap();
    disk.smear(format!("\n\r\n  \n\t {}\r\n\n", text.trim_end()).as_bytes());
    let seen = disk.read();
    assert_eq!(seen.ids(), [0, 1].map(message));
    assert_eq!(seen.problems, []);
    let mut found = Vec::new();
    disk.store
        .fetch(disk.id, &seen.places, &mut |_, raw| found.push(raw.unwrap().record().unwrap()))
        .unwrap();
    assert_eq!(found, seen.records);
}

#[test]
fn glued_records_are_taken_apart_and_can_be_fetched() {
    let disk = Disk::new();
    let id = disk.id;
    let glued = [user(id, 1, None, "a}{b"), assistant(id, 2, 1, "b"), user(id, 3, Some(2), "c")];
    let text: String = glued.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    disk.smear(format!("{text}{{\"uuid\":\n").as_bytes());
    disk.append(&[user(id, 4, Some(3), "d")]);
    let seen = disk.read();
    assert_eq!(seen.ids(), (0..5).map(message).collect::<Vec<_>>());
    assert!(matches!(seen.problems[..], [(_, Some(2), Problem::Torn { bytes: 8 })]), "{:?}", seen.problems);
    let mut found = Vec::new();
    disk.store.fetch(id, &seen.places, &mut |_, raw| found.push(raw.unwrap().record().unwrap())).unwrap();
    assert_eq!(found, seen.records);
}

#[test]
fn a_record_before_garbage_on_its_line_survives() {
    let disk = Disk::new();
    let text = serde_json::to_string(&user(disk.id, 1, None, "a")).unwrap();
    for garbage in [&b"garbage"[..], b"\xff\xff", b"}", b"\0"] {
        fs::write(disk.path(), [text.as_bytes(), garbage, b"\n"].concat()).unwrap();
        let seen = disk.read();
        assert_eq!(seen.ids(), [message(1)]);
        assert_eq!(seen.problems.len(), 1);
        assert_eq!(seen.problems[0].0, text.len() as u64);
    }
}

#[test]
fn nothing_inside_a_torn_record_can_pose_as_a_turn() {
    let disk = Disk::new();
    let forged = serde_json::to_value(user(disk.id, 66, None, "forged")).unwrap();
    let mut record = assistant(disk.id, 1, 0, "");
    record.message.as_mut().unwrap().parts = vec![rejoin_core::Part::call("c", "tool", forged)];
    let text = serde_json::to_string(&record).unwrap();
    let begin = text.find("{\"cwd\"").unwrap();
    let end = text[begin..].find("}]").unwrap() + begin;
    for cut in begin..=end {
        fs::write(disk.path(), format!("{}\n", &text[..cut])).unwrap();
        assert_eq!(disk.read().records, [], "cut at {cut}");
    }
}

#[test]
fn a_line_too_long_is_measured_and_passed_over() {
    let disk = Disk::new();
    let long = user(disk.id, 1, None, &"x".repeat(LONGEST_LINE));
    let bytes = line(&long);
    disk.smear(&bytes);
    disk.append(&[user(disk.id, 2, None, "after")]);
    let seen = disk.read();
    assert_eq!(seen.ids(), [0, 2].map(message));
    let (place, line, problem) = &seen.problems[0];
    assert_eq!((*line, problem), (Some(2), &Problem::TooLong { bytes: bytes.len() as u64 }));
    let mut found = None;
    disk.store.fetch(disk.id, &[*place], &mut |_, raw| found = raw.err()).unwrap();
    assert_eq!(found, Some(Problem::TooLong { bytes: bytes.len() as u64 }));
}

#[test]
fn a_newer_format_is_told_once_and_read_as_far_as_understood() {
    let disk = Disk::new();
    let newer = String::from_utf8(disk.bytes()).unwrap().replace("\"schema\":1", "\"schema\":7,\"more\":[]");
    fs::write(disk.path(), newer.repeat(2)).unwrap();
    disk.append(&[user(disk.id, 1, None, "x")]);
    disk.smear(br#"{"uuid":"10000000-0000-4000-8000-000000000002","type":"hologram","depth":3}"#);
    let loaded = load(&disk.store, disk.id).unwrap();
    let noted: Vec<_> = loaded.problems.noted.iter().map(|noted| &noted.problem).collect();
    assert_eq!(noted, [&Problem::NewerVersion { schema: 7 }]);
    assert_eq!(loaded.conversation.tree.turns().len(), 1);
    assert_eq!(loaded.conversation.unknown, 1);
}

#[test]
fn a_newer_format_is_told_even_if_its_first_record_cannot_be_read() {
    let disk = Disk::new();
    let newer = String::from_utf8(disk.bytes())
        .unwrap()
        .replace("\"schema\":1", "\"schema\":9")
        .replace("\"project\":", "\"root\":");
    fs::write(disk.path(), newer).unwrap();
    let loaded = load(&disk.store, disk.id).unwrap();
    assert_eq!(loaded.problems.noted[0].problem, Problem::NewerVersion { schema: 9 });
    assert_eq!(loaded.conversation.info, None);
}

#[test]
fn missing_parents_and_circles_are_told() {
    let disk = Disk::new();
    let id = disk.id;
    disk.append(&[
        user(id, 1, Some(77), "hangs in the air"),
        user(id, 2, Some(3), "before its parent"),
        user(id, 3, Some(2), "and its child"),
        user(id, 4, Some(4), "its own parent"),
        user(id, 5, Some(1), "fine"),
    ]);
    let problems = load(&disk.store, id).unwrap().problems;
    let missing = Problem::MissingParent { parent: message(77) };
    assert!(problems.noted.iter().any(|noted| noted.problem == missing), "{problems:?}");
    let circles: Vec<_> = problems
        .noted
        .iter()
        .filter_map(|noted| match noted.problem {
            Problem::Cycle { turn } => Some(turn),
            _ => None,
        })
        .collect();
    assert_eq!(circles, [message(2), message(4)]);
}

#[test]
fn a_ruined_journal_does_not_fill_the_memory_with_complaints() {
    let disk = Disk::new();
    disk.smear("x\n".repeat(5000).as_bytes());
    let problems = load(&disk.store, disk.id).unwrap().problems;
    assert_eq!((problems.count, problems.noted.len()), (5000, Problems::KEPT));
}

#[test]
fn a_complaint_never_quotes_a_whole_prompt() {
    let disk = Disk::new();
    disk.smear(format!("{{\"uuid\":\"{}\",\"type\":\"user\"}}\n", "s".repeat(100_000)).as_bytes());
    let (.., problem) = &disk.read().problems[0];
    assert!(problem.to_string().len() < 250, "{problem}");
}

#[test]
fn a_problem_reads_like_a_sentence() {
    let disk = Disk::new();
    disk.smear(b"\xff\n");
    disk.append(&[system(disk.id, 1, None, &System::Title { name: "t".into() })]);
    let loaded = load(&disk.store, disk.id).unwrap();
    let place = disk.bytes().iter().position(|byte| *byte == 0xff).unwrap();
    assert_eq!(loaded.problems.noted[0].to_string(), format!("line 2 (byte {place}): not UTF-8"));
    assert_eq!(loaded.conversation.name.as_deref(), Some("t"));
}

/// A journal whose turns ran below the root of the project, without its first line.
fn without_first_line(first: &[u8], more: &[Record]) -> Disk {
    let disk = Disk::new();
    let mut records = vec![user(disk.id, 1, None, "x"), assistant(disk.id, 2, 1, "y")];
    for record in &mut records {
        record.cwd = format!("{PROJECT}/sub");
    }
    disk.append(&records);
    disk.append(more);
    let bytes = disk.bytes();
    let rest = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1).1;
    fs::write(disk.path(), [first, rest].concat()).unwrap();
    disk
}

#[test]
fn what_a_conversation_is_can_be_told_without_its_first_line() {
    let zeros = [0; 200];
    for first in [&b""[..], b"garbage\n", &[&zeros[..], b"\n"].concat(), b"{\"uuid\":\n"] {
        let disk = without_first_line(first, &[]);
        let loaded = load(&disk.store, disk.id).unwrap();
        assert!(loaded.conversation.info_is_derived);
        let below = ConversationInfo { dir: format!("{PROJECT}/sub"), ..info(PROJECT) };
        assert_eq!(loaded.conversation.info, Some(below.clone()));
        assert_eq!(loaded.conversation.tree.turns().len(), 1);
        let told = loaded.problems.noted.iter().any(|noted| noted.problem == Problem::FirstRecordLost);
        assert!(told, "{:?}", loaded.problems);
        let listed = disk.store.list(Some(PROJECT)).unwrap();
        assert_eq!(listed[0].info, Some(below));
        assert_eq!(disk.store.list(Some("/home/ann/other")).unwrap(), []);
    }
}

#[test]
fn a_moved_project_is_known_without_the_first_line() {
    let to = System::Moved { project: "/home/ann/new".into(), dir: "/home/ann/new/sub".into() };
    let id = crate::support::conversation(0);
    let disk = without_first_line(b"", &[system(id, 3, None, &to)]);
    let info = load(&disk.store, disk.id).unwrap().conversation.info.unwrap();
    assert_eq!((&*info.project, &*info.dir), ("/home/ann/new", "/home/ann/new/sub"));
    // Written anew behind it, as `fsck --repair` does, it says the same.
    disk.append(&[crate::support::first(id, PROJECT)]);
    let conversation = load(&disk.store, disk.id).unwrap().conversation;
    assert_eq!((conversation.info.unwrap().project, conversation.info_is_derived), (info.project, false));
}
