//! The answer as a stream of server-sent events, or in one piece.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use crate::events::Events;
use crate::failure::{Failure, without};

/// No event of a chat is longer, and no answer in one piece.
const LONGEST: usize = 8 << 20;

/// Reads an answer to its end and tells it. An answer that breaks off is a failure. `secret` is taken out of the endpoint's words.
pub(crate) fn read(
    source: impl Read,
    model: &str,
    secret: Option<&str>,
    events: &Events,
) -> Result<(), Failure> {
    let mut source = BufReader::new(source);
    let mut answer = Answer::default();
    let mut line = Vec::new();
    // An endpoint that does not stream answers with one object, on one line or on many.
    let mut whole = String::new();
    loop {
        line.clear();
        match source.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Err(Failure::network(&error)),
        }
        let text = String::from_utf8_lossy(&line);
        match text.trim().strip_prefix("data:").map(str::trim) {
            Some("[DONE]") => {
                answer.finished = true;
                break;
            }
            Some(data) => answer.take_in(data, secret, events)?,
            None if whole.len() < LONGEST => whole.push_str(&text),
            None => {}
        }
    }
    if !answer.finished && answer.text.is_empty() {
        answer.take_in(&whole, secret, events)?;
    }
    if !answer.finished {
        return Err(Failure::network(&"the stream ended before the answer did"));
    }
    events.message(&answer.text, model);
    Ok(())
}

/// What was told so far.
#[derive(Default)]
struct Answer {
    text: String,
    finished: bool,
}

impl Answer {
    /// Takes in one piece. What an endpoint adds or leaves out is none of our business: whatever is
    /// there of what is looked for counts.
    fn take_in(&mut self, data: &str, secret: Option<&str>, events: &Events) -> Result<(), Failure> {
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { return Ok(()) };
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(Failure::status(500, &without(secret, &error.to_string()), None));
        }
        for choice in chunk["choices"].as_array().into_iter().flatten() {
            let said = [&choice["delta"], &choice["message"]].into_iter().find(|said| said.is_object());
            let said = said.unwrap_or(&Value::Null);
            let thought = [&said["reasoning_content"], &said["reasoning"]].map(text_of);
            if let Some(thought) = thought.into_iter().find(|thought| !thought.is_empty()) {
                events.thinking(&thought);
            }
            let text = text_of(&said["content"]);
            if !text.is_empty() {
                events.delta(&text);
                self.text.push_str(&text);
            }
            self.finish(&choice["finish_reason"], events);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
            let cached = count("/prompt_tokens_details/cached_tokens");
            let input = count("/prompt_tokens").saturating_sub(cached);
            events.usage(input, cached, count("/completion_tokens"));
        }
        Ok(())
    }

    fn finish(&mut self, reason: &Value, events: &Events) {
        let Some(reason) = reason.as_str() else { return };
        self.finished = true;
        match reason {
            "length" => events.warning(reason, "the answer was cut off at the model's limit of tokens"),
            "content_filter" => events.warning(reason, "the answer was cut off by a filter of the endpoint"),
            _ => {}
        }
    }
}

/// A text, which some endpoints send in parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is told of an answer, or why there is none.
    fn told(body: &str) -> Result<Vec<Value>, Failure> {
        let kept = Kept::default();
        read(body.as_bytes(), "m", Some("sk-secret"), &Events::new(kept.clone()))?;
        let bytes = kept.0.lock().unwrap().clone();
        let lines = String::from_utf8(bytes).unwrap();
        Ok(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn last_text(body: &str) -> String {
        told(body).unwrap().last().unwrap()["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn an_answer_may_come_in_any_of_the_usual_shapes() {
        for (body, text) in [
            ("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n", "a"),
            (
                ": hello\nevent: x\ndata:{\"choices\":[{\"delta\":{\"content\":\"é\"},\"finish_reason\":\"stop\"}]}\n",
                "é",
            ),
            (r#"{"choices":[{"message":{"content":"one line"},"finish_reason":"stop"}]}"#, "one line"),
            (
                "{\n \"choices\": [\n {\"message\": {\"content\": \"many\"},\n \"finish_reason\": \"stop\"}]\n}\n",
                "many",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"parts\"}]}}]}\ndata: [DONE]",
                "parts",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"odd\"}}],\"usage\":{\"prompt_tokens\":null}}\ndata: {\"choices\":null}\ndata: [DONE]",
                "odd",
            ),
        ] {
            assert_eq!(last_text(body), text, "{body}");
        }
    }

    #[test]
    fn an_answer_that_breaks_off_is_none() {
        let failure = told("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n").unwrap_err();
        assert_eq!(failure.class, "network");
        assert_eq!(told("").unwrap_err().class, "network");
    }

    #[test]
    fn a_failure_in_the_stream_never_shows_the_key() {
        for error in [r#"{"message":"bad key sk-secret"}"#, r#""bad key sk-secret""#] {
            let failure = told(&format!("data: {{\"error\":{error},\"choices\":null}}\n")).unwrap_err();
            assert_eq!((failure.class, failure.message.as_str()), ("server", "HTTP 500: bad key [key]"));
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_says_so() {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\ndata: [DONE]";
        let told = told(body).unwrap();
        assert!(told.iter().any(|event| event["type"] == "warning" && event["name"] == "length"), "{told:?}");
    }
}
