//! Agents that stream, journals that gather, a hub that lags, readers that are slow or come again, in any order.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use rejoin_core::{
    Agent, ConversationId, Decision, Event, MessageId, Outcome, Prompt, Receipt, Stream, Told, TurnId,
};
use rejoin_journal::Cursor;
use serde_json::json;
use uuid::Uuid;

use super::client::Client;
use crate::stream::channel::{Channel, Next, Reader};
use crate::stream::frame::Frame;
use crate::stream::ring::Bounds;

const CONVERSATION: ConversationId = ConversationId::new(Uuid::from_u128(1));

/// What may happen.
#[derive(Clone, Debug)]
enum Step {
    /// The agent streams some text.
    Stream(&'static str),
    /// What it streamed is gathered into the journal.
    Gather,
    /// A block ends as it was streamed.
    Finish,
    /// A block ends otherwise; without text, it is taken back and begun anew.
    Replace(&'static str),
    /// The next text is another message's.
    NextMessage,
    /// Something else happens, of this size.
    Other(usize),
    /// The turn ends.
    End,
    /// Whoever ran the turn is killed: what was not gathered is lost.
    Crash,
    /// Pieces reach the hub, so many of those that are on their way.
    Pass(usize),
    /// The hub reads so many records.
    Read(usize),
    /// The daemon is killed and started again.
    Restart,
    /// One of the readers takes so many things.
    Take(usize, usize),
    /// One of the readers goes away and comes again with the last id it has.
    Reconnect(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec!["a", "ab", "é", "aé", "b", "aaab"]);
    let other = prop::sample::select(vec!["", "a", "ab", "éa"]);
    prop_oneof![
        8 => words.prop_map(Step::Stream),
        4 => Just(Step::Gather),
        2 => Just(Step::Finish),
        2 => other.prop_map(Step::Replace),
        1 => Just(Step::NextMessage),
        1 => (0..600_usize).prop_map(Step::Other),
        1 => Just(Step::End),
        1 => Just(Step::Crash),
        6 => (1..4_usize).prop_map(Step::Pass),
        6 => (1..4_usize).prop_map(Step::Read),
        1 => Just(Step::Restart),
        8 => (0..3_usize, 1..5_usize).prop_map(|(who, count)| Step::Take(who, count)),
        1 => (0..3_usize).prop_map(Step::Reconnect),
    ]
}

/// One record of the journal.
struct Record {
    turn: Option<TurnId>,
    told: Vec<Told>,
    cursor: Cursor,
}

impl Record {
    fn frame(&self) -> Frame {
        Frame::of_record(CONVERSATION, self.turn, "", &self.told, self.cursor)
    }
}

/// The turn that runs, as its agent knows it.
struct Running {
    turn: TurnId,
    message: MessageId,
    /// Where the block begins that is being streamed.
    block: usize,
    /// How much was streamed, and what of it was not gathered.
    streamed: usize,
    ungathered: String,
}

struct World {
    bounds: Bounds,
    journal: Vec<Record>,
    running: Option<Running>,
    /// Pieces on their way to the hub.
    pieces: VecDeque<(TurnId, MessageId, usize, String)>,
    channel: Channel,
    /// How many records the hub has read.
    read: usize,
    readers: Vec<(Reader, Client)>,
    ids: u128,
}

impl World {
    fn new(bounds: Bounds) -> Self {
        let mut readers = Vec::new();
        for _ in 0..3 {
            let mut client = Client::default();
            client.hear(hello(false));
            readers.push((Reader::new(0, Cursor::BEGINNING), client));
        }
        Self {
            bounds,
            journal: Vec::new(),
            running: None,
            pieces: VecDeque::new(),
            channel: Channel::new(CONVERSATION, 0, bounds),
            read: 0,
            readers,
            ids: 100,
        }
    }

    fn id(&mut self) -> MessageId {
        self.ids += 1;
        MessageId::new(Uuid::from_u128(self.ids))
    }

    fn write(&mut self, turn: TurnId, told: Vec<Told>) {
        let position = self.journal.len() as u64 * 10 + 10;
        let cursor = Cursor::new(position, [1; 8], [2; 16]);
        self.journal.push(Record { turn: Some(turn), told, cursor });
    }

    /// The turn that runs; one begins if none does.
    fn running(&mut self) -> &mut Running {
        if self.running.is_none() {
            let (turn, message) = (self.id(), self.id());
            let prompt = Prompt { turn, parent: None, text: "go".into(), attachments: Vec::new() };
            self.write(turn, vec![Told::Prompt(prompt)]);
            self.running = Some(Running { turn, message, block: 0, streamed: 0, ungathered: String::new() });
        }
        self.running.as_mut().unwrap()
    }

    fn gather(&mut self) {
        let Some(running) = &mut self.running else { return };
        if running.ungathered.is_empty() {
            return;
        }
        let (turn, message) = (running.turn, running.message);
        let text = std::mem::take(&mut running.ungathered);
        let offset = running.streamed - text.len();
        self.write(turn, vec![Told::Event(Event::TextDelta { message, offset, text })]);
    }

    fn message(&mut self, offset: usize, text: &str) {
        self.gather();
        let running = self.running();
        let (turn, message) = (running.turn, running.message);
        (running.streamed, running.block) = (offset + text.len(), offset + text.len());
        let usage = Told::Event(Event::Usage { usage: rejoin_core::Usage::default(), cost: None });
        let told =
            Told::Event(Event::Message { message, offset, text: text.into(), model: None, native: None });
        self.write(turn, vec![told, usage]);
    }

    fn end(&mut self) {
        self.gather();
        let Some(Running { turn, .. }) = self.running.take() else { return };
        let plan = Decision::Resume { session: "s".into(), catch_up: 0 };
        let receipt = Box::new(Receipt::new(turn, Agent::Demo, plan, Outcome::Completed));
        self.write(turn, vec![Told::Event(Event::Result { text: String::new(), receipt })]);
    }

    fn hub_reads(&mut self, count: usize) {
        for record in self.journal.iter().skip(self.read).take(count) {
            self.channel.record(record.turn, "", &record.told, record.frame());
            self.read += 1;
        }
    }

    fn pass(&mut self, count: usize) {
        for _ in 0..count {
            let Some((turn, message, offset, text)) = self.pieces.pop_front() else { return };
            self.channel.live(turn, message, offset, &text);
        }
    }

    /// One reader does what is next; whether it had anything to do.
    fn take(&mut self, who: usize) -> bool {
        let (reader, client) = &mut self.readers[who];
        match reader.next(&self.channel) {
            Next::Tell(frame) => client.hear(frame),
            Next::Ready(partials) => {
                client.hear_all(partials);
                client.hear(Frame::of_stream(Some(CONVERSATION), "ready", json!({})));
            }
            Next::Lagged => client.hear(hello(true)),
            Next::Journal => {
                let behind = |record: &&Record| record.cursor.position() > reader.cursor.position();
                match self.journal.iter().find(behind) {
                    Some(record) => {
                        client.hear(record.frame());
                        reader.cursor = record.cursor;
                        reader.read_to(record.cursor.position());
                    }
                    None => return false,
                }
            }
            Next::Wait => return false,
            Next::Closed(why) => panic!("{why:?}"),
        }
        true
    }

    fn reconnect(&mut self, who: usize) {
        let (reader, client) = &mut self.readers[who];
        let cursor: Cursor = client.ids.last().map_or(Cursor::BEGINNING, |id| id.parse().unwrap());
        *reader = Reader::new(cursor.position(), cursor);
        client.hear(hello(true));
        // What a record told before it was cut off is told anew.
        client.records.retain(|end| *end <= cursor.position());
    }

    fn restart(&mut self) {
        self.pieces.clear();
        // As the hub does: from the beginning of the turn that is open.
        let prompt = |record: &Record| matches!(record.told[0], Told::Prompt(_));
        let last = self.journal.iter().rposition(prompt).unwrap_or_default();
        let ended = |record: &Record| matches!(record.told[0], Told::Event(Event::Result { .. }));
        self.read = if self.journal[last..].iter().any(ended) { self.journal.len() } else { last };
        self.channel = Channel::new(CONVERSATION, self.read as u64 * 10, self.bounds);
        (0..self.readers.len()).for_each(|who| self.reconnect(who));
    }

    fn does(&mut self, step: &Step) {
        match *step {
            Step::Stream(text) => {
                let running = self.running();
                let piece = (running.turn, running.message, running.streamed, text.to_owned());
                running.streamed += text.len();
                running.ungathered.push_str(text);
                self.pieces.push_back(piece);
            }
            Step::Gather => self.gather(),
            Step::Finish => {
                let end = self.running().streamed;
                self.message(end, "");
            }
            Step::Replace(text) => {
                let block = self.running().block;
                self.message(block, text);
            }
            Step::NextMessage => {
                self.gather();
                let message = self.id();
                let running = self.running();
                (running.message, running.block, running.streamed) = (message, 0, 0);
            }
            Step::Other(size) => {
                let turn = self.running().turn;
                self.gather();
                let (stream, text) = (Stream::Stdout, "x".repeat(size));
                self.write(turn, vec![Told::Event(Event::Diagnostic { stream, text })]);
            }
            Step::End => self.end(),
            // If it was another process; a daemon that is killed is started again.
            Step::Crash => {
                self.running = None;
                self.restart();
            }
            Step::Pass(count) => self.pass(count),
            Step::Read(count) => self.hub_reads(count),
            Step::Restart => self.restart(),
            Step::Take(who, count) => {
                for _ in 0..count {
                    self.take(who);
                }
            }
            Step::Reconnect(who) => self.reconnect(who),
        }
    }

    /// What the journal says was said.
    fn texts(&self) -> BTreeMap<String, String> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for told in self.journal.iter().flat_map(|record| &record.told) {
            if let Told::Event(
                Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. },
            ) = told
            {
                let known = texts.entry(message.to_string()).or_default();
                assert!(known.len() >= *offset);
                known.truncate(*offset);
                known.push_str(text);
            }
        }
        texts.retain(|_, text| !text.is_empty());
        texts
    }
}

fn hello(resumed: bool) -> Frame {
    Frame::of_stream(Some(CONVERSATION), "hello", json!({ "resumed": resumed }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_record_is_told_once_in_order_and_what_is_drawn_is_what_the_journal_says(
        bytes in 300..4000_usize,
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut world = World::new(Bounds { bytes, entries: 12 });
        for step in steps {
            world.does(&step);
        }
        world.end();
        // Whatever comes last: pieces that were late, or records.
        world.hub_reads(usize::MAX);
        world.pass(usize::MAX);
        let journal = world.texts();
        let all: Vec<u64> = world.journal.iter().flat_map(|record| record.told.iter().map(|_| record.cursor.position())).collect();
        let ids: Vec<String> = world.journal.iter().map(|record| record.cursor.to_string()).collect();
        for who in 0..world.readers.len() {
            while world.take(who) {}
            let (_, client) = &world.readers[who];
            prop_assert_eq!(&client.records, &all);
            prop_assert_eq!(&client.ids, &ids);
            prop_assert_eq!(client.drawn(), journal.clone());
        }
    }
}

#[test]
fn a_reader_is_told_what_is_being_streamed_before_it_is_ready_and_then_only_what_is_new() {
    let mut world = World::new(Bounds::default());
    world.does(&Step::Stream("one "));
    world.does(&Step::Gather);
    world.hub_reads(2);
    world.does(&Step::Stream("two "));
    world.pass(2);
    while world.take(0) {}
    assert_eq!(world.readers[0].1.types, ["hello", "prompt", "text_delta", "partial", "ready"]);
    world.does(&Step::Stream("three"));
    world.pass(1);
    world.gather();
    world.hub_reads(1);
    while world.take(0) {}
    let client = &world.readers[0].1;
    assert_eq!(client.types[5..], ["text_delta", "text_delta"], "a piece, and that it stands in the journal");
    assert_eq!(client.drawn().into_values().collect::<Vec<_>>(), ["one two three"]);
    assert_eq!(client.records.len(), 3);
}

#[test]
fn whoever_is_too_slow_is_told_from_the_journal_and_never_makes_it_grow() {
    let mut world = World::new(Bounds { bytes: 2000, entries: 8 });
    world.does(&Step::Other(10));
    world.hub_reads(2);
    while world.take(0) {}
    for _ in 0..50 {
        world.does(&Step::Other(300));
        world.hub_reads(1);
    }
    while world.take(0) {}
    let client = &world.readers[0].1;
    assert_eq!(client.records.len(), world.journal.len());
    assert_eq!(client.types.iter().filter(|kind| *kind == "hello").count(), 2, "it began anew once");
    assert_eq!(client.types.iter().filter(|kind| *kind == "ready").count(), 2);
}

/// A stream broke and was taken back; a piece of it was late, and was drawn after that.
fn drawn_late() -> World {
    let mut world = World::new(Bounds::default());
    world.does(&Step::Stream("ab"));
    world.hub_reads(1);
    while world.take(0) {}
    world.does(&Step::Replace(""));
    world.hub_reads(usize::MAX);
    world.pass(1);
    while world.take(0) {}
    assert_eq!(world.readers[0].1.drawn().into_values().collect::<Vec<_>>(), ["ab"]);
    world
}

#[test]
fn a_late_piece_of_a_broken_stream_gives_way_to_what_the_journal_says() {
    let mut world = drawn_late();
    world.does(&Step::Stream("b"));
    world.gather();
    world.hub_reads(1);
    while world.take(0) {}
    assert_eq!(world.readers[0].1.drawn().into_values().collect::<Vec<_>>(), ["b"]);
}

#[test]
fn what_the_journal_never_told_is_taken_back_at_the_end_of_the_turn() {
    let mut world = drawn_late();
    world.end();
    world.hub_reads(1);
    while world.take(0) {}
    let client = &world.readers[0].1;
    assert!(client.drawn().is_empty(), "{client:?}");
    assert_eq!(client.types[client.types.len() - 2..], ["partial", "result"]);
}
