//! OpenCode: its driver on recordings, its arguments, its levels, its store.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use rejoin_agents::{Capabilities, Found, Line, ProbeAnswer, Refusal, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};
use serde_json::Value;

use crate::recording::{Recording, directory, names, shown};
use crate::requests::{Asked, OPENCODE_SESSION, capabilities, definition, help, on_stderr, opencode};

fn replay(name: &str, asked: &Asked) -> String {
    shown(&steps(name, asked))
}

/// Its words on standard error come in while it runs.
fn steps(name: &str, asked: &Asked) -> Vec<Step> {
    let recording = Recording::load("opencode", name);
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    driver.start(&mut steps);
    for line in &recording.stdout {
        driver.on_line(Line::whole(line.as_bytes()), &mut steps);
    }
    for line in recording.stderr.lines() {
        driver.on_stderr(Line::whole(line.as_bytes()), &mut steps);
    }
    driver.on_exit(&recording.exit(), &mut steps);
    steps
}

fn resumed() -> Asked {
    Asked::opencode().resuming(OPENCODE_SESSION)
}

#[test]
fn a_plain_answer() {
    assert_snapshot!(replay("first", &Asked::opencode()));
}

#[test]
fn a_command_that_ran_and_tokens_summed_over_steps() {
    assert_snapshot!(replay("tool_call", &Asked::opencode()));
}

#[test]
fn a_command_that_failed() {
    assert_snapshot!(replay("failed_command", &Asked::opencode()));
}

#[test]
fn a_tool_that_is_not_offered() {
    assert_snapshot!(replay("invalid_tool", &Asked::opencode()));
}

#[test]
fn thinking_belongs_to_the_message_it_leads_to() {
    assert_snapshot!(replay("thinking", &Asked::opencode()));
}

#[test]
fn a_summary_is_no_answer_and_the_turn_goes_on() {
    assert_snapshot!(replay("compacted", &Asked::opencode()));
}

#[test]
fn a_full_memory_that_was_shortened_is_no_failure() {
    assert_snapshot!(replay("full_memory", &Asked::opencode()));
}

#[test]
fn a_full_memory_that_was_not_shortened_is_one() {
    let recording = Recording::load("opencode", "full_memory");
    let cut = Recording { stdout: recording.stdout[..1].to_vec(), ..recording };
    let steps = cut.replay(Asked::opencode().driver());
    let class = FailureClass::ContextOverflow;
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class: seen, .. })) if *seen == class));
}

#[test]
fn a_refused_question_ends_the_turn_and_says_what_for() {
    assert_snapshot!(replay("refused", &Asked::opencode()));
}

#[test]
fn an_answer_at_the_limit_is_an_answer_with_a_warning() {
    assert_snapshot!(replay("length", &Asked::opencode()));
}

#[test]
fn a_session_that_is_not_there_is_rejected() {
    let found = steps("unknown_session", &resumed());
    assert_eq!(found.last(), Some(&Step::Rejected("Session not found".into())));
    let fresh = steps("unknown_session", &Asked::opencode());
    assert!(matches!(fresh.last(), Some(Step::Ended(Outcome::Failed { .. }))));
}

#[test]
fn failures_are_classified() {
    let failures =
        names("opencode").into_iter().filter_map(|name| match steps(&name, &Asked::opencode()).last() {
            Some(Step::Ended(Outcome::Failed { class, message })) => {
                Some(format!("{name}: {class:?}: {message}"))
            }
            _ => None,
        });
    assert_snapshot!(failures.collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_session_named_by_an_error_is_stored() {
    let steps = steps("error_401", &Asked::opencode());
    assert!(steps.contains(&Step::Stored));
    assert!(matches!(&steps[2], Step::Emit(Event::Session { session, .. }) if session.starts_with("ses_")));
}

#[test]
fn a_profile_that_is_not_there_stops_the_turn() {
    let asked = Asked::opencode().level(Permissions::Read);
    let profile = profile(&asked);
    let mut driver = asked.driver();
    let mut steps = Vec::new();
    let line = format!("!  agent \"{profile}\" not found. Falling back to default agent");
    driver.on_stderr(Line::whole(b"!  agent \"mine\" not found. Falling back to default agent"), &mut steps);
    assert!(steps.is_empty());
    driver.on_stderr(Line::whole(line.as_bytes()), &mut steps);
    let class = FailureClass::Launch;
    assert!(matches!(steps.last(), Some(Step::Ended(Outcome::Failed { class: seen, .. })) if *seen == class));
}

#[test]
fn an_interrupt_is_by_signal_and_ends_as_cancelled() {
    let recording = Recording::load("opencode", "tool_call");
    for (lines, outcome) in [(2, Outcome::Cancelled), (6, Outcome::Completed)] {
        let mut driver = Asked::opencode().driver();
        let mut steps = Vec::new();
        for line in &recording.stdout[..lines] {
            driver.on_line(Line::whole(line.as_bytes()), &mut steps);
        }
        let before = steps.len();
        driver.interrupt(&mut steps);
        assert_eq!(steps.len(), before);
        driver.on_exit(&Recording::load("opencode", "sigterm").exit(), &mut steps);
        assert_eq!(steps.last(), Some(&Step::Ended(outcome)));
    }
}

fn listed(asked: impl IntoIterator<Item = (&'static str, Asked)>) -> String {
    let lines = asked.into_iter().map(|(name, asked)| {
        let env = asked.launch().unwrap().env;
        let env: Vec<String> = env.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{name}:\n  {}\n  {}", asked.args().replace('\n', "\n  "), env.join("\n  "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn arguments_and_environment() {
    let set = |env: &[(&str, &str)], asked: Asked| Asked {
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..asked
    };
    let content = r#"{"model":"a/b","mcp":{"x":{"type":"local"}},"plugin":["p"]}"#;
    assert_snapshot!(listed([
        ("fresh", Asked::opencode()),
        ("resume", resumed()),
        ("resume without a model", Asked { model: None, ..resumed() }),
        ("ephemeral", Asked { ephemeral: true, ..Asked::opencode() }),
        ("read", Asked::opencode().level(Permissions::Read)),
        ("edit, resumed", resumed().level(Permissions::Edit)),
        ("full", Asked::opencode().level(Permissions::Full)),
        (
            "read, over what the user has set",
            set(&[("OPENCODE_CONFIG_CONTENT", content)], Asked { model: None, ..Asked::opencode() })
                .level(Permissions::Read)
        ),
        (
            "extra",
            Asked::opencode().extra(&["--variant", "high", "--agent=plan", "-f", "a.png", "--thinking"])
        ),
    ]));
}

#[test]
fn a_flag_that_is_missing_is_left_out() {
    let mut older = capabilities(&opencode());
    for flag in ["--dir", "--thinking", "--title", "--auto"] {
        older.flags.remove(flag);
    }
    let asked = |asked: Asked| Asked { capabilities: older.clone(), ..asked };
    assert_snapshot!(listed([
        ("fresh", asked(Asked::opencode())),
        ("full", asked(resumed().level(Permissions::Full))),
        ("read", asked(resumed().level(Permissions::Read))),
    ]));
    assert!(asked(Asked::opencode()).launch().unwrap().lookup.is_none());
    older.flags.insert("--dangerously-skip-permissions".into());
    let full = Asked { capabilities: older, ..resumed().level(Permissions::Full) };
    assert!(full.args().ends_with(" --dangerously-skip-permissions"));
}

fn refused_as_permission(asked: &Asked) {
    let refusal = asked.refusal();
    assert!(matches!(refusal, Refusal::Permissions(_)), "{:?}: {refusal:?}", asked.extra_args);
}

fn refused_as_unsupported(asked: &Asked) {
    let refusal = asked.refusal();
    assert!(matches!(refusal, Refusal::Unsupported(_)), "{:?}: {refusal:?}", asked.extra_args);
}

#[test]
fn a_prompt_goes_to_nobody_the_user_did_not_choose() {
    let nobody = || Asked { model: None, ..Asked::opencode() };
    let words = nobody().refusal().to_string();
    assert!(words.contains("--model provider/model") && words.contains("OpenCode Zen"), "{words}");
    assert!(Asked { model: None, ..resumed() }.launch().is_ok(), "a session has its model");
    let profile = r#"{"agent":{"build":{"model":"a/b"}}}"#.to_owned();
    let by_profile = || Asked { env: vec![("OPENCODE_CONFIG_CONTENT".into(), profile.clone())], ..nobody() };
    assert!(by_profile().launch().is_ok());
    refused_as_unsupported(&by_profile().level(Permissions::Read));
}

#[test]
fn models_without_a_provider() {
    for model in ["", "gpt-5", "/x", "x/", "-x/y", "a\n/b"] {
        refused_as_unsupported(&Asked { model: Some(model.into()), ..Asked::opencode() });
    }
}

#[test]
fn what_is_refused() {
    for args in
        [&["--auto"][..], &["--yolo"], &["--dangerously-skip-permissions"], &["--thinking", "--auto=false"]]
    {
        refused_as_permission(&Asked::opencode().extra(args));
    }
    for args in [&["--agent=build"][..], &["-f", "/etc/passwd"], &["--file=x"]] {
        refused_as_permission(&Asked::opencode().level(Permissions::Read).extra(args));
        refused_as_permission(&Asked::opencode().level(Permissions::Edit).extra(args));
        assert!(Asked::opencode().extra(args).launch().is_ok(), "{args:?}");
    }
    for args in [
        &["-c"][..],
        &["--continue"],
        &["-s", "x"],
        &["--session=x"],
        &["--fork"],
        &["--format=default"],
        &["--title", "x"],
        &["--attach=http://x"],
        &["--dir=/"],
        &["-m", "a/b"],
        &["--model=a/b"],
        &["--command", "init"],
        &["-i"],
        &["-h"],
        &["say hello"],
        &["--print-logs", "hello"],
        &["--"],
    ] {
        refused_as_unsupported(&Asked::opencode().extra(args));
    }
    for prompt in ["", " \n"] {
        refused_as_unsupported(&Asked::opencode().prompt(prompt));
    }
    refused_as_unsupported(&Asked { append_system_prompt: Some("x".into()), ..Asked::opencode() });
    refused_as_unsupported(&Asked { ephemeral: true, ..resumed() });
    let odd = vec![("OPENCODE_CONFIG_CONTENT".to_owned(), "[".to_owned())];
    refused_as_unsupported(&Asked { env: odd, ..Asked::opencode() }.level(Permissions::Read));
}

#[test]
fn what_an_older_or_unknown_installation_cannot_do() {
    let of = |known: Capabilities, asked: Asked| Asked { capabilities: known, ..asked };
    refused_as_unsupported(&of(Capabilities::default(), Asked::opencode()));
    let version = |version: &str| Capabilities { version: Some(version.into()), ..capabilities(&opencode()) };
    refused_as_permission(&of(version("1.0.185"), Asked::opencode().level(Permissions::Read)));
    refused_as_permission(&of(version("local"), Asked::opencode().level(Permissions::Edit)));
    assert!(of(version("1.1.11"), Asked::opencode().level(Permissions::Read)).launch().is_ok());
    let answers = |version: &str| {
        let version = ProbeAnswer { answered: true, stdout: version.into(), stderr: String::new() };
        definition(&opencode()).learn(&[version, on_stderr(help("opencode", "run"))])
    };
    assert!(answers("1.18.33\n").ephemeral && !answers("1.2.27\n").ephemeral && !answers("x\n").ephemeral);
    assert!(!answers("1.18.33\n").has("list --format"));
    let mut behind_a_log = help("opencode", "run");
    behind_a_log.stdout.insert_str(0, "ERROR 2026-11-15T22:44:56 +178ms service=models.dev\n");
    let known = definition(&opencode()).learn(&[ProbeAnswer::default(), on_stderr(behind_a_log)]);
    assert!(known.resume && known.has("--dir"), "{known:?}");
    let root = on_stderr(help("opencode", "opencode"));
    let known = definition(&opencode()).learn(&[ProbeAnswer::default(), root.clone(), root]);
    assert!(!known.resume && known.flags.is_empty(), "{known:?}");
}

fn profile(asked: &Asked) -> String {
    asked.args().split_whitespace().find_map(|arg| arg.strip_prefix("--agent=").map(str::to_owned)).unwrap()
}

#[test]
fn the_rules_of_a_level_stand_in_an_order_in_which_the_last_one_counts() {
    for level in [Permissions::Read, Permissions::Edit] {
        let asked = Asked::opencode().level(level);
        let env = asked.launch().unwrap().env;
        let json = |name: &str| -> Value {
            serde_json::from_str(&env.iter().find(|(known, _)| known == name).unwrap().1).unwrap()
        };
        let (rules, config) = (json("OPENCODE_PERMISSION"), json("OPENCODE_CONFIG_CONTENT"));
        assert_eq!(config["agent"][profile(&asked)]["permission"], rules);
        let rules = rules.as_object().unwrap();
        assert_eq!(rules.keys().next().unwrap(), "*");
        for patterns in rules.values().filter_map(Value::as_object) {
            assert_eq!(patterns.keys().next().unwrap(), "*");
        }
        assert_eq!(rules["bash"], "deny");
        assert_eq!(rules["edit"] == "deny", level == Permissions::Read);
    }
}

#[test]
fn a_session_is_found_by_its_title_in_its_directory() {
    let launch = Asked::opencode().launch().unwrap();
    let title =
        launch.args.iter().find_map(|arg| arg.to_str()?.strip_prefix("--title=").map(str::to_owned)).unwrap();
    let lookup = launch.lookup.unwrap();
    assert_eq!(lookup.args, ["session", "list", "--format=json", "--max-count=20"]);
    let entry = |title: &str, dir: &str| serde_json::json!({ "id": OPENCODE_SESSION, "title": title, "directory": dir, "created": 1 });
    let find = |entries: Vec<Value>| (lookup.find)(&Value::from(entries).to_string());
    let dir = "/home/dev/proj";
    assert_eq!(find(vec![entry("x", dir), entry(&title, dir)]).unwrap().as_str(), OPENCODE_SESSION);
    assert_eq!(find(vec![entry(&title, "/home/dev/proj/sub")]), None);
    assert_eq!(find(vec![entry("rejoin", dir)]), None);
    assert_eq!(find(vec![entry(&title, dir), entry(&title, dir)]), None);
    assert_eq!((lookup.find)("No sessions"), None);
    assert!(resumed().launch().unwrap().lookup.is_none());
    assert!(Asked { ephemeral: true, ..Asked::opencode() }.launch().unwrap().lookup.is_none());
}

fn find(store: &Path, letter: char) -> (Found, Option<(u64, i64)>) {
    let id = format!("ses_e1f622e5effe{}", letter.to_string().repeat(14));
    let opencode = definition(&opencode());
    let session = opencode.session_id(&id).unwrap();
    let found = opencode.find_session(store, Path::new("/home/dev/proj"), &session);
    let witness = match &found {
        Found::At(path) => opencode.witness(path, &session).map(|seen| (seen.size, seen.mtime)),
        _ => None,
    };
    (found, witness)
}

/// The recorded database under its usual name.
fn stored() -> (tempfile::TempDir, PathBuf) {
    let store = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let from = directory("opencode").join(format!("sessions.db{ending}"));
        fs::copy(from, store.path().join(format!("opencode.db{ending}"))).unwrap();
    }
    let database = store.path().join("opencode.db");
    (store, database)
}

#[test]
fn sessions_are_found_in_the_database_and_its_log() {
    let (store, database) = stored();
    for (letter, messages) in [('A', (4, 54)), ('B', (45, 48)), ('C', (2, 53)), ('F', (1, 51))] {
        for place in [store.path(), &database] {
            assert_eq!(find(place, letter), (Found::At(database.clone()), Some(messages)), "{letter}");
        }
    }
    // Deleted, without a prompt, never there.
    for letter in ['D', 'E', 'G', 'z'] {
        assert_eq!(find(store.path(), letter).0, Found::Nowhere, "{letter}");
    }
}

#[test]
fn without_its_log_the_database_is_as_it_was() {
    let (store, database) = stored();
    fs::remove_file(store.path().join("opencode.db-wal")).unwrap();
    assert_eq!(find(store.path(), 'A').1, Some((3, 3)));
    assert_eq!(find(store.path(), 'C').0, Found::Nowhere);
    assert_eq!(find(store.path(), 'D').0, Found::At(database));
    fs::write(store.path().join("opencode.db-wal"), "").unwrap();
    assert_eq!(find(store.path(), 'A').1, Some((3, 3)));
}

#[test]
fn a_new_database_is_all_in_its_log() {
    let store = tempfile::tempdir().unwrap();
    for ending in ["", "-wal"] {
        let from = directory("opencode").join(format!("new.db{ending}"));
        fs::copy(from, store.path().join(format!("opencode.db{ending}"))).unwrap();
    }
    assert_eq!(find(store.path(), 'A').1, Some((1, 1)));
    assert_eq!(find(store.path(), 'B').0, Found::Nowhere);
    fs::remove_file(store.path().join("opencode.db-wal")).unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::CannotTell);
}

#[test]
fn a_database_that_is_none_tells_nothing() {
    let store = tempfile::tempdir().unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere);
    assert_eq!(find(&store.path().join("none"), 'A').0, Found::Nowhere);
    for bytes in [&b""[..], b"SQLite format 3\0", &[0; 4096]] {
        fs::write(store.path().join("opencode.db"), bytes).unwrap();
        assert_eq!(find(store.path(), 'A').0, Found::CannotTell);
    }
}

#[test]
fn a_broken_database_never_does_harm() {
    let (store, database) = stored();
    let whole = fs::read(&database).unwrap();
    let log = store.path().join("opencode.db-wal");
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        fs::write(&database, &bytes).unwrap();
        let _ = find(store.path(), 'B');
        fs::write(&database, &whole[..at]).unwrap();
        let _ = find(store.path(), 'B');
    }
    fs::write(&database, &whole).unwrap();
    let whole = fs::read(&log).unwrap();
    for at in (0..whole.len()).step_by(13) {
        fs::write(&log, &whole[..at]).unwrap();
        let _ = find(store.path(), 'A');
    }
}

#[test]
fn older_versions_keep_a_file_for_each_message() {
    let store = tempfile::tempdir().unwrap();
    let messages = store.path().join("storage/message/ses_e1f622e5effeAAAAAAAAAAAAAA");
    fs::create_dir_all(&messages).unwrap();
    assert_eq!(find(store.path(), 'A').0, Found::Nowhere);
    fs::write(messages.join("msg_1.json"), "{}").unwrap();
    assert_eq!(find(store.path(), 'A'), (Found::At(messages), Some((1, 0))));
}

#[test]
fn the_store_follows_the_environment() {
    let store = |variables: &[(&str, &str)]| {
        let env =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        definition(&opencode()).store(&env)
    };
    let home = ("HOME", "/h");
    assert_eq!(store(&[home]), Some("/h/.local/share/opencode".into()));
    assert_eq!(store(&[home, ("XDG_DATA_HOME", "/x")]), Some("/x/opencode".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", "/d/o.db")]), Some("/d/o.db".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", "o.db")]), Some("/h/.local/share/opencode/o.db".into()));
    assert_eq!(store(&[home, ("OPENCODE_DB", ":memory:")]), None);
    assert_eq!(store(&[]), None);
}
