//! The shape of flow files, for editors.

use serde_json::{Value, json};

/// A JSON schema (draft 2020-12) of flow files. Editors take it from `rejoin flow schema`.
pub fn schema() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    let name = json!({"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"});
    let common = json!({
        "when": {"type": "string", "description": "run the step only if this expression is true"},
        "needs": texts,
        "allow_failure": {"type": "boolean", "description": "the flow goes on although the step failed"},
    });
    let how = json!({
        "cwd": text,
        "env": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
        "timeout": {"type": ["string", "integer"], "description": "90, 90s, 5m, 2h"},
        "retry": {
            "type": "object",
            "properties": {
                "times": {"type": "integer", "minimum": 1},
                "wait": {"type": ["string", "integer"], "description": "before the first time, then twice as long each time"},
                "on": {
                    "oneOf": [{"$ref": "#/$defs/failure"}, {"type": "array", "items": {"$ref": "#/$defs/failure"}}],
                },
            },
            "additionalProperties": false,
        },
        "output": {"enum": ["text", "json"]},
        "schema": {"type": ["object", "boolean"], "description": "a JSON schema for the output"},
    });
    let agent = json!({
        "agent": {"type": "string", "description": "claude, codex, gemini, opencode, pi, qwen, openai, demo"},
        "model": text,
        "permissions": {"enum": ["read", "edit", "full", "agent"]},
        "prompt": text,
        "prompt_file": {"type": "string", "description": "beside the flow file"},
        "system_prompt": text,
        "continue_from": {"type": "string", "description": "go on at the turn where that step ended"},
        "fork_from": {"type": "string", "description": "a conversation of its own that begins with that step's path"},
        "fresh_session": {"type": "boolean"},
    });
    let command = json!({
        "run": {"type": "string", "description": "a shell command, never a template"},
    });
    let named_steps = |kinds: &[&str]| {
        let kinds: Vec<Value> = kinds.iter().map(|kind| json!({"$ref": format!("#/$defs/{kind}")})).collect();
        json!({
            "type": "object", "minProperties": 1, "propertyNames": name, "additionalProperties": {"oneOf": kinds},
        })
    };
    let parallel = json!({
        "parallel": named_steps(&["task", "list"]),
        "max_concurrent": {"type": "integer", "minimum": 1},
        "strategy": {"enum": ["all", "any", "best_effort"]},
    });
    let for_each = json!({
        "for_each": {"type": ["array", "string"], "description": "a list, or an expression that gives one"},
        "max_items": {"type": "integer", "minimum": 1},
        "max_concurrent": {"type": "integer", "minimum": 1},
        "step": {"$ref": "#/$defs/task"},
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rejoin flow",
        "type": "object",
        "required": ["steps"],
        "properties": {
            "name": text,
            "description": text,
            "inputs": {
                "type": "object",
                "propertyNames": name,
                "additionalProperties": {
                    "type": ["object", "null"],
                    "properties": {
                        "description": text,
                        "required": {"type": "boolean"},
                        "default": true,
                        "enum": {"type": "array", "minItems": 1},
                    },
                    "additionalProperties": false,
                },
            },
            "steps": named_steps(&["task", "list", "group"]),
        },
        "additionalProperties": false,
        "$defs": {
            "failure": {"enum": ["agent_failed", "command_failed", "timeout", "output"]},
            "task": {
                "oneOf": [
                    one(&[&common, &how, &agent], &[&["prompt"], &["prompt_file"]]),
                    one(&[&common, &how, &command], &[&["run"]]),
                ],
            },
            "list": one(&[&common, &for_each], &[&["for_each", "step"]]),
            "group": one(&[&common, &parallel], &[&["parallel"]]),
        },
    })
}

/// One kind of step: these fields, and one of these sets of them always.
fn one(fields: &[&Value], required: &[&[&str]]) -> Value {
    let properties: serde_json::Map<String, Value> = fields
        .iter()
        .filter_map(|fields| fields.as_object())
        .flatten()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let required: Vec<Value> = required.iter().map(|names| json!({"required": names})).collect();
    json!({"type": "object", "properties": properties, "oneOf": required, "additionalProperties": false})
}
