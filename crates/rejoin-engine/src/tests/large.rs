//! What grows past a line of the journal when it is written.

use rejoin_core::{Event, Kind, MessageId, Outcome};
use rejoin_journal::{LONGEST_LINE, MemoryStore, Store, Writer, load, messages};
use uuid::Uuid;

use super::scripted::Place;
use crate::TurnError;
use crate::during::record_writer::{RecordHeader, RecordWriter};

#[test]
fn a_prompt_that_would_not_fit_is_refused_beforehand() {
    let place = Place::new();
    let ran = place.run(&format!("echo end # {}", "\u{1}".repeat(3 << 20)));
    assert!(matches!(&ran.result, Err(TurnError::Usage(text)) if text.contains("too long")));
    assert!(place.store.ids().unwrap().is_empty(), "and nothing was begun");
    // The same length in plain words is no problem (a script of that length would be one to the shell).
    let ran = place.run(&format!("echo end # {}", "x".repeat(1 << 16)));
    ran.completed();
}

#[test]
fn six_megabytes_that_are_not_utf_8_do_not_end_the_turn() {
    let place = Place::new();
    let six = "head -c 6291456 /dev/zero | tr '\\0' '\\377'";
    let ran = place.run(&format!("printf 'say '; {six}; echo; printf 'result '; {six}; echo; echo end"));
    assert_eq!(*ran.outcome(), Outcome::Completed);
    let loaded = load(&*place.store, place.id).unwrap();
    assert!(loaded.problems.noted.is_empty(), "{:?}", loaded.problems);
    let turn = &loaded.conversation.tree.turns()[0];
    let said = messages(&*place.store, place.id, turn, usize::MAX).unwrap();
    let answer = said.messages.iter().find(|message| message.kind == Kind::Assistant).unwrap();
    assert!(answer.text().len() >= LONGEST_LINE, "{}", answer.text().len());
    assert!(place.journal().contains("left out here by rejoin"), "the tool's output was cut, visibly");
}

#[test]
fn a_long_text_is_written_whole_in_several_lines() {
    let store = MemoryStore::new();
    let place = Place::new();
    let info = rejoin_core::ConversationInfo {
        schema: 1,
        project: "/p".into(),
        dir: "/p".into(),
        scope: rejoin_core::Scope::Shared,
    };
    let head = RecordHeader { conversation: place.id, cwd: "/p".into(), git_branch: None };
    let turn = MessageId::new(Uuid::new_v4());
    let mut user = head.record(Kind::User, turn, None);
    user.message = Some(rejoin_core::Content::user(vec![rejoin_core::Part::text("go")]));
    let journal = store.create(place.id, &info, &[user], Writer::Label).unwrap();
    let mut writer = RecordWriter::new(journal, head, turn, rejoin_core::Agent::named("scripted"));
    // As long as a line of an agent may be, and as hard to write as can be; streamed, then said again otherwise.
    let message = MessageId::new(Uuid::new_v4());
    let text = "\u{1}é".repeat(2 << 20);
    writer.note(&Event::TextDelta { message, offset: 0, text: "streamed otherwise".into() });
    let whole = Event::Message { message, offset: 0, text: text.clone(), model: None, native: None };
    writer.note(&whole);
    writer.note(&Event::TextDelta { message, offset: text.len(), text: " and more".into() });
    writer.flush().unwrap();
    let loaded = load(&store, place.id).unwrap();
    let said = messages(&store, place.id, &loaded.conversation.tree.turns()[0], usize::MAX).unwrap();
    assert!(said.messages[1].text() == format!("{text} and more"), "not what was said");
}
