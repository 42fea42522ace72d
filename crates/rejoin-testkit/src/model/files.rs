//! Files in a request, in whatever way a protocol carries them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// A file the model was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// As it is told: `image/png`.
    pub media_type: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Finds files: addresses that hold them (`data:image/png;base64,…`, OpenAI), and objects with a type and data
/// (`media_type` of Anthropic, whose texts are not encoded; `mimeType` of Gemini).
pub(super) fn files_in(value: &Value, found: &mut Vec<File>) {
    match value {
        Value::String(text) => found.extend(in_address(text)),
        Value::Array(values) => values.iter().for_each(|value| files_in(value, found)),
        Value::Object(fields) => {
            let media_type = fields.get("media_type").or_else(|| fields.get("mimeType"));
            match (media_type.and_then(Value::as_str), fields.get("data").and_then(Value::as_str)) {
                (Some(media_type), Some(data)) => {
                    let plain = fields.get("type").is_some_and(|kind| kind == "text");
                    let bytes = if plain { Some(data.into()) } else { STANDARD.decode(data).ok() };
                    found.extend(bytes.map(|bytes| File { media_type: media_type.to_owned(), bytes }));
                }
                _ => fields.values().for_each(|value| files_in(value, found)),
            }
        }
        _ => {}
    }
}

fn in_address(text: &str) -> Option<File> {
    let (media_type, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    Some(File { media_type: media_type.to_owned(), bytes: STANDARD.decode(data).ok()? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_found_in_every_protocol() {
        for body in [
            json!({"input": [{"content": [{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]}]}),
            json!({"messages": [{"content": [{"image_url": {"url": "data:image/png;base64,aGk="}}]}]}),
            json!({"source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}),
            json!({"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]}]}),
            json!({"source": {"type": "text", "media_type": "image/png", "data": "hi"}}),
        ] {
            let mut found = Vec::new();
            files_in(&body, &mut found);
            assert_eq!(found, [File { media_type: "image/png".into(), bytes: b"hi".to_vec() }], "{body}");
        }
    }
}
