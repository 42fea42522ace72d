//! The library as a program uses it, on the embedded agent.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

#[path = "it/awaited.rs"]
mod awaited;
#[path = "it/limits.rs"]
mod limits;
#[path = "it/schemas.rs"]
mod schemas;
#[path = "it/watched.rs"]
mod watched;

use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rejoin::{
    Agent, AgentConfig, Answer, ChatConversation, ChatStart, ChatState, Config, ConversationId, Decision,
    Error, Event, Format, Grouping, Helper, ImportOutcome, JournalError, ListFilter, MessageId, Outcome,
    Owner, Permissions, PruneFilter, Reason, Rejoin, Scope, StatsFilter, TurnBuilder, TurnError, TurnOptions,
    TurnRequest, TurnState, TurnStatus, WantedMessage, WantedPlace,
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

    /// Opened once more, for tests that need it for themselves.
    fn opened_again(&self) -> Rejoin {
        let helper = Helper::Executable(executable().unwrap());
        Rejoin::open_with(self.dir.path().join("home"), Config::default(), helper).unwrap()
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
fn an_id_is_no_text_that_is_looked_up() {
    let Some(place) = Place::new() else { return };
    let first = place.turn("one").run(|_| {}).unwrap();
    let (id, turn) = (first.receipt().conversation.unwrap(), first.receipt().turn);
    place.turn("two").in_conversation(id).run(|_| {}).unwrap();
    let builder = place.turn("three").in_conversation(id).checkpoint(turn);
    let stored = serde_json::to_value(builder.request()).unwrap();
    assert_eq!(stored["conversation"], serde_json::json!({ "id": id }));
    assert_eq!(stored["place"], serde_json::json!({ "after": turn }));
    let read: TurnRequest = serde_json::from_value(stored).unwrap();
    assert_eq!(&read, builder.request());
    assert_eq!(read.place, Some(WantedPlace::After(WantedMessage::Id(turn))));
    builder.run(|_| {}).unwrap();
    let view = place.rejoin.open_conversation(id).unwrap();
    assert_eq!(view.path().len(), 2, "the third went on from the first");
    let nobody = ConversationId::new(uuid::Uuid::new_v4());
    let error = place.turn("x").in_conversation(nobody).run(|_| {}).err().unwrap();
    assert_eq!(error.exit_code(), 4, "{error}");
    let error = place.turn("x").in_conversation(id).checkpoint(nobody_said()).run(|_| {}).err().unwrap();
    assert_eq!(error.exit_code(), 4, "{error}");
}

fn nobody_said() -> MessageId {
    MessageId::new(uuid::Uuid::new_v4())
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
        Answer::Text(question.options[1].label.clone())
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
    assert_eq!((list.len(), list[0].title.as_str()), (1, "hello MARK-a"));
    assert_eq!(list[0].agents, [Agent::Demo, Agent::named("demo2")]);
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

#[test]
fn what_programs_get_is_what_the_command_prints() {
    let Some(place) = Place::new() else { return };
    place.turn("hello MARK-a").run(|_| {}).unwrap();
    place.turn("more").continue_latest().run(|_| {}).unwrap();
    let command = |args: &[&str]| -> serde_json::Value {
        let output = Command::new(executable().unwrap())
            .args(args)
            .current_dir(place.project())
            .env("REJOIN_HOME", place.dir.path().join("home"))
            .env("REJOIN_CONFIG", "/dev/null")
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let list = place.rejoin.list(&ListFilter::default()).unwrap().conversations;
    assert_eq!(serde_json::to_value(&list).unwrap(), command(&["ls", "--json"]));
    let view = place.rejoin.open_conversation(list[0].id).unwrap();
    let shown = view.shown(&view.path(), 64 << 10).unwrap();
    assert_eq!(serde_json::to_value(&shown).unwrap(), command(&["show", "--json"]));
    let query = rejoin::Query::parse(&["hello"]).unwrap();
    let hits = place.rejoin.search(&query, &rejoin::SearchFilter::default()).unwrap().hits;
    assert_eq!(serde_json::to_value(&hits).unwrap(), command(&["search", "hello", "--json"]));
    let by_agent = StatsFilter { by: Some(Grouping::Agent), ..StatsFilter::default() };
    let stats = place.rejoin.stats(&by_agent).unwrap();
    assert_eq!(serde_json::to_value(&stats).unwrap(), command(&["stats", "--by", "agent", "--json"]));
    let check = place.rejoin.check(view.id(), false).unwrap();
    assert_eq!(serde_json::to_value([check]).unwrap(), command(&["fsck", "--json"]));
    let why = place.rejoin.project(place.project()).resume("@").why().unwrap();
    assert_eq!(serde_json::to_value(&why).unwrap(), command(&["why", "--json"]));
    let agents = place.rejoin.agents();
    assert_eq!(serde_json::to_value(&agents).unwrap(), command(&["agents", "--json"]));
    let mut export = Vec::new();
    view.export(Format::Json, None, &mut export).unwrap();
    let export: serde_json::Value = serde_json::from_slice(&export).unwrap();
    assert_eq!(export, command(&["export", "@", "--format", "json"]));
}

#[test]
fn what_is_read_back_is_the_same() {
    let Some(place) = Place::new() else { return };
    place.turn("hello").run(|_| {}).unwrap();
    let list = place.rejoin.list(&ListFilter::default()).unwrap().conversations;
    let text = serde_json::to_string(&list).unwrap();
    assert_eq!(serde_json::from_str::<Vec<rejoin::ListedConversation>>(&text).unwrap(), list);
}

#[test]
fn the_way_to_the_head_reads_straight_down_and_other_branches_are_set_off() {
    let Some(place) = Place::new() else { return };
    for prompt in ["one", "two"] {
        place.turn(prompt).conversation("talk").run(|_| {}).unwrap();
    }
    place.turn("three").conversation("talk").checkpoint("1").run(|_| {}).unwrap();
    let view = place.rejoin.view(&place.project(), "talk").unwrap();
    view.branch("@", Some("other")).unwrap();
    let view = place.rejoin.view(&place.project(), "talk").unwrap();
    let turns = view.conversation().tree.turns();
    let rows = view.tree_rows();
    let seen: Vec<_> = rows.iter().map(|row| (row.turn, row.depth, row.branches_off, row.on_path)).collect();
    assert_eq!(
        seen,
        [(turns[0].id, 0, false, true), (turns[1].id, 1, true, false), (turns[2].id, 0, false, true)]
    );
    assert!(rows[2].is_head && rows[2].branches == ["other"], "{rows:?}");
}

#[test]
fn a_turn_that_waits_for_an_answer_says_so() {
    let Some(place) = Place::new() else { return };
    let mut asked = TurnStatus::Interrupted;
    let (rejoin, project) = (&place.rejoin, place.project());
    let status = || {
        let view = rejoin.view(&project, "@").unwrap();
        view.turn_status(view.path().last().unwrap()).unwrap()
    };
    let turn = place.turn("ASK tea or coffee").on_question(|_| {
        asked = status();
        Answer::Text("tea".into())
    });
    turn.run(|_| {}).unwrap();
    assert_eq!((asked, asked.name()), (TurnStatus::Waiting, "waiting"));
    assert_eq!(status(), TurnStatus::Completed);
    place.turn("FAIL crash").continue_latest().run(|_| {}).unwrap();
    assert_eq!(status(), TurnStatus::Failed);
}

#[test]
fn what_is_not_used_for_a_while_is_selected_unless_it_is_to_be_kept() {
    let Some(place) = Place::new() else { return };
    place.turn("hello").conversation("kept").run(|_| {}).unwrap();
    let unnamed = place.turn("hello").run(|_| {}).unwrap().receipt().conversation.unwrap();
    let filter = |older_than, keep_named, tags: &[&str]| PruneFilter {
        older_than,
        project: Some(place.project()),
        tags: tags.iter().map(ToString::to_string).collect(),
        keep_named,
    };
    let selected = |filter: &PruneFilter| -> Vec<_> {
        place.rejoin.prunable(filter).unwrap().iter().map(rejoin::ConversationView::id).collect()
    };
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(selected(&filter(Duration::ZERO, false, &[])).len(), 2);
    assert_eq!(selected(&filter(Duration::ZERO, true, &[])), [unnamed]);
    assert_eq!(selected(&filter(Duration::from_mins(1), false, &[])), []);
    assert_eq!(selected(&filter(Duration::ZERO, false, &["none"])), []);
}

#[test]
fn a_bundle_is_taken_in_from_a_stream() {
    let Some(place) = Place::new() else { return };
    place.turn("hello").run(|_| {}).unwrap();
    let view = place.rejoin.view(&place.project(), "@").unwrap();
    let mut bundle = Vec::new();
    view.export(Format::Bundle, None, &mut bundle).unwrap();
    let other = Place::new().unwrap();
    let imported = other.rejoin.import_from(&mut bundle.as_slice(), "the upload", None).unwrap();
    assert_eq!((imported.id, imported.outcome), (view.id(), ImportOutcome::New));
    let cut = bundle.len() - 20;
    let error = usage_error(other.rejoin.import_from(&mut &bundle[..cut], "the upload", None));
    assert!(error.starts_with("the upload is a damaged bundle"), "{error}");
}

#[test]
fn a_chat_keeps_what_is_meant_for_all_turns_and_forgets_what_was_for_one() {
    let Some(place) = Place::new() else { return };
    let (rejoin, project) = (&place.rejoin, place.project());
    let options = TurnOptions { agent: Some(Agent::Demo), fresh: true, ..TurnOptions::default() };
    let start = ChatStart { conversation: ChatConversation::Latest, options, ..ChatStart::default() };
    let mut chat = ChatState::begin(rejoin, &project, start).unwrap();
    assert!(chat.nothing_to_continue() && chat.conversation().is_none() && chat.options().fresh);
    assert!(chat.outlook(rejoin).unwrap().is_none());
    chat.choose_model("big");
    let first = chat.turn(rejoin, "hello MARK-a").run(|_| {}).unwrap();
    chat.turn_began(first.receipt().conversation.unwrap());
    chat.turn_ended(first.receipt().agent.clone());
    assert!(!chat.options().fresh && chat.options().model.as_deref() == Some("big"));
    assert!(chat.outlook(rejoin).unwrap().unwrap().plan.resumes());
    let second = chat.turn(rejoin, "more").run(|_| {}).unwrap();
    assert_eq!(second.receipt().conversation, chat.conversation());
    assert!(second.receipt().plan.resumes());
    let before = chat.clone();
    assert!(chat.choose_agent(rejoin, Agent::named("nobody")).is_err());
    assert_eq!(chat, before);
    chat.choose_agent(rejoin, Agent::named("demo2")).unwrap();
    assert_eq!(chat.agent(), &Agent::named("demo2"));
    let kept = serde_json::to_string(&chat).unwrap();
    assert_eq!(serde_json::from_str::<ChatState>(&kept).unwrap(), chat);
}

#[test]
fn a_chat_takes_files_and_levels_only_if_the_next_turn_would_and_goes_elsewhere_with_neither() {
    let Some(place) = Place::new() else { return };
    let (rejoin, project) = (&place.rejoin, place.project());
    let options = TurnOptions { agent: Some(Agent::Demo), ..TurnOptions::default() };
    let start = ChatStart { options, ..ChatStart::default() };
    let mut chat = ChatState::begin(rejoin, &project, start).unwrap();
    let before = chat.clone();
    assert!(chat.attach(rejoin, project.join("nowhere.txt")).is_err());
    assert_eq!((&chat, chat.dir()), (&before, project.as_path()));
    std::fs::write(project.join("notes.txt"), "notes").unwrap();
    chat.attach(rejoin, project.join("notes.txt")).unwrap();
    chat.detach_all();
    assert_eq!(chat, before);
    chat.attach(rejoin, project.join("notes.txt")).unwrap();
    chat.choose_permissions(rejoin, Permissions::Read).unwrap();
    let first = chat.turn(rejoin, "hello").run(|_| {}).unwrap();
    assert_eq!(first.receipt().attachments.len(), 1);
    let id = first.receipt().conversation.unwrap();
    assert_eq!(rejoin.open_conversation(id).unwrap().conversation().ceiling, Some(Permissions::Read));
    let new = chat.another(rejoin, ChatConversation::New).unwrap();
    assert_eq!((new.options().permissions, new.options().attach.len()), (Some(Permissions::Read), 0));
    let found = new.another(rejoin, ChatConversation::Id(id)).unwrap();
    assert_eq!((found.options().permissions, found.options().agent.clone()), (None, None));
    assert_eq!((found.conversation(), found.agent()), (Some(id), &Agent::Demo));
}

#[test]
fn a_chat_begins_a_named_conversation_but_not_one_that_was_to_be_found() {
    let Some(place) = Place::new() else { return };
    let (rejoin, project) = (&place.rejoin, place.project());
    let options = TurnOptions { agent: Some(Agent::Demo), ..TurnOptions::default() };
    let begin = |conversation| {
        let start = ChatStart { conversation, options: options.clone(), ..ChatStart::default() };
        ChatState::begin(rejoin, &project, start)
    };
    assert_eq!(begin(ChatConversation::Reference("talk".into())).err().unwrap().exit_code(), 4);
    let named = begin(ChatConversation::Named("talk".into())).unwrap();
    let id = named.turn(rejoin, "hello").run(|_| {}).unwrap().receipt().conversation;
    assert_eq!(begin(ChatConversation::Reference("talk".into())).unwrap().conversation(), id);
}

#[test]
fn an_error_can_be_matched_with_what_this_crate_exports() {
    let Some(place) = Place::new() else { return };
    let mut busy = None;
    // Whoever watches is not waited for: the turn is to wait for its answer.
    let asks = place.turn("ASK").conversation("talk").on_question(|_| {
        busy = place.turn("me too").conversation("talk").run(|_| {}).err();
        Answer::Declined
    });
    asks.run(|_| {}).unwrap();
    match busy {
        Some(Error::Turn(TurnError::Busy { owner: Some(owner), .. })) => {
            let owner: Box<Owner> = owner;
            assert_eq!(owner.pid, std::process::id());
        }
        other => panic!("{other:?}"),
    }
    let nobody = rejoin::ConversationId::new(uuid::Uuid::nil());
    let error = place.rejoin.open_conversation(nobody).err();
    assert!(
        matches!(error, Some(Error::Turn(TurnError::Journal(JournalError::NotFound { .. })))),
        "{error:?}"
    );
}
