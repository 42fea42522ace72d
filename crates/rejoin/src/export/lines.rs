//! A journal, line by line, as it leaves.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use rejoin_core::{Kind, MessageId, Part, Turn};
use rejoin_journal::{Entry, messages};
use serde_json::{Value, json};

use super::{Redactor, cannot};
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
        store.read(self.id, 0, &mut |entry| {
            if written.is_ok() && entry.place < self.end {
                written = self.redacted_record(&entry, &pieces, redactor).and_then(|line| each(&line));
            }
        })?;
        written
    }

    fn redacted_record(
        &self,
        entry: &Entry<'_>,
        pieces: &HashMap<MessageId, Vec<u64>>,
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
        redactor.value(&mut record);
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

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

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
}
