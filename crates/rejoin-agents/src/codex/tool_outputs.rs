//! What tools gave back, as Codex stores it: among words for the model, different ones in every version.

use serde_json::Value;

/// What a tool gave back, and whether it failed, as far as that is told here.
pub(super) fn tool_output(output: Value) -> (String, bool) {
    match output {
        Value::String(text) => of_text(text),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            (texts.join("\n"), false)
        }
        Value::Object(mut fields) => {
            let failed = fields.get("success") == Some(&Value::Bool(false));
            let content = fields.remove("content").or_else(|| fields.remove("output"));
            match content {
                Some(Value::String(text)) => {
                    let (text, text_failed) = of_text(text);
                    (text, failed || text_failed)
                }
                Some(other) => (other.to_string(), failed),
                None => (Value::Object(fields).to_string(), failed),
            }
        }
        Value::Null => (String::new(), false),
        other => (other.to_string(), false),
    }
}

fn of_text(text: String) -> (String, bool) {
    if let Some(told) = of_0_65(&text) {
        return told;
    }
    // Interrupted, in the words of 0.123 and 0.166.
    let is_cut = text.starts_with("aborted by user after ") || text.ends_with("seconds\naborted by user");
    let begins = ["Chunk ID: ", "Wall time: ", "Exit code: "].iter().any(|begin| text.starts_with(begin));
    let Some((head, output)) = text.split_once("\nOutput:\n").filter(|_| begins) else {
        return (text, is_cut);
    };
    let code = head.lines().find_map(|line| {
        let code =
            line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))?;
        code.trim().parse::<i64>().ok()
    });
    match code {
        Some(code) => (output.to_owned(), code != 0),
        // It still runs: the words say how to go on with it.
        None => (text, is_cut),
    }
}

/// `{"output": …, "metadata": {"exit_code": …}}`
fn of_0_65(text: &str) -> Option<(String, bool)> {
    let Value::Object(mut fields) = serde_json::from_str(text).ok()? else { return None };
    let code = fields.get("metadata")?.get("exit_code")?.as_i64()?;
    let Value::String(output) = fields.remove("output")? else { return None };
    Some((output, code != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_version_are_understood() {
        let long = "Chunk ID: f543d0\nWall time: 0.0 seconds\nProcess exited with code 3\nOriginal token count: 1\nOutput:\na\n";
        for (stored, output, failed) in [
            (r#"{"output":"one\n","metadata":{"exit_code":0,"duration_seconds":0.0}}"#, "one\n", false),
            (r#"{"output":"","metadata":{"exit_code":3}}"#, "", true),
            (long, "a\n", true),
            ("Exit code: 0\nWall time: 1 seconds\nOutput:\nOutput:\nx", "Output:\nx", false),
            ("aborted by user after 0.1s", "aborted by user after 0.1s", true),
            ("Wall time: 3.0 seconds\naborted by user", "Wall time: 3.0 seconds\naborted by user", true),
            (r#"{"agent_id":"x"}"#, r#"{"agent_id":"x"}"#, false),
            ("said\nOutput:\nx", "said\nOutput:\nx", false),
        ] {
            assert_eq!(tool_output(stored.into()), (output.to_owned(), failed), "{stored}");
        }
        let parts = serde_json::json!([{"type": "input_text", "text": "a"}, {"type": "input_image"}]);
        assert_eq!(tool_output(parts), ("a".to_owned(), false));
        let success = serde_json::json!({"content": "no", "success": false});
        assert_eq!(tool_output(success), ("no".to_owned(), true));
    }
}
