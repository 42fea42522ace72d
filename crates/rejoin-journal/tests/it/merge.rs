//! Many records, one message.

use rejoin_core::{Content, Kind, Part, Record, System, Usage};
use rejoin_journal::{Merged, load, messages};
use serde_json::json;

use crate::support::{Disk, assistant, message, record, system, user};

fn merged(disk: &Disk, turn: u128, limit: usize) -> Merged {
    let loaded = load(&disk.store, disk.id).unwrap();
    messages(&disk.store, disk.id, loaded.conversation.tree.turn(message(turn)).unwrap(), limit).unwrap()
}

#[test]
fn records_of_one_id_become_one_message() {
    let disk = Disk::new();
    let id = disk.id;
    let chunk = |text: &str, model: Option<&str>, second: u32| Record {
        model: model.map(str::to_owned),
        timestamp: format!("12:00:{second:02}"),
        ..assistant(id, 2, 1, text)
    };
    let result = Record {
        message: Some(Content::user(vec![Part::response("c", "ls", "out", false)])),
        ..record(id, 3, Some(2), Kind::ToolResult)
    };
    disk.append(&[user(id, 1, None, "q"), chunk("Hel", None, 1), result, chunk("lo", Some("m1"), 2)]);
    disk.append(&[chunk("!", Some("m2"), 3), user(id, 9, Some(3), "another turn")]);
    let Merged { messages, left_out, problems } = merged(&disk, 1, usize::MAX);
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), [1, 2, 3].map(message));
    assert_eq!(messages[1].text(), "Hello!");
    assert_eq!(messages[1].model.as_deref(), Some("m1"), "the first model");
    assert_eq!(messages[1].timestamp, "12:00:03", "the last time");
    assert_eq!(messages[2].kind, Kind::ToolResult);
    assert_eq!((left_out, problems.count), (0, 0));
}

#[test]
fn the_last_tokens_count_and_notes_of_tool_calls_are_concatenated() {
    let disk = Disk::new();
    let id = disk.id;
    let usage = |output| Usage { output, ..Usage::default() };
    let counted = |output| Record { tokens: Some(usage(output)), ..record(id, 2, Some(1), Kind::Assistant) };
    let noted = |note| Record { tool_calls_metadata: vec![note], ..record(id, 2, Some(1), Kind::Assistant) };
    disk.append(&[
        user(id, 1, None, "q"),
        counted(5),
        noted(json!({"id": "a", "name": "ls", "status": "error"})),
        counted(9),
        noted(json!({"id": "b", "name": "ls", "status": "cancelled"})),
        noted(json!("not a note")),
    ]);
    let merged = merged(&disk, 1, usize::MAX);
    let answer = &merged.messages[1];
    assert_eq!((answer.tokens, merged.problems.count), (Some(usage(9)), 0));
    let ids: Vec<&str> = answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
    let loaded = load(&disk.store, id).unwrap();
    let turn = &loaded.conversation.tree.turns()[0];
    assert_eq!(turn.usage(), Some(usage(9)), "a turn that was cut has no receipt to tell");
    assert_eq!((turn.calls.all, turn.calls.errors, turn.calls.cancelled), (2, 1, 1));
}

#[test]
fn a_final_block_replaces_what_was_streamed() {
    let disk = Disk::new();
    let id = disk.id;
    disk.append(&[user(id, 1, None, "q"), assistant(id, 2, 1, "keep this, not this")]);
    disk.append(&[Record { replaces: Some(11), ..assistant(id, 2, 1, "but that") }]);
    assert_eq!(merged(&disk, 1, usize::MAX).messages[1].text(), "keep this, but that");
}

#[test]
fn an_amendment_replaces_the_parts_of_its_target() {
    let disk = Disk::new();
    let id = disk.id;
    let amend = |number, target, text: &str| {
        let parts = vec![Part::text(text)];
        system(id, number, Some(1), &System::Amendment { target: message(target), parts })
    };
    disk.append(&[user(id, 1, None, "q"), assistant(id, 2, 1, "a"), assistant(id, 2, 1, "b")]);
    disk.append(&[
        user(id, 3, Some(2), "q2"),
        amend(4, 2, "first edit"),
        amend(5, 2, "second"),
        amend(6, 1, "Q"),
    ]);
    let Merged { messages, problems, .. } = merged(&disk, 1, usize::MAX);
    assert_eq!(messages.iter().map(rejoin_core::Message::text).collect::<Vec<_>>(), ["Q", "second"]);
    assert_eq!(messages[1].timestamp, "2026-11-15T20:00:02Z", "an edit does not move a message in time");
    assert!(problems.is_empty());
    assert_eq!(merged(&disk, 3, usize::MAX).messages[0].text(), "q2");
}

#[test]
fn long_texts_are_shortened_with_a_mark_and_counted() {
    let disk = Disk::new();
    let id = disk.id;
    let long = "0123456789".repeat(1000);
    let parts = vec![
        Part::text("short"),
        Part::call("c", "write", json!({"path": "x", "content": long})),
        Part::thought(&long),
    ];
    let answer = Record { message: Some(Content::model(parts)), ..record(id, 2, Some(1), Kind::Assistant) };
    let result = Record {
        message: Some(Content::user(vec![Part::response("c", "write", &long, true)])),
        ..record(id, 3, Some(2), Kind::ToolResult)
    };
    disk.append(&[user(id, 1, None, &long), answer, result]);
    let whole = merged(&disk, 1, usize::MAX);
    assert_eq!((whole.left_out, whole.messages[0].text()), (0, long.clone()));
    let short = merged(&disk, 1, 500);
    assert!(short.left_out > 4 * 9000, "{}", short.left_out);
    assert!(short.left_out <= 4 * 9500 + 8, "{}", short.left_out);
    let text = short.messages[0].text();
    assert!(text.starts_with("0123456789") && text.ends_with("0123456789") && text.len() < 600, "{text}");
    assert!(text.contains("[9500 bytes left out here by rejoin]"), "{text}");
    assert_eq!(short.messages[1].parts[0], Part::text("short"));
    let all = format!("{short:?}");
    assert_eq!(all.matches("left out here by rejoin").count(), 4, "{all}");
}

#[test]
fn a_record_that_cannot_be_read_leaves_a_visible_mark() {
    let disk = Disk::new();
    let id = disk.id;
    disk.append(&[user(id, 1, None, "q"), assistant(id, 2, 1, "before ")]);
    let newer = serde_json::to_string(&assistant(id, 2, 1, "x")).unwrap();
    let body = newer.replace(r#""parts":[{"text":"x"}]"#, r#""blocks":7"#);
    let model = newer.replace(r#""type""#, r#""model":{"name":"m"},"type""#);
    assert!(body != newer && model != newer);
    disk.smear(format!("{body}\n{model}\n").as_bytes());
    disk.append(&[assistant(id, 2, 1, " after")]);
    let Merged { messages, problems, .. } = merged(&disk, 1, usize::MAX);
    let text = messages[1].text();
    assert!(text.starts_with("before ") && text.ends_with(" after"), "{text}");
    assert_eq!(text.matches("could not be read by rejoin").count(), 2, "{text}");
    assert_eq!(problems.count, 2);
}

#[test]
fn arguments_nested_too_deep_to_be_parsed_leave_a_mark() {
    let disk = Disk::new();
    let id = disk.id;
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let call = Record {
        message: Some(Content::model(vec![Part::call("c", "tool", deep)])),
        ..record(id, 2, Some(1), Kind::Assistant)
    };
    disk.append(&[user(id, 1, None, "q"), call, assistant(id, 2, 1, " after")]);
    let Merged { messages, problems, .. } = merged(&disk, 1, usize::MAX);
    let text = messages[1].text();
    assert!(text.contains("could not be read by rejoin") && text.ends_with(" after"), "{text}");
    assert_eq!(problems.count, 1);
}

#[test]
fn fields_and_parts_of_a_newer_version_do_not_hide_a_message() {
    let disk = Disk::new();
    disk.smear(
        concat!(
            r#"{"uuid":"10000000-0000-4000-8000-000000000001","type":"user","mood":"good","#,
            r#""message":{"role":"user","parts":[{"hologram":1},{"text":"x"}],"lang":"en"}}"#,
            "\n"
        )
        .as_bytes(),
    );
    let merged = merged(&disk, 1, usize::MAX);
    assert_eq!(merged.messages[0].text(), "x");
    assert!(merged.problems.is_empty());
}
