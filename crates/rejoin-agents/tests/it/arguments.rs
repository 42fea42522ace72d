//! The arguments each kind of turn is launched with.

use insta::assert_snapshot;
use rejoin_core::{Agent, Permissions};

use crate::requests::{Asked, CLAUDE_SESSION, CODEX_SESSION, GEMINI_SESSION};

const NEW: &str = "aa38a5ce-ad0c-4669-bc7b-fd3fafebe9c2";

fn new_claude() -> Asked {
    Asked { new_session: Some(NEW.into()), ..Asked::claude() }
}

fn listed(asked: impl IntoIterator<Item = (&'static str, Asked)>) -> String {
    let lines =
        asked.into_iter().map(|(name, asked)| format!("{name}:\n  {}", asked.args().replace('\n', "\n  ")));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn claude() {
    let told = Asked {
        system_prompt: Some("You are terse.".into()),
        append_system_prompt: Some("--always say please".into()),
        ..Asked::claude()
    };
    assert_snapshot!(listed([
        ("fresh", new_claude()),
        ("resume", Asked::claude().resuming(CLAUDE_SESSION)),
        ("ephemeral", Asked { ephemeral: true, ..Asked::claude() }),
        ("model", Asked { model: Some("sonnet".into()), ..Asked::claude() }),
        ("instructions", told),
        ("read", Asked::claude().level(Permissions::Read)),
        ("edit", Asked::claude().level(Permissions::Edit)),
        ("full", Asked::claude().level(Permissions::Full).resuming(CLAUDE_SESSION)),
        ("can ask", Asked { can_ask: true, ..new_claude() }),
        ("can ask, read", Asked { can_ask: true, ..Asked::claude().level(Permissions::Read) }),
        (
            "extra",
            Asked::claude().extra(&[
                "--effort",
                "high",
                "--max-turns=3",
                "-d",
                "api",
                "--disallowedTools=Bash"
            ])
        ),
    ]));
}

#[test]
fn claude_without_a_word_about_itself() {
    let silent = || Asked { capabilities: rejoin_agents::Capabilities::default(), ..new_claude() };
    assert_snapshot!(listed([
        ("fresh", silent()),
        ("full of signs", silent().prompt("/clear @secret")),
        ("can ask", Asked { can_ask: true, ..silent() }),
    ]));
}

#[test]
fn codex() {
    let given = &[
        "--ignore-rules",
        "-i",
        "a.png",
        "--profile",
        "work",
        "-c",
        "model_reasoning_effort=\"low\"",
        "--oss",
    ];
    assert_snapshot!(listed([
        ("fresh", Asked::codex()),
        ("resume", Asked::codex().resuming(CODEX_SESSION)),
        ("ephemeral", Asked { ephemeral: true, ..Asked::codex() }),
        ("model", Asked { model: Some("gpt-5".into()), ..Asked::codex().resuming(CODEX_SESSION) }),
        ("read", Asked::codex().level(Permissions::Read)),
        ("edit", Asked::codex().level(Permissions::Edit)),
        ("full", Asked::codex().level(Permissions::Full)),
        ("read, resumed", Asked::codex().level(Permissions::Read).resuming(CODEX_SESSION)),
        ("edit, resumed", Asked::codex().level(Permissions::Edit).resuming(CODEX_SESSION)),
        ("extra", Asked::codex().extra(given)),
        ("extra, resumed", Asked::codex().extra(given).resuming(CODEX_SESSION)),
    ]));
}

#[test]
fn codex_leaves_settled_trust_alone_and_warns_of_servers() {
    let home = tempfile::tempdir().unwrap();
    let config =
        "[projects.\"/home/dev/proj\"]\ntrust_level = \"trusted\"\n[mcp_servers.x]\ncommand = \"x\"\n";
    std::fs::write(home.path().join("config.toml"), config).unwrap();
    let store = Some(home.path().to_str().unwrap().to_owned());
    let asked = |level| Asked { store: store.clone(), ..Asked::codex().level(level) };
    assert_snapshot!(listed([
        ("edit", asked(Permissions::Edit)),
        ("full", asked(Permissions::Full)),
        ("agent", asked(Permissions::Agent)),
    ]));
}

#[test]
fn gemini() {
    let fresh = || Asked { new_session: Some(NEW.into()), ..Asked::gemini() };
    assert_snapshot!(listed([
        ("fresh", fresh()),
        ("resume", Asked::gemini().resuming(GEMINI_SESSION)),
        (
            "model",
            Asked { model: Some("gemini-2.5-flash".into()), ..Asked::gemini().resuming(GEMINI_SESSION) }
        ),
        ("read", fresh().level(Permissions::Read)),
        ("edit", fresh().level(Permissions::Edit)),
        ("full", Asked::gemini().level(Permissions::Full).resuming(GEMINI_SESSION)),
        ("extra", fresh().extra(&["--debug", "-e", "none", "--include-directories=../lib", "--skip-trust"])),
        ("full of signs", fresh().prompt("/clear @generalist")),
    ]));
}

#[test]
fn gemini_without_a_word_about_itself() {
    let silent = Asked { capabilities: rejoin_agents::Capabilities::default(), ..Asked::gemini() };
    assert_snapshot!(listed([("fresh", Asked { new_session: Some(NEW.into()), ..silent })]));
}

#[test]
fn demo() {
    let demo = || Asked { new_session: Some(NEW.into()), ..Asked::of(Agent::Demo) };
    assert_snapshot!(listed([
        ("fresh", demo()),
        ("resume", demo().resuming(NEW)),
        ("ephemeral", Asked { ephemeral: true, ..demo() }),
        ("model", Asked { model: Some("demo-2".into()), ..demo().level(Permissions::Edit) }),
    ]));
}

#[test]
fn nothing_is_added_to_the_environment_and_the_prompt_is_never_an_argument() {
    for agent in [Agent::Claude, Agent::Codex, Agent::Demo] {
        let launch = Asked::of(agent).prompt("a very secret prompt").launch().unwrap();
        assert!(launch.env.is_empty());
        assert!(!launch.args.iter().any(|arg| arg.to_string_lossy().contains("secret")));
    }
}
