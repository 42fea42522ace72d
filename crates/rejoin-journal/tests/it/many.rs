//! Tens of thousands of whatever a journal may hold: work grows with their number, not its square.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use rejoin_core::{Agent, Scope, Tree};
use rejoin_journal::{Loaded, load_anew, messages};

use crate::support::Disk;

const MANY: usize = 40_000;

/// A few times what it takes on a slow machine; the square of it takes minutes.
const ENOUGH: Duration = Duration::from_secs(12);

fn id(number: usize) -> String {
    format!("10000000-0000-4000-8000-{number:012x}")
}

fn line(number: usize, parent: Option<usize>, rest: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{}\"", id(parent)));
    let uuid = id(number);
    format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},"timestamp":"","cwd":"/home/ann/app",{rest}}}"#) + "\n"
}

fn prompt(number: usize, parent: Option<usize>) -> String {
    line(number, parent, r#""type":"user","message":{"role":"user","parts":[{"text":"on"}]}"#)
}

fn note(number: usize, subtype: &str, payload: &str) -> String {
    let rest = format!(r#""type":"system","subtype":"{subtype}","systemPayload":{payload}"#);
    line(number, Some(1), &rest)
}

/// What the processor did for this thread: other work on the machine does not count.
fn spent() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

static BEGUN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

/// Loads a conversation of one turn and many more lines.
fn load(each: impl Fn(usize) -> String) -> (Disk, Loaded) {
    let disk = Disk::new();
    let mut text = prompt(1, None);
    for number in 2..MANY + 2 {
        text.push_str(&each(number));
    }
    disk.smear(text.as_bytes());
    let before = spent();
    let loaded = load_anew(&disk.store, disk.id).unwrap();
    let conversation = &loaded.conversation;
    let (path, _) = conversation.tree.path(conversation.tree.head().map(|turn| turn.id));
    let slice = Tree::slice(&path, Scope::Shared, &Agent::Claude);
    let fitting = conversation.pins.iter().filter(|pin| slice.starts_with(&pin.exposed));
    assert_eq!(fitting.count(), conversation.pins.len());
    for turn in conversation.tree.turns().iter().take(3) {
        messages(&disk.store, disk.id, turn, 1000).unwrap();
    }
    let spent = spent().saturating_sub(before);
    assert!(spent < ENOUGH, "{spent:?}");
    (disk, loaded)
}

fn pin(session: usize) -> String {
    let none = r#"{"hash":"6c62272e07bb014262b821756295c58d","turns":0}"#;
    format!(
        r#"{{"agent":"claude","session":"session-{session}","scope":"shared","dir":"/","store":"/s","product":"p","home":"h","state":"live","seen":{none},"exposed":{none}}}"#
    )
}

#[test]
fn many_pins() {
    let (_disk, loaded) = load(|number| note(number, "pin", &pin(number)));
    assert_eq!(loaded.conversation.pins.len(), MANY);
}

#[test]
fn many_states_of_a_few_pins() {
    let (_disk, loaded) = load(|number| note(number, "pin", &pin(number % 10)));
    let sessions: Vec<String> = loaded.conversation.pins.iter().map(|pin| pin.session.to_string()).collect();
    assert_eq!(sessions.len(), 10);
    assert!(sessions.last().unwrap().ends_with(&format!("session-{}", (MANY + 1) % 10)), "{sessions:?}");
}

#[test]
fn many_names_and_labels() {
    let (_disk, loaded) = load(|number| {
        note(number, "title", &format!(r#"{{"name":"n{number}"}}"#))
            + &note(MANY * 2 + number, "tags", &format!(r#"{{"add":["t{number}"],"remove":["t1"]}}"#))
    });
    assert_eq!(loaded.conversation.tags.len(), MANY);
}

#[test]
fn many_heads_and_branches() {
    let to = id(1);
    let (_disk, loaded) =
        load(|number| note(number, "head", &format!(r#"{{"to":"{to}","branch":"b{number}"}}"#)));
    assert_eq!(loaded.conversation.tree.branches().count(), MANY);
}

#[test]
fn many_amendments() {
    let target = id(1);
    let amendment = format!(r#"{{"target":"{target}","parts":[{{"text":"other words"}}]}}"#);
    let (_disk, loaded) = load(|number| note(number, "amendment", &amendment));
    assert_eq!(loaded.conversation.tree.turns()[0].revision as usize, MANY);
}

#[test]
fn many_turns_on_one() {
    let (_disk, loaded) = load(|number| prompt(number, Some(1)));
    assert_eq!(loaded.conversation.tree.turns().len(), MANY + 1);
}

#[test]
fn a_deep_conversation() {
    let (_disk, loaded) = load(|number| prompt(number, Some(number - 1)));
    let tree = &loaded.conversation.tree;
    assert_eq!(tree.path(tree.head().map(|turn| turn.id)).0.len(), MANY + 1);
}

#[test]
fn a_conversation_in_reverse() {
    let (_disk, loaded) = load(|number| {
        let number = MANY + 3 - number;
        prompt(number, Some(number - 1))
    });
    assert_eq!(loaded.conversation.tree.orphans(), []);
    assert_eq!(loaded.problems.count, 0, "{:?}", loaded.problems.noted.first());
}

#[test]
fn many_messages_in_one_turn() {
    let (_disk, loaded) = load(|number| {
        let rest = r#""type":"assistant","message":{"role":"model","parts":[{"text":"on"}]}"#;
        line(number, Some(number - 1), rest)
    });
    assert_eq!(loaded.conversation.tree.turns()[0].records.len(), MANY + 1);
}

#[test]
fn many_parts_of_one_message() {
    let (_disk, loaded) = load(|number| {
        let mut rest = String::new();
        let call = format!(r#"{{"functionCall":{{"id":"c{number}","name":"x","args":{{}}}}}}"#);
        let _ = write!(
            rest,
            r#""type":"assistant","message":{{"role":"model","parts":[{{"text":"on"}},{call}]}}"#
        );
        line(2, Some(1), &rest)
    });
    assert_eq!(loaded.conversation.tree.turns()[0].records.len(), MANY + 1);
}
