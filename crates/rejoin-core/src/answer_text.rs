use crate::MessageId;

/// The text of the newest message of the agent, bounded: the answer of a turn, as it grows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AnswerText {
    message: Option<MessageId>,
    text: String,
}

/// An answer is kept up to this size; the journal has all of it.
const MOST: usize = 8 << 20;

impl AnswerText {
    /// Takes in a piece or a block of text; a new message begins a new answer.
    pub fn put(&mut self, message: MessageId, offset: usize, text: &str) {
        if self.message != Some(message) {
            self.message = Some(message);
            self.text.clear();
        }
        if offset < self.text.len() {
            self.text.truncate(self.text.floor_char_boundary(offset));
        }
        let room = MOST.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// The answer so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The answer.
    pub fn into_string(self) -> String {
        self.text
    }
}
