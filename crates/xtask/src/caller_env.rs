//! What of the caller's environment must not reach a test: keys, addresses and habits of real agents, and the
//! signs of an agent that runs us.

use std::env;
use std::process::Command;

const PREFIXES: [&str; 14] = [
    "ANTHROPIC_",
    "CLAUDE",
    "CODEX_",
    "OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "VERTEX_",
    "OPENCODE",
    "OPENROUTER_",
    "PI_",
    "QWEN_",
    "DASHSCOPE_",
    "AWS_",
    "REJOIN_",
];
const PROXIES: [&str; 8] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];
/// Settings of the tests themselves.
const KEPT_PREFIX: &str = "REJOIN_TEST_";

/// Removes them from a command's environment. Cargo itself may need a proxy, so proxies stay here; see
/// [`remove_proxies`].
pub(crate) fn remove_agent_settings(command: &mut Command) {
    for name in env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| is_agents(name))
    {
        command.env_remove(name);
    }
}

/// Removes the proxies too: an agent would send its loopback requests through them.
pub(crate) fn remove_proxies(command: &mut Command) {
    for name in PROXIES {
        command.env_remove(name);
    }
}

fn is_agents(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !name.starts_with(KEPT_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_signs_of_agents_go_and_the_rest_stays() {
        for name in ["CLAUDECODE", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "REJOIN_HOME"] {
            assert!(is_agents(name), "{name}");
        }
        for name in ["PATH", "CI", "PIP_INDEX_URL", "CARGO_HOME", "REJOIN_TEST_CACHE"] {
            assert!(!is_agents(name), "{name}");
        }
    }
}
