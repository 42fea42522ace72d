//! What agents ask on their own behalf: titles, classifiers, memories. None of it is an answer to a user.

use serde_json::{Value, json};

/// The smallest document that conforms to a schema.
pub(super) fn conforming(schema: &Value) -> Value {
    if let Some(choices) = schema["enum"].as_array() {
        // Gemini CLI asks who speaks next; `model` would make it go on for ever.
        let user = choices.iter().find(|choice| *choice == "user");
        return user.or(choices.first()).cloned().unwrap_or_default();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
    match kind.to_ascii_lowercase().as_str() {
        "array" => json!([]),
        "number" | "integer" => json!(1),
        "boolean" => json!(false),
        "string" => json!("scripted"),
        _ => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), conforming(schema))).collect()
        }
    }
}

/// How side questions in plain words begin, and what is asked. Seen on the wire or read from the agents' own files.
const KNOWN: [(&str, Question); 9] = [
    ("You are a title generator", Question::Title),
    ("Generate a concise, sentence-case title", Question::Title),
    ("You generate session recaps", Question::Title),
    ("[SUGGESTION MODE", Question::Title),
    ("You are now acting as the managed memory", Question::Memory),
    ("You are performing a managed memory dream", Question::Memory),
    ("You are the component that summarizes", Question::Summary),
    ("You are a context summarization", Question::Summary),
    ("Summarize what was done in this conversation", Question::Summary),
];

#[derive(Clone, Copy)]
enum Question {
    Title,
    Memory,
    Summary,
}

/// The answer to a side question, told by the first words of the system prompt or of the newest message. A summary
/// keeps every mark, as a good one would.
pub(super) fn known(system: &str, newest: &str, summary: impl FnOnce() -> String) -> Option<String> {
    let begins = |opening: &str| [system, newest].iter().any(|text| text.trim_start().starts_with(opening));
    let (_, question) = KNOWN.iter().find(|(opening, _)| begins(opening))?;
    Some(match question {
        Question::Title => "Scripted title".to_owned(),
        Question::Memory => "Nothing to remember.".to_owned(),
        Question::Summary => summary(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_every_field_of_its_schema() {
        let schema = json!({"type": "OBJECT", "properties": {
            "reasoning": {"type": "string"}, "next_speaker": {"type": "string", "enum": ["model", "user"]},
            "score": {"type": "integer"}, "sure": {"type": "BOOLEAN"}, "list": {"type": "array"},
        }});
        let expected = json!({
            "reasoning": "scripted", "next_speaker": "user", "score": 1, "sure": false, "list": [],
        });
        assert_eq!(conforming(&schema), expected);
    }

    #[test]
    fn side_questions_are_told_by_their_first_words() {
        let known = |system, newest| known(system, newest, || "all of it".to_owned());
        assert_eq!(known("\nYou are a title generator. …", "").as_deref(), Some("Scripted title"));
        assert_eq!(known("", "[SUGGESTION MODE: …]").as_deref(), Some("Scripted title"));
        assert_eq!(known("You are a context summarization assistant.", "").as_deref(), Some("all of it"));
        assert_eq!(known("You are helpful", "write: You are a title generator"), None);
    }
}
