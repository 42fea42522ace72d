//! Records become events again: whoever reads a journal is told what the one who ran the turn was told.
//!
//! What is told has its record; `init`, `resume_rejected` and `result` are told by the intent and the
//! receipt. Pieces of text come gathered, each with its message and offset, so a reader who was shown some
//! of them already knows which bytes are new to it. Only lines of the agent that are no events are not all
//! kept: none of its standard error, and of its output so many for a turn.

use std::collections::HashMap;

use crate::{
    AgentSession, AnswerText, Attachment, Decision, Event, Intent, Kind, MessageId, Part, Reason, Record,
    SCHEMA_VERSION, System, Told, TurnId,
};

/// Something that was told about a turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Retold {
    /// The turn.
    pub turn: TurnId,
    /// What.
    pub event: Event,
}

/// All that one record tells.
#[derive(Clone, PartialEq, Debug)]
pub struct ToldRecord {
    /// The turn it is about, if it is about one.
    pub turn: Option<TurnId>,
    /// May be nothing.
    pub told: Vec<Told>,
}

/// Tells the events of records, which it is given in the order of the journal, each turn from its first
/// record on. Those of several turns may stand between each other.
#[derive(Clone, Debug, Default)]
pub struct Reteller {
    /// Each message that was seen, of turns that have not ended.
    messages: HashMap<MessageId, SeenMessage>,
    /// What is known of turns that have not ended.
    open: HashMap<TurnId, OpenTurn>,
}

#[derive(Clone, Copy, Debug)]
struct SeenMessage {
    turn: TurnId,
    /// Bytes of text it has so far.
    text: usize,
}

#[derive(Clone, Debug, Default)]
struct OpenTurn {
    attachments: Vec<Attachment>,
    answer: AnswerText,
    /// Its messages, which are forgotten with it.
    messages: Vec<MessageId>,
}

impl Reteller {
    /// Takes in the next record and says all that it tells.
    pub fn tell(&mut self, record: Record) -> ToldRecord {
        let beside = Told::beside_events(&record);
        let begun = (record.kind == Kind::User).then_some(record.uuid);
        let events = self.apply(record);
        let turn = begun.or_else(|| events.first().map(|retold| retold.turn));
        let events = events.into_iter().map(|retold| Told::Event(retold.event));
        ToldRecord { turn, told: beside.into_iter().chain(events).collect() }
    }

    /// Takes in the next record and says which events it tells.
    pub fn apply(&mut self, record: Record) -> Vec<Retold> {
        let turn = match record.kind {
            Kind::User => Some(self.begin(&record)),
            Kind::System => record.parent_uuid,
            Kind::Assistant | Kind::ToolResult | Kind::Unknown => self.turn_of(&record),
        };
        let Some(turn) = turn else { return Vec::new() };
        let events = match record.kind {
            Kind::User | Kind::Unknown => Vec::new(),
            Kind::Assistant | Kind::ToolResult => self.said(turn, record),
            Kind::System => self.system(turn, &record),
        };
        events.into_iter().map(|event| Retold { turn, event }).collect()
    }

    fn begin(&mut self, record: &Record) -> TurnId {
        let parts = record.message.iter().flat_map(|content| &content.parts);
        let attachments = parts.filter_map(|part| match part {
            Part::Attachment { attachment } => Some(attachment.clone()),
            _ => None,
        });
        let open = OpenTurn { attachments: attachments.collect(), ..OpenTurn::default() };
        // A second line of a prompt's id is a copy of it.
        self.open.entry(record.uuid).or_insert(open).messages.push(record.uuid);
        self.messages.insert(record.uuid, SeenMessage { turn: record.uuid, text: 0 });
        record.uuid
    }

    fn turn_of(&mut self, record: &Record) -> Option<TurnId> {
        if let Some(known) = self.messages.get(&record.uuid) {
            return Some(known.turn);
        }
        let turn = self.messages.get(&record.parent_uuid?)?.turn;
        self.messages.insert(record.uuid, SeenMessage { turn, text: 0 });
        self.open.entry(turn).or_default().messages.push(record.uuid);
        Some(turn)
    }

    fn said(&mut self, turn: TurnId, record: Record) -> Vec<Event> {
        let message = record.uuid;
        let mut events = Vec::new();
        // Inside of subagents: kept as they were told.
        for noted in record.tool_calls_metadata {
            let inside = noted.get("type").is_some() && noted.get("parent").is_some();
            if let Some(event) = inside.then(|| serde_json::from_value(noted).ok()).flatten() {
                events.push(event);
            }
        }
        let named = record.native.is_some();
        let mut offset = record.replaces.or(record.offset).unwrap_or_default();
        let mut end = self.messages.get(&message).map_or(0, |seen| seen.text);
        let (mut model, mut native) = (record.model, record.native.and_then(|native| native.message_id));
        let parts = record.message.map(|content| content.parts).unwrap_or_default();
        let nothing_said = parts.is_empty();
        for part in parts {
            events.push(match part {
                Part::Text { text, thought: true } => Event::Thinking { message, text },
                Part::Text { text, thought: false } => {
                    let at = offset;
                    offset += text.len();
                    end = offset;
                    self.open.entry(turn).or_default().answer.put(message, at, &text);
                    if named || record.replaces.is_some() {
                        let (model, native) = (model.take(), native.take());
                        Event::Message { message, offset: at, text, model, native }
                    } else {
                        Event::TextDelta { message, offset: at, text }
                    }
                }
                Part::Call { function_call: call } => {
                    Event::ToolUse { message, id: call.id, name: call.name, input: call.args, parent: None }
                }
                Part::Response { function_response } => Event::ToolResult {
                    message,
                    id: function_response.id,
                    output: function_response.response.output,
                    error: function_response.response.error,
                    parent: None,
                },
                Part::Attachment { .. } | Part::Other(_) => continue,
            });
        }
        if named && nothing_said {
            // Its text was told in pieces, all of it: nothing is new, and nothing is taken back.
            events.push(Event::Message { message, offset: end, text: String::new(), model, native });
        }
        if let Some(seen) = self.messages.get_mut(&message) {
            seen.text = end;
        }
        if let Some(usage) = record.tokens {
            events.push(Event::Usage { usage, cost: record.cost });
        }
        events
    }

    fn system(&mut self, turn: TurnId, record: &Record) -> Vec<Event> {
        let event = match System::of(record) {
            Some(System::Intent(intent)) => return self.intent(turn, *intent, record),
            Some(System::Session(AgentSession { agent, session, model, agent_version })) => {
                Event::Session { agent, session, model, agent_version }
            }
            Some(System::Receipt(receipt)) => {
                let open = self.open.remove(&turn).unwrap_or_default();
                for message in &open.messages {
                    self.messages.remove(message);
                }
                Event::Result { text: open.answer.into_string(), receipt }
            }
            Some(System::Compaction { text, .. }) => Event::Compaction { text },
            Some(System::Diagnostic { stream, text, .. }) => Event::Diagnostic { stream, text },
            Some(System::Warning { code, text }) => Event::Warning { code, text },
            Some(System::Question(question)) => Event::Question(*question),
            Some(System::QuestionAnswered(answer)) => Event::QuestionAnswered(answer),
            Some(System::QuestionWithdrawn { question }) => Event::QuestionWithdrawn { question },
            _ => return Vec::new(),
        };
        vec![event]
    }

    fn intent(&self, turn: TurnId, intent: Intent, record: &Record) -> Vec<Event> {
        if intent.run > 1 {
            return match intent.plan {
                Decision::Fresh { why: Reason::SessionRejected { session, why }, .. } => {
                    vec![Event::ResumeRejected { agent: intent.agent, session, text: why }]
                }
                _ => Vec::new(),
            };
        }
        let attachments = self.open.get(&turn).map(|open| open.attachments.clone());
        vec![Event::Init {
            schema: SCHEMA_VERSION,
            version: record.version.clone(),
            conversation: Some(record.session_id),
            turn,
            number: intent.number,
            agent: intent.agent,
            plan: intent.plan,
            cwd: record.cwd.clone(),
            bytes: intent.bytes,
            attachments: attachments.unwrap_or_default(),
        }]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A record with these fields besides those that all have.
    fn record(mut fields: serde_json::Value) -> Record {
        let id = |number: u128| uuid::Uuid::from_u128(number);
        let all = json!({
            "uuid": id(3), "parentUuid": id(2), "sessionId": id(1), "timestamp": "", "type": "assistant",
            "cwd": "/p", "version": "0",
        });
        for (name, value) in all.as_object().unwrap() {
            fields.as_object_mut().unwrap().entry(name).or_insert_with(|| value.clone());
        }
        serde_json::from_value(fields).unwrap()
    }

    fn prompt() -> Record {
        let message = json!({ "role": "user", "parts": [{ "text": "go" }] });
        record(
            json!({ "type": "user", "uuid": uuid::Uuid::from_u128(2), "parentUuid": null, "message": message }),
        )
    }

    #[test]
    fn a_message_that_was_streamed_whole_and_gets_its_name_is_not_taken_back() {
        let mut reteller = Reteller::default();
        reteller.apply(prompt());
        reteller.apply(record(json!({ "message": { "role": "model", "parts": [{ "text": "one" }] } })));
        let told = reteller.apply(record(json!({ "native": { "messageId": "m1" } })));
        let [Retold { event: Event::Message { offset: 3, text, native: Some(native), .. }, .. }] = &told[..]
        else {
            panic!("{told:?}")
        };
        assert_eq!((text.as_str(), native.as_str()), ("", "m1"));
    }

    #[test]
    fn prompts_and_changes_are_told_beside_the_events() {
        let mut reteller = Reteller::default();
        let told = reteller.tell(prompt());
        assert!(matches!(&told.told[..], [Told::Prompt(prompt)] if prompt.text == "go"), "{told:?}");
        assert_eq!(told.turn, Some(prompt().uuid));
        let bodies = [
            ("title", json!({ "name": "talk" })),
            ("tags", json!({ "add": ["x"] })),
            ("head", json!({ "to": null })),
            ("amendment", json!({ "target": uuid::Uuid::nil(), "parts": [] })),
            ("permissions", json!({ "ceiling": "read" })),
            ("moved", json!({ "project": "/q", "dir": "/q" })),
            ("forked", json!({ "conversation": uuid::Uuid::nil(), "turn": uuid::Uuid::nil() })),
        ];
        for (subtype, body) in bodies {
            let fields =
                json!({ "type": "system", "subtype": subtype, "systemPayload": body, "parentUuid": null });
            let told = reteller.tell(record(fields));
            let [Told::Changed(change)] = &told.told[..] else { panic!("{subtype}: {told:?}") };
            assert_eq!(json!(change)["what"], subtype);
            assert_eq!(told.turn, None);
        }
        let fields = json!({ "type": "system", "subtype": "asked", "systemPayload": { "what": "new" } });
        assert_eq!(reteller.tell(record(fields)).told, []);
    }
}
