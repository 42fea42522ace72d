//! How it is launched, and what is refused before.

use std::ffi::OsString;
use std::fs;

use insta::assert_snapshot;
use rejoin_agents::{Capabilities, Refusal, Step};
use rejoin_core::Permissions;

use super::{pi, put, resumed, without};
use crate::requests::Asked;

#[test]
fn arguments() {
    let told = Asked {
        system_prompt: Some("You are terse.".into()),
        append_system_prompt: Some("--always say\nplease".into()),
        ..pi()
    };
    let listed = [
        ("fresh", pi()),
        ("resume", resumed()),
        ("ephemeral", Asked { ephemeral: true, ..pi() }),
        ("model", Asked { model: Some("openai/gpt-5:high".into()), ..resumed() }),
        ("instructions", told),
        ("read", pi().level(Permissions::Read)),
        ("read, resumed", resumed().level(Permissions::Read)),
        ("full", pi().level(Permissions::Full)),
        (
            "extra",
            pi().extra(&["--thinking", "high", "-ne", "--plan", "x", "--models", "a,b", "-nc", "--verbose"]),
        ),
    ];
    let lines = listed.map(|(name, asked)| format!("{name}:\n  {}", asked.args().replace('\n', "\n  ")));
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn it_is_kept_from_the_network_and_the_prompt_is_never_an_argument() {
    let launch = pi().prompt("a very secret prompt").launch().unwrap();
    assert_eq!(launch.env, [("PI_OFFLINE".to_owned(), "1".to_owned())]);
    assert!(!launch.args.iter().any(|arg| arg.to_string_lossy().contains("secret")));
}

fn written(asked: &Asked) -> (String, bool, usize) {
    let mut driver = asked.driver();
    let launch = &driver.process;
    let flagged = launch.args.contains(&OsString::from("--no-prompt-templates"));
    let warnings = launch.warnings.len();
    let mut steps = Vec::new();
    driver.start(&mut steps);
    match &steps[..] {
        [Step::Write(bytes), Step::CloseStdin] => {
            (String::from_utf8(bytes.clone()).unwrap(), flagged, warnings)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_prompt_is_text_whatever_it_begins_with() {
    for prompt in ["-rf x", "--help", "@secret", "!ls", "y", "a /b", "é"] {
        assert_eq!(written(&pi().prompt(prompt)), (prompt.to_owned(), false, 0));
        assert_eq!(written(&resumed().prompt(prompt)), (format!("\n{prompt}"), false, 0));
    }
    let home = tempfile::tempdir().unwrap();
    let at =
        |prompt: &str| Asked { store: Some(home.path().to_str().unwrap().to_owned()), ..pi().prompt(prompt) };
    // Nobody knows what there is.
    assert_eq!(written(&at("/x y")), ("\u{200b}/x y".into(), false, 1));
    // No extensions: templates can be left out.
    fs::write(home.path().join("auth.json"), "{}").unwrap();
    assert_eq!(written(&at("/x y")), ("/x y".into(), true, 0));
    assert_eq!(written(&at("/skill:x y")), ("\u{200b}/skill:x y".into(), false, 1));
    assert_eq!(written(&at(" \n/skill:x")), ("\u{200b}/skill:x".into(), false, 1));
    assert_eq!(written(&at("/x").extra(&["-e", "p"])), ("\u{200b}/x".into(), false, 1));
    let older = Asked { capabilities: without("--no-prompt-templates"), ..at("/x") };
    assert_eq!(written(&older), ("\u{200b}/x".into(), false, 1));
    // Extensions.
    fs::write(home.path().join("settings.json"), r#"{"packages":["npm:x"]}"#).unwrap();
    assert_eq!(written(&at("/x")), ("\u{200b}/x".into(), false, 1));
    assert_eq!(written(&at("/x").level(Permissions::Read)), ("/x".into(), true, 0));
    assert_eq!(written(&at("/x").extra(&["--no-extensions"])), ("/x".into(), true, 0));
    fs::write(home.path().join("settings.json"), r#"{"packages":[]}"#).unwrap();
    assert_eq!(written(&at("/x")), ("/x".into(), true, 0));
    fs::create_dir_all(home.path().join("extensions/x")).unwrap();
    assert_eq!(written(&at("/x")), ("\u{200b}/x".into(), false, 1));
}

#[test]
fn instructions_that_name_a_file_are_not_replaced_by_it() {
    let asked = Asked { append_system_prompt: Some("/etc/passwd".into()), ..pi() };
    assert_eq!(asked.launch().unwrap().args.last(), Some(&OsString::from("/etc/passwd\n")));
}

#[test]
fn what_would_change_permissions_is_refused() {
    for args in [
        &["--tools", "bash"][..],
        &["-t", "bash"],
        &["-nt"],
        &["--no-tools"],
        &["-nbt"],
        &["--tools=bash"],
        &["--thinking", "high", "--exclude-tools", "read"],
        &["--approve"],
        &["-a"],
        &["-na"],
        &["-xt", "read"],
    ] {
        for level in [Permissions::Agent, Permissions::Full, Permissions::Read] {
            let refusal = pi().level(level).extra(args).refusal();
            assert!(matches!(refusal, Refusal::Permissions(_)), "{args:?}: {refusal:?}");
        }
    }
    assert!(matches!(pi().level(Permissions::Edit).refusal(), Refusal::Permissions(_)));
    for args in [&["-e", "x"][..], &["--extension", "x"]] {
        assert!(matches!(pi().level(Permissions::Read).extra(args).refusal(), Refusal::Permissions(_)));
        assert!(pi().level(Permissions::Full).extra(args).launch().is_ok());
    }
    for flag in ["--tools", "--no-extensions", "--offline"] {
        let asked = Asked { capabilities: without(flag), ..pi().level(Permissions::Read) };
        assert!(matches!(asked.refusal(), Refusal::Permissions(_)), "{flag}");
    }
}

#[test]
fn a_project_that_brings_a_program_cannot_be_limited() {
    let project = tempfile::tempdir().unwrap();
    let settings = project.path().join(".pi/settings.json");
    let asked = |level| Asked { dir: project.path().to_str().unwrap().to_owned(), ..pi().level(level) };
    for (text, fine) in [
        (r#"{"theme":"dark"}"#.to_owned(), true),
        (r#"{"npmCommand":["./x"]}"#.to_owned(), false),
        ("{".to_owned(), false),
        (format!("{}{{}}", " ".repeat(5 << 20)), false),
    ] {
        put(&settings, &text);
        assert_eq!(asked(Permissions::Read).launch().is_ok(), fine);
        // Newer ones leave it out.
        let mut newer = asked(Permissions::Read);
        newer.capabilities.flags.extend(["--no-approve", "--no-mcp"].map(str::to_owned));
        assert!(newer.args().contains(" --no-approve --no-mcp "));
        assert!(asked(Permissions::Agent).launch().is_ok());
    }
}

#[test]
fn what_belongs_to_rejoin_is_refused() {
    for args in [
        &["--session", "x"][..],
        &["--session=x"],
        &["--session-dir", "x"],
        &["--no-session"],
        &["-c"],
        &["--continue"],
        &["-r"],
        &["--resume"],
        &["--fork", "x"],
        &["--mode", "text"],
        &["-p"],
        &["-p", "hello"],
        &["--print"],
        &["--export", "x"],
        &["--list-models"],
        &["-h"],
        &["--version"],
        &["--api-key", "x"],
        &["@secret"],
        &["--plan", "@secret"],
        &["hello"],
        &["--verbose", "hello"],
        &["--"],
    ] {
        let refusal = pi().extra(args).refusal();
        assert!(matches!(refusal, Refusal::Unsupported(_)), "{args:?}: {refusal:?}");
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let unsupported = |asked: Asked| assert!(matches!(asked.refusal(), Refusal::Unsupported(_)));
    for prompt in ["", " ", "\n\t \u{feff}"] {
        unsupported(pi().prompt(prompt));
    }
    for model in ["", "--x", "a\nb"] {
        unsupported(Asked { model: Some(model.into()), ..pi() });
    }
    unsupported(Asked { ephemeral: true, ..resumed() });
    unsupported(Asked { capabilities: Capabilities::default(), ..resumed() });
    unsupported(Asked { capabilities: Capabilities::default(), ephemeral: true, ..pi() });
    for flag in ["--system-prompt", "--append-system-prompt"] {
        let (system, append) = if flag == "--system-prompt" { ("x", None) } else { ("", Some("x")) };
        unsupported(Asked {
            capabilities: without(flag),
            system_prompt: Some(system.to_owned()).filter(|text| !text.is_empty()),
            append_system_prompt: append.map(str::to_owned),
            ..pi()
        });
    }
}
