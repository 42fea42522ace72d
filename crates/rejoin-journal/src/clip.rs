use std::io;

use rejoin_core::{Part, Record};
use serde_json::Value;

use crate::LONGEST_LINE;

/// Shortens what a record carries until it is a line that a journal takes; each cut leaves a mark. What it is
/// about (ids, places, the shape of a system record) stays. Returns how many bytes were left out.
pub fn fit_line(record: &mut Record) -> u64 {
    let (mut left_out, mut most) = (0, LONGEST_LINE);
    while most > 1024 && line_length(record) > LONGEST_LINE {
        most /= 2;
        for part in record.message.iter_mut().flat_map(|message| &mut message.parts) {
            left_out += clip_part(part, most);
            if let Part::Call { function_call } = part {
                left_out += clip(&mut function_call.id, most) + clip(&mut function_call.name, most);
            }
            if let Part::Response { function_response } = part {
                left_out += clip(&mut function_response.id, most);
            }
        }
        let inside = record.tool_calls_metadata.iter_mut();
        left_out += inside.map(|value| clip_value(value, most)).sum::<u64>();
        let native =
            record.native.iter_mut().flat_map(|native| [&mut native.session, &mut native.message_id]);
        let names = native.chain([&mut record.model]).flatten();
        left_out += names.map(|name| clip(name, most)).sum::<u64>();
        left_out += record.system_payload.as_mut().map_or(0, |payload| clip_texts(payload, most));
    }
    left_out
}

/// How long a record is as a line, escapes included.
fn line_length(record: &Record) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written at all is refused when it is appended.
    serde_json::to_writer(&mut count, record).map_or(0, |()| count.0)
}

/// Shortens what a part carries to `most` bytes per text; returns how many bytes were left out.
pub(crate) fn clip_part(part: &mut Part, most: usize) -> u64 {
    match part {
        Part::Text { text, .. } => clip(text, most),
        Part::Call { function_call } => clip_value(&mut function_call.args, most),
        Part::Response { function_response } => clip(&mut function_response.response.output, most),
        Part::Attachment { .. } => 0,
        Part::Other(value) => clip_value(value, most),
    }
}

/// Shortens the texts inside a value and keeps its shape; a value that is long without long texts
/// becomes a shortened text of itself.
fn clip_value(value: &mut Value, most: usize) -> u64 {
    let left_out = clip_texts(value, most);
    let whole = value.to_string();
    if whole.len() <= most.saturating_mul(2) {
        return left_out;
    }
    let mut whole = whole;
    let more = clip(&mut whole, most);
    *value = Value::String(whole);
    left_out + more
}

fn clip_texts(value: &mut Value, most: usize) -> u64 {
    match value {
        Value::String(text) => clip(text, most),
        Value::Array(values) => values.iter_mut().map(|value| clip_texts(value, most)).sum(),
        Value::Object(fields) => fields.values_mut().map(|value| clip_texts(value, most)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Cuts the middle out of a text and leaves a visible mark; a text that the mark would make no
/// shorter stays whole.
pub(crate) fn clip(text: &mut String, most: usize) -> u64 {
    if text.len() <= most.saturating_add(64) {
        return 0;
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    let left_out = tail - head;
    text.replace_range(head..tail, &mark(left_out as u64));
    left_out as u64
}

/// What stands where something was left out.
pub(crate) fn mark(bytes: u64) -> String {
    format!("\n[{bytes} bytes left out here by rejoin]\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_ends_of_a_long_text_stay_and_the_cut_is_visible() {
        let mut text = format!("begin{}end", "é".repeat(500));
        let left_out = clip(&mut text, 20);
        assert!(text.starts_with("begin") && text.ends_with("end"), "{text}");
        assert!(text.contains(&format!("[{left_out} bytes left out here by rejoin]")), "{text}");
    }

    #[test]
    fn a_record_that_grows_past_a_line_when_it_is_escaped_is_cut_visibly() {
        let control = "\u{1}".repeat(LONGEST_LINE / 4);
        let parts = [
            Part::text(control.as_str()),
            Part::response("call", "", control.as_str(), false),
            Part::call("call", "Write", json!({"path": "a", "content": control})),
        ];
        for part in parts {
            let mut record = record();
            record.message = Some(rejoin_core::Content::model(vec![part]));
            assert!(line_length(&record) > LONGEST_LINE);
            assert!(fit_line(&mut record) > 0);
            let line = serde_json::to_string(&record).unwrap();
            assert!(line.len() <= LONGEST_LINE && line.len() > LONGEST_LINE / 4, "{}", line.len());
            assert!(line.contains("left out here by rejoin"));
        }
        let mut record = record();
        record.system_payload = Some(json!({"outcome": "failed", "error": control}));
        assert!(fit_line(&mut record) > 0 && line_length(&record) <= LONGEST_LINE);
        assert_eq!(record.system_payload.unwrap()["outcome"], "failed");
    }

    fn record() -> Record {
        let id = rejoin_core::MessageId::new(uuid::Uuid::nil());
        Record {
            uuid: id,
            parent_uuid: None,
            session_id: rejoin_core::ConversationId::new(uuid::Uuid::nil()),
            timestamp: String::new(),
            kind: rejoin_core::Kind::Assistant,
            cwd: String::new(),
            version: String::new(),
            git_branch: None,
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

    #[test]
    fn a_short_text_stays_whole() {
        let mut text = "x".repeat(84);
        assert_eq!(clip(&mut text, 20), 0);
        assert_eq!(clip(&mut text, usize::MAX), 0);
    }

    #[test]
    fn arguments_keep_their_shape_where_they_can() {
        let mut value = json!({"path": "a.rs", "content": "x".repeat(10_000)});
        assert!(clip_value(&mut value, 100) > 9_000);
        assert_eq!(value["path"], "a.rs");
        assert!(value["content"].as_str().unwrap().contains("left out"));

        let mut many = Value::Array(vec![json!(1); 10_000]);
        assert!(clip_value(&mut many, 100) > 0);
        assert!(many.as_str().unwrap().contains("left out"));
    }
}
