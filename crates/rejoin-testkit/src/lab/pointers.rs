//! How each real agent is pointed at the scripted model: a few variables and a settings file in its home.
//!
//! Every agent gets what a user of it would have: a key, a model that takes images, no telemetry, no updates, few retries where it
//! lets itself be told. Nothing that a driver should say itself is said here.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

/// The agents this laboratory knows how to point at the model.
pub(crate) const REAL_AGENTS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "pi", "qwen"];

const FAKE_KEY: &str = "fake-key-for-tests";
const MODEL: &str = "mock-model";
/// Others to choose from, for agents that take only those they were told of.
const CHOICES: [&str; 3] = [MODEL, "mock-large", "mock-small"];

/// The variables one agent needs; none for a name that is no agent's.
pub(super) fn variables(agent: &str, model_url: &str) -> Vec<(&'static str, String)> {
    let url = || model_url.to_owned();
    let fixed: &[(&str, &str)] = match agent {
        "claude" => &[
            ("ANTHROPIC_API_KEY", FAKE_KEY),
            // Without it Claude Code refuses to skip permissions as root.
            ("IS_SANDBOX", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ],
        "codex" => &[("REJOIN_TEST_KEY", FAKE_KEY)],
        "gemini" => &[("GEMINI_API_KEY", FAKE_KEY)],
        "opencode" => &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        "pi" => &[("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0"), ("PI_SKIP_VERSION_CHECK", "1")],
        "qwen" => &[("OPENAI_API_KEY", FAKE_KEY), ("OPENAI_MODEL", MODEL)],
        _ => &[],
    };
    let mut all: Vec<_> = fixed.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    match agent {
        "claude" => all.push(("ANTHROPIC_BASE_URL", url())),
        "gemini" => all.push(("GOOGLE_GEMINI_BASE_URL", url())),
        "qwen" => all.push(("OPENAI_BASE_URL", format!("{model_url}/v1"))),
        _ => {}
    }
    all
}

/// Writes the settings of all agents below `home`; directories under `trusted` are trusted where that matters.
pub(super) fn write_settings(home: &Path, trusted: &Path, model_url: &str) -> io::Result<()> {
    let files = [
        (".codex/config.toml", codex(model_url)),
        (".gemini/settings.json", gemini().to_string()),
        (".gemini/trustedFolders.json", json!({trusted.to_string_lossy(): "TRUST_FOLDER"}).to_string()),
        (".config/opencode/opencode.json", opencode(model_url).to_string()),
        (".pi/agent/models.json", pi_models(model_url).to_string()),
        (".pi/agent/settings.json", pi().to_string()),
        (".qwen/settings.json", qwen().to_string()),
    ];
    for (name, text) in files {
        let file = home.join(name);
        fs::create_dir_all(file.parent().unwrap_or(home))?;
        fs::write(file, text)?;
    }
    Ok(())
}

fn codex(model_url: &str) -> String {
    format!(
        r#"model = "{MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "The scripted model"
base_url = "{model_url}/v1"
wire_api = "responses"
env_key = "REJOIN_TEST_KEY"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[features]
plugins = false
# Otherwise a model that is gone is waited for without end.
unbounded_connection_retries = false
"#
    )
}

/// The address of the model alone would make Gemini CLI ask for a gateway's login. The clean-up of old sessions
/// stays as it is by default: it is one of the things to be tested.
fn gemini() -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
}

/// Only our provider: the keys of other agents would bring theirs, and one is always there.
fn opencode(model_url: &str) -> Value {
    let about = json!({
        "name": "Scripted", "attachment": true,
        "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "The scripted model",
        "options": {"baseURL": format!("{model_url}/v1"), "apiKey": FAKE_KEY},
        "models": CHOICES.map(|name| (name.to_owned(), about.clone())).into_iter().collect::<Value>(),
    });
    let model = format!("scripted/{MODEL}");
    json!({
        "model": model, "small_model": model, "enabled_providers": ["scripted"],
        "provider": {"scripted": provider}, "autoupdate": false, "share": "disabled",
    })
}

fn pi_models(model_url: &str) -> Value {
    // Older versions want all of it.
    let about = |name: &str| {
        json!({
            "id": name, "name": name, "reasoning": false, "input": ["text", "image"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 128_000, "maxTokens": 16_384,
        })
    };
    let provider = json!({
        "baseUrl": format!("{model_url}/v1"), "api": "openai-completions", "apiKey": FAKE_KEY,
        "models": CHOICES.map(about),
    });
    json!({"providers": {"scripted": provider}})
}

/// The default model: the keys of other agents would bring other providers.
fn pi() -> Value {
    json!({
        "defaultProvider": "scripted", "defaultModel": MODEL,
        "retry": {"maxRetries": 1, "baseDelayMs": 200, "provider": {"maxRetries": 0}},
    })
}

fn qwen() -> Value {
    json!({
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"generationConfig": {"maxRetries": 0, "modalities": {"image": true}}},
        "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_variables_and_no_two_share_one() {
        let all: Vec<_> = REAL_AGENTS.iter().map(|agent| variables(agent, "http://x")).collect();
        assert!(all.iter().all(|variables| !variables.is_empty()));
        let mut names: Vec<_> = all.iter().flatten().map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
