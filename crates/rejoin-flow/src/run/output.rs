//! Answers that must be JSON. Pure.

use serde_json::Value;

/// Reads an answer as JSON, alone or as the only fenced block, and holds it against a schema.
pub(crate) fn read(text: &str, schema: Option<&Value>) -> Result<Value, String> {
    let json = match serde_json::from_str(text.trim()) {
        Ok(json) => json,
        Err(error) => {
            let block = only_block(text).ok_or_else(|| format!("it is not JSON: {error}"))?;
            serde_json::from_str(block).map_err(|error| format!("it is not JSON: {error}"))?
        }
    };
    if let Some(schema) = schema {
        let validator = jsonschema::validator_for(schema).map_err(|error| error.to_string())?;
        let wrong: Vec<String> = validator
            .iter_errors(&json)
            .take(5)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        if !wrong.is_empty() {
            return Err(format!("it does not fit the schema: {}", wrong.join("; ")));
        }
    }
    Ok(json)
}

fn only_block(text: &str) -> Option<&str> {
    let mut parts = text.split("```");
    let (_, block, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    Some(block.split_once('\n').map_or(block, |(_, block)| block).trim())
}

/// What an agent is told whose answer could not be used.
pub(crate) fn complaint(why: &str, schema: Option<&Value>) -> String {
    let fits = schema.map(|schema| format!(" that fits this schema:\n{schema}")).unwrap_or_default();
    format!("Your answer cannot be used: {why}. Give it again as nothing but JSON{fits}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_alone_or_in_the_only_block() {
        assert_eq!(read(" {\"a\": 1} ", None), Ok(json!({"a": 1})));
        assert_eq!(read("Here it is:\n```json\n[1, 2]\n```\nDone.", None), Ok(json!([1, 2])));
        assert!(read("```\n1\n```\n```\n2\n```", None).is_err(), "which of them?");
        assert!(read("fine", None).unwrap_err().contains("not JSON"));
    }

    #[test]
    fn a_schema_is_held_against_it() {
        let schema =
            json!({"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["yes"]}}});
        assert!(read("{\"verdict\": \"yes\"}", Some(&schema)).is_ok());
        let error = read("{\"verdict\": \"no\"}", Some(&schema)).unwrap_err();
        assert!(error.contains("/verdict"), "{error}");
        assert!(complaint(&error, Some(&schema)).contains("\"verdict\""));
    }
}
