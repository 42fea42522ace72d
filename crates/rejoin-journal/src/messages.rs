use std::borrow::Cow;
use std::collections::HashMap;

use rejoin_core::{
    AskedQuestion, CallNote, Content, ConversationId, Kind, Message, MessageId, Part, Questions, System, Turn,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::clip::{clip_part, mark};
use crate::{JournalError, LONGEST_LINE, Problem, Problems, RawRecord, Store};

/// What was said and done in one turn.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Merged {
    /// The messages, in the order they began.
    pub messages: Vec<Message>,
    /// Bytes left out to stay within the limit; each place carries a mark.
    pub left_out: u64,
    /// Records of the turn that could not be used; each place carries a mark.
    pub problems: Problems,
}

/// Reads the messages of a turn: records of one id merged, amendments applied, every text longer
/// than `limit` bytes shortened in its middle.
pub fn messages(
    store: &dyn Store,
    id: ConversationId,
    turn: &Turn,
    limit: usize,
) -> Result<Merged, JournalError> {
    let mut merging = Merging { limit, merged: Merged::default(), index: HashMap::new(), sizes: Vec::new() };
    store.fetch(id, &turn.records, &mut |place, raw| {
        if let Err(problem) = raw.and_then(|raw| merging.take(raw)) {
            merging.merged.problems.note(Some(place), None, problem);
        }
    })?;
    Ok(merging.finish())
}

/// Reads what an agent asked in a turn and what became of it, `still_runs` telling whether anybody may still
/// answer.
pub fn questions(
    store: &dyn Store,
    id: ConversationId,
    turn: &Turn,
    still_runs: bool,
) -> Result<Vec<AskedQuestion>, JournalError> {
    let mut questions = Questions::default();
    store.fetch(id, &turn.questions, &mut |_, raw| {
        let envelope = raw.and_then(|raw| raw.envelope());
        if let Some(system) = envelope.ok().and_then(|envelope| envelope.system()) {
            questions.apply(system);
        }
    })?;
    Ok(questions.finish(still_runs))
}

/// The fields of a record that make up a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spoken<'a> {
    uuid: MessageId,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(borrow, default)]
    timestamp: Cow<'a, str>,
    #[serde(default)]
    model: Option<String>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    replaces: Option<usize>,
    #[serde(borrow, default)]
    tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls_metadata: Option<&'a RawValue>,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(borrow, default)]
    system_payload: Option<&'a RawValue>,
}

struct Merging {
    limit: usize,
    merged: Merged,
    index: HashMap<MessageId, usize>,
    /// One for each message.
    sizes: Vec<Size>,
}

/// How much text there is of a message.
#[derive(Default)]
struct Size {
    /// Bytes that are held.
    held: usize,
    /// Bytes that were not even merged.
    dropped: u64,
}

impl Merging {
    fn take(&mut self, raw: RawRecord<'_>) -> Result<(), Problem> {
        let spoken: Spoken<'_> = match serde_json::from_str(raw.json) {
            Ok(spoken) => spoken,
            Err(error) => {
                let problem = Problem::not_a_record(&error);
                let envelope = raw.envelope()?;
                self.mark_unreadable(envelope.uuid, envelope.kind, &problem);
                return Err(problem);
            }
        };
        if spoken.kind == Kind::System {
            return self.amend(&spoken);
        }
        let at = self.message(spoken.uuid, spoken.kind);
        let message = &mut self.merged.messages[at];
        if !spoken.timestamp.is_empty() {
            message.timestamp = spoken.timestamp.into_owned();
        }
        if message.model.is_none() {
            message.model = spoken.model;
        }
        let tokens = spoken.tokens.and_then(|tokens| serde_json::from_str(tokens.get()).ok());
        message.tokens = tokens.or(message.tokens);
        if let Some(notes) = spoken.tool_calls_metadata {
            message.tool_calls.extend(CallNote::read_all(notes.get()));
        }
        let Some(body) = spoken.message else {
            return Ok(());
        };
        match serde_json::from_str::<Content>(body.get()) {
            Ok(content) => self.merge(at, content.parts, spoken.replaces),
            Err(error) => {
                let problem = Problem::not_a_record(&error);
                self.mark_unreadable(spoken.uuid, spoken.kind, &problem);
                return Err(problem);
            }
        }
        Ok(())
    }

    fn amend(&mut self, spoken: &Spoken<'_>) -> Result<(), Problem> {
        let body = spoken.subtype.as_deref().zip(spoken.system_payload);
        let system = body.and_then(|(subtype, payload)| System::read(subtype, payload.get()));
        let Some(System::Amendment { target, parts }) = system else {
            return Err(Problem::NotARecord { why: "an amendment this version cannot read".into() });
        };
        let Some(&at) = self.index.get(&target) else {
            return Err(Problem::NotARecord { why: format!("it amends {target}, which is not there") });
        };
        self.merged.messages[at].parts.clear();
        self.sizes[at] = Size::default();
        self.merge(at, parts, None);
        Ok(())
    }

    fn message(&mut self, id: MessageId, kind: Kind) -> usize {
        let (list, sizes) = (&mut self.merged.messages, &mut self.sizes);
        *self.index.entry(id).or_insert_with(|| {
            list.push(Message::new(id, kind));
            sizes.push(Size::default());
            list.len() - 1
        })
    }

    /// What tools were given and gave back arrives whole and is shortened at once. Texts come in
    /// pieces and can be replaced from a byte on, so they stay whole until the end.
    fn merge(&mut self, at: usize, mut parts: Vec<Part>, replaces: Option<usize>) {
        for part in parts.iter_mut().filter(|part| !matches!(part, Part::Text { .. })) {
            self.merged.left_out += clip_part(part, self.limit);
        }
        let (message, size) = (&mut self.merged.messages[at], &mut self.sizes[at]);
        let new: usize = parts.iter().map(text_length).sum();
        if size.held > LONGEST_LINE && replaces.is_none() {
            size.dropped += new as u64;
            parts.retain(|part| !matches!(part, Part::Text { .. }));
        } else {
            size.held += new;
        }
        message.merge(parts, replaces);
        if replaces.is_some() {
            size.held = message.parts.iter().map(text_length).sum();
        }
    }

    /// The reader of the turn must see that something is missing.
    fn mark_unreadable(&mut self, id: MessageId, kind: Kind, problem: &Problem) {
        let at = self.message(id, kind);
        let text = format!("\n[a part of this message could not be read by rejoin: {problem}]\n");
        self.merged.messages[at].merge(vec![Part::text(text)], None);
    }

    fn finish(mut self) -> Merged {
        for message in &mut self.merged.messages {
            for part in &mut message.parts {
                if let Part::Text { .. } = part {
                    self.merged.left_out += clip_part(part, self.limit);
                }
            }
        }
        for (message, Size { dropped, .. }) in self.merged.messages.iter_mut().zip(self.sizes) {
            if dropped > 0 {
                self.merged.left_out += dropped;
                message.merge(vec![Part::text(mark(dropped))], None);
            }
        }
        self.merged
    }
}

fn text_length(part: &Part) -> usize {
    match part {
        Part::Text { text, .. } => text.len(),
        _ => 0,
    }
}
