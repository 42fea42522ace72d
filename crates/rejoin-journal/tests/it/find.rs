//! Finding a conversation by what people have at hand.

use rejoin_core::{Agent, Native, Part, System};
use rejoin_journal::{Append, MemoryStore, Store, Writer, find_by_prefix, find_by_session};
use serde_json::json;

use crate::support::{Disk, assistant, conversation, first, info, system, user};

fn journals(store: &dyn Store, count: u128) -> Vec<Box<dyn Append>> {
    let journal = |number| {
        let id = conversation(number);
        store.create(id, &info("/p"), &[first(id, "/p")], Writer::Label).unwrap()
    };
    (1..=count).map(journal).collect()
}

#[test]
fn a_prefix_finds_with_or_without_dashes() {
    let store = MemoryStore::new();
    journals(&store, 2);
    let id = conversation(1).to_string();
    for prefix in [&id, &id.replace('-', ""), &id.to_uppercase()] {
        assert_eq!(find_by_prefix(&store, prefix).unwrap(), [conversation(1)], "{prefix}");
    }
    assert_eq!(find_by_prefix(&store, "4f1c2a9e-0").unwrap().len(), 2);
    for prefix in ["", "-", "../..", "xyz", "5", "4f1c2a9e\n"] {
        assert_eq!(find_by_prefix(&store, prefix).unwrap(), [], "{prefix:?}");
    }
}

#[test]
fn a_session_is_found_by_what_rejoin_wrote_about_it() {
    let disk = Disk::new();
    let mut appenders = journals(&disk.store, 5);
    let session = "01a1e09c-6875-7203-a42d-c11166b3c878";
    let gap = System::Gap { agent: Agent::Codex, session: session.into(), text: String::new() };
    appenders[0].append(&[system(conversation(1), 1, None, &gap)]).unwrap();
    let mut native = assistant(conversation(2), 2, 1, "x");
    native.native = Some(Native { session: Some(session.into()), ..Native::default() });
    appenders[1].append(&[user(conversation(2), 1, None, "q"), native]).unwrap();
    // What an agent or a user says about it does not count.
    let mut call = assistant(conversation(3), 2, 1, "x");
    call.message.as_mut().unwrap().parts = vec![Part::call("c", "tool", json!({"session": session}))];
    appenders[2].append(&[call]).unwrap();
    appenders[3].append(&[user(conversation(4), 1, None, &format!("\"session\":\"{session}\""))]).unwrap();

    assert_eq!(find_by_session(&disk.store, session).unwrap(), [conversation(1), conversation(2)]);
    assert_eq!(find_by_session(&disk.store, &session[..8]).unwrap(), []);
    assert_eq!(find_by_session(&disk.store, "").unwrap(), []);
    assert_eq!(find_by_session(&disk.store, "\"},{").unwrap(), []);
}
