//! What all live readers of a conversation have drawn of the blocks that are being streamed.
//!
//! They are told each piece as it happens, and later what the journal gathered of the same text. So each must be told
//! only what is new to it, whichever comes first; and what they drew must be what the journal says in the end, also
//! where a stream broke and was begun anew while pieces of it were still on their way.

use rejoin_core::{Event, MessageId, Told, TurnId};

use super::frame::Piece;

/// A longer text that is not in the journal yet is not held: the journal will tell it.
const MOST_HELD: usize = 256 << 10;

/// What to tell of a record to those who were told all pieces so far.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    /// First: what they drew wrongly is taken back.
    pub(crate) before: Vec<(TurnId, Piece)>,
    /// What the record tells, where it is not to be told as it stands.
    pub(crate) told: Option<Vec<Told>>,
    /// Then: what the record made them drop although it goes on behind it.
    pub(crate) after: Vec<(TurnId, Piece)>,
}

/// What was drawn, of turns that have not ended.
#[derive(Debug, Default)]
pub(crate) struct BlockTexts {
    open: Vec<TurnId>,
    messages: Vec<(MessageId, Drawn)>,
}

#[derive(Debug)]
struct Drawn {
    turn: TurnId,
    /// Where the held text begins in the message's.
    base: usize,
    /// All that was drawn from there on.
    text: String,
    /// How far the journal has told it.
    sure: usize,
    /// No end of the block was told.
    streaming: bool,
}

impl Drawn {
    fn end(&self) -> usize {
        self.base + self.text.len()
    }

    fn from(&self, offset: usize) -> Option<&str> {
        self.text.get(offset.checked_sub(self.base)?..)
    }

    fn cut(&mut self, offset: usize) {
        self.text.truncate(offset.saturating_sub(self.base));
    }

    /// Lets go of what is too much to hold.
    fn bound(&mut self) {
        if self.text.len() > MOST_HELD {
            self.text.drain(..self.sure - self.base);
            self.base = self.sure;
        }
    }
}

impl BlockTexts {
    /// A piece that is told before it stands in the journal; what of it goes on where the readers are.
    pub(crate) fn live(
        &mut self,
        turn: TurnId,
        message: MessageId,
        offset: usize,
        text: &str,
    ) -> Option<Piece> {
        // Nothing of a turn is told before its prompt is, or after its end.
        if !self.open.contains(&turn) {
            return None;
        }
        if offset == 0 && self.find(message).is_none() {
            let drawn = Drawn { turn, base: 0, text: String::new(), sure: 0, streaming: true };
            self.messages.push((message, drawn));
        }
        let drawn = self.find(message)?;
        let end = drawn.end();
        let known = drawn.from(offset)?;
        let new = text.strip_prefix(known).filter(|new| !new.is_empty())?;
        if end - drawn.sure + new.len() > MOST_HELD {
            return None;
        }
        drawn.streaming = true;
        drawn.text.push_str(new);
        drawn.bound();
        Some(Piece { message, offset: end, text: new.to_owned() })
    }

    /// What a record tells, and what of it is new.
    pub(crate) fn record(&mut self, turn: Option<TurnId>, told: &[Told]) -> Untold {
        let mut untold = Untold::default();
        for (at, one) in told.iter().enumerate() {
            match (one, turn) {
                (Told::Prompt(prompt), _) => {
                    // A conversation runs one turn at a time: any other was cut.
                    self.end_all(&mut untold.before);
                    self.open = vec![prompt.turn];
                }
                (Told::Event(Event::Result { .. }), Some(turn)) => {
                    self.end_all(&mut untold.before);
                    self.open.retain(|open| *open != turn);
                }
                (Told::Event(Event::TextDelta { message, offset, text }), Some(turn)) => {
                    let piece = self.gathered(turn, *message, *offset, text, &mut untold.before);
                    if let Some(Piece { message, offset, text }) = piece {
                        let told = untold.told.get_or_insert_with(|| told.to_vec());
                        told[at] = Told::Event(Event::TextDelta { message, offset, text });
                    }
                }
                (Told::Event(Event::Message { message, offset, text, .. }), Some(turn)) => {
                    let went_on = self.finished(turn, *message, *offset, text);
                    untold.after.extend(went_on.map(|piece| (turn, piece)));
                }
                _ => {}
            }
        }
        untold
    }

    /// The blocks that are being streamed, each as a text that stands for all behind its offset.
    pub(crate) fn partials(&self) -> impl Iterator<Item = (TurnId, Piece)> {
        let streaming = self.messages.iter().filter(|(_, drawn)| drawn.streaming && !drawn.text.is_empty());
        streaming.map(|(message, drawn)| {
            (drawn.turn, Piece { message: *message, offset: drawn.base, text: drawn.text.clone() })
        })
    }

    fn find(&mut self, message: MessageId) -> Option<&mut Drawn> {
        self.messages.iter_mut().rev().find(|(id, _)| *id == message).map(|(_, drawn)| drawn)
    }

    /// The journal tells a piece; gives what is left of it to tell, if that is not all.
    fn gathered(
        &mut self,
        turn: TurnId,
        message: MessageId,
        offset: usize,
        text: &str,
        take_back: &mut Vec<(TurnId, Piece)>,
    ) -> Option<Piece> {
        let anew =
            Drawn { turn, base: offset, text: text.to_owned(), sure: offset + text.len(), streaming: true };
        let Some(drawn) = self.find(message) else {
            self.messages.push((message, anew));
            return None;
        };
        drawn.streaming = true;
        if drawn.sure != offset {
            // A journal that does not go on where it was: it is drawn as it stands.
            take_back.push((turn, Piece { message, offset, text: String::new() }));
            *drawn = anew;
            return None;
        }
        let ahead = drawn.from(offset).unwrap_or_default();
        let seen = common_prefix(ahead, text);
        if seen < text.len() {
            if seen < ahead.len() {
                take_back.push((turn, Piece { message, offset: offset + seen, text: String::new() }));
            }
            drawn.cut(offset + seen);
            drawn.text.push_str(&text[seen..]);
        }
        drawn.sure = offset + text.len();
        drawn.bound();
        (seen > 0).then(|| Piece { message, offset: offset + seen, text: text[seen..].to_owned() })
    }

    /// The journal tells a block, which stands for all behind its offset; gives what was drawn of the next one.
    fn finished(&mut self, turn: TurnId, message: MessageId, offset: usize, text: &str) -> Option<Piece> {
        let end = offset + text.len();
        let known = self.find(message);
        // Text the journal had told behind it is taken back, and so is what was drawn after that.
        let ahead = known.filter(|drawn| drawn.sure <= end);
        let ahead = ahead.and_then(|drawn| drawn.from(offset)?.strip_prefix(text)).unwrap_or_default();
        let went_on = ahead.to_owned();
        let streaming = !went_on.is_empty();
        let now = Drawn { turn, base: end, text: went_on.clone(), sure: end, streaming };
        match self.find(message) {
            Some(drawn) => *drawn = now,
            None => self.messages.push((message, now)),
        }
        streaming.then_some(Piece { message, offset: end, text: went_on })
    }

    /// All turns are over: what the journal never told is taken back.
    fn end_all(&mut self, take_back: &mut Vec<(TurnId, Piece)>) {
        for (message, drawn) in self.messages.drain(..) {
            if drawn.end() > drawn.sure {
                take_back.push((drawn.turn, Piece { message, offset: drawn.sure, text: String::new() }));
            }
        }
    }
}

/// How many bytes two texts have in common, in whole characters.
fn common_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.floor_char_boundary(same)
}
