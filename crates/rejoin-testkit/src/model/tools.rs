//! The tools an agent offers, and the one that fits what the script asks for.

use serde_json::{Value, json};

use super::protocol::Part;
use super::script::ToolCall;

/// A tool as the agent describes it.
pub(super) struct Tool {
    pub(super) name: String,
    /// The names of its parameters, as far as they are told.
    pub(super) fields: Vec<String>,
}

impl Tool {
    fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|name| name == field)
    }
}

/// Reads a list of tools in any of the protocols' shapes.
pub(super) fn offered(tools: &Value) -> Vec<Tool> {
    tools.as_array().map(|tools| tools.iter().filter_map(read).collect()).unwrap_or_default()
}

fn read(tool: &Value) -> Option<Tool> {
    let tool = if tool["function"].is_object() { &tool["function"] } else { tool };
    let name = tool["name"].as_str().or_else(|| tool["type"].as_str())?.to_owned();
    let schema = ["parameters", "input_schema", "parametersJsonSchema"]
        .iter()
        .find_map(|key| tool[key]["properties"].as_object());
    Some(Tool { name, fields: schema.map(|fields| fields.keys().cloned().collect()).unwrap_or_default() })
}

/// The call in the terms of Gemini CLI, OpenCode, Pi and Qwen Code, if one of the offered tools fits.
pub(super) fn fitting(call: &ToolCall, offered: &[Tool]) -> Option<Part> {
    let named = |names: &[&str]| offered.iter().find(|tool| names.contains(&tool.name.as_str()));
    if let (ToolCall::Write(path), Some(tool)) = (call, named(&["write_file", "write"])) {
        let field = ["file_path", "filePath", "path"].into_iter().find(|field| tool.has(field))?;
        let input = json!({field: path, "content": "written\n"});
        return Some(Part::Call { tool: tool.name.clone(), input });
    }
    let Some(command) = shell_command(call) else {
        let tool = named(&["ask_user", "ask_user_question", "question"])?;
        let input = json!({"questions": [{
            "question": "Which colour?", "header": "Colour",
            "options": [
                {"label": "Red", "description": "the red one"},
                {"label": "Blue", "description": "the blue one"},
            ],
        }]});
        return Some(Part::Call { tool: tool.name.clone(), input });
    };
    let tool = named(&["run_shell_command", "bash", "shell"])?;
    let mut input = json!({"command": command});
    if tool.has("description") {
        input["description"] = "scripted".into();
    }
    if tool.has("is_background") {
        input["is_background"] = false.into();
    }
    Some(Part::Call { tool: tool.name.clone(), input })
}

/// Qwen Code refuses a command whose first word is `sleep`.
fn shell_command(call: &ToolCall) -> Option<String> {
    let command = call.command()?;
    Some(if command.starts_with("sleep ") { format!("true; {command}") } else { command })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(call: &ToolCall, tools: &Value) -> Option<Value> {
        let Part::Call { tool, input } = fitting(call, &offered(tools))? else { return None };
        Some(json!([tool, input]))
    }

    #[test]
    fn every_shape_of_a_list_is_read() {
        let list = json!([
            {"name": "a", "input_schema": {"properties": {"x": {}}}},
            {"type": "function", "function": {"name": "b", "parameters": {"properties": {"y": {}}}}},
            {"name": "c", "parametersJsonSchema": {"properties": {"z": {}}}},
            {"type": "web_search"},
        ]);
        let read: Vec<(String, Vec<String>)> =
            offered(&list).into_iter().map(|tool| (tool.name, tool.fields)).collect();
        let field = |name: &str| vec![name.to_owned()];
        assert_eq!(read[0], ("a".to_owned(), field("x")));
        assert_eq!(read[1], ("b".to_owned(), field("y")));
        assert_eq!(read[2], ("c".to_owned(), field("z")));
        assert_eq!(read[3], ("web_search".to_owned(), vec![]));
    }

    #[test]
    fn the_input_follows_the_tools_own_parameters() {
        let pi = json!([{"name": "bash"}, {"name": "write", "parameters": {"properties": {"path": {}}}}]);
        let echo = ToolCall::Echo("x".to_owned());
        assert_eq!(call(&echo, &pi), Some(json!(["bash", {"command": "echo x"}])));
        let write = ToolCall::Write("/a".to_owned());
        assert_eq!(call(&write, &pi), Some(json!(["write", {"path": "/a", "content": "written\n"}])));
        let shell = json!([{
            "name": "run_shell_command",
            "parameters": {"properties": {"command": {}, "description": {}, "is_background": {}}},
        }]);
        let input = json!({
            "command": "true; sleep 5; echo slept", "description": "scripted", "is_background": false,
        });
        assert_eq!(call(&ToolCall::Sleep(5), &shell), Some(json!(["run_shell_command", input])));
        assert_eq!(call(&write, &shell).unwrap()[1]["command"], "echo written > /a");
        assert_eq!(call(&ToolCall::Ask, &shell), None);
        assert_eq!(call(&echo, &json!([])), None);
    }
}
