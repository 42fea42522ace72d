//! What a hub holds of one conversation for all who watch it. Without threads, files or clocks.

use rejoin_core::{ConversationId, Event, MessageId, Told, TurnId};
use rejoin_journal::Cursor;

use super::block_texts::BlockTexts;
use super::frame::{Frame, Piece};
use super::ring::{Bounds, Entry, Record, Ring};

/// Why no more comes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Closed {
    /// The conversation was deleted.
    Gone,
    /// The journal is not any more what was read of it, or nobody watched for a while: begin anew where you are.
    Anew,
    /// It cannot be read.
    Failed,
}

/// The newest of a conversation, and what is being streamed.
pub(crate) struct Channel {
    conversation: ConversationId,
    ring: Ring,
    texts: BlockTexts,
    /// How far the journal was told.
    at: u64,
    closed: Option<Closed>,
}

impl Channel {
    /// Of a conversation that is told from a place on.
    pub(crate) fn new(conversation: ConversationId, begin: u64, bounds: Bounds) -> Self {
        Self {
            conversation,
            ring: Ring::new(begin, bounds),
            texts: BlockTexts::default(),
            at: begin,
            closed: None,
        }
    }

    /// Takes in what a record tells, and its rendering.
    pub(crate) fn record(&mut self, turn: Option<TurnId>, time: &str, told: &[Told], whole: Frame) {
        let Some(cursor) = whole.cursor else { return };
        let untold = self.texts.record(turn, told);
        self.pass(untold.before);
        let rest = untold.told.map(|told| Frame::of_record(self.conversation, turn, time, &told, cursor));
        self.at = cursor.position();
        self.ring.push(Entry::Record(Box::new(Record { end: cursor.position(), whole, rest })));
        self.pass(untold.after);
    }

    fn pass(&mut self, partials: Vec<(TurnId, Piece)>) {
        for (turn, piece) in partials {
            self.ring.push(Entry::Passing(Frame::of_piece(self.conversation, turn, "partial", &piece)));
        }
    }

    /// Takes in a piece of text that does not stand in the journal yet; whether it was new.
    pub(crate) fn live(&mut self, turn: TurnId, message: MessageId, offset: usize, text: &str) -> bool {
        let piece = self.texts.live(turn, message, offset, text);
        if let Some(piece) = &piece {
            self.ring.push(Entry::Passing(Frame::of_piece(self.conversation, turn, "text_delta", piece)));
        }
        piece.is_some()
    }

    /// The journal was told up to there; whether that is further than before.
    pub(crate) fn reached(&mut self, at: u64) -> bool {
        let further = at > self.at;
        self.at = self.at.max(at);
        further
    }

    /// What whoever knows all so far has to do.
    fn wait(&self) -> Next {
        self.closed.clone().map_or(Next::Wait, Next::Closed)
    }

    /// No more comes.
    pub(crate) fn close(&mut self, why: Closed) {
        self.closed.get_or_insert(why);
    }
}

/// One who watches: how far it is, and where it takes the next from.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// All that stands in the journal before it was told.
    place: u64,
    /// Behind the last record that was told.
    pub(crate) cursor: Cursor,
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    Journal,
    /// From this number on.
    Ring {
        next: u64,
        /// It was told the pieces, too.
        live: bool,
    },
}

/// What a reader has to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// To be told this.
    Tell(Frame),
    /// To be told these, and that what follows happens now.
    Ready(Vec<Frame>),
    /// To read on in the journal.
    Journal,
    /// It was too slow: what it knows that is in no journal does not hold any more.
    Lagged,
    /// To wait for something new.
    Wait,
    /// No more comes.
    Closed(Closed),
}

impl Reader {
    /// One who was told all before a place.
    pub(crate) fn new(place: u64, cursor: Cursor) -> Self {
        Self { place, cursor, source: Source::Journal }
    }

    /// The journal was read up to there, and told.
    pub(crate) fn read_to(&mut self, place: u64) {
        self.place = self.place.max(place);
    }

    /// What to do next. What it is given to tell counts as told.
    pub(crate) fn next(&mut self, channel: &Channel) -> Next {
        loop {
            match self.source {
                Source::Journal if self.place < channel.ring.begin() => return Next::Journal,
                // It has read faster than the hub, to which it would have to explain what it knows already.
                Source::Journal if self.place > channel.at => return channel.wait(),
                Source::Journal => {
                    let next = channel.ring.behind(self.place);
                    self.source = Source::Ring { next, live: false };
                }
                Source::Ring { next, live } if next < channel.ring.first() => {
                    self.source = Source::Journal;
                    if live {
                        return Next::Lagged;
                    }
                }
                Source::Ring { next, live } => match channel.ring.get(next) {
                    Some(entry) => {
                        self.source = Source::Ring { next: next + 1, live };
                        if let Some(frame) = self.take(entry, live) {
                            return Next::Tell(frame);
                        }
                    }
                    None if live => return channel.wait(),
                    None => {
                        self.source = Source::Ring { next, live: true };
                        let partials = channel.texts.partials();
                        let frame =
                            |(turn, piece)| Frame::of_piece(channel.conversation, turn, "partial", &piece);
                        return Next::Ready(partials.map(frame).collect());
                    }
                },
            }
        }
    }

    fn take(&mut self, entry: &Entry, live: bool) -> Option<Frame> {
        match entry {
            Entry::Passing(frame) => live.then(|| frame.clone()),
            Entry::Record(record) => {
                self.place = record.end;
                let frame = record.rest.as_ref().filter(|_| live).unwrap_or(&record.whole).clone();
                self.cursor = frame.cursor.unwrap_or(self.cursor);
                Some(frame)
            }
        }
    }
}

/// The piece of text in an event, if it is one that need not wait for the journal.
pub(crate) fn passing_text(event: &Event) -> Option<(MessageId, usize, &str)> {
    match event {
        Event::TextDelta { message, offset, text } => Some((*message, *offset, text)),
        _ => None,
    }
}
