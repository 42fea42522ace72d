use rejoin_core::Part;
use serde_json::Value;

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
