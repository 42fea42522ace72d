//! Writes down what happens: events become records, pieces of text are gathered.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::time::{Duration, Instant};

use rejoin_core::{
    Agent, AgentSession, CallNote, CallStatus, Content, ConversationId, Event, Kind, MessageId, Native, Part,
    Record, Stream, System, TurnId,
};
use rejoin_journal::{Append, JournalError, LONGEST_LINE, fit_line};
use serde_json::to_value;

use crate::during::weight::{of_value, weight};

/// Pieces of text are written when this much has come together …
const PIECE: usize = 4096;
/// … or this much time has passed.
pub(crate) const DELAY: Duration = Duration::from_millis(250);
/// Records are handed to the disk in batches of about this size.
const BATCH: usize = 256 * 1024;
/// How many messages may be written to in turns; agents write to one or two.
const MESSAGES_OPEN: usize = 16;
/// A text of this length fits into a line of a journal however it is escaped: at worst six bytes for one.
const LONGEST_TEXT: usize = LONGEST_LINE / 6 - (64 << 10);
/// How many lines that are not events are kept per turn; all are counted.
const DIAGNOSTICS_KEPT: usize = 50;

/// The envelope every record of a turn shares.
#[derive(Clone, Debug)]
pub(crate) struct RecordHeader {
    pub(crate) conversation: ConversationId,
    pub(crate) cwd: String,
    pub(crate) git_branch: Option<String>,
}

impl RecordHeader {
    /// A record with nothing in it yet.
    pub(crate) fn record(&self, kind: Kind, uuid: MessageId, parent: Option<MessageId>) -> Record {
        Record {
            uuid,
            parent_uuid: parent,
            session_id: self.conversation,
            timestamp: now(),
            kind,
            cwd: self.cwd.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_branch: self.git_branch.clone(),
            subtype: None,
            message: None,
            replaces: None,
            offset: None,
            cost: None,
            tokens: None,
            model: None,
            tool_calls_metadata: Vec::new(),
            native: None,
            request: None,
            system_payload: None,
        }
    }

    /// A record of rejoin's own, about a turn.
    pub(crate) fn system(&self, turn: Option<TurnId>, system: &System) -> Record {
        let mut record = self.record(Kind::System, new_id(), turn);
        (record.subtype, record.system_payload) = system.write();
        // What the user says is refused where it does not fit, never cut.
        let by_the_user = matches!(system, System::Amendment { .. });
        if !by_the_user && record.system_payload.as_ref().map_or(0, of_value) > LONGEST_TEXT {
            fit_line(&mut record);
        }
        record
    }
}

/// The time, for display. Of the thousands of records a busy agent makes, many fall into one millisecond.
pub(crate) fn now() -> String {
    thread_local! {
        static LAST: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
    }
    let now = jiff::Timestamp::now();
    LAST.with_borrow_mut(|(millisecond, text)| {
        if *millisecond != now.as_millisecond() {
            (*millisecond, *text) =
                (now.as_millisecond(), now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string());
        }
        text.clone()
    })
}

/// A new random id. Randomness is fetched for many at a time: a busy agent makes thousands.
pub(crate) fn new_id() -> MessageId {
    thread_local! {
        static POOL: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
    }
    let pooled = POOL.with_borrow_mut(|pool| {
        if pool.is_empty() {
            let mut bytes = [0; 16 * 64];
            if getrandom::fill(&mut bytes).is_ok() {
                pool.extend_from_slice(bytes.as_chunks().0);
            }
        }
        pool.pop()
    });
    let id =
        pooled.map_or_else(uuid::Uuid::new_v4, |bytes| uuid::Builder::from_random_bytes(bytes).into_uuid());
    MessageId::new(id)
}

/// What is known of a message whose records are being written: enough to link, to gather and to
/// notice that a finished block differs from what was streamed, without keeping the text.
struct Open {
    kind: Kind,
    parent: MessageId,
    /// Bytes of text so far, and those of them that have their records.
    written: usize,
    recorded: usize,
    /// The block being streamed: where it began, and a hash of it.
    block: Option<(usize, DefaultHasher)>,
    /// Its model and the agent's id of it are written.
    named: bool,
}

/// A tool call that has not come back.
struct OpenCall {
    /// The message it stands in.
    message: MessageId,
    note: CallNote,
    begun: Instant,
}

impl OpenCall {
    fn ended(self, status: CallStatus) -> CallNote {
        let milliseconds = self.begun.elapsed().as_millis() as u64;
        self.note.ended(status, milliseconds)
    }
}

/// Turns the events of one turn into records.
pub(crate) struct RecordWriter {
    head: RecordHeader,
    turn: TurnId,
    agent: Agent,
    session: Option<String>,
    run: u32,
    /// The end of the turn so far: the next message hangs on it.
    end: MessageId,
    /// The messages written last, newest at the end.
    open: VecDeque<(MessageId, Open)>,
    /// Tool calls that have not come back, in no order.
    calls: HashMap<String, OpenCall>,
    last_answer: Option<MessageId>,
    /// The piece being gathered.
    piece: Option<(MessageId, String)>,
    since: Instant,
    batch: Vec<Record>,
    batch_bytes: usize,
    diagnostics: usize,
    journal: Box<dyn Append>,
}

impl RecordWriter {
    pub(crate) fn new(journal: Box<dyn Append>, head: RecordHeader, turn: TurnId, agent: Agent) -> Self {
        Self {
            head,
            turn,
            agent,
            session: None,
            run: 1,
            end: turn,
            open: VecDeque::new(),
            calls: HashMap::new(),
            last_answer: None,
            piece: None,
            since: Instant::now(),
            batch: Vec::new(),
            batch_bytes: 0,
            diagnostics: 0,
            journal,
        }
    }

    /// Behind all that was written.
    pub(crate) fn place(&self) -> u64 {
        self.journal.position().unwrap_or_default()
    }

    /// What others appended to the same journal since the last call.
    pub(crate) fn written_by_others(&mut self) -> Vec<Range<u64>> {
        // Where it cannot be seen, nobody is heard; the next write tells what is wrong.
        self.journal.take_foreign().unwrap_or_default()
    }

    /// Writes records of rejoin's own, and waits for the disk.
    pub(crate) fn put_synced(&mut self, records: &[Record]) -> Result<(), JournalError> {
        // With its receipt a turn is over: what did not come back was cut short.
        if records.iter().any(|record| record.subtype.as_deref() == Some("receipt")) {
            self.cancel_calls();
        }
        self.flush()?;
        self.journal.append(records)?;
        self.journal.sync()
    }

    /// Writes down a pin as soon as a session is known; not worth waiting for the disk.
    pub(crate) fn put(&mut self, system: &System) -> Result<(), JournalError> {
        self.flush()?;
        self.journal.append(&[self.head.system(Some(self.turn), system)]).map(drop)
    }

    /// A second run of the same turn begins.
    pub(crate) fn next_run(&mut self) {
        self.run += 1;
        self.session = None;
    }

    /// Takes in one event. It is written later ([`Self::flush`], [`Self::flush_if_due`]).
    pub(crate) fn note(&mut self, event: &Event) {
        match event {
            Event::Session { agent, session, model, agent_version } => {
                self.session = Some(session.clone());
                self.system(&System::Session(AgentSession {
                    agent: agent.clone(),
                    session: session.clone(),
                    model: model.clone(),
                    agent_version: agent_version.clone(),
                }));
            }
            Event::TextDelta { message, text, .. } => self.piece_of_text(*message, text),
            Event::Message { message, offset, text, model, native } => {
                self.finished(*message, *offset, text, model.as_deref(), native.as_deref());
            }
            Event::Thinking { message, text } => {
                for piece in in_lines(text) {
                    self.assistant(*message, Part::thought(piece), piece.len());
                }
            }
            Event::ToolUse { message, id, name, input, parent: None } => {
                let note = CallNote::begun(id, name, input, now());
                let call = OpenCall { message: *message, note, begun: Instant::now() };
                self.calls.insert(id.clone(), call);
                self.assistant(*message, Part::call(id, name, input.clone()), weight(event));
            }
            Event::ToolResult { message, id, output, error, parent: None } => {
                let status = if *error { CallStatus::Error } else { CallStatus::Success };
                let note = self.calls.remove(id).map(|call| call.ended(status));
                let name = note.as_ref().map_or("", |note| &note.name);
                let part = Part::response(id, name, output.as_str(), *error);
                self.settle();
                let mut record = self.message(Kind::ToolResult, *message);
                record.message = Some(Content::user(vec![part]));
                record.tool_calls_metadata = note.iter().filter_map(|note| to_value(note).ok()).collect();
                self.put_in_batch(record, weight(event));
            }
            // What a subagent does is folded under the call it happened in: never on the path. If that call is
            // over, or was never seen, it stands with the newest answer.
            Event::ToolUse { parent: Some(call), message, .. }
            | Event::ToolResult { parent: Some(call), message, .. } => {
                let known = self.calls.get(call).map(|call| call.message).or(self.last_answer);
                self.settle();
                let mut record = self.message(Kind::Assistant, known.unwrap_or(*message));
                record.tool_calls_metadata = to_value(event).into_iter().collect();
                self.put_in_batch(record, weight(event));
            }
            Event::Usage { usage, cost } => {
                if let Some(message) = self.last_answer {
                    self.settle();
                    let record = self.last_of(message, |record| record.tokens.is_none());
                    (record.tokens, record.cost) = (Some(*usage), *cost);
                }
            }
            Event::Compaction { text } => {
                self.system(&System::Compaction { agent: self.agent.clone(), text: text.clone() });
            }
            Event::Diagnostic { stream: Stream::Stdout, text } if self.diagnostics < DIAGNOSTICS_KEPT => {
                self.diagnostics += 1;
                let stream = Stream::Stdout;
                self.system(&System::Diagnostic { run: self.run, stream, text: text.clone() });
            }
            Event::Warning { code, text } => {
                self.system(&System::Warning { code: code.clone(), text: text.clone() });
            }
            Event::Question(question) => self.system(&System::Question(Box::new(question.clone()))),
            Event::QuestionAnswered(answer) => self.system(&System::QuestionAnswered(answer.clone())),
            Event::QuestionWithdrawn { question } => {
                self.system(&System::QuestionWithdrawn { question: question.clone() });
            }
            _ => {}
        }
    }

    /// Hands everything gathered to the disk, if it is much or has waited long.
    pub(crate) fn flush_if_due(&mut self) -> Result<(), JournalError> {
        if self.batch_bytes >= BATCH || self.since.elapsed() >= DELAY { self.flush() } else { Ok(()) }
    }

    /// Hands everything gathered to the disk.
    pub(crate) fn flush(&mut self) -> Result<(), JournalError> {
        self.settle();
        self.since = Instant::now();
        if self.batch.is_empty() {
            return Ok(());
        }
        let written = self.journal.append(&self.batch);
        self.batch.clear();
        self.batch_bytes = 0;
        written.map(drop)
    }

    fn piece_of_text(&mut self, message: MessageId, text: &str) {
        if self.piece.as_ref().is_some_and(|(id, _)| *id != message) {
            self.settle();
        }
        let open = self.open(Kind::Assistant, message);
        let begin = open.written;
        let (_, hash) = open.block.get_or_insert_with(|| (begin, DefaultHasher::new()));
        hash.write(text.as_bytes());
        open.written += text.len();
        let (_, piece) = self.piece.get_or_insert_with(|| (message, String::new()));
        piece.push_str(text);
        if piece.len() >= PIECE {
            self.settle();
        }
    }

    /// A block is finished: write what was not streamed, or replace what was streamed differently.
    fn finished(
        &mut self,
        message: MessageId,
        offset: usize,
        text: &str,
        model: Option<&str>,
        id: Option<&str>,
    ) {
        let open = self.open(Kind::Assistant, message);
        let streamed = open.block.take();
        let same = streamed.is_some_and(|(start, hash)| start == offset && hash.finish() == hash_of(text));
        let replaces = (!same && open.written != offset).then_some(offset);
        let named = std::mem::replace(&mut open.named, true);
        open.written = offset + text.len();
        if same && named {
            return;
        }
        self.settle();
        let native = (!named).then(|| Native {
            agent: Some(self.agent.clone()),
            session: self.session.clone(),
            message_id: id.map(str::to_owned),
        });
        let model = model.filter(|_| !named).map(str::to_owned);
        if same {
            let record = self.last_of(message, |record| record.native.is_none() && record.model.is_none());
            (record.model, record.native) = (model, native);
            return;
        }
        if let Some(offset) = replaces {
            self.open(Kind::Assistant, message).recorded = offset;
        }
        let about = model.as_ref().map_or(0, String::len) + id.map_or(0, str::len);
        let mut heading = Some((replaces, model, native));
        for piece in in_lines(text) {
            let mut record = self.text(message, piece.to_owned());
            if let Some((replaces, model, native)) = heading.take() {
                if replaces.is_some() {
                    (record.replaces, record.offset) = (replaces, None);
                }
                (record.model, record.native) = (model, native);
            }
            self.put_in_batch(record, piece.len() + about);
        }
    }

    /// Writes one part of an assistant message.
    fn assistant(&mut self, message: MessageId, part: Part, bytes: usize) {
        self.settle();
        let mut record = self.message(Kind::Assistant, message);
        record.message = Some(Content::model(vec![part]));
        self.put_in_batch(record, bytes);
    }

    /// Moves the gathered piece into the batch.
    fn settle(&mut self) {
        let Some((message, text)) = self.piece.take() else { return };
        if text.len() <= LONGEST_TEXT {
            let bytes = text.len();
            let record = self.text(message, text);
            return self.put_in_batch(record, bytes);
        }
        for piece in in_lines(&text) {
            let record = self.text(message, piece.to_owned());
            self.put_in_batch(record, piece.len());
        }
    }

    /// The next piece of a message's text, with where it stands in it.
    fn text(&mut self, message: MessageId, piece: String) -> Record {
        let open = self.open(Kind::Assistant, message);
        let offset = open.recorded;
        open.recorded += piece.len();
        let mut record = self.message(Kind::Assistant, message);
        record.offset = (offset > 0).then_some(offset);
        record.message = Some(Content::model(vec![Part::text(piece)]));
        record
    }

    /// The last record, if it is one of this message that still has room for what is to be said; else a
    /// new one. A line is not written for what fits into the one before it.
    fn last_of(&mut self, message: MessageId, has_room: impl Fn(&Record) -> bool) -> &mut Record {
        let fits =
            |record: &Record| record.uuid == message && record.kind == Kind::Assistant && has_room(record);
        if !self.batch.last().is_some_and(fits) {
            let record = self.message(Kind::Assistant, message);
            self.put_in_batch(record, 0);
        }
        self.batch_bytes += 128;
        let last = self.batch.len() - 1;
        &mut self.batch[last]
    }

    /// Notes what became of the calls that have not come back.
    fn cancel_calls(&mut self) {
        self.settle();
        let mut calls: Vec<OpenCall> = self.calls.drain().map(|(_, call)| call).collect();
        calls.sort_by_key(|call| call.begun);
        for call in calls {
            let mut record = self.message(Kind::Assistant, call.message);
            record.tool_calls_metadata = to_value(call.ended(CallStatus::Cancelled)).into_iter().collect();
            self.put_in_batch(record, 256);
        }
    }

    fn system(&mut self, system: &System) {
        self.settle();
        let record = self.head.system(Some(self.turn), system);
        let bytes = record.system_payload.as_ref().map_or(0, of_value);
        self.put_in_batch(record, bytes);
    }

    fn open(&mut self, kind: Kind, message: MessageId) -> &mut Open {
        if kind == Kind::Assistant {
            self.last_answer = Some(message);
        }
        let known = self.open.iter().rposition(|(id, _)| *id == message);
        let at = known.unwrap_or_else(|| {
            let parent = std::mem::replace(&mut self.end, message);
            self.open.push_back((
                message,
                Open { kind, parent, written: 0, recorded: 0, block: None, named: false },
            ));
            if self.open.len() > MESSAGES_OPEN {
                self.open.pop_front();
            }
            self.open.len() - 1
        });
        &mut self.open[at].1
    }

    /// A record of a message; the first one of a message hangs it on the end of the turn.
    fn message(&mut self, kind: Kind, message: MessageId) -> Record {
        let Open { kind, parent, .. } = *self.open(kind, message);
        self.head.record(kind, message, Some(parent))
    }

    fn put_in_batch(&mut self, mut record: Record, bytes: usize) {
        if bytes > LONGEST_TEXT {
            fit_line(&mut record);
        }
        self.batch_bytes += bytes + 400;
        self.batch.push(record);
    }
}

/// A text in pieces that fit into a line each; an empty one is one piece.
fn in_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut left = Some(text);
    std::iter::from_fn(move || {
        let text = left?;
        let (piece, rest) = text.split_at(text.floor_char_boundary(LONGEST_TEXT));
        left = (!rest.is_empty()).then_some(rest);
        Some(piece)
    })
}

/// What a text comes to that was hashed in pieces, however it was cut.
fn hash_of(text: &str) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(text.as_bytes());
    hash.finish()
}

#[cfg(test)]
mod tests {
    use rejoin_core::{ConversationInfo, Message, Scope};
    use rejoin_journal::{MemoryStore, Store, Writer, load, messages};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hash_does_not_tell_how_a_text_was_cut() {
        let text = "in pieces of every length, and more than eight bytes long";
        for length in 1..text.len() {
            let mut hash = DefaultHasher::new();
            text.as_bytes().chunks(length).for_each(|piece| hash.write(piece));
            assert_eq!(hash.finish(), hash_of(text), "{length}");
        }
    }

    /// What stands in the journal after some events and the end of the turn.
    fn written(events: &[Event]) -> (Vec<Message>, rejoin_core::Turn) {
        let (store, id) = (MemoryStore::new(), ConversationId::new(uuid::Uuid::from_u128(1)));
        let dir = "/p".to_owned();
        let info =
            ConversationInfo { schema: 1, project: dir.clone(), dir: dir.clone(), scope: Scope::Shared };
        let head = RecordHeader { conversation: id, cwd: dir, git_branch: None };
        let turn = new_id();
        let mut prompt = head.record(Kind::User, turn, None);
        prompt.message = Some(Content::user(vec![Part::text("go")]));
        let journal = store.create(id, &info, &[prompt], Writer::Label).unwrap();
        let mut writer = RecordWriter::new(journal, head.clone(), turn, Agent::Claude);
        for event in events {
            writer.note(event);
        }
        let mut receipt = head.record(Kind::System, new_id(), Some(turn));
        receipt.subtype = Some("receipt".into());
        writer.put_synced(&[receipt]).unwrap();
        let turn = load(&store, id).unwrap().conversation.tree.turns()[0].clone();
        (messages(&store, id, &turn, usize::MAX).unwrap().messages, turn)
    }

    fn call(message: MessageId, id: &str, command: &str) -> Event {
        let input = json!({ "command": command });
        Event::ToolUse { message, id: id.into(), name: "shell".into(), input, parent: None }
    }

    #[test]
    fn what_became_of_each_tool_call_is_noted() {
        let (answer, result) = (new_id(), new_id());
        let came_back = Event::ToolResult {
            message: result,
            id: "1".into(),
            output: "x".into(),
            error: true,
            parent: None,
        };
        let (messages, turn) = written(&[call(answer, "1", "ls"), call(answer, "2", "sleep 30"), came_back]);
        let [_, _, Message { parts, .. }] = &messages[..] else { panic!("{messages:?}") };
        let Part::Response { function_response } = &parts[0] else { panic!("{parts:?}") };
        assert_eq!(function_response.name, "shell");
        let noted: Vec<_> = messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .map(|note| (note.line(), note.status, note.milliseconds.is_some() && !note.timestamp.is_empty()))
            .collect();
        assert_eq!(
            noted,
            [
                ("shell sleep 30".to_owned(), Some(CallStatus::Cancelled), true),
                ("shell ls".to_owned(), Some(CallStatus::Error), true),
            ]
        );
        assert_eq!((turn.calls.all, turn.calls.errors, turn.calls.cancelled), (2, 1, 1));
    }
}
