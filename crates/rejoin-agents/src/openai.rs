//! Any OpenAI-compatible chat endpoint, as an agent without tools and without sessions: the whole
//! history goes along as messages every time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rejoin_core::compose::{Told, mention};
use rejoin_core::{Agent, InvalidSessionId, Kind, Part, SessionId};
use serde_json::{Value, json};

use crate::{
    About, Attached, Capabilities, Definition, Found, Media, ProbeAnswer, Process, ProcessRequest, Refusal,
    TurnRequest, checks, embedded,
};

/// What is kept of a tool's output in a message: the model can look at no more of it.
const TOOL_OUTPUT: usize = 4 << 10;

/// The endpoint.
pub(crate) struct OpenAi;

impl Definition for OpenAi {
    fn agent(&self) -> Agent {
        Agent::OpenAi
    }

    fn about(&self) -> About<'_> {
        About {
            title: "OpenAI-compatible endpoint",
            command: "rejoin",
            install_hint: "it is part of rejoin; set base_url, model and key_env in [agents.openai] of the configuration",
            takes: &[Media::Image, Media::Text],
            ..About::default()
        }
    }

    fn embedded(&self) -> Option<&'static str> {
        Some("__openai-agent")
    }

    fn learn(&self, _answers: &[ProbeAnswer]) -> Capabilities {
        Capabilities {
            product: "rejoin openai".into(),
            version: Some(env!("CARGO_PKG_VERSION").into()),
            ephemeral: true,
            ..Capabilities::default()
        }
    }

    fn store(&self, _env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        None
    }

    fn session_id(&self, text: &str) -> Result<SessionId, InvalidSessionId> {
        Err(InvalidSessionId::new(self.agent(), text, "nothing: an endpoint keeps no sessions"))
    }

    fn takes_instructions(&self, _capabilities: &Capabilities) -> bool {
        true
    }

    fn takes_messages(&self) -> bool {
        true
    }

    fn process(&self, request: &ProcessRequest<'_>) -> Result<Process, Refusal> {
        if let Some(extra) = request.extra_args.first() {
            return Err(Refusal::Unsupported(format!("an endpoint takes no arguments: {extra:?}")));
        }
        let Some(endpoint) = request.endpoint else {
            let text =
                "no address is configured for openai: set base_url in [agents.openai] of the configuration";
            return Err(Refusal::Unsupported(text.into()));
        };
        let Some(model) = request.turn.model else {
            let text = "no model is named for openai: use --model, or set model in [agents.openai]";
            return Err(Refusal::Unsupported(text.into()));
        };
        checks::model(model)?;
        let (endpoint, model) = (endpoint.clone(), model.to_owned());
        let instructions: Vec<String> = [request.system_prompt, request.append_system_prompt]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        let words = Box::new(move |turn: &TurnRequest<'_>| {
            json!({
                "type": "prompt",
                "base_url": endpoint.base_url,
                "key_env": endpoint.key_env,
                "model": model,
                "messages": messages(turn, &instructions),
            })
        });
        // No tool is offered, so every permission level holds.
        Ok(Process::new(Vec::new(), embedded::driver(self.agent(), words)))
    }

    fn session_dir(&self, _: &Capabilities, _: &str) -> Result<(String, String), Refusal> {
        Err(Refusal::Unsupported("an endpoint keeps no sessions; leave --session-dir out".into()))
    }

    fn find_session(&self, _store: &Path, _dir: &Path, _session: &SessionId) -> Found {
        Found::Nowhere
    }
}

/// Instructions, history and prompt as the messages of a chat.
fn messages(turn: &TurnRequest<'_>, instructions: &[String]) -> Vec<Value> {
    let mut list = Vec::new();
    for text in instructions {
        list.push(json!({ "role": "system", "content": text }));
    }
    if turn.composed.lossy() {
        let text = "Earlier parts of this conversation were left out to fit.";
        list.push(json!({ "role": "system", "content": text }));
    }
    for told in turn.composed.history() {
        list.extend(told_turn(told));
    }
    let prompt = turn.composed.prompt();
    let content = if turn.attachments.is_empty() {
        json!(prompt)
    } else {
        turn.attachments.iter().flat_map(parts).chain([json!({ "type": "text", "text": prompt })]).collect()
    };
    list.push(json!({ "role": "user", "content": content }));
    list
}

/// A file as parts of a message: its name, and what it holds.
fn parts(attached: &Attached) -> [Value; 2] {
    let name = json!({ "type": "text", "text": format!("Attached: {}", attached.about.name) });
    let held = match attached.media {
        Media::Text => json!({ "type": "text", "text": attached.text() }),
        _ => json!({ "type": "image_url", "image_url": { "url": attached.data_url() } }),
    };
    [name, held]
}

/// A turn as what the user said and what came of it.
fn told_turn(told: &Told) -> Vec<Value> {
    let mut list = Vec::new();
    let mut answer = String::new();
    let answered = told.answered_calls();
    for message in &told.messages {
        if message.kind == Kind::User {
            let files = message.attachments().map(|attachment| mention(attachment, false));
            let content: Vec<String> = [message.text()].into_iter().chain(files).collect();
            list.push(json!({ "role": "user", "content": content.join("\n") }));
            continue;
        }
        for part in &message.parts {
            let text = match part {
                Part::Text { text, thought: false } => text.clone(),
                Part::Call { function_call } => {
                    let known = answered.as_ref().is_none_or(|ids| ids.contains(function_call.id.as_str()));
                    let outcome = if known { "" } else { ", outcome unknown" };
                    format!("[used {}: {}{outcome}]", function_call.name, function_call.args)
                }
                Part::Response { function_response } => {
                    let output = &function_response.response.output;
                    let cut = output.floor_char_boundary(TOOL_OUTPUT);
                    let more = if cut < output.len() { " … (shortened)" } else { "" };
                    format!("[it gave: {}{more}]", &output[..cut])
                }
                Part::Text { .. } | Part::Attachment { .. } | Part::Other(_) => continue,
            };
            if !answer.is_empty() && !text.is_empty() {
                answer.push_str("\n\n");
            }
            answer.push_str(&text);
        }
    }
    match told.state {
        rejoin_core::TurnState::Completed => {}
        rejoin_core::TurnState::Failed => answer.push_str("\n\n[this turn failed]"),
        rejoin_core::TurnState::Cut => answer.push_str("\n\n[this turn was cut off]"),
    }
    if !answer.trim().is_empty() {
        list.push(json!({ "role": "assistant", "content": answer.trim_start() }));
    }
    list
}
