//! A turn of an agent's store as records of a journal.

use rejoin_agents::{StoredOutcome, StoredStep, StoredTurn};
use rejoin_core::compose::message_of;
use rejoin_core::{
    AgentSession, CallNote, CallStatus, Content, ConversationId, Decision, FailureClass, Kind, Message,
    MessageId, Native, Outcome, Part, Receipt, Record, SessionId, System, TurnId, Usage,
};
use rejoin_journal::{LONGEST_LINE, fit_line};

use super::ids::Ids;

/// A text of this length fits into a line of a journal however it is escaped: at worst six bytes for one.
const LONGEST_TEXT: usize = LONGEST_LINE / 6 - (64 << 10);
/// Parts of a message come together in a line up to this size.
const LINE: usize = 1 << 20;
/// No name is longer: of a model, of a message.
const LONGEST_NAME: usize = 256;

/// What all records of a session have in common.
pub(super) struct RecordMaker<'a> {
    pub(super) conversation: ConversationId,
    pub(super) session: &'a SessionId,
    /// Where the conversation lives.
    pub(super) dir: &'a str,
    /// The time, in milliseconds since 1970: nothing was written later.
    pub(super) now: i64,
}

/// A message of a turn, in the making.
pub(super) struct MessageDraft {
    pub(super) id: MessageId,
    kind: Kind,
    parts: Vec<Part>,
    /// The agent's own id of it.
    native: Option<String>,
    model: Option<String>,
    /// Tokens of the turn up to there.
    tokens: Option<Usage>,
    notes: Vec<CallNote>,
    time: Option<i64>,
}

/// What came of a prompt, in order.
pub(super) enum DraftStep {
    Message(MessageDraft),
    Compaction { id: MessageId, summary: String },
}

/// What came of the prompt of a turn; calls without a result, if it is over, are noted as cut.
pub(super) fn steps(turn: &StoredTurn, id: TurnId, ids: &mut Ids<'_>) -> Vec<DraftStep> {
    let mut drafts: Vec<DraftStep> = Vec::new();
    // The answer that calls of tools belong to.
    let mut answer: Option<usize> = None;
    let mut used: Option<Usage> = None;
    let mut time = turn.started_ms;
    // Calls that have not come back: their notes, and the message they stand in.
    let mut open: Vec<(CallNote, usize)> = Vec::new();
    for step in &turn.steps {
        match step {
            StoredStep::Answer(said) => {
                time = said.time_ms.or(time);
                if let Some(usage) = said.usage {
                    let mut sum = used.unwrap_or_default();
                    sum += usage;
                    used = Some(sum);
                }
                let thought = (!said.thought.is_empty()).then(|| Part::thought(said.thought.as_str()));
                let text = (!said.text.is_empty()).then(|| Part::text(said.text.as_str()));
                answer = Some(drafts.len());
                drafts.push(DraftStep::Message(MessageDraft {
                    id: ids.message(id, &said.id),
                    kind: Kind::Assistant,
                    parts: thought.into_iter().chain(text).collect(),
                    native: Some(said.id.clone()).filter(|id| !id.is_empty()),
                    model: said.model.clone(),
                    tokens: used.filter(|_| said.usage.is_some()),
                    notes: Vec::new(),
                    time,
                }));
            }
            StoredStep::Call { id: call, name, input } => {
                let at = *answer.get_or_insert_with(|| {
                    let id = ids.message(id, &format!("call {call}"));
                    drafts.push(DraftStep::Message(MessageDraft::new(id, Kind::Assistant, time)));
                    drafts.len() - 1
                });
                if let Some(DraftStep::Message(message)) = drafts.get_mut(at) {
                    message.parts.push(Part::call(call, name, input.clone()));
                }
                let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
                open.push((CallNote::begun(call, name, input, String::new()), at));
            }
            StoredStep::Result { call, output, failed } => {
                answer = None;
                let begun = open.iter().position(|(note, _)| note.id == *call);
                let note = begun.map(|at| open.remove(at).0);
                let name = note.as_ref().map_or("", |note| &note.name);
                let mut message =
                    MessageDraft::new(ids.message(id, &format!("result {call}")), Kind::ToolResult, time);
                message.parts = vec![Part::response(call, name, output, *failed)];
                let status = if *failed { CallStatus::Error } else { CallStatus::Success };
                message.notes =
                    note.map(|note| CallNote { status: Some(status), ..note }).into_iter().collect();
                drafts.push(DraftStep::Message(message));
            }
            StoredStep::Compaction { summary } => {
                answer = None;
                let id = ids.message(id, "compaction");
                drafts.push(DraftStep::Compaction { id, summary: summary.clone() });
            }
        }
    }
    if turn.outcome != StoredOutcome::Open {
        for (note, at) in open {
            if let Some(DraftStep::Message(message)) = drafts.get_mut(at) {
                message.notes.push(CallNote { status: Some(CallStatus::Cancelled), ..note });
            }
        }
    }
    drafts
}

impl MessageDraft {
    fn new(id: MessageId, kind: Kind, time: Option<i64>) -> Self {
        let (parts, notes) = (Vec::new(), Vec::new());
        Self { id, kind, parts, native: None, model: None, tokens: None, notes, time }
    }

    /// What of it is not yet in the message as it was adopted before. What an agent wrote stays as it is; it can
    /// only have written on.
    pub(super) fn rest(self, before: &Message) -> Option<Self> {
        let said = before.text();
        let thought = before.parts.iter().any(|part| matches!(part, Part::Text { thought: true, .. }));
        let called = |id: &str| {
            before.parts.iter().any(|part| match part {
                Part::Call { function_call } => function_call.id == id,
                Part::Response { function_response } => function_response.id == id,
                _ => false,
            })
        };
        let is_known = |note: &CallNote| before.tool_calls.iter().any(|known| known.id == note.id);
        let parts = self.parts.into_iter().filter_map(|part| match part {
            Part::Text { thought: true, .. } if thought => None,
            // Only the first time there is room for it: a text that was rewritten is not told twice.
            Part::Text { text, thought: false } if !said.is_empty() => {
                text.strip_prefix(said.as_str()).filter(|rest| !rest.is_empty()).map(Part::text)
            }
            Part::Call { function_call } if called(&function_call.id) => None,
            Part::Response { function_response } if called(&function_response.id) => None,
            part => Some(part),
        });
        let parts: Vec<Part> = parts.collect();
        let notes: Vec<CallNote> = self.notes.into_iter().filter(|note| !is_known(note)).collect();
        let tokens = self.tokens.filter(|_| before.tokens.is_none());
        let more = !parts.is_empty() || !notes.is_empty() || tokens.is_some();
        more.then_some(Self { parts, notes, tokens, native: None, model: None, ..self })
    }
}

impl RecordMaker<'_> {
    /// The prompt of a turn, and whose it is.
    pub(super) fn begin(&self, turn: &StoredTurn, id: TurnId, parent: Option<MessageId>) -> Vec<Record> {
        let mut user = self.record(Kind::User, id, parent, turn, turn.started_ms);
        let named = |name: &String| Part::text(format!("\n[attachment {}: not kept here]", name.trim()));
        // A copy of a compacted session begins with its summary: nobody typed anything.
        let typed = match message_of(&turn.prompt).trim() {
            "" if turn.attached.is_empty() => "(goes on from a summary)",
            typed => typed,
        };
        let typed = Part::text(typed);
        user.message =
            Some(Content::user([typed].into_iter().chain(turn.attached.iter().map(named)).collect()));
        user.native = Some(self.native(Some(&turn.id)));
        fit_line(&mut user);
        let session = AgentSession {
            agent: self.session.agent().clone(),
            session: self.session.as_str().to_owned(),
            model: model(turn),
            agent_version: None,
        };
        vec![user, self.system(Some((turn, id)), "session", turn.started_ms, &System::Session(session))]
    }

    /// A message of a turn, which hangs on the one before it; `said` bytes of its text are there already.
    pub(super) fn message(
        &self,
        turn: &StoredTurn,
        draft: MessageDraft,
        parent: MessageId,
        said: usize,
    ) -> Vec<Record> {
        let MessageDraft { id, kind, parts, native, model, tokens, notes, time } = draft;
        let (mut records, mut written) = (Vec::new(), said);
        let new = || self.record(kind, id, Some(parent), turn, time);
        let (mut record, mut size) = (new(), 0);
        record.model = model.map(short);
        record.native = native.as_ref().map(|id| self.native(Some(id)));
        let content = |part| match kind {
            Kind::ToolResult => Content::user(vec![part]),
            _ => Content::model(vec![part]),
        };
        for part in parts.into_iter().flat_map(in_lines) {
            let weight = match &part {
                Part::Text { text, .. } => text.len(),
                Part::Call { function_call: call } => {
                    call.id.len() + call.name.len() + call.args.to_string().len()
                }
                Part::Response { function_response } => function_response.response.output.len(),
                Part::Attachment { .. } | Part::Other(_) => 0,
            };
            if size > 0 && size + weight > LINE {
                records.push(std::mem::replace(&mut record, new()));
                size = 0;
            }
            if let Part::Text { text, thought: false } = &part {
                if !has_text(&record) {
                    record.offset = (written > 0).then_some(written);
                }
                written += text.len();
            }
            size += weight.max(1);
            match &mut record.message {
                Some(content) => content.parts.push(part),
                none => *none = Some(content(part)),
            }
        }
        record.tokens = tokens;
        record.tool_calls_metadata =
            notes.iter().filter_map(|note| serde_json::to_value(note).ok()).collect();
        records.push(record);
        for record in &mut records {
            fit_line(record);
        }
        records
    }

    /// The agent shortened its memory.
    pub(super) fn compaction(
        &self,
        turn: &StoredTurn,
        id: TurnId,
        record: MessageId,
        summary: String,
    ) -> Record {
        let compaction = System::Compaction { agent: self.session.agent().clone(), text: summary };
        let mut record =
            Record { uuid: record, ..self.system(Some((turn, id)), "", turn.ended_ms, &compaction) };
        fit_line(&mut record);
        record
    }

    /// How a turn ended; nothing, as long as that may be open. What can only have been cut is told as such.
    pub(super) fn end(&self, turn: &StoredTurn, id: TurnId, may_run: bool) -> Option<Record> {
        let outcome = match &turn.outcome {
            StoredOutcome::Completed => Outcome::Completed,
            StoredOutcome::Failed(words) => Outcome::failed(FailureClass::Other, words.as_str()),
            StoredOutcome::Open if may_run => return None,
            StoredOutcome::Interrupted | StoredOutcome::Open => Outcome::Cancelled,
        };
        let plan = Decision::Adopted { session: self.session.as_str().to_owned() };
        let mut receipt = Receipt::new(id, self.session.agent().clone(), plan, outcome);
        receipt.conversation = Some(self.conversation);
        receipt.session = Some(self.session.as_str().to_owned());
        receipt.model = model(turn);
        receipt.usage = turn.usage().filter(|usage| !usage.is_zero());
        let took = turn.started_ms.zip(turn.ended_ms).map(|(from, to)| to.saturating_sub(from));
        receipt.milliseconds = took.and_then(|took| u64::try_from(took).ok()).unwrap_or_default();
        let mut record = self.system(
            Some((turn, id)),
            &format!("receipt {}", turn.steps.len()),
            turn.ended_ms.or(turn.started_ms),
            &System::Receipt(Box::new(receipt)),
        );
        fit_line(&mut record);
        Some(record)
    }

    /// A record of rejoin's own. Its id is one of its kind in a turn; in none, any.
    pub(super) fn system(
        &self,
        turn: Option<(&StoredTurn, TurnId)>,
        what: &str,
        time: Option<i64>,
        system: &System,
    ) -> Record {
        let none = StoredTurn::default();
        let uuid = match turn {
            Some((_, id)) => MessageId::new(crate::derived_id::derived_id("note", &[&id.to_string(), what])),
            None => MessageId::new(uuid::Uuid::new_v4()),
        };
        let (stored, parent) = turn.map_or((&none, None), |(turn, id)| (turn, Some(id)));
        let mut record = self.record(Kind::System, uuid, parent, stored, time);
        (record.subtype, record.system_payload) = system.write();
        record
    }

    fn record(
        &self,
        kind: Kind,
        uuid: MessageId,
        parent: Option<MessageId>,
        turn: &StoredTurn,
        time: Option<i64>,
    ) -> Record {
        Record {
            uuid,
            parent_uuid: parent,
            session_id: self.conversation,
            timestamp: self.timestamp(time.or(turn.started_ms)),
            kind,
            cwd: turn.dir.clone().unwrap_or_else(|| self.dir.to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_branch: turn.branch.clone(),
            subtype: None,
            message: None,
            replaces: None,
            offset: None,
            tokens: None,
            cost: None,
            model: None,
            tool_calls_metadata: Vec::new(),
            native: None,
            request: None,
            system_payload: None,
        }
    }

    fn native(&self, message: Option<&str>) -> Native {
        Native {
            agent: Some(self.session.agent().clone()),
            session: Some(self.session.as_str().to_owned()),
            message_id: message.filter(|id| !id.is_empty()).map(|id| short(id.to_owned())),
        }
    }

    /// A time as records have it. One that nobody can have meant is now.
    pub(super) fn timestamp(&self, time: Option<i64>) -> String {
        let time = time.filter(|time| (0..=self.now).contains(time)).unwrap_or(self.now);
        let time = jiff::Timestamp::from_millisecond(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }
}

/// The model that answered last.
fn model(turn: &StoredTurn) -> Option<String> {
    let named = turn.steps.iter().rev().find_map(|step| match step {
        StoredStep::Answer(answer) => answer.model.clone(),
        _ => None,
    });
    named.map(short)
}

fn short(mut name: String) -> String {
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    name
}

fn has_text(record: &Record) -> bool {
    let parts = record.message.iter().flat_map(|content| &content.parts);
    parts.into_iter().any(|part| matches!(part, Part::Text { thought: false, .. }))
}

/// A part in pieces that fit into a line each.
fn in_lines(part: Part) -> Vec<Part> {
    let Part::Text { text, thought } = part else { return vec![part] };
    let (mut pieces, mut left) = (Vec::new(), text.as_str());
    while left.len() > LONGEST_TEXT {
        let (piece, rest) = left.split_at(left.floor_char_boundary(LONGEST_TEXT));
        pieces.push(Part::Text { text: piece.to_owned(), thought });
        left = rest;
    }
    pieces.push(Part::Text { text: left.to_owned(), thought });
    pieces
}
