//! Pi: its driver on recordings of Pi, its arguments, its store.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use insta::{assert_debug_snapshot, assert_snapshot};
use proptest::prelude::*;
use rejoin_agents::{Capabilities, Exit, Found, Line, ProbeAnswer, Refusal, Step};
use rejoin_core::{Agent, Event, FailureClass, Outcome, Permissions};

use crate::recording::{Recording, directory, ends, names, shown};
use crate::requests::{Asked, CLAUDE_SESSION, definition};

const SESSION: &str = "01a1e0a0-6c38-7791-b02d-f3428cc5b652";

fn agent() -> Agent {
    Agent::named("pi")
}

fn help() -> String {
    fs::read_to_string(directory("pi").join("pi.help.txt")).unwrap()
}

/// Pi without a terminal: its answers stand on standard error.
fn said(text: &str) -> ProbeAnswer {
    ProbeAnswer { answered: true, stdout: String::new(), stderr: text.to_owned() }
}

fn capabilities() -> Capabilities {
    static KNOWN: LazyLock<Capabilities> =
        LazyLock::new(|| definition(&agent()).learn(&[said("0.74.2\n"), said(&help())]));
    KNOWN.clone()
}

fn pi() -> Asked {
    Asked { capabilities: capabilities(), ..Asked::of(agent()) }
}

fn resumed() -> Asked {
    pi().resuming(SESSION)
}

fn replay(name: &str, asked: &Asked) -> String {
    shown(&Recording::load("pi", name).replay(asked.driver()))
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("first", &pi()));
}

#[test]
fn a_resumed_session_is_guarded_against_the_question() {
    assert_snapshot!(replay("resume", &resumed()));
}

#[test]
fn a_command_that_ran() {
    assert_snapshot!(replay("tool_call", &pi()));
}

#[test]
fn text_before_a_call_and_cost() {
    assert_snapshot!(replay("text_and_tool", &pi()));
}

#[test]
fn a_tool_that_is_not_there() {
    assert_snapshot!(replay("refused_tool", &pi().level(Permissions::Read)));
}

#[test]
fn thinking_is_streamed_and_not_told_twice() {
    assert_snapshot!(replay("thinking", &pi()));
}

#[test]
fn text_of_a_broken_stream_is_withdrawn() {
    assert_snapshot!(replay("retried", &pi()));
}

#[test]
fn retries_are_warnings_and_the_last_error_is_the_failure() {
    assert_snapshot!(replay("error_429", &pi()));
}

#[test]
fn a_compaction_after_the_answer_is_told() {
    assert_snapshot!(replay("compaction", &pi()));
}

#[test]
fn a_full_context_is_compacted_and_still_a_failure() {
    assert_snapshot!(replay("overflow", &pi()));
}

#[test]
fn an_answer_at_the_limit_of_tokens_is_told_to_be_cut() {
    assert_snapshot!(replay("length", &pi()));
}

#[test]
fn nothing_is_stored_without_an_answer_or_when_it_must_not_be() {
    let stored = |name: &str, asked: &Asked| {
        Recording::load("pi", name).replay(asked.driver()).contains(&Step::Stored)
    };
    assert!(stored("first", &pi()) && stored("error_400", &pi()) && stored("resume", &resumed()));
    for name in ["sigterm", "empty_prompt", "no_api_key"] {
        assert!(!stored(name, &pi()), "{name}");
    }
    assert!(!stored("first", &Asked { ephemeral: true, ..pi() }));
}

#[test]
fn an_answer_is_stored_only_when_the_next_line_shows_it() {
    let recording = Recording::load("pi", "first");
    let at = recording.stdout.iter().position(|line| line.contains(r#""type":"turn_end""#)).unwrap();
    let mut driver = pi().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout[..at] {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    assert!(!steps.contains(&Step::Stored));
    driver.on_line(Line::whole(recording.stdout[at].as_bytes()), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Stored));
}

#[test]
fn a_session_that_is_not_there_or_elsewhere_is_rejected() {
    for (name, words) in [
        ("unknown_session", "No session found matching '11111111-2222-4333-8444-555555555555'"),
        ("other_directory", "Session found in different project: /home/dev/basic-proj"),
    ] {
        let recording = Recording::load("pi", name);
        assert_eq!(recording.replay(resumed().driver()).last(), Some(&Step::Rejected(words.into())));
        let fresh = recording.replay(pi().driver());
        assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { .. }))), "{name}");
    }
    let stderr = "Stored session working directory does not exist: /x\nSession file: /y\n".to_owned();
    let gone = Recording { stdout: Vec::new(), stderr, code: Some(1), signal: None };
    assert!(matches!(gone.replay(resumed().driver()).last(), Some(Step::Rejected(_))));
}

#[test]
fn failures_are_classified() {
    let failures = names("pi").into_iter().filter_map(|name| {
        let steps = Recording::load("pi", &name).replay(pi().driver());
        match steps.last() {
            Some(Step::Ended(Outcome::Failed { class, message })) => {
                Some(format!("{name}: {class:?}: {message}"))
            }
            _ => None,
        }
    });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_good_exit_without_a_word_is_a_failure() {
    for asked in [pi(), resumed()] {
        let silent = Recording { stdout: Vec::new(), stderr: String::new(), code: Some(0), signal: None };
        let steps = silent.replay(asked.driver());
        assert!(matches!(
            steps.last(),
            Some(Step::Ended(Outcome::Failed { class: FailureClass::NoResult, .. }))
        ));
    }
}

#[test]
fn an_interrupt_is_by_signal_and_ends_as_cancelled() {
    let recording = Recording::load("pi", "sigterm");
    let mut driver = pi().driver();
    let mut steps = Vec::new();
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    let before = steps.len();
    driver.interrupt(&mut steps);
    assert_eq!(steps.len(), before);
    driver.on_exit(&recording.exit(), &mut steps);
    assert_eq!(steps.last(), Some(&Step::Ended(Outcome::Cancelled)));
}

fn lines(asked: &Asked, lines: &[(&str, bool)]) -> Vec<Step> {
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    for (line, truncated) in lines {
        driver.on_line(Line { bytes: line.as_bytes(), truncated: *truncated }, &mut steps);
    }
    driver.on_exit(&Exit { code: Some(0), signal: None, stderr: "" }, &mut steps);
    steps
}

#[test]
fn what_no_recording_shows() {
    let steps = lines(
        &pi(),
        &[
            (r#"{"type":"session","version":3,"id":"01a1e0a0-6c38-7791-b02d-f3428cc5b652"}"#, false),
            (r#"{"type":"compaction_start","reason":"threshold"}"#, false),
            (
                r#"{"type":"compaction_end","reason":"threshold","result":{"summary":"s","tokensBefore":9007}}"#,
                false,
            ),
            (r#"{"type":"auto_compaction_start"}"#, false),
            (
                r#"{"type":"compaction_end","reason":"overflow","errorMessage":"Auto-compaction failed: x"}"#,
                false,
            ),
            (r#"{"type":"agent_start"}"#, false),
            (r#"{"type":"hologram"}"#, false),
            ("Debugger attached.", false),
            (
                r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"half \ud83d"}}"#,
                false,
            ),
            (
                r#"{"message":{},"assistantMessageEvent":{"type":"text_delta","delta":"!"},"type":"message_update"}"#,
                false,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":"half \ud83d!","stopReason":"toolUse"}}"#,
                false,
            ),
            (r#"{"type":"tool_execution_start","toolCallId":"t1","toolName":"shot","args":{"x":1}}"#, false),
            (
                r#"{"type":"tool_execution_end","toolCallId":"t1","result":{"content":[{"type":"image","data":"x"},{"type":"text","text":"done"}]}}"#,
                false,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"Request was aborted"}}"#,
                false,
            ),
            (r#"{"type":"agent_end","messages":[]}"#, false),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn huge_lines_arrive_cut_and_still_mean_what_they_mean() {
    let steps = lines(
        &pi(),
        &[
            (r#"{"type":"session","version":3,"id":"01a1e0a0-6c38-7791-b02d-f3428cc5b652"}"#, false),
            (r#"{"type":"agent_start"}"#, false),
            (r#"{"type":"message_start","message":{"role":"assistant","content":[],"model":"m"}}"#, false),
            (
                r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"long ","partial":{"role":"assistant","content":[{"type":"text","text":"lo"#,
                true,
            ),
            (
                r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"long and lon"#,
                true,
            ),
            (
                r#"{"type":"tool_execution_start","toolCallId":"t1","toolName":"write","args":{"content":"abc"#,
                true,
            ),
            (
                r#"{"type":"tool_execution_end","toolCallId":"t1","toolName":"write","result":{"content":[{"type":"text","text":"ou"#,
                true,
            ),
            (r#"{"type":"agent_end","messages":[{"role":"user","content":[{"type":"te"#, true),
        ],
    );
    assert_snapshot!(shown(&steps));
}

#[test]
fn a_run_cut_after_any_line_ends_exactly_once() {
    for name in names("pi") {
        let recording = Recording::load("pi", &name);
        for asked in [pi(), resumed()] {
            for cut in 0..=recording.stdout.len() {
                let mut driver = asked.driver();
                let mut steps = Vec::new();
                driver.start(&mut steps);
                for line in &recording.stdout[..cut] {
                    driver.on_line(Line::whole(line.as_bytes()), &mut steps);
                }
                let over = ends(&steps);
                driver.on_exit(&Exit { code: None, signal: Some(9), stderr: "" }, &mut steps);
                assert_eq!(ends(&steps), 1, "{name} cut at {cut}: {}", shown(&steps));
                let completed = steps.contains(&Step::Ended(Outcome::Completed));
                assert!(!completed || over == 1, "{name} cut at {cut} counts as completed");
                let after = steps.len();
                driver.on_exit(&recording.exit(), &mut steps);
                driver.interrupt(&mut steps);
                assert_eq!(steps.len(), after, "{name}: said something after its end");
            }
        }
    }
}

#[test]
fn half_an_id_is_none() {
    let line = &Recording::load("pi", "first").stdout[0];
    for cut in 1..line.len() {
        let steps = lines(&pi(), &[(&line[..cut], true)]);
        for step in &steps {
            if let Step::Emit(Event::Session { session, .. }) = step {
                assert_eq!(session, SESSION);
            }
        }
    }
}

/// A recorded line with some bytes changed, and its end cut off.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<String> = names("pi").iter().flat_map(|name| Recording::load("pi", name).stdout).collect();
    let change = (any::<prop::sample::Index>(), any::<u8>());
    (prop::sample::select(lines), prop::collection::vec(change, 0..4), any::<prop::sample::Index>()).prop_map(
        |(line, changes, end)| {
            let mut bytes = line.into_bytes();
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes.truncate(end.index(bytes.len() + 1).max(1));
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_driver_panic(
        lines in prop::collection::vec((mangled(), any::<bool>()), 0..12),
    ) {
        let mut driver = resumed().driver();
        let mut steps = Vec::new();
        driver.start(&mut steps);
        for (bytes, truncated) in &lines {
            driver.on_line(Line { bytes, truncated: *truncated }, &mut steps);
        }
        driver.on_exit(&Exit { code: Some(1), signal: None, stderr: "x" }, &mut steps);
        assert_eq!(ends(&steps), 1);
    }
}

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
    let launch = asked.launch().unwrap();
    let flagged = launch.args.contains(&OsString::from("--no-prompt-templates"));
    let warnings = launch.warnings.len();
    let mut steps = Vec::new();
    let mut driver = launch.driver;
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

fn without(flag: &str) -> Capabilities {
    let mut known = capabilities();
    known.flags.remove(flag);
    known
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
        &["--auto-approve"],
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

#[test]
fn what_the_installation_tells() {
    let mut known = capabilities();
    known.flags.retain(|flag| flag.starts_with("--no-"));
    assert_debug_snapshot!(known);
    assert!(definition(&agent()).takes_instructions(&capabilities()));
    // Older ones answer on standard output.
    let on_stdout = |text: &str| ProbeAnswer { answered: true, stdout: text.into(), stderr: String::new() };
    assert_eq!(definition(&agent()).learn(&[on_stdout("0.74.2\n"), on_stdout(&help())]), capabilities());
    // Others have the name, too.
    let other = definition(&agent()).learn(&[said("3.14159\n"), said("pi - digits\n  --session <x>  y\n")]);
    assert_eq!(other, Capabilities { version: Some("3.14159".into()), ..Capabilities::default() });
    let silent = ProbeAnswer { answered: false, stdout: help(), stderr: help() };
    for answers in [vec![], vec![silent.clone(); 2]] {
        assert_eq!(definition(&agent()).learn(&answers), Capabilities::default());
    }
}

#[test]
fn the_store_follows_the_environment() {
    let store = |variables: &[(&str, &str)]| {
        let env = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(*value))
        };
        definition(&agent()).store(&env)
    };
    let (home, dir) = (("HOME", "/h"), ("PI_CODING_AGENT_DIR", "~/own"));
    assert_eq!(store(&[home]), Some(PathBuf::from("/h/.pi/agent")));
    assert_eq!(store(&[home, dir]), Some(PathBuf::from("/h/own")));
    assert_eq!(store(&[home, dir, ("PI_CODING_AGENT_SESSION_DIR", "/s")]), Some(PathBuf::from("/s")));
    assert_eq!(store(&[home, ("PI_CODING_AGENT_SESSION_DIR", "")]), Some(PathBuf::from("/h/.pi/agent")));
    assert_eq!(store(&[]), None);
}

const DIR: &str = "/home/dev/my_app.v2";

fn stored(cwd: &str, prompt: bool) -> String {
    let header =
        format!(r#"{{"type":"session","version":3,"id":"{SESSION}","timestamp":"t","cwd":"{cwd}"}}"#);
    let message = r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":[]}}"#;
    if prompt { format!("{header}\n{message}\n") } else { format!("{header}\n") }
}

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

fn find(store: &Path, dir: &str, id: &str) -> Found {
    let session = definition(&agent()).session_id(id).unwrap();
    definition(&agent()).find_session(store, Path::new(dir), &session)
}

#[test]
fn a_session_is_kept_under_the_name_of_its_directory() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(find(store.path(), DIR, SESSION), Found::Nowhere);
    let name = format!("2026-11-15T19-12-52-280Z_{SESSION}.jsonl");
    let file = put(&store.path().join("sessions/--home-dev-my_app.v2--").join(&name), &stored(DIR, true));
    assert_eq!(find(store.path(), DIR, SESSION), Found::At(file.clone()));
    assert_eq!(find(store.path(), "/home/dev/other", SESSION), Found::Nowhere);
    assert_eq!(find(store.path(), DIR, CLAUDE_SESSION), Found::Nowhere);
    for none in [stored(DIR, false), stored("/home/dev-my_app.v2", true), String::new(), "{}\n".into()] {
        fs::write(&file, none).unwrap();
        assert_eq!(find(store.path(), DIR, SESSION), Found::Nowhere);
    }
}

#[test]
fn sessions_may_be_kept_in_a_directory_of_the_users() {
    let flat = tempfile::tempdir().unwrap();
    let file = put(&flat.path().join(format!("t_{SESSION}.jsonl")), &stored(DIR, true));
    assert_eq!(find(flat.path(), DIR, SESSION), Found::At(file.clone()));

    let store = tempfile::tempdir().unwrap();
    let settings = format!(r#"{{"sessionDir":"{}"}}"#, flat.path().display());
    put(&store.path().join("settings.json"), &settings);
    assert_eq!(find(store.path(), DIR, SESSION), Found::At(file));
}

#[test]
fn a_recorded_session_is_found() {
    let store = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(directory("pi").join("stored.jsonl")).unwrap();
    let id = "01a1e0a2-61ca-7d67-ac4c-79d4f77c5128";
    let name = format!("sessions/--home-dev-basic-proj--/2026-11-15T19-15-00-682Z_{id}.jsonl");
    let file = put(&store.path().join(name), &text);
    assert_eq!(find(store.path(), "/home/dev/basic-proj", id), Found::At(file));
}
