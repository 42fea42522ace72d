//! Qwen Code: its driver on recordings of the real program, how it is launched, where it stores.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rejoin_agents::{Capabilities, Found, Line, Refusal, Step};
use rejoin_core::{Agent, Event, FailureClass, Outcome, Permissions, Usage};

use crate::recording::{Recording, names, shown};
use crate::requests::{Asked, QWEN_SESSION, answer, capabilities, definition, help};

fn replayed(name: &str, asked: &Asked) -> Vec<Step> {
    Recording::load("qwen", name).replay(asked.driver())
}

fn replay(name: &str, asked: &Asked) -> String {
    shown(&replayed(name, asked))
}

fn resumed() -> Asked {
    Asked::qwen().resuming(QWEN_SESSION)
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("plain_first", &Asked::qwen()));
}

#[test]
fn the_total_of_the_session_is_told_and_the_turn_counted_by_difference() {
    let before = replayed("plain_first", &Asked::qwen()).into_iter().find_map(|step| match step {
        Step::Total(total) => Some(total),
        _ => None,
    });
    let asked = Asked { total_before: before.unwrap(), ..resumed() };
    assert_snapshot!(replay("plain_resume", &asked));
}

#[test]
fn a_tool_call() {
    assert_snapshot!(replay("tool_call", &resumed()));
}

#[test]
fn thinking_and_the_answer_are_messages_of_their_own() {
    assert_snapshot!(replay("thinking", &resumed()));
}

#[test]
fn a_subagent_is_folded_under_its_call() {
    assert_snapshot!(replay("subagent", &Asked::qwen()));
}

#[test]
fn the_failure_of_a_subagent_does_not_end_the_turn() {
    assert_snapshot!(replay("subagent_failed", &Asked::qwen()));
}

#[test]
fn the_failure_of_a_subagent_is_the_last_word_if_none_follows() {
    let mut recording = Recording::load("qwen", "subagent_failed");
    let at = recording.stdout.iter().position(|line| line.contains("error_during_execution")).unwrap();
    recording.stdout.truncate(at + 1);
    let steps = recording.replay(Asked::qwen().driver());
    assert_snapshot!(shown(&steps[steps.len() - 1..]), @r#"ENDED {"outcome":"failed","class":"invalid_request","error":"400 mock 400"}"#);
}

#[test]
fn a_denied_tool_does_not_fail_the_turn() {
    assert_snapshot!(replay("denied", &Asked::qwen()));
}

#[test]
fn a_failure_that_poses_as_an_answer_is_none() {
    assert_snapshot!(replay("error_400", &Asked::qwen()));
}

#[test]
fn what_was_said_before_a_failure_is_kept() {
    assert_snapshot!(replay("error_stream", &Asked::qwen()));
    assert_snapshot!(replay("error_stream_whole", &Asked::qwen()));
}

#[test]
fn an_answer_that_quotes_a_failure_is_an_answer() {
    let quoted = |usage: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"It says [API Error: 400 x]"}}],"usage":{usage}}}}}"#
        )
    };
    let piece = |text: &str| {
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let result =
        r#"{"type":"result","subtype":"success","is_error":false,"result":"It says [API Error: 400 x]"}"#;
    let counted = quoted(r#"{"input_tokens":3,"output_tokens":4,"total_tokens":7}"#);
    let uncounted = quoted(r#"{"input_tokens":0,"output_tokens":0}"#);
    for lines in [
        vec![counted.clone()],
        vec![piece("It says "), piece("[API Error: 400"), piece(" x]"), counted],
        vec![piece("It says [API"), piece(" Error: 400 x]"), uncounted.clone()],
        vec![piece("It says "), piece("[API Error: 400"), piece(" x]"), uncounted],
    ] {
        let mut driver = Asked::qwen().driver();
        let mut steps = Vec::new();
        for line in lines.iter().map(String::as_str).chain([result]) {
            driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        }
        assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Completed)), "{}", shown(&steps));
        let said = steps.iter().find_map(|step| match step {
            Step::Emit(Event::Message { text, .. }) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(said, Some("It says [API Error: 400 x]"));
    }
}

#[test]
fn a_version_without_pieces_is_understood() {
    assert_snapshot!(replay("whole", &Asked::qwen()));
}

#[test]
fn the_newest_version_is_understood() {
    assert_snapshot!(replay("newest_first", &Asked::qwen()));
    assert_snapshot!(replay("newest_retried", &Asked::qwen()));
    assert_snapshot!(replay("newest_subagent", &Asked::qwen()));
}

#[test]
fn nothing_is_stored_before_the_model_is_heard() {
    let steps = replayed("newest_rate_limit", &Asked::qwen());
    assert!(!steps.contains(&Step::Stored), "{}", shown(&steps));
}

#[test]
fn what_was_streamed_is_withdrawn_when_the_model_is_asked_anew() {
    let mut recording = Recording::load("qwen", "newest_retried");
    for line in &mut recording.stdout {
        *line = line.replace(r#""preserveText":true"#, r#""attempt":2,"maxRetries":10,"preserveText":false"#);
    }
    let steps = recording.replay(Asked::qwen().driver());
    let withdrawn = steps.windows(2).find(|pair| matches!(&pair[1], Step::Emit(Event::Warning { .. })));
    assert_snapshot!(shown(withdrawn.unwrap()), @r#"
    {"type":"message","message":"00000000-0000-0000-0000-000000000001","offset":0,"text":""}
    {"type":"warning","code":"retry","text":"the model's service failed (retry); attempt 2 of 10"}
    "#);
}

#[test]
fn failures_are_classified() {
    let failures = names("qwen").into_iter().filter_map(|name| {
        replayed(&name, &Asked::qwen()).into_iter().find_map(|step| match step {
            Step::Ended(Outcome::Failed { class, message }) => Some(format!("{name}: {class:?}: {message}")),
            _ => None,
        })
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_unknown_session_is_rejected() {
    let steps = replayed("unknown_session", &resumed());
    assert_snapshot!(shown(&steps[2..]), @r#"REJECTED "No saved session found with ID 11111111-2222-4333-8444-555555555555. Run `qwen --resume` without an ID to choose from existing sessions.""#);
    let fresh = replayed("unknown_session", &Asked::qwen());
    assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { class: FailureClass::Launch, .. }))));
}

#[test]
fn an_interrupt_cancels_the_turn() {
    let recording = Recording::load("qwen", "cancelled");
    let mut driver = Asked::qwen().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    driver.interrupt(&mut steps);
    driver.on_exit(&recording.exit(), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Cancelled)));
}

#[test]
fn an_ephemeral_session_is_never_called_stored() {
    let asked = Asked { ephemeral: true, ..Asked::qwen() };
    let steps = replayed("plain_first", &asked);
    assert!(!steps.contains(&Step::Stored));
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Completed)));
}

#[test]
fn a_level_that_is_not_kept_ends_the_turn_before_it_begins() {
    for level in [Permissions::Read, Permissions::Edit] {
        let steps = replayed("tool_call", &Asked::qwen().level(level));
        let setup = FailureClass::Setup;
        assert!(
            matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class, .. })) if *class == setup),
            "{}",
            shown(&steps)
        );
        assert!(!steps.iter().any(|step| matches!(step, Step::Emit(Event::ToolUse { .. }))));
    }
    let steps = replayed("tool_call", &Asked::qwen().level(Permissions::Full));
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Completed)));
}

#[test]
fn what_is_no_event_is_kept_and_the_turn_goes_on() {
    let mut driver = Asked::qwen().driver();
    let mut steps = Vec::new();
    for line in [
        &b"npm WARN something"[..],
        b"",
        br#"{"type":"hologram","x":1}"#,
        br#"{"type":"system","subtype":"hologram"}"#,
        br#"{"type":"system","subtype":"task_started","data":{}}"#,
        br#"{"type":"system","subtype":"vision_notice","data":{"notice":"no images"}}"#,
        br#"{"type":"assistant","message":"changed its shape"}"#,
        br#"{"type":"assistant","message":{"id":"m","content":"changed too"}}"#,
        br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"cut \ud83d"}]}}"#,
    ] {
        driver.on_line(Line::whole(line), &mut steps);
    }
    assert_snapshot!(shown(&steps));
}

// How it is launched.

fn new_qwen() -> Asked {
    Asked { new_session: Some(QWEN_SESSION.into()), ..Asked::qwen() }
}

fn of_version(version: &str, name: &str) -> Asked {
    let known = definition(&Agent::Qwen).learn(&[answer(version), help("qwen", name)]);
    Asked { capabilities: known, ..new_qwen() }
}

fn listed(asked: impl IntoIterator<Item = (&'static str, Asked)>) -> String {
    let lines =
        asked.into_iter().map(|(name, asked)| format!("{name}:\n  {}", asked.args().replace('\n', "\n  ")));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn arguments() {
    let told = Asked {
        system_prompt: Some("You are terse.".into()),
        append_system_prompt: Some("--always say please".into()),
        ..Asked::qwen()
    };
    assert_snapshot!(listed([
        ("fresh", new_qwen()),
        ("resume", resumed()),
        ("ephemeral", Asked { ephemeral: true, ..Asked::qwen() }),
        ("model", Asked { model: Some("qwen3-coder".into()), ..resumed() }),
        ("instructions", told),
        ("read", Asked::qwen().level(Permissions::Read)),
        ("edit", Asked::qwen().level(Permissions::Edit)),
        ("full", resumed().level(Permissions::Full)),
        ("extra", Asked::qwen().extra(&["--auth-type", "openai", "--max-session-turns=3", "-d"])),
        ("a file in the prompt", Asked::qwen().prompt("bob@example.com")),
        ("older", of_version("0.5.2\n", "older")),
        ("older, edit", of_version("0.5.2\n", "older").level(Permissions::Edit)),
        ("newest", of_version("0.24.4\n", "newest")),
    ]));
}

#[test]
fn capabilities_of_older_and_newer_versions() {
    let shown =
        [("0.5.2\n", "older"), ("0.15.10\n", "qwen"), ("0.24.4\n", "newest")].map(|(version, name)| {
            let mut known = of_version(version, name).capabilities;
            known.flags.clear();
            format!("{known:?}")
        });
    assert_snapshot!(shown.join("\n"));
}

#[test]
fn one_process_and_the_prompt_by_its_input() {
    let mut driver = Asked::qwen().prompt("/stats of a secret").driver();
    let launch = &driver.process;
    assert_eq!(launch.env, [("QWEN_CODE_NO_RELAUNCH".to_owned(), "true".to_owned())]);
    assert!(!launch.args.iter().any(|arg| arg.to_string_lossy().contains("secret")));
    let mut steps = Vec::new();
    driver.start(&mut steps);
    assert_eq!(steps, [Step::Write(b"\n/stats of a secret".to_vec()), Step::CloseStdin]);
}

#[test]
fn an_ephemeral_run_writes_no_log_and_remembers_nothing() {
    let launch = Asked { ephemeral: true, ..Asked::qwen() }.launch().unwrap();
    assert!(launch.env.contains(&("QWEN_DEBUG_LOG_FILE".to_owned(), "0".to_owned())));
    match launch.files.first() {
        Some((path, text)) => {
            let place = launch.scratch.unwrap();
            assert_eq!(*path, place.join("settings.json"));
            assert!(place.starts_with("/rejoin/agents/own/") && place != Path::new("/rejoin/agents/own"));
            assert!(text.contains(r#""enableManagedAutoMemory": false"#));
        }
        None => assert!(!launch.warnings.is_empty()),
    }
    let named = ("QWEN_CODE_SYSTEM_SETTINGS_PATH".to_owned(), "/opt/policy.json".to_owned());
    let launch = Asked { ephemeral: true, env: vec![named], ..Asked::qwen() }.launch().unwrap();
    assert!(launch.files.is_empty() && launch.warnings[0].contains("memory"), "{:?}", launch.warnings);
}

#[test]
fn what_is_refused() {
    let permission = |asked: &Asked| {
        let refusal = asked.refusal();
        assert!(matches!(refusal, Refusal::Permissions(_)), "{:?}: {refusal:?}", asked.extra_args);
    };
    let unsupported = |asked: &Asked| {
        let refusal = asked.refusal();
        assert!(matches!(refusal, Refusal::Unsupported(_)), "{:?}: {refusal:?}", asked.extra_args);
    };
    for args in [
        &["--yolo"][..],
        &["-y"],
        &["-dy"],
        &["--approval-mode", "yolo"],
        &["--approvalMode=yolo"],
        &["--allowed-tools", "run_shell_command"],
        &["--allowedTools=x"],
        &["--core-tools=x"],
        &["--exclude-tools=x"],
        &["--sandbox"],
        &["--no-sandbox"],
        &["-s"],
        &["--allowed-mcp-server-names=x"],
    ] {
        permission(&Asked::qwen().extra(args));
    }
    for args in [
        &["--resume"][..],
        &["--resume=x"],
        &["-r", "x"],
        &["-c"],
        &["--continue"],
        &["--session-id=x"],
        &["--sessionId=x"],
        &["--fork-session"],
        &["--chat-recording=false"],
        &["--no-chat-recording"],
        &["-o", "text"],
        &["--output-format=text"],
        &["--outputFormat=text"],
        &["--input-format", "stream-json"],
        &["--json-file=x"],
        &["-p", "x"],
        &["--prompt=x"],
        &["-i", "x"],
        &["--acp"],
        &["--worktree"],
        &["--openai-api-key=x"],
        &["--help"],
        &["-v"],
        &["mcp"],
        &["--bare", "mcp"],
        &["--"],
    ] {
        unsupported(&Asked::qwen().extra(args));
    }
    for flag in ["--include-directories=/", "--add-dir=/", "--mcp-config=x", "--extensions=x", "-e=x"] {
        permission(&Asked::qwen().level(Permissions::Read).extra(&[flag]));
        permission(&Asked::qwen().level(Permissions::Edit).extra(&[flag]));
        assert!(Asked::qwen().extra(&[flag]).launch().is_ok(), "{flag}");
    }
    let without = |flag: &str| {
        let mut known = capabilities(&Agent::Qwen);
        known.flags.remove(flag);
        Asked { capabilities: known, ..Asked::qwen() }
    };
    for flag in ["--core-tools", "--exclude-tools", "--allowed-mcp-server-names", "--approval-mode"] {
        permission(&without(flag).level(Permissions::Read));
    }
    permission(&without("--allowed-tools").level(Permissions::Edit));
    permission(&without("--approval-mode").level(Permissions::Full));
    permission(&Asked { dir: "/home/dev/[ab]".into(), ..Asked::qwen().level(Permissions::Edit) });
    unsupported(&Asked { append_system_prompt: Some("x".into()), ..without("--append-system-prompt") });
    unsupported(&Asked { capabilities: Capabilities::default(), ..Asked::qwen() });
    let no_resume = Asked { resume: Some(QWEN_SESSION.into()), ..without("--resume") };
    unsupported(&Asked {
        capabilities: Capabilities { resume: false, ..no_resume.capabilities.clone() },
        ..no_resume
    });
    unsupported(&Asked::qwen().prompt(" \n"));
    unsupported(&Asked::qwen().prompt(&"x".repeat((8 << 20) + 1)));
    unsupported(&Asked { model: Some("--yolo".into()), ..Asked::qwen() });
}

// Where it stores.

fn find(store: &Path, dir: &str) -> Found {
    let qwen = definition(&Agent::Qwen);
    qwen.find_session(store, Path::new(dir), &qwen.session_id(QWEN_SESSION).unwrap())
}

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

#[test]
fn a_session_is_kept_under_the_name_of_its_directory() {
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join(format!("projects/-home-dev-my-app/chats/{QWEN_SESSION}.jsonl"));
    assert_eq!(find(store.path(), "/home/dev/my.app"), Found::Nowhere);
    put(&file, "");
    assert_eq!(find(store.path(), "/home/dev/my.app"), Found::Nowhere);
    put(&file, "{\"type\":\"system\",\"cwd\":\"/home/dev/my.app\"}\n");
    assert_eq!(find(store.path(), "/home/dev/my.app"), Found::Nowhere, "nobody said anything");
    put(&file, "{\"uuid\":\"a\",\"type\":\"user\",\"cwd\":\"/home/dev/my.app\"}\n");
    assert_eq!(find(store.path(), "/home/dev/my.app"), Found::At(file));
    assert_eq!(find(store.path(), "/home/dev/my-app"), Found::Nowhere, "of a directory with the same name");
    assert_eq!(find(store.path(), "/home/dev"), Found::Nowhere);
}

#[test]
fn settings_may_move_the_sessions() {
    let (store, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = project.path().to_str().unwrap();
    let name = dir.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let moved = |place: &Path| place.join(format!("projects/{name}/chats/{QWEN_SESSION}.jsonl"));
    let settings = |place: &str| format!("{{\"advanced\":{{\"runtimeOutputDir\":\"{place}\"}}}}");
    let user = put(&store.path().join("elsewhere/x"), "");
    let user = user.parent().unwrap();
    let text = format!("{{\"type\":\"user\",\"cwd\":\"{dir}\"}}\n");
    put(&store.path().join("settings.json"), &settings(user.to_str().unwrap()));
    assert_eq!(find(store.path(), dir), Found::Nowhere);
    let file = put(&moved(user), &text);
    assert_eq!(find(store.path(), dir), Found::At(file));
    put(&project.path().join(".qwen/settings.json"), &settings(".run"));
    assert_eq!(find(store.path(), dir), Found::Nowhere, "the project's settings win");
    let file = put(&moved(&project.path().join(".run")), &text);
    assert_eq!(find(store.path(), dir), Found::At(file));
}

#[test]
fn the_store_follows_the_environment() {
    let store = |variables: &[(&str, &str)]| {
        let env =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        definition(&Agent::Qwen).store(&env)
    };
    let home = ("HOME", "/h");
    assert_eq!(store(&[home]), Some(PathBuf::from("/h/.qwen")));
    assert_eq!(store(&[home, ("QWEN_HOME", "/q")]), Some(PathBuf::from("/q")));
    assert_eq!(store(&[home, ("QWEN_HOME", "/q"), ("QWEN_RUNTIME_DIR", "/r")]), Some(PathBuf::from("/r")));
    assert_eq!(store(&[]), None);
}

#[test]
fn the_total_of_a_stored_session_is_that_of_its_last_branch() {
    let store = tempfile::tempdir().unwrap();
    let answered = |uuid: &str, parent: &str, input: u64| {
        format!(
            r#"{{"uuid":"{uuid}","parentUuid":"{parent}","type":"system","subtype":"ui_telemetry","systemPayload":{{"uiEvent":{{"event.name":"qwen-code.api_response","input_token_count":{input},"output_token_count":5,"cached_content_token_count":10,"thoughts_token_count":2,"total_token_count":{}}}}}}}"#,
            input + 7
        )
    };
    let lines = [
        r#"{"uuid":"a","parentUuid":null,"type":"user"}"#.to_owned(),
        answered("b", "a", 100),
        answered("lost", "b", 5000),
        "{\"torn".to_owned(),
        answered("c", "b", 200),
        r#"{"uuid":"d","parentUuid":"c","type":"assistant"}"#.to_owned(),
    ];
    let file = put(&store.path().join("s.jsonl"), &lines.join("\n"));
    let total = definition(&Agent::Qwen).stored_total(&file);
    assert_eq!(total, Some(Usage { input: 280, cached: 20, output: 14 }));
    let circle =
        put(&store.path().join("c.jsonl"), &[answered("a", "b", 20), answered("b", "a", 30)].join("\n"));
    assert_eq!(
        definition(&Agent::Qwen).stored_total(&circle),
        Some(Usage { input: 30, cached: 20, output: 14 })
    );
    assert_eq!(definition(&Agent::Qwen).stored_total(&store.path().join("none")), None);
}
