//! How files reach each agent, and which are refused.

use insta::assert_snapshot;
use rejoin_agents::{Attached, Capabilities, Media, Refusal, check_kinds, registry};
use rejoin_core::Agent;

use crate::requests::{
    Asked, CODEX_SESSION, GEMINI_SESSION, OPENCODE_SESSION, QWEN_SESSION, definition, gemini, opencode,
};

fn picture() -> Attached {
    Attached::new("-a, @b c.png", b"\x89PNG\r\n\x1a\n".to_vec(), "hash".into())
}

fn text() -> Attached {
    Attached::new("notes.md", b"@everyone /clear".to_vec(), "hash".into())
}

fn with(asked: Asked, attachments: &[Attached]) -> Asked {
    Asked { attachments: attachments.to_vec(), ..asked }
}

fn pi() -> Asked {
    let mut asked = Asked::of(Agent::named("pi"));
    asked.capabilities.flags.extend(["--mode", "--session"].map(str::to_owned));
    asked
}

#[test]
fn agents_that_read_files_are_given_copies_by_plain_names() {
    let both = [picture(), text()];
    let asked = [
        ("codex", with(Asked::codex(), &both[..1])),
        ("codex, resumed", with(Asked::codex().resuming(CODEX_SESSION), &both[..1])),
        ("gemini", with(Asked::of(gemini()), &both)),
        ("gemini, resumed", with(Asked::of(gemini()).resuming(GEMINI_SESSION), &both)),
        ("opencode", with(Asked::of(opencode()), &both)),
        ("opencode, resumed", with(Asked::of(opencode()).resuming(OPENCODE_SESSION), &both)),
        ("pi", with(pi(), &both)),
        ("qwen", with(Asked::of(Agent::Qwen), &both)),
        ("qwen, resumed", with(Asked::of(Agent::Qwen).resuming(QWEN_SESSION), &both)),
    ];
    let lines = asked.iter().map(|(name, asked)| {
        assert!(asked.launch().unwrap().copies, "{name}");
        format!("{name}:\n  {}", asked.args())
    });
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn nothing_is_copied_where_nothing_is_attached_or_read() {
    for asked in [Asked::codex(), Asked::of(gemini()), Asked::of(opencode()), pi(), Asked::of(Agent::Qwen)] {
        assert!(!asked.launch().unwrap().copies, "{}", asked.agent);
    }
    assert!(!with(Asked::claude(), &[picture()]).launch().unwrap().copies);
}

#[test]
fn an_installation_without_the_flag_says_so() {
    for (asked, flag) in [
        (Asked::claude(), "--input-format"),
        (Asked::codex(), "--image"),
        (Asked::of(gemini()), "--include-directories"),
        (Asked::of(opencode()), "--file"),
        (Asked::of(Agent::Qwen), "--include-directories"),
    ] {
        let mut older = with(asked, &[picture()]);
        assert!(older.capabilities.flags.remove(flag), "{flag}");
        let refusal = older.refusal();
        assert!(matches!(&refusal, Refusal::Unsupported(text) if text.contains(flag)), "{refusal}");
    }
    let mut older = with(Asked::codex().resuming(CODEX_SESSION), &[picture()]);
    assert!(older.capabilities.flags.remove("resume --image"));
    assert!(matches!(older.refusal(), Refusal::Unsupported(_)));
}

#[test]
fn a_kind_an_agent_does_not_take_is_refused_with_those_who_do() {
    let codex = definition(&Agent::Codex);
    assert!(check_kinds(&*codex, &[picture()]).is_ok());
    let refusal = check_kinds(&*codex, &[picture(), text()]).unwrap_err().to_string();
    assert_snapshot!(refusal);
    let blob = Attached::new("x.zip", b"PK\0".to_vec(), "hash".into());
    assert_eq!(blob.media, Media::Other);
    for agent in registry() {
        let refusal = check_kinds(&**agent, std::slice::from_ref(&blob)).unwrap_err().to_string();
        assert!(refusal.contains("no agent takes such a file"), "{refusal}");
    }
}

#[test]
fn sessions_go_elsewhere_only_where_nothing_else_goes_along() {
    let told = |agent: &Agent, capabilities: &Capabilities| definition(agent).session_dir(capabilities, "/d");
    for asked in [Asked::claude(), Asked::codex(), Asked::of(gemini()), Asked::of(Agent::OpenAi)] {
        assert!(told(&asked.agent, &asked.capabilities).is_err(), "{}", asked.agent);
    }
    let mut pi = pi();
    assert!(told(&pi.agent, &pi.capabilities).unwrap_err().to_string().contains("--session-dir"));
    pi.capabilities.flags.insert("--session-dir".into());
    for (mut asked, variable) in [
        (pi, "PI_CODING_AGENT_SESSION_DIR"),
        (Asked::of(opencode()), "OPENCODE_DB"),
        (Asked::of(Agent::Qwen), "QWEN_RUNTIME_DIR"),
    ] {
        let (name, value) = told(&asked.agent, &asked.capabilities).unwrap();
        assert_eq!(name, variable);
        let store = definition(&asked.agent).store(&|asked| (asked == name).then(|| value.clone().into()));
        assert!(store.unwrap().starts_with("/d"), "it is where the sessions are looked for");
        asked.capabilities = Capabilities { version: Some("0.14.9".into()), ..Capabilities::default() };
        assert!(told(&asked.agent, &asked.capabilities).is_err(), "{}", asked.agent);
    }
}
