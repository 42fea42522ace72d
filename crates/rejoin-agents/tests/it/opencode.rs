//! OpenCode: its driver on recordings, its arguments, its levels.

use insta::assert_snapshot;
use rejoin_agents::{Capabilities, Line, Lookup, ProbeAnswer, Refusal, Step};
use rejoin_core::{Event, FailureClass, Outcome, Permissions};
use serde_json::Value;

use crate::recording::{Recording, names, shown};
use crate::requests::{Asked, OPENCODE_SESSION, answer, capabilities, definition, help, on_stderr, opencode};

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
    let class = FailureClass::Setup;
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
    let Some(Lookup::Ask { args, find: find_in }) = launch.lookup else { panic!("asks nobody") };
    assert_eq!(args, ["session", "list", "--format=json", "--max-count=20"]);
    let entry = |title: &str, dir: &str| serde_json::json!({ "id": OPENCODE_SESSION, "title": title, "directory": dir, "created": 1 });
    let find = |entries: Vec<Value>| find_in(&Value::from(entries).to_string());
    let dir = "/home/dev/proj";
    assert_eq!(find(vec![entry("x", dir), entry(&title, dir)]).unwrap().as_str(), OPENCODE_SESSION);
    assert_eq!(find(vec![entry(&title, "/home/dev/proj/sub")]), None);
    assert_eq!(find(vec![entry("rejoin", dir)]), None);
    assert_eq!(find(vec![entry(&title, dir), entry(&title, dir)]), None);
    assert_eq!(find_in("No sessions"), None);
    assert!(resumed().launch().unwrap().lookup.is_none());
    assert!(Asked { ephemeral: true, ..Asked::opencode() }.launch().unwrap().lookup.is_none());
}

/// OpenCode 1.0.61, which has no `session list`.
fn before_the_list() -> Capabilities {
    let [run, list] = ["run_1_0_61", "opencode_1_0_61"].map(|name| help("opencode", name));
    definition(&opencode()).learn(&[answer("1.0.61\n"), run, list])
}

#[test]
fn where_it_cannot_list_its_sessions_they_are_found_in_its_files() {
    let store = tempfile::tempdir().unwrap();
    let asked = Asked {
        capabilities: before_the_list(),
        store: Some(store.path().to_str().unwrap().into()),
        ..Asked::opencode()
    };
    assert!(asked.capabilities.resume && !asked.capabilities.has("list --format"));
    let launch = asked.launch().unwrap();
    let title = launch.args.iter().find_map(|arg| arg.to_str()?.strip_prefix("--title=")).unwrap();
    let Some(Lookup::Look(look)) = &launch.lookup else { panic!("looks nowhere") };
    let write = |path: String, value: Value| {
        let file = store.path().join("storage").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, value.to_string()).unwrap();
    };
    let session = |id: &str, title: &str, dir: &str| {
        let value = serde_json::json!({ "id": id, "title": title, "directory": dir });
        write(format!("session/p/{id}.json"), value);
    };
    let prompt = |text: &str| {
        write("part/msg_1/prt_1.json".into(), serde_json::json!({ "type": "text", "text": text }));
    };
    assert_eq!(look(), None);
    session(OPENCODE_SESSION, title, "/home/dev/proj");
    assert_eq!(look(), None, "it holds nothing");
    write(format!("message/{OPENCODE_SESSION}/msg_1.json"), serde_json::json!({ "role": "user" }));
    prompt("something else");
    assert_eq!(look(), None, "it holds something else");
    prompt("\nhello\n");
    assert_eq!(look().unwrap().as_str(), OPENCODE_SESSION);
    let other = OPENCODE_SESSION.replace('N', "M");
    session(&other, title, "/home/dev/proj/sub");
    assert_eq!(look().unwrap().as_str(), OPENCODE_SESSION);
    session(&other, title, "/home/dev/proj");
    assert_eq!(look(), None, "two have our title");
}
