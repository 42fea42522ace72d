//! How OpenCode is kept to a level.
//!
//! Its rules (1.18.33) come from many files, and those of a profile ("agent" in its words) win over all
//! general ones. So a limited turn runs as a profile of its own that nobody else has rules for,
//! given by environment variable; the general rules say the same, should that profile be ignored.
//! Tools that are denied as a whole are not even offered to the model.

use serde_json::{Map, Value, json};

use super::config::Config;

/// What a limited turn needs.
pub(super) struct Limits {
    /// The profile to run as.
    pub(super) profile: String,
    /// What to put over the user's configuration.
    pub(super) config: Value,
    /// The rules that hold for every profile.
    pub(super) env: (String, String),
}

/// The limits of a turn that may only look (`edits` false) or also change files of the project.
/// `mark` makes the profile's name one of its kind.
pub(super) fn limits(edits: bool, mark: &str, config: &Config) -> Limits {
    let profile = format!("rejoin-{}-{mark}", if edits { "edit" } else { "read" });
    let rules = rules(edits);
    let servers: Map<String, Value> =
        config.servers().into_iter().map(|name| (name.to_owned(), json!({ "enabled": false }))).collect();
    let config = json!({
        "agent": { profile.as_str(): {
            "mode": "primary",
            "description": "limited by rejoin",
            "permission": rules,
        } },
        // All of these run commands that the model can bring about.
        "mcp": servers,
        "formatter": false,
        "lsp": false,
        // A denied call is told to the model and does not end the turn.
        "experimental": { "continue_loop_on_deny": true },
    });
    Limits { profile, config, env: ("OPENCODE_PERMISSION".to_owned(), rules.to_string()) }
}

/// Of several rules that match, the last one counts; their order is that of the alphabet.
fn rules(edits: bool) -> Value {
    let edit = if edits {
        // What is written there would be run by the next turn.
        json!({ "*": "allow", "*.opencode/*": "deny", "*opencode.json": "deny", "*opencode.jsonc": "deny" })
    } else {
        json!("deny")
    };
    json!({
        "*": "deny",
        "bash": "deny",
        "codesearch": "deny",
        "doom_loop": "deny",
        "edit": edit,
        "external_directory": "deny",
        "glob": "allow",
        "grep": "allow",
        // It tells the model that the tool it wants is not there.
        "invalid": "allow",
        "list": "allow",
        "lsp": "deny",
        "plan_enter": "deny",
        "plan_exit": "deny",
        "question": "deny",
        "read": { "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" },
        "skill": "allow",
        // A subagent has rules of its own.
        "task": "deny",
        "todoread": "allow",
        "todowrite": "allow",
        "webfetch": "deny",
        "websearch": "deny",
    })
}

/// Everything is allowed; only what waits for somebody is not.
pub(super) fn everything() -> (String, String) {
    let rules = json!({ "*": "allow", "plan_enter": "deny", "plan_exit": "deny", "question": "deny" });
    ("OPENCODE_PERMISSION".to_owned(), rules.to_string())
}
