//! What is refused before anything is spawned.

use rejoin_agents::{Capabilities, Refusal};
use rejoin_core::{Agent, Permissions};

use crate::requests::{Asked, CODEX_SESSION, GEMINI_SESSION, capabilities, gemini};

fn refused_as_permission(asked: &Asked) {
    let refusal = asked.refusal();
    assert!(matches!(refusal, Refusal::Permissions(_)), "{:?}: {refusal:?}", asked.extra_args);
}

fn refused_as_unsupported(asked: &Asked) {
    let refusal = asked.refusal();
    assert!(matches!(refusal, Refusal::Unsupported(_)), "{:?}: {refusal:?}", asked.extra_args);
}

#[test]
fn claudes_permission_flags() {
    for args in [
        &["--dangerously-skip-permissions"][..],
        &["--allow-dangerously-skip-permissions"],
        &["--permission-mode", "plan"],
        &["--permission-mode=bypassPermissions"],
        &["--permission-prompt-tool=x"],
        &["--allowedTools", "Bash"],
        &["--allowed-tools=Bash"],
        &["--tools=default"],
        &["--settings", "x.json"],
        &["--settings={}"],
        &["--setting-sources", "user"],
        &["--effort", "high", "--permission-mode", "plan"],
    ] {
        for level in [Permissions::Agent, Permissions::Full, Permissions::Read] {
            refused_as_permission(&Asked::claude().level(level).extra(args));
        }
    }
}

#[test]
fn claudes_flags_about_sessions_formats_and_places() {
    for args in [
        &["--resume"][..],
        &["--resume=x"],
        &["-r", "x"],
        &["-rx"],
        &["-c"],
        &["-pc"],
        &["--continue"],
        &["--session-id=x"],
        &["--fork-session"],
        &["--no-session-persistence"],
        &["--resume-session-at", "x"],
        &["--output-format=text"],
        &["--input-format", "text"],
        &["-p"],
        &["--print"],
        &["-w"],
        &["--worktree"],
        &["--bg"],
        &["--from-pr", "1"],
        &["-h"],
        &["-v"],
        &["update"],
        &["--verbose", "update"],
        &["--"],
        &["--model\0"],
    ] {
        refused_as_unsupported(&Asked::claude().extra(args));
    }
}

#[test]
fn what_reaches_beyond_a_limited_level() {
    for flag in ["--add-dir=/", "--mcp-config=x", "--plugin-dir=x", "--agents={}", "--chrome", "--ide"] {
        refused_as_permission(&Asked::claude().level(Permissions::Read).extra(&[flag]));
        assert!(Asked::claude().level(Permissions::Agent).extra(&[flag]).launch().is_ok(), "{flag}");
    }
    refused_as_permission(&Asked::claude().level(Permissions::Edit).extra(&["--add-dir=/"]));
    for setting in ["mcp_servers.x.command=\"x\"", "notify=[\"x\"]", "hooks.x=1"] {
        refused_as_permission(&Asked::codex().level(Permissions::Read).extra(&["-c", setting]));
        refused_as_permission(&Asked::codex().level(Permissions::Edit).extra(&["--config", setting]));
        assert!(
            Asked::codex().level(Permissions::Full).extra(&["-c", setting]).launch().is_ok(),
            "{setting}"
        );
    }
}

#[test]
fn codex_permission_flags() {
    for args in [
        &["-s", "read-only"][..],
        &["-sdanger-full-access"],
        &["-s=danger-full-access"],
        &["--sandbox", "workspace-write"],
        &["--sandbox=workspace-write"],
        &["--yolo"],
        &["--full-auto"],
        &["--dangerously-bypass-approvals-and-sandbox"],
        &["--dangerously-bypass-hook-trust"],
        &["--approve-for-me"],
        &["-a", "never"],
        &["--add-dir=/"],
        &["-c", "sandbox_mode=\"danger-full-access\""],
        &["-csandbox_mode=x"],
        &["-c=sandbox_mode=x"],
        &["--config=sandbox_workspace_write.network_access=true"],
        &["--config", "approval_policy=never"],
        &["-c", "default_permissions=\":workspace\""],
        &["-c", "projects={\"/x\"={trust_level=\"trusted\"}}"],
    ] {
        refused_as_permission(&Asked::codex().extra(args));
    }
}

#[test]
fn codex_flags_about_sessions_formats_and_places() {
    for args in [
        &["--json"][..],
        &["--last"],
        &["--all"],
        &["--ephemeral"],
        &["-C", "/"],
        &["-C/"],
        &["--cd=/"],
        &["--worktree"],
        &["--color", "always"],
        &["-h"],
        &["resume"],
        &["--ignore-rules", "resume"],
        &["-"],
        &["--"],
    ] {
        refused_as_unsupported(&Asked::codex().extra(args));
    }
}

#[test]
fn geminis_permission_flags() {
    for args in [
        &["-y"][..],
        &["-dy"],
        &["-s"],
        &["--yolo"],
        &["--yolo=true"],
        &["--approval-mode", "yolo"],
        &["--approval-mode=yolo"],
        &["--approvalMode=yolo"],
        &["--allowed-tools=run_shell_command"],
        &["--allowedTools", "run_shell_command"],
        &["--policy=x.toml"],
        &["--admin-policy=x.toml"],
        &["--adminPolicy=x.toml"],
        &["--sandbox"],
        &["--no-sandbox"],
    ] {
        for level in [Permissions::Agent, Permissions::Full, Permissions::Read] {
            refused_as_permission(&Asked::gemini().level(level).extra(args));
        }
    }
    for flag in
        ["--include-directories=/", "--includeDirectories=/", "--extensions=x", "--skip-trust", "--skipTrust"]
    {
        for level in [Permissions::Read, Permissions::Edit] {
            refused_as_permission(&Asked::gemini().level(level).extra(&[flag]));
        }
        assert!(Asked::gemini().level(Permissions::Full).extra(&[flag]).launch().is_ok(), "{flag}");
    }
}

#[test]
fn geminis_flags_about_sessions_formats_and_places() {
    for args in [
        &["--resume"][..],
        &["-r", "latest"],
        &["-rlatest"],
        &["--session-id=x"],
        &["--sessionId=x"],
        &["--session-file", "x"],
        &["--list-sessions"],
        &["--delete-session=1"],
        &["-o", "text"],
        &["-otext"],
        &["--output-format=text"],
        &["--outputFormat=text"],
        &["-p", "x"],
        &["--prompt=x"],
        &["-i", "x"],
        &["-w"],
        &["--worktree=x"],
        &["--acp"],
        &["--experimental-acp"],
        &["-l"],
        &["-v"],
        &["-h"],
        &["mcp"],
        &["--debug", "mcp"],
        &["--"],
    ] {
        refused_as_unsupported(&Asked::gemini().extra(args));
    }
}

#[test]
fn what_gemini_cannot_do() {
    let without = |flag: &str| {
        let mut known = capabilities(&gemini());
        known.flags.remove(flag);
        Asked { capabilities: known, ..Asked::gemini() }
    };
    refused_as_unsupported(&without("stream-json"));
    for level in [Permissions::Read, Permissions::Edit, Permissions::Full] {
        refused_as_permission(&without("--approval-mode").level(level));
    }
    refused_as_permission(&without("--admin-policy").level(Permissions::Read));
    refused_as_permission(&without("--admin-policy").level(Permissions::Edit));
    assert!(without("--admin-policy").level(Permissions::Full).launch().is_ok());
    let silent = || Asked { capabilities: Capabilities::default(), ..Asked::gemini() };
    refused_as_unsupported(&silent().resuming(GEMINI_SESSION));
    refused_as_unsupported(&Asked { ephemeral: true, ..silent() });
    refused_as_unsupported(&Asked { append_system_prompt: Some("x".into()), ..Asked::gemini() });
    refused_as_unsupported(&Asked { model: Some("-y".into()), ..Asked::gemini() });
    refused_as_unsupported(&Asked::gemini().prompt(" \n"));
    assert!(Asked::gemini().prompt(&"x".repeat(8 << 20)).launch().is_ok());
    refused_as_unsupported(&Asked::gemini().prompt(&"x".repeat((8 << 20) + 1)));
}

#[test]
fn an_empty_prompt() {
    for prompt in ["", " ", "\n\t \u{feff}"] {
        refused_as_unsupported(&Asked::claude().prompt(prompt));
        refused_as_unsupported(&Asked::codex().prompt(prompt));
    }
}

#[test]
fn a_prompt_that_codex_would_not_read() {
    assert!(Asked::codex().prompt(&"é".repeat(1 << 20)).launch().is_ok());
    let asked = Asked::codex().prompt(&"é".repeat((1 << 20) + 1));
    assert!(asked.refusal().to_string().contains("1048577 characters"));
}

#[test]
fn instructions_that_do_not_fit() {
    let with = |text: String| Asked { append_system_prompt: Some(text), ..Asked::claude() };
    assert!(with("x".repeat(100 * 1024)).launch().is_ok());
    assert!(with("x".repeat(100 * 1024 + 1)).refusal().to_string().contains("101 KiB"));
    refused_as_unsupported(&with("a\0b".into()));
    refused_as_unsupported(&Asked { append_system_prompt: Some("x".into()), ..Asked::codex() });
}

#[test]
fn a_model_that_is_none() {
    for model in ["", "--yolo", "a\nb"] {
        for agent in [Agent::Claude, Agent::Codex] {
            refused_as_unsupported(&Asked { model: Some(model.into()), ..Asked::of(agent) });
        }
    }
}

#[test]
fn what_the_installation_cannot_do() {
    let without = |agent: Agent, flag: &str| {
        let mut known = capabilities(&agent);
        known.flags.remove(flag);
        Asked { capabilities: known, ..Asked::of(agent) }
    };
    refused_as_permission(&without(Agent::Claude, "--tools").level(Permissions::Read));
    refused_as_permission(&without(Agent::Claude, "--strict-mcp-config").level(Permissions::Read));
    refused_as_permission(&without(Agent::Claude, "--settings").level(Permissions::Read));
    refused_as_permission(&without(Agent::Claude, "--permission-mode").level(Permissions::Edit));
    refused_as_permission(&without(Agent::Claude, "--permission-mode").level(Permissions::Full));
    refused_as_unsupported(&Asked {
        system_prompt: Some("x".into()),
        ..without(Agent::Claude, "--system-prompt")
    });
    for agent in [Agent::Claude, Agent::Codex] {
        let unknown = Asked { capabilities: Capabilities::default(), ..Asked::of(agent) };
        refused_as_unsupported(&Asked { ephemeral: true, ..unknown });
    }
    let cannot = Asked { capabilities: Capabilities::default(), ..Asked::codex().resuming(CODEX_SESSION) };
    refused_as_unsupported(&cannot);
    refused_as_unsupported(&Asked { ephemeral: true, ..Asked::codex().resuming(CODEX_SESSION) });
}

#[test]
fn the_demo_agent_takes_nothing_and_needs_a_place() {
    refused_as_unsupported(&Asked::of(Agent::Demo).extra(&["--x"]));
    refused_as_unsupported(&Asked { store: None, ..Asked::of(Agent::Demo) });
}
