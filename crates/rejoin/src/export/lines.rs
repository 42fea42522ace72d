//! A journal, line by line, as it leaves.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use rejoin_core::{Kind, MessageId, Part, Turn, call_description};
use rejoin_journal::{Entry, messages};
use serde_json::{Map, Value, json};

use super::Redactor;
use crate::error::cannot;
use crate::{ConversationView, Error};

/// Longer texts are cut, visibly, when pieces of a message are put together: a line has its limit.
const LONGEST_TEXT: usize = 2 << 20;

impl ConversationView<'_> {
    /// The lines of the journal, each with its end, if it has one.
    pub(super) fn lines(
        &self,
        redactor: Option<&mut Redactor>,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Some(redactor) = redactor {
            return self.redacted_lines(redactor, each);
        }
        let mut journal = BufReader::with_capacity(256 << 10, self.raw()?);
        let mut line = Vec::new();
        while journal.read_until(b'\n', &mut line).map_err(cannot("read the journal"))? > 0 {
            each(&line)?;
            line.clear();
        }
        Ok(())
    }

    /// Every record without what should not leave, up to where this view ends, however far the journal
    /// goes by now. A secret may be cut in two where a message was written in pieces, so its first record
    /// gets all of its words; what is no record stays here.
    fn redacted_lines(
        &self,
        redactor: &mut Redactor,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let store = self.rejoin.engine.store();
        let mut pieces: HashMap<MessageId, Vec<u64>> = HashMap::new();
        store.read(self.id, 0, &mut |entry| {
            if let Ok(envelope) = entry.content
                && entry.place < self.end
                && !matches!(envelope.kind, Kind::System | Kind::Unknown)
            {
                pieces.entry(envelope.uuid).or_default().push(entry.place);
            }
        })?;
        let mut written = Ok(());
        let mut descriptions = Descriptions::default();
        store.read(self.id, 0, &mut |entry| {
            if written.is_ok() && entry.place < self.end {
                let line = self.redacted_record(&entry, &pieces, &mut descriptions, redactor);
                written = line.and_then(|line| each(&line));
            }
        })?;
        written
    }

    fn redacted_record(
        &self,
        entry: &Entry<'_>,
        pieces: &HashMap<MessageId, Vec<u64>>,
        descriptions: &mut Descriptions,
        redactor: &mut Redactor,
    ) -> Result<Vec<u8>, Error> {
        let Ok(envelope) = &entry.content else { return Ok(Vec::new()) };
        let Ok(mut record) = serde_json::from_str::<Value>(entry.json) else { return Ok(Vec::new()) };
        let places = pieces.get(&envelope.uuid).filter(|places| places.len() > 1);
        let turn = self.conversation.tree.turn(envelope.uuid);
        if let (Some(places), Some(turn), Some(fields)) = (places, turn, record.as_object_mut()) {
            fields.remove("replaces");
            let content = fields.remove("message");
            if places.first() == Some(&entry.place) {
                let role = content.and_then(|content| content.get("role").cloned());
                let role = role.unwrap_or_else(|| json!("model"));
                let parts = self.parts(turn, places)?;
                fields.insert("message".into(), json!({ "role": role, "parts": parts }));
            }
        }
        Descriptions::take_out(&mut record);
        mark_cut_diagnostic(&mut record);
        redactor.value(&mut record);
        descriptions.put_back(&mut record);
        Ok(format!("{record}\n").into_bytes())
    }

    /// All parts of a message of a turn that was written in pieces; a copy of one is none.
    fn parts(&self, turn: &Turn, places: &[u64]) -> Result<Vec<Part>, Error> {
        let pieces = places.iter().filter(|place| turn.records.contains(place));
        let turn = Turn { records: pieces.copied().collect(), ..turn.clone() };
        let read = messages(self.rejoin.engine.store(), self.id, &turn, LONGEST_TEXT)?;
        Ok(read.messages.into_iter().flat_map(|message| message.parts).collect())
    }
}

/// What calls of tools were about. It is cut when it is written, and half a secret looks like none; so it is made
/// anew of the arguments that may leave.
#[derive(Default)]
struct Descriptions(HashMap<String, String>);

impl Descriptions {
    fn take_out(record: &mut Value) {
        for note in notes(record) {
            note.remove("description");
        }
    }

    fn put_back(&mut self, record: &mut Value) {
        let parts = record.pointer("/message/parts").and_then(Value::as_array);
        for call in parts.into_iter().flatten().filter_map(|part| part.get("functionCall")) {
            if let (Some(id), Some(args)) = (call.get("id").and_then(Value::as_str), call.get("args")) {
                self.0.insert(id.to_owned(), call_description(args));
            }
        }
        for note in notes(record) {
            // The event of a subagent's call has the arguments themselves.
            let id = note.get("id").and_then(Value::as_str).filter(|_| !note.contains_key("parent"));
            if let Some(words) = id.and_then(|id| self.0.get(id)).filter(|words| !words.is_empty()) {
                note.insert("description".into(), json!(words));
            }
        }
    }
}

fn notes(record: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let notes = record.get_mut("toolCallsMetadata").and_then(Value::as_array_mut);
    notes.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Lines of an agent that are no events were once cut without a mark.
fn mark_cut_diagnostic(record: &mut Value) {
    const LIMIT: usize = 4096;
    if record["subtype"] == "diagnostic"
        && let Some(Value::String(text)) = record.pointer_mut("/systemPayload/text")
        && text.len() + 3 >= LIMIT
        && !text.contains(" [cut here by rejoin")
    {
        text.push_str(" [cut here by rejoin]");
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use serde_json::{Value, json};

    use crate::{Config, Format, Helper, Redactor, Rejoin};

    #[test]
    fn what_is_written_during_a_redacted_export_does_not_leave_in_halves() {
        let dir = tempfile::tempdir().unwrap();
        let id = "4f1c2a9e-0000-4000-8000-000000000000";
        let turn = "10000000-0000-4000-8000-000000000001";
        let line = |uuid: &str, rest: &str| {
            format!(
                "{{\"uuid\":\"{uuid}\",\"sessionId\":\"{id}\",\"timestamp\":\"2026-11-15T20:00:00Z\",\"cwd\":\"/x\",\"version\":\"0.1.0\",{rest}}}\n"
            )
        };
        let info = r#""parentUuid":null,"type":"system","subtype":"conversation","systemPayload":{"schema":1,"project":"/x","dir":"/x"}"#;
        let said = r#""parentUuid":null,"type":"user","message":{"role":"user","parts":[{"text":"hello"}]}"#;
        let piece = |text: &str| {
            let rest = format!(
                "\"parentUuid\":\"{turn}\",\"type\":\"assistant\",\"message\":{{\"role\":\"model\",\"parts\":[{{\"text\":\"{text}\"}}]}}"
            );
            line("10000000-0000-4000-8000-000000000002", &rest)
        };
        let file = dir.path().join("journal.jsonl");
        let begun = line("10000000-0000-4000-8000-000000000000", info) + &line(turn, said);
        std::fs::write(&file, begun + &piece("it is ghp_abcDEF0123")).unwrap();
        let rejoin = Rejoin::open_with(dir.path().join("home"), Config::default(), Helper::Thread).unwrap();
        rejoin.import(&file, None).unwrap();
        let (view, left_out) = rejoin.view(dir.path(), id).unwrap().settled().unwrap();
        assert!(!left_out);
        // The agent goes on while the export is being written.
        let journals = std::fs::read_dir(dir.path().join("home/projects")).unwrap();
        let journal = journals.flatten().next().unwrap().path().join(format!("{id}.jsonl"));
        let mut journal = OpenOptions::new().append(true).open(journal).unwrap();
        journal.write_all(piece("456789abcDEF0123456789, later").as_bytes()).unwrap();
        let next = piece("and the next is ghp_ABC").replace("000000000002", "000000000003");
        journal.write_all(next.as_bytes()).unwrap();
        for format in [Format::Jsonl, Format::Bundle, Format::Markdown, Format::Html] {
            let mut out = Vec::new();
            view.export(format, Some(&mut Redactor::new(None)), &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert!(out.contains("it is ghp_abcDEF0123") && !out.contains("456789abc"), "{format:?}: {out}");
            assert!(!out.contains("the next is"), "{format:?}: {out}");
            // Read anew, it is whole, and goes out as such.
            let mut out = Vec::new();
            let view = rejoin.view(dir.path(), id).unwrap();
            view.export(format, Some(&mut Redactor::new(None)), &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            assert!(out.contains("it is [redacted github token], later"), "{format:?}: {out}");
        }
    }

    #[test]
    fn what_was_cut_when_it_was_written_does_not_leave_in_halves() {
        let dir = tempfile::tempdir().unwrap();
        let id = "4f1c2a9e-0000-4000-8000-000000000000";
        let mut record = json!({
            "sessionId": id, "timestamp": "2026-11-15T20:00:00Z", "cwd": "/x", "version": "0.1.0",
            "uuid": "10000000-0000-4000-8000-000000000000", "parentUuid": null, "type": "system",
            "subtype": "conversation", "systemPayload": {"schema": 1, "project": "/x", "dir": "/x"},
        });
        let mut journal = format!("{record}\n");
        let mut add = |number: u32, kind: &str, fields: Value| {
            let uuid = json!(format!("10000000-0000-4000-8000-{number:012}"));
            if record["uuid"] != uuid && number > 1 {
                record["parentUuid"] = record["uuid"].clone();
            }
            record["uuid"] = uuid;
            record["type"] = json!(kind);
            let fields = fields.as_object().unwrap().clone();
            let mut record = record.as_object().unwrap().clone();
            record.retain(|name, _| kind == "system" || !["subtype", "systemPayload"].contains(&&**name));
            record.extend(fields);
            journal += &Value::Object(record).to_string();
            journal.push('\n');
        };
        // Half of each is "Zq8vT3"; what makes it a secret stands behind the cut.
        let secret = "postgres://app:Zq8vT3nRw7Lk@db/x";
        let half = "postgres://app:Zq8vT3";
        let long = |limit: usize| format!("{} {secret}", "x".repeat(limit - half.len() - 1));
        let cut = |limit: usize| long(limit)[..limit].to_owned();
        let said = |role: &str, part: Value| json!({"role": role, "parts": [part]});
        add(1, "user", json!({"message": said("user", json!({"text": long(2048)}))}));
        let call = json!({"functionCall": {"id": "c", "name": "shell", "args": {"command": long(200)}}});
        add(2, "assistant", json!({"message": said("model", call)}));
        let inside = json!({"type": "tool_use", "parent": "c", "id": "d", "name": "shell", "input": {"command": long(200)}});
        add(2, "assistant", json!({"toolCallsMetadata": [inside]}));
        let output = format!("kept\n{half}\n[1234 bytes left out here by rejoin]\nnRw7Lk-ZORK\nkept, too");
        let answer =
            json!({"functionResponse": {"id": "c", "name": "shell", "response": {"output": output}}});
        let note = json!({"id": "c", "name": "shell", "status": "success", "description": cut(200)});
        let stray = json!({"id": "gone", "name": "shell", "description": cut(200)});
        add(3, "tool_result", json!({"message": said("user", answer), "toolCallsMetadata": [note, stray]}));
        let half_line = |text: String| json!({"subtype": "diagnostic", "systemPayload": {"run": 1, "stream": "stdout", "text": text}});
        add(4, "system", half_line(cut(4096)));
        add(5, "system", half_line(cut(4096) + " [cut here by rejoin: the line was too long]"));
        let warning =
            json!({"subtype": "warning", "systemPayload": {"code": "agent", "text": cut(4096) + "…"}});
        add(6, "system", warning);
        let file = dir.path().join("journal.jsonl");
        std::fs::write(&file, journal).unwrap();
        let rejoin = Rejoin::open_with(dir.path().join("home"), Config::default(), Helper::Thread).unwrap();
        rejoin.import(&file, None).unwrap();
        let view = rejoin.view(dir.path(), id).unwrap();
        for format in [Format::Jsonl, Format::Bundle, Format::Markdown, Format::Html] {
            let mut out = Vec::new();
            view.export(format, Some(&mut Redactor::new(None)), &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            for half in ["Zq8vT3", "ZORK"] {
                let at = out.find(half);
                assert_eq!(at, None, "{format:?}: {}", &out[at.unwrap_or(0).saturating_sub(80)..]);
            }
            assert!(out.contains("kept") && out.contains("kept, too"), "{format:?}: {out}");
            if format == Format::Jsonl {
                let note = "\"description\":\"xxx";
                assert!(out.contains(note), "it is told anew: {out}");
            }
        }
    }
}
