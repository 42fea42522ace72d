//! After any history of appends, deletions and damage, the index says what the journals say.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use rejoin_core::{Kind, Part, Record, System};
use rejoin_index::Index;
use rejoin_journal::{Store, load};
use serde_json::json;

use crate::naive;
use crate::support::{Disk, all, conversation, hits, message, parts, receipt, said, stats, system};

const WORDS: [&str; 8] = ["alpha", "beta", "Gamma", "delta", "alphabet", "eps", "бета", "x1"];
const CONVERSATIONS: u128 = 4;

/// Something that happens to a journal, or a question in between.
#[derive(Clone, Debug)]
enum Step {
    Prompt { at: u128, on: u128, text: String },
    Piece { at: u128, of: u128, text: String, replaces: Option<usize> },
    Tool { at: u128, of: u128, text: String },
    Amend { at: u128, target: u128, text: String },
    Receipt { at: u128, turn: u128 },
    Name { at: u128, text: String },
    Head { at: u128, to: u128 },
    Garbage { at: u128, text: String },
    Torn { at: u128 },
    Delete { at: u128 },
    Replace { at: u128, text: String },
    Ask { query: Vec<String> },
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS.to_vec());
    // Pieces end in the middle of words, too.
    (vec(word, 1..6), 0..3_usize).prop_map(|(words, cut)| {
        let text = words.join(" ");
        text[..text.floor_char_boundary(text.len() - cut.min(text.len() - 1))].to_owned()
    })
}

fn query() -> impl Strategy<Value = Vec<String>> {
    let word = || prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned);
    let phrase = (word(), word()).prop_map(|(a, b)| format!("{a} {b}"));
    let open = prop::sample::select(vec!["al*", "alpha*", "be*", "e*", "бе*"]).prop_map(str::to_owned);
    vec(prop_oneof![4 => word(), 1 => phrase, 1 => open], 1..3)
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..CONVERSATIONS;
    let of = 1..12_u128;
    prop_oneof![
        6 => (at.clone(), of.clone(), text()).prop_map(|(at, on, text)| Step::Prompt { at, on, text }),
        6 => (at.clone(), of.clone(), text(), prop::option::weighted(0.2, 0..20_usize))
            .prop_map(|(at, of, text, replaces)| Step::Piece { at, of, text, replaces }),
        3 => (at.clone(), of.clone(), text()).prop_map(|(at, of, text)| Step::Tool { at, of, text }),
        2 => (at.clone(), of.clone(), text()).prop_map(|(at, target, text)| Step::Amend { at, target, text }),
        2 => (at.clone(), of.clone()).prop_map(|(at, turn)| Step::Receipt { at, turn }),
        1 => (at.clone(), text()).prop_map(|(at, text)| Step::Name { at, text }),
        1 => (at.clone(), of.clone()).prop_map(|(at, to)| Step::Head { at, to }),
        1 => (at.clone(), text()).prop_map(|(at, text)| Step::Garbage { at, text }),
        1 => at.clone().prop_map(|at| Step::Torn { at }),
        1 => at.clone().prop_map(|at| Step::Delete { at }),
        1 => (at.clone(), text()).prop_map(|(at, text)| Step::Replace { at, text }),
        8 => query().prop_map(|query| Step::Ask { query }),
    ]
}

struct World {
    disk: Disk,
    /// Messages of each conversation.
    messages: [u128; CONVERSATIONS as usize],
}

impl World {
    fn new() -> Self {
        let disk = Disk::new();
        for number in 0..CONVERSATIONS {
            disk.begin(number, if number == 0 { "/elsewhere" } else { "/home/ann/app" });
        }
        Self { disk, messages: [0; CONVERSATIONS as usize] }
    }

    /// A message that is likely there.
    fn known(&self, at: u128, wish: u128) -> u128 {
        let count = self.messages[at as usize].max(1);
        (wish - 1) % count + 1
    }

    fn append(&self, at: u128, record: Record) {
        if self.disk.store.path(conversation(at)).is_ok() {
            self.disk.append(at, &[record]);
        }
    }

    fn smear(&self, at: u128, bytes: &[u8]) {
        if let Ok(path) = self.disk.store.path(conversation(at)) {
            OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
        }
    }

    fn take(&mut self, step: &Step) {
        let id = |at: u128| conversation(at);
        match step {
            Step::Prompt { at, on, text } => {
                let parent = (self.messages[*at as usize] > 0).then(|| self.known(*at, *on));
                self.messages[*at as usize] += 1;
                self.append(*at, said(id(*at), self.messages[*at as usize], parent, Kind::User, text));
            }
            Step::Piece { at, of, text, replaces } => {
                // Now and then a message goes on, else a new one begins.
                let parent = self.known(*at, *of);
                let number = if of % 3 == 0 { parent } else { self.messages[*at as usize] + 1 };
                self.messages[*at as usize] = self.messages[*at as usize].max(number);
                let record = said(id(*at), number, Some(parent), Kind::Assistant, text);
                self.append(*at, Record { replaces: *replaces, ..record });
            }
            Step::Tool { at, of, text } => {
                let parent = self.known(*at, *of);
                self.messages[*at as usize] += 1;
                let call = Part::call("1", "Bash", json!({ "command": text }));
                let result = Part::response("1", "Bash", text.clone(), false);
                let list = vec![call, Part::thought("eps"), result];
                let number = self.messages[*at as usize];
                self.append(*at, parts(id(*at), number, Some(parent), Kind::Assistant, list));
            }
            Step::Amend { at, target, text } => {
                let target = message(self.known(*at, *target));
                let amendment = System::Amendment { target, parts: vec![Part::text(text)] };
                self.append(*at, system(id(*at), None, &amendment));
            }
            Step::Receipt { at, turn } => {
                let turn = self.known(*at, *turn);
                let receipt = System::Receipt(Box::new(receipt(message(turn), turn > 2)));
                self.append(*at, system(id(*at), Some(turn), &receipt));
            }
            Step::Name { at, text } => {
                self.append(*at, system(id(*at), None, &System::Title { name: text.clone() }));
            }
            Step::Head { at, to } => {
                let json = json!({ "to": message(self.known(*at, *to)) });
                let head = System::read("head", &json.to_string()).unwrap();
                self.append(*at, system(id(*at), None, &head));
            }
            Step::Garbage { at, text } => self.smear(*at, format!("{{\"{text}\"}}\n\u{0}\n").as_bytes()),
            Step::Torn { at } => self.smear(*at, b"{\"uuid\":\"1000"),
            Step::Delete { at } => {
                if let Ok(path) = self.disk.store.path(conversation(*at)) {
                    fs::remove_file(path).unwrap();
                }
            }
            Step::Replace { at, text } => {
                if let Ok(path) = self.disk.store.path(conversation(*at)) {
                    let lines = fs::read_to_string(&path).unwrap_or_default();
                    let first = lines.lines().next().unwrap_or_default().to_owned();
                    let record = said(conversation(*at), 1, None, Kind::User, text);
                    let draft = path.with_extension("draft");
                    fs::write(&draft, format!("{first}\n{}\n", serde_json::to_string(&record).unwrap()))
                        .unwrap();
                    fs::rename(draft, path).unwrap();
                }
            }
            Step::Ask { query } => self.check(query),
        }
    }

    /// The index answers as journals read from scratch do.
    fn check(&self, query: &[String]) {
        let words: Vec<&str> = query.iter().map(String::as_str).collect();
        let mut index = self.disk.index();
        let nowhere = self.disk.nowhere();
        let mut reader = Index::open(&self.disk.store, &nowhere);
        let found = hits(&mut index, &words, 10_000);
        let places = found.hits.iter().map(|hit| (hit.conversation, hit.turn)).collect();
        assert_eq!(naive::search(&self.disk.store, &words), places, "{words:?}");
        assert_eq!(found, hits(&mut reader, &words, 10_000), "ranked and shown alike");
        let few = hits(&mut index, &words, 2);
        assert_eq!(few.hits.len(), found.hits.len().min(2));
        assert_eq!(few, hits(&mut reader, &words, 2), "few of them alike");
        let list = all(&mut index);
        assert_eq!(list, all(&mut reader));
        for listed in &list.conversations {
            let conversation = load(&self.disk.store, listed.id).unwrap().conversation;
            assert_eq!(listed.summary.turns, conversation.tree.turns().len());
            assert_eq!(listed.summary.name, conversation.name);
            assert_eq!(listed.summary.usage, conversation.usage());
        }
        let there: BTreeSet<_> = self.disk.store.list(None).unwrap().iter().map(|listed| listed.id).collect();
        assert_eq!(list.conversations.iter().map(|listed| listed.id).collect::<BTreeSet<_>>(), there);
        assert!(list.conversations.is_sorted_by_key(|listed| Reverse(listed.used)));
        assert_eq!(stats(&mut index), stats(&mut reader));
        assert_eq!(index.names("/home/ann/app").unwrap(), reader.names("/home/ann/app").unwrap());
        assert!(index.warnings().is_empty(), "{:?}", index.warnings());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_index_says_what_the_journals_say(steps in vec(step(), 1..50)) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
        }
        for word in WORDS {
            world.check(&[word.to_owned()]);
        }
    }
}

#[test]
fn a_journal_that_grew_is_followed() {
    let disk = Disk::new();
    disk.begin(1, "/p");
    disk.turn(1, 1, None, "first question", "first answer");
    assert_eq!(disk.found(&["answer"]).len(), 1);
    for turn in 1..40_u128 {
        disk.turn(
            1,
            10 * turn,
            Some(10 * (turn - 1) + 1 + u128::from(turn == 1)),
            &format!("prompt{turn}"),
            "more",
        );
        assert_eq!(disk.found(&[&format!("prompt{turn}")]).len(), 1);
        assert_eq!(disk.found(&["answer"]).len(), 1, "after {turn} turns");
    }
    assert_eq!(hits(&mut disk.index(), &["more"], 100).hits.len(), 39);
    assert!(hits(&mut disk.index(), &["more"], 10).more);
}

#[test]
fn a_journal_that_was_written_anew_in_its_place_is_read_anew() {
    let disk = Disk::new();
    disk.begin(1, "/p");
    disk.turn(1, 1, None, "old question", "old answer");
    assert_eq!(disk.found(&["old"]).len(), 1);
    let lines = fs::read_to_string(disk.path(1)).unwrap().replace("old", "newer");
    fs::write(disk.path(1), lines).unwrap();
    assert_eq!(disk.found(&["newer answer"]).len(), 1);
    assert!(disk.found(&["old"]).is_empty());
}

#[test]
fn what_was_said_comes_first_then_what_stands_together_then_what_is_new() {
    let disk = Disk::new();
    let id = conversation(1);
    disk.begin(1, "/p");
    let result = |text: &str| vec![Part::response("1", "Bash", text, false)];
    disk.append(
        1,
        &[
            said(id, 1, None, Kind::User, "one thing and two"),
            said(id, 2, Some(1), Kind::User, "one two"),
            said(id, 3, Some(2), Kind::User, "look"),
            parts(id, 4, Some(3), Kind::ToolResult, result("one two")),
            said(id, 5, Some(4), Kind::User, "two or one"),
        ],
    );
    let found = hits(&mut disk.index(), &["one", "two"], 10).hits;
    let numbers: Vec<usize> = found.iter().map(|hit| hit.number.unwrap()).collect();
    assert_eq!(numbers, [2, 4, 1, 3]);
    assert_eq!(found[0].snippet, "one two");
    assert_eq!(found[0].marks, [0..3, 4..7]);
}

#[test]
fn a_turn_with_more_words_than_are_held_at_once_is_found_as_one() {
    let disk = Disk::new();
    let id = conversation(1);
    disk.begin(1, "/p");
    disk.append(1, &[said(id, 1, None, Kind::User, "beginning")]);
    for number in 0..10_u128 {
        let text: Vec<String> = (0..40_000).map(|word| format!("{number}{word:050}")).collect();
        let list = vec![Part::response("1", "Bash", text.join(" "), false)];
        disk.append(1, &[parts(id, 2 + number, Some(1 + number), Kind::ToolResult, list)]);
    }
    let (first, last) = (format!("0{:050}", 7), format!("9{:050}", 39_999));
    assert_eq!(disk.found(&[&first, &last, "beginning"]).len(), 1);
    let connection = rusqlite::Connection::open(disk.database()).unwrap();
    let parts: i64 = connection.query_row("SELECT count(*) FROM document", [], |row| row.get(0)).unwrap();
    assert!(parts > 1);
}

#[test]
fn a_turn_larger_than_a_document_is_found_by_words_far_apart() {
    let disk = Disk::new();
    let id = conversation(1);
    disk.begin(1, "/p");
    disk.append(1, &[said(id, 1, None, Kind::User, "beginning")]);
    for number in 0..40_u128 {
        let text: Vec<String> = (0..2000).map(|word| format!("w{number}x{word}")).collect();
        let list = vec![Part::response("1", "Bash", text.join(" "), false)];
        disk.append(1, &[parts(id, 2 + number, Some(1 + number), Kind::ToolResult, list)]);
    }
    disk.append(1, &[said(id, 100, Some(41), Kind::Assistant, "ending")]);
    assert_eq!(disk.found(&["beginning", "w20x1999", "ending"]).len(), 1);
    assert_eq!(disk.found(&["w39x0 w39x1", "w0x5"]).len(), 1);
    assert_eq!(disk.found(&["w40x0"]).len(), 0);
}
