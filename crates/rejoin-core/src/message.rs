use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Attachment, CallNote, Kind, MessageId, Usage};

/// A message as it stands on disk: a role and its parts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Content {
    /// `user` or `model`.
    pub role: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

impl Content {
    /// What the user (or a tool, on the user's behalf) said.
    pub fn user(parts: Vec<Part>) -> Self {
        Self { role: "user".into(), parts }
    }

    /// What the model said.
    pub fn model(parts: Vec<Part>) -> Self {
        Self { role: "model".into(), parts }
    }
}

/// One part of a message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// Text, or with `thought` the model's thinking.
    Text {
        /// The text.
        text: String,
        /// It is thinking, not answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        thought: bool,
    },
    /// A call of a tool.
    #[serde(rename_all = "camelCase")]
    Call {
        /// The call.
        function_call: Call,
    },
    /// What the tool gave back.
    #[serde(rename_all = "camelCase")]
    Response {
        /// The response.
        function_response: Response,
    },
    /// A file that went along with the prompt.
    Attachment {
        /// The file, without its bytes.
        attachment: Attachment,
    },
    /// Something a newer version wrote.
    Other(Value),
}

/// Written by hand: [`Part::Other`] fits whatever one of the others fits, so that none of them alone does.
#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Part {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema};
        let part = |field: &str, schema| ObjectBuilder::new().property(field, schema).required(field);
        let named = |name: String| utoipa::openapi::Ref::from_schema_name(name).into();
        let text = part("text", String::schema()).property("thought", bool::schema());
        let call = part("functionCall", named(<Call as utoipa::ToSchema>::name().into()));
        let response = part("functionResponse", named(<Response as utoipa::ToSchema>::name().into()));
        let file = part("attachment", named(<Attachment as utoipa::ToSchema>::name().into()));
        let known = [text, call, response, file];
        let any = known.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item);
        Schema::AnyOf(any.item(ObjectBuilder::new()).build()).into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Part {
    fn schemas(all: &mut Vec<(String, utoipa::openapi::RefOr<utoipa::openapi::Schema>)>) {
        use utoipa::PartialSchema;
        all.push((Call::name().into(), Call::schema()));
        all.push((Response::name().into(), Response::schema()));
        all.push((Attachment::name().into(), Attachment::schema()));
        Call::schemas(all);
        Response::schemas(all);
        Attachment::schemas(all);
    }
}

/// A call of a tool by the model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FunctionCall))]
pub struct Call {
    /// The agent's id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Its arguments.
    pub args: Value,
}

/// What a tool gave back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FunctionResponse))]
#[allow(clippy::struct_field_names, reason = "the names of the file format")]
pub struct Response {
    /// The id of the call it answers.
    pub id: String,
    /// Name of the tool, where known.
    #[serde(default)]
    pub name: String,
    /// The output.
    pub response: Output,
}

/// Output of a tool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FunctionOutput))]
pub struct Output {
    /// As text.
    pub output: String,
    /// The tool reported a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub error: bool,
}

impl Part {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), thought: false }
    }

    /// The model's thinking.
    pub fn thought(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), thought: true }
    }

    /// A call of a tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, args: Value) -> Self {
        Self::Call { function_call: Call { id: id.into(), name: name.into(), args } }
    }

    /// What the tool gave back.
    pub fn response(
        id: impl Into<String>,
        name: impl Into<String>,
        output: impl Into<String>,
        error: bool,
    ) -> Self {
        let response = Output { output: output.into(), error };
        Self::Response { function_response: Response { id: id.into(), name: name.into(), response } }
    }
}

/// A message as merged from all its records.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Who speaks.
    pub kind: Kind,
    /// Its parts; neighbouring texts are joined.
    pub parts: Vec<Part>,
    /// The model that wrote it, where known.
    pub model: Option<String>,
    /// When it was last written.
    pub timestamp: String,
    /// Tokens of the turn, as far as they were counted when it was last written.
    pub tokens: Option<Usage>,
    /// What is noted of calls of tools.
    pub tool_calls: Vec<CallNote>,
}

impl Message {
    /// A message with nothing in it yet.
    pub fn new(id: MessageId, kind: Kind) -> Self {
        let (parts, tool_calls) = (Vec::new(), Vec::new());
        Self { id, kind, parts, model: None, timestamp: String::new(), tokens: None, tool_calls }
    }

    /// The plain text of the message, thinking and tools left out.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text { text, thought: false } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The files that went along with it.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.parts.iter().filter_map(|part| match part {
            Part::Attachment { attachment } => Some(attachment),
            _ => None,
        })
    }

    /// Adds the parts of one more record of the same message. `replaces` drops what was streamed
    /// of the text from that byte on: the final block said something else.
    pub fn merge(&mut self, parts: Vec<Part>, replaces: Option<usize>) {
        if let Some(offset) = replaces {
            self.cut_text(offset);
        }
        for part in parts {
            match (self.parts.last_mut(), part) {
                (Some(Part::Text { text: last, thought: a }), Part::Text { text, thought: b }) if *a == b => {
                    last.push_str(&text);
                }
                (_, part) => self.parts.push(part),
            }
        }
    }

    fn cut_text(&mut self, offset: usize) {
        let mut left = offset;
        self.parts.retain_mut(|part| match part {
            Part::Text { text, thought: false } => {
                let keep = text.floor_char_boundary(left);
                left = if keep < text.len() { 0 } else { left - keep };
                text.truncate(keep);
                !text.is_empty()
            }
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_one_message_read_as_one_text_and_a_replacement_wins() {
        let mut message = Message::new(MessageId::new(uuid::Uuid::nil()), Kind::Assistant);
        message.merge(vec![Part::text("he")], None);
        message.merge(vec![Part::text("llo"), Part::thought("hm")], None);
        assert_eq!(message.parts, [Part::text("hello"), Part::thought("hm")]);
        message.merge(vec![Part::text("y")], Some(2));
        assert_eq!(message.text(), "hey");
    }

    #[test]
    fn parts_of_a_newer_version_survive() {
        let json = r#"{"role":"model","parts":[{"hologram":1},{"text":"x"}]}"#;
        let content: Content = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&content).unwrap(), json);
    }
}
