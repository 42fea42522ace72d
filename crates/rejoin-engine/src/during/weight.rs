//! How much memory an event takes while it waits.

use rejoin_core::{Event, Question};
use serde_json::Value;

/// What an event weighs besides its texts.
const ENVELOPE: usize = 128;
/// What a value weighs besides its text.
const VALUE: usize = 32;

pub(crate) fn weight(event: &Event) -> usize {
    let texts = match event {
        Event::Init { cwd, attachments, .. } => cwd.len() + attachments.len() * 256,
        Event::Session { session, model, agent_version, .. } => {
            session.len() + some(model.as_deref()) + some(agent_version.as_deref())
        }
        Event::TextDelta { text, .. }
        | Event::Thinking { text, .. }
        | Event::Compaction { text }
        | Event::Diagnostic { text, .. } => text.len(),
        Event::Message { text, model, native, .. } => {
            text.len() + some(model.as_deref()) + some(native.as_deref())
        }
        Event::ToolUse { id, name, input, parent, .. } => {
            id.len() + name.len() + of_value(input) + some(parent.as_deref())
        }
        Event::ToolResult { id, output, parent, .. } => id.len() + output.len() + some(parent.as_deref()),
        Event::Usage { .. } => 0,
        Event::Question(question) => of_question(question),
        Event::QuestionAnswered(answer) => {
            answer.question.len()
                + some(answer.who.as_deref())
                + some(answer.option.as_deref())
                + answer.options.iter().map(|id| id.len() + VALUE).sum::<usize>()
                + some(answer.text.as_deref())
        }
        Event::QuestionWithdrawn { question } => question.len(),
        Event::Warning { code, text } => code.len() + text.len(),
        Event::ResumeRejected { session, text, .. } => session.len() + text.len(),
        Event::Result { text, receipt } => {
            text.len()
                + receipt.warnings.iter().map(String::len).sum::<usize>()
                + some(receipt.model.as_deref())
        }
        // One that is not told apart here yet.
        event => serde_json::to_value(event).as_ref().map_or(0, of_value),
    };
    texts + ENVELOPE
}

fn some(text: Option<&str>) -> usize {
    text.map_or(0, str::len)
}

fn of_question(question: &Question) -> usize {
    let options = question.options.iter();
    let options =
        options.map(|option| option.id.len() + option.label.len() + option.description.len() + VALUE);
    question.id.len()
        + question.text.len()
        + some(question.tool.as_deref())
        + some(question.call.as_deref())
        + some(question.request.as_deref())
        + options.sum::<usize>()
}

/// The weight of a value and all that is in it.
pub(crate) fn of_value(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(of_value).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + of_value(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inside + VALUE
}

#[cfg(test)]
mod tests {
    use rejoin_core::MessageId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_weighs_what_its_input_holds() {
        let call = |input| {
            let message = MessageId::new(uuid::Uuid::nil());
            weight(&Event::ToolUse { message, id: "1".into(), name: "Write".into(), input, parent: None })
        };
        assert!(call(json!({"path": "a"})) < 1000);
        assert!(call(json!({"edits": [{"text": "x".repeat(1 << 20)}]})) > 1 << 20);
        assert!(call(Value::Array(vec![json!(1); 10_000])) > 100_000, "many small ones, too");
    }
}
