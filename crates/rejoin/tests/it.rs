//! The library as a program uses it, on the embedded agent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rejoin::{
    Agent, AgentConfig, Answer, Config, Decision, Error, Event, Helper, ListFilter, Outcome, Permissions,
    Reason, Rejoin, Scope, TurnBuilder, TurnState,
};
use tempfile::TempDir;

/// A home and a project of its own.
struct Place {
    dir: TempDir,
    rejoin: Rejoin,
}

impl Place {
    /// `None`, after saying so, where the executable is not built: this crate alone does not build it.
    fn new() -> Option<Self> {
        let Some(helper) = executable() else {
            eprintln!("skipped: no rejoin executable beside the tests; build it or set REJOIN_HELPER");
            return None;
        };
        Some(Self::with(Config::default(), Helper::Executable(helper)))
    }

    fn with(config: Config, helper: Helper) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        let rejoin = Rejoin::open_with(dir.path().join("home"), config, helper).unwrap();
        Self { dir, rejoin }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project").canonicalize().unwrap()
    }

    /// A turn of the demo agent.
    fn turn(&self, prompt: &str) -> TurnBuilder<'_> {
        self.rejoin.project(self.project()).agent(Agent::Demo).prompt(prompt)
    }
}

fn executable() -> Option<PathBuf> {
    let named = std::env::var_os("REJOIN_HELPER").map(PathBuf::from);
    let beside = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("rejoin");
    named.or(Some(beside)).filter(|path| path.is_file())
}

#[track_caller]
fn usage_error<T>(result: Result<T, Error>) -> String {
    let error = result.err().unwrap();
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

#[test]
fn files_go_along_and_sessions_elsewhere() {
    let Some(place) = Place::new() else { return };
    let file = place.dir.path().join("notes.txt");
    std::fs::write(&file, "abc").unwrap();
    let sessions = place.dir.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    let first = place.turn("look").attach(&file).session_dir(&sessions).run(|_| {}).unwrap();
    assert!(first.text().contains("notes.txt (text/plain, 3 bytes)"), "{}", first.text());
    assert_eq!(first.receipt().attachments[0].size, 3);
    assert_eq!(std::fs::read_dir(&sessions).unwrap().count(), 1);
    let second = place.turn("and?").continue_latest().run(|_| {}).unwrap();
    assert!(second.receipt().plan.resumes());
    let error = place.turn("look").attach("no/such/file").run(|_| {}).err().unwrap();
    assert_eq!(error.exit_code(), 4, "{error}");
    usage_error(place.turn("x").ephemeral().session_dir(&sessions).run(|_| {}));
}

#[test]
fn two_turns_are_one_session() {
    let Some(place) = Place::new() else { return };
    let first = place.turn("hello MARK-a").run(|_| {}).unwrap();
    let second = place.turn("more MARK-b").continue_latest().run(|_| {}).unwrap();
    assert!(second.text().ends_with("marks=MARK-a,MARK-b"), "{}", second.text());
    assert_eq!(first.session_id(), second.session_id());
    let session = second.session_id().unwrap();
    assert_eq!((session.agent(), session.as_str().len()), (&Agent::Demo, 36));
    assert_eq!(second.outcome(), &Outcome::Completed);
    assert!(matches!(second.receipt().plan, Decision::Resume { catch_up: 0, .. }));
    assert_eq!((second.receipt().bytes, second.receipt().runs), ("more MARK-b".len(), 1));
    assert!(second.usage().unwrap().output > 0);
    assert_eq!(second.cost(), None);
    assert!(second.diagnostics().is_empty());
}

#[test]
fn what_contradicts_itself_is_an_error_and_nothing_is_done() {
    let Some(place) = Place::new() else { return };
    let turn = || place.turn("hello");
    assert!(usage_error(turn().continue_latest().resume("x").run(|_| {})).contains("only one conversation"));
    assert!(usage_error(turn().conversation("x").continue_latest().dry_run()).contains("only one"));
    assert!(usage_error(turn().fresh().ephemeral().run(|_| {})).contains("exclude"));
    assert!(usage_error(turn().checkpoint("x").run(|_| {})).contains("checkpoint"));
    assert!(usage_error(turn().conversation("4f1c2a9e").run(|_| {})).contains("looks like an id"));
    assert!(usage_error(turn().agent(Agent::named("demmo")).run(|_| {})).contains("did you mean \"demo\"?"));
    assert!(usage_error(turn().prompt(" ").run(|_| {})).contains("empty"));
    assert!(usage_error(turn().extra_args(["--x"]).run(|_| {})).contains("--x"));
    assert!(place.rejoin.list(&ListFilter::default()).unwrap().conversations.is_empty());

    turn().run(|_| {}).unwrap();
    assert!(usage_error(turn().continue_latest().scope(Scope::Own).run(|_| {})).contains("scope"));
    assert_eq!(turn().resume("nonsense").run(|_| {}).err().unwrap().exit_code(), 4);
    assert_eq!(place.rejoin.project("/no/such/place").prompt("x").run(|_| {}).err().unwrap().exit_code(), 4);
    assert_eq!(place.rejoin.list(&ListFilter::default()).unwrap().conversations.len(), 1);
}

/// What was said of a turn, and how it is said.
type Said<'a> = (&'a str, fn(TurnBuilder<'a>) -> TurnBuilder<'a>);

/// Nothing is run, so no executable is needed.
#[test]
fn two_places_or_two_conversations_for_one_turn_are_an_error_that_names_both() {
    let place = Place::with(Config::default(), Helper::Thread);
    let turn = || place.rejoin.project(place.project()).agent(Agent::Demo);
    let places: [Said<'_>; 4] = [
        ("checkpoint \"a\"", |turn| turn.checkpoint("a")),
        ("instead_of \"b\"", |turn| turn.instead_of("b")),
        ("retry \"c\"", |turn| turn.retry(Some("c".into()))),
        ("retry", |turn| turn.retry(None)),
    ];
    let conversations: [Said<'_>; 3] = [
        ("continue_latest", TurnBuilder::continue_latest),
        ("conversation \"d\"", |turn| turn.conversation("d")),
        ("resume \"e\"", |turn| turn.resume("e")),
    ];
    for (said, set) in [&places[..], &conversations[..]].into_iter().flat_map(|all| {
        all.iter().flat_map(move |one| all.iter().map(move |other| ((one.0, other.0), (one.1, other.1))))
    }) {
        let error = usage_error(set.1(set.0(turn())).dry_run());
        assert!(error.starts_with(&format!("{} and {} exclude each other", said.0, said.1)), "{error}");
    }
    let error = usage_error(turn().continue_latest().retry(None).prompt("other words").dry_run());
    assert!(error.starts_with("retry and a prompt exclude each other"), "{error}");
}

#[test]
fn events_are_typed_and_in_order() {
    let Some(place) = Place::new() else { return };
    let mut kinds = Vec::new();
    let mut text = String::new();
    let done = place.turn("THINK TOOL-RUN [echo hi] GARBAGE MARK-a").run(|event| {
        kinds.push(match event {
            Event::Init { plan, number, .. } => {
                assert_eq!((plan, number), (&Decision::Fresh { why: Reason::FirstTurn, replayed: 0 }, &1));
                "init"
            }
            Event::Session { agent, .. } => {
                assert_eq!(agent, &Agent::Demo);
                "session"
            }
            Event::TextDelta { offset, text: piece, .. } => {
                assert_eq!(*offset, text.len());
                text.push_str(piece);
                "delta"
            }
            Event::Message { text: whole, .. } => {
                assert_eq!(whole, &text);
                "message"
            }
            Event::ToolUse { name, input, .. } => {
                assert_eq!((name.as_str(), input["command"].as_str()), ("shell", Some("echo hi")));
                "tool"
            }
            Event::ToolResult { output, error, .. } => {
                assert_eq!((output.as_str(), error), ("hi\n", &false));
                "tool result"
            }
            Event::Result { text: answer, receipt } => {
                assert_eq!((answer, &receipt.outcome), (&text, &Outcome::Completed));
                "result"
            }
            Event::Diagnostic { .. } => "diagnostic",
            Event::Thinking { .. } => "thinking",
            Event::Usage { .. } => "usage",
            other => panic!("{other:?}"),
        });
    });
    let done = done.unwrap();
    kinds.dedup();
    let expected = ["init", "session", "thinking", "tool", "tool result", "diagnostic", "thinking"];
    assert_eq!(kinds, [&expected[..], &["delta", "message", "usage", "result"]].concat());
    assert_eq!((done.text(), done.diagnostics().len()), (text.as_str(), 7));
    assert_eq!(done.receipt().diagnostics, 7);
}

#[test]
fn a_failed_turn_is_an_outcome_and_no_error() {
    let Some(place) = Place::new() else { return };
    let done = place.turn("FAIL quota no more").run(|_| {}).unwrap();
    assert_eq!(done.outcome(), &Outcome::failed(rejoin::FailureClass::Quota, "no more"));
}

#[test]
fn a_turn_can_be_stopped_from_another_thread() {
    let Some(place) = Place::new() else { return };
    let mut turn = place.turn("SLOW 3000");
    let canceller = turn.canceller().unwrap();
    let (begun, wait) = std::sync::mpsc::channel();
    let done = std::thread::scope(|threads| {
        threads.spawn(move || {
            wait.recv().unwrap();
            canceller.cancel();
        });
        turn.run(|event| {
            if matches!(event, Event::TextDelta { .. }) {
                let _ = begun.send(());
            }
        })
    });
    assert_eq!(done.unwrap().outcome(), &Outcome::Cancelled);
    let view = place.rejoin.view(&place.project(), "@").unwrap();
    assert_eq!(view.path()[0].state(), TurnState::Cut);
}

#[test]
fn limits_can_be_set() {
    let Some(place) = Place::new() else { return };
    let done = place.turn("SLOW 3000").timeout(Duration::from_millis(200)).run(|_| {}).unwrap();
    assert!(matches!(done.outcome(), Outcome::Timeout { .. }));
}

#[test]
fn questions_are_answered_by_the_program() {
    let Some(place) = Place::new() else { return };
    let asked = RefCell::new(Vec::new());
    let turn = place.turn("ASK").on_question(|question| {
        asked.borrow_mut().push(question.text.clone());
        Answer::Text(question.choices[1].label.clone())
    });
    let done = turn.run(|_| {}).unwrap();
    assert!(done.text().contains("You answered “coffee”."), "{}", done.text());
    assert_eq!(*asked.borrow(), ["Tea or coffee?"]);
    let declined = place.turn("ASK").on_question(|_| Answer::Declined).run(|_| {}).unwrap();
    assert!(declined.text().contains("Nobody answered"), "{}", declined.text());
}

#[test]
fn a_dry_run_tells_the_plan_and_does_nothing() {
    let Some(place) = Place::new() else { return };
    place.turn("hello MARK-a").conversation("talk").run(|_| {}).unwrap();
    let turn = || place.turn("more").conversation("talk").permissions(Permissions::Read).model("big");
    let plan = turn().dry_run().unwrap();
    assert!(plan.plan.resumes());
    assert_eq!((plan.prompt.as_str(), plan.bytes, plan.turn_number), ("more", 4, 2));
    assert!(plan.argv.contains(&"--permissions=read".to_owned()), "{:?}", plan.argv);
    assert!(plan.argv.contains(&"--model=big".to_owned()), "{:?}", plan.argv);
    let view = place.rejoin.view(&place.project(), "talk").unwrap();
    assert_eq!(view.path().len(), 1);
}

#[test]
fn the_history_can_be_read() {
    let Some(place) = Place::new() else { return };
    place.turn("hello MARK-a").run(|_| {}).unwrap();
    place.turn("more").continue_latest().agent(Agent::named("demo2")).run(|_| {}).unwrap();
    let here = ListFilter { project: Some(place.project()), ..ListFilter::default() };
    let list = place.rejoin.list(&here).unwrap().conversations;
    assert_eq!((list.len(), list[0].summary.title.as_str()), (1, "hello MARK-a"));
    assert_eq!(list[0].summary.agents, [Agent::Demo, Agent::named("demo2")]);
    let view = place.rejoin.view(&place.project(), "@").unwrap();
    let said = view.messages(view.path()[0], 1000).unwrap();
    assert_eq!(said[0].text(), "hello MARK-a");
    assert!(said[1].text().contains("I am the demo agent"));
}

#[test]
fn turns_of_several_threads_do_not_get_in_each_others_way() {
    let Some(place) = Place::new() else { return };
    std::thread::scope(|threads| {
        for name in ["one", "two", "three"] {
            let place = &place;
            threads.spawn(move || {
                for mark in ["MARK-a", "MARK-b"] {
                    let done = place.turn(&format!("SLOW 3 {mark}")).conversation(name).run(|_| {}).unwrap();
                    assert!(done.text().ends_with(mark), "{}", done.text());
                }
            });
        }
    });
    assert_eq!(place.rejoin.list(&ListFilter::default()).unwrap().conversations.len(), 3);
}

#[test]
fn a_program_that_panics_while_it_watches_gets_its_panic_and_no_hang() {
    let Some(place) = Place::new() else { return };
    let begun = Instant::now();
    let turn = std::panic::AssertUnwindSafe(place.turn("FLOOD 1g"));
    let panicked = std::panic::catch_unwind(move || {
        let turn = turn;
        turn.0.run(|event| assert!(!matches!(event, Event::TextDelta { .. }), "enough"))
    });
    assert!(panicked.is_err());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let view = place.rejoin.view(&place.project(), "@").unwrap();
    assert_eq!(view.path()[0].state(), TurnState::Cut, "the agent was stopped and the turn settled");
}

#[test]
fn without_the_executable_supervision_is_reduced_and_that_is_said() {
    let scripts = tempfile::tempdir().unwrap();
    let command = small_claude(scripts.path());
    let setup = AgentConfig { command: Some(command), ..AgentConfig::default() };
    let config = Config { agents: [("claude".to_owned(), setup)].into(), ..Config::default() };
    let place = Place::with(config, Helper::Thread);
    let mut codes = Vec::new();
    let begun = Instant::now();
    let turn = place.rejoin.project(place.project()).agent(Agent::Claude).prompt("hello");
    let done = turn.run(|event| {
        if let Event::Warning { code, .. } = event {
            codes.push(code.clone());
        }
    });
    let done = done.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!((done.text(), done.outcome()), ("hi", &Outcome::Completed));
    assert!(codes.contains(&"supervision".to_owned()), "{codes:?}");
    assert!(done.receipt().warnings.iter().any(|text| text.contains("may outlive a crash")));

    let error = place.turn("hello").run(|_| {}).err().unwrap();
    assert_eq!(error.exit_code(), 4, "{error}");
    assert!(error.to_string().contains("REJOIN_HELPER"), "{error}");
}

/// A program that answers as Claude Code does, and keeps nothing.
fn small_claude(dir: &Path) -> String {
    let session = r#""session_id":"11111111-1111-4111-8111-111111111111""#;
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo '2.1.0 (Claude Code)'; exit ;; --help) exit ;; esac\n\
         echo '{{\"type\":\"system\",\"subtype\":\"init\",{session}}}'\n\
         echo '{{\"type\":\"assistant\",{session},\"message\":{{\"id\":\"m\",\"content\":[{{\"type\":\"text\",\"text\":\"hi\"}}]}}}}'\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,{session},\"result\":\"hi\"}}'\n"
    );
    let file = dir.join("claude");
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn the_examples_run() {
    let Some(place) = Place::new() else { return };
    let examples = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples");
    for (name, expected) in [
        ("two_turns", ["marks=MARK-one,MARK-two", "the same session: true", "resumed: true, sent: 19 bytes"]),
        (
            "hand_over",
            ["demo2  fresh (no session", "demo   resumed, told 1 turns", "demo   resumed, told 0 turns"],
        ),
    ] {
        let program = examples.join(name);
        if !program.is_file() {
            eprintln!("skipped: the example {name} is not built (cargo test -p rejoin builds it)");
            continue;
        }
        let mut command = Command::new(program);
        command.current_dir(place.project()).env("REJOIN_HOME", place.dir.path().join(name));
        command.env("HOME", place.dir.path()).env("REJOIN_HELPER", executable().unwrap());
        let output = command.env_remove("REJOIN_CONFIG").output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
        for words in expected {
            assert!(shown.contains(words), "{words:?} is not in\n{shown}");
        }
    }
}

/// Whatever a bundle says, it is taken in whole or not at all.
#[test]
fn fuzz_bundles() {
    let place = Place::with(Config::default(), Helper::Thread);
    let corpus = rejoin_testkit::fuzz::corpus(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/bundle"));
    let file = place.dir.path().join("bundle");
    rejoin_testkit::fuzz::fuzz(corpus, |bytes| {
        std::fs::write(&file, bytes).unwrap();
        if let Ok(imported) = place.rejoin.import(&file, None) {
            let here = place.rejoin.view(&place.project(), &imported.id.to_string()).unwrap();
            here.remove().unwrap();
        }
        assert_eq!(place.rejoin.ids(None).unwrap(), []);
    });
}

#[test]
fn what_went_on_since_it_was_looked_at_is_not_deleted() {
    let Some(place) = Place::new() else { return };
    place.turn("one").run(|_| {}).unwrap();
    let looked_at = place.rejoin.view(&place.project(), "@").unwrap();
    place.turn("two").continue_latest().run(|_| {}).unwrap();
    let error = looked_at.remove().unwrap_err();
    assert_eq!((error.exit_code(), error.is_busy()), (6, true), "{error}");
    let now = place.rejoin.view(&place.project(), "@").unwrap();
    assert_eq!(now.path().len(), 2);
    now.remove().unwrap();
    let origins = std::fs::read_dir(place.dir.path().join("home/origins")).unwrap();
    assert_eq!(origins.count(), 1, "only the inventory is left");
}

#[test]
fn a_copy_is_believed_as_far_as_what_it_was_copied_from() {
    let Some(place) = Place::new() else { return };
    let (ours, other) = (&place.rejoin, Place::new().unwrap());
    let turn = place.turn("one").permissions(Permissions::Full).run(|_| {}).unwrap();
    let id = ours.view(&place.project(), "@").unwrap().id();
    let copy = ours.fork(id, turn.receipt().turn).unwrap().to_string();
    let journal = place.dir.path().join("journal");
    let mut file = std::fs::File::create(&journal).unwrap();
    std::io::copy(&mut ours.view(&place.project(), &copy).unwrap().raw().unwrap(), &mut file).unwrap();
    let plan = |place: &Place, id: String| place.turn("on").resume(id).dry_run().unwrap();
    let is_full = |plan: &rejoin::DryRun| plan.argv.iter().any(|arg| arg == "--permissions=full");
    assert!(is_full(&plan(&place, copy)));

    let taken = other.rejoin.import(&journal, None).unwrap().id;
    let copy = other.rejoin.fork(taken, turn.receipt().turn).unwrap();
    let there = plan(&other, copy.to_string());
    assert!(!is_full(&there) && there.cwd == other.project().to_string_lossy(), "{there:?}");
}
