//! docs/journal.md shows real lines: these ones.

use rejoin_core::{
    Agent, AgentSession, AnsweredBy, Asked, Attachment, CallNote, CallStatus, Content, Decision,
    DirectoryMark, Event, FailureClass, Intent, Kind, Mark, Native, OptionKind, Outcome, Part, Permissions,
    Pin, PinState, ProjectMarks, Question, QuestionOption, Reason, Receipt, Record, Repeated, RequestKey,
    Scope, SessionId, StandIn, Stream, System, Usage, Witness,
};
use rejoin_journal::{Store, load, messages};
use serde_json::json;

use crate::support::{Disk, PROJECT, conversation, info, message, record, system};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal.md");
const SESSION: &str = "0f6c1d1e-52a7-4c0e-9a51-3b8c1f0e7d21";

/// A small conversation that holds one of everything.
fn example() -> Vec<Record> {
    let id = conversation(0);
    let said = |number, parent, kind, content| Record {
        message: Some(content),
        git_branch: Some("main".into()),
        ..record(id, number, parent, kind)
    };
    let native = |name: &str| {
        Some(Native {
            agent: Some(Agent::Claude),
            session: Some(SESSION.into()),
            message_id: Some(name.into()),
        })
    };
    let model = || Some("claude-opus-5-1".to_owned());
    let usage = Usage { input: 1200, cached: 9000, output: 85 };
    let fresh = || Decision::Fresh { why: Reason::FirstTurn, replayed: 0 };
    let answer = |parts| said(5, Some(1), Kind::Assistant, Content::model(parts));
    let tell = |number, turn, about: System| system(id, number, turn, &about);
    vec![
        tell(0, None, System::Conversation(info(PROJECT))),
        Record {
            request: Some(RequestKey { key: "ann-17".into(), digest: "9f86d081884c7d65".into() }),
            ..said(
                1,
                None,
                Kind::User,
                Content::user(vec![
                    Part::text("Which files are here?"),
                    Part::Attachment { attachment: attachment() },
                ]),
            )
        },
        tell(2, Some(1), System::Permissions { ceiling: Permissions::Read }),
        tell(3, Some(1), System::Intent(Box::new(Intent { pin: Some(pin(false)), ..intent(fresh()) }))),
        Record { native: native("msg_01"), model: model(), ..answer(vec![Part::text("Let me see: loo")]) },
        Record { replaces: Some(12), ..answer(vec![Part::text("I look.")]) },
        answer(vec![Part::call("toolu_01", "Bash", json!({"command": "ls"}))]),
        Record {
            tool_calls_metadata: vec![serde_json::to_value(inside()).unwrap()],
            message: None,
            ..answer(Vec::new())
        },
        Record {
            tool_calls_metadata: vec![serde_json::to_value(call().ended(CallStatus::Success, 31)).unwrap()],
            ..said(
                6,
                Some(5),
                Kind::ToolResult,
                Content::user(vec![Part::response("toolu_01", "Bash", "a.rs\nb.rs\n", false)]),
            )
        },
        Record {
            tokens: Some(usage),
            native: native("msg_02"),
            model: model(),
            ..said(
                7,
                Some(6),
                Kind::Assistant,
                Content::model(vec![Part::thought("Two."), Part::text("a.rs and b.rs.")]),
            )
        },
        tell(8, Some(1), System::Diagnostic { run: 1, stream: Stream::Stdout, text: "npm notice".into() }),
        tell(9, Some(1), System::Pin(Box::new(pin(true)))),
        tell(10, Some(1), System::Receipt(Box::new(receipt(fresh(), usage)))),
        tell(11, None, System::Title { name: "files".into() }),
        tell(
            12,
            None,
            System::Amendment { target: message(1), parts: vec![Part::text("Which Rust files are here?")] },
        ),
        tell(13, None, System::Head { to: Some(message(1)), branch: Some("idea".into()) }),
        tell(14, Some(1), System::Compaction { agent: Agent::Claude, text: "compacted (auto)".into() }),
        tell(
            15,
            Some(1),
            System::Gap {
                agent: Agent::Claude,
                session: SESSION.into(),
                text: "used outside of rejoin".into(),
            },
        ),
        tell(16, None, System::Tags { add: vec!["urgent".into()], remove: vec!["later".into()] }),
        tell(17, None, System::Moved { project: "/home/ann/new".into(), dir: "/home/ann/new".into() }),
        tell(18, None, System::Forked { conversation: conversation(1), turn: message(1) }),
        tell(19, Some(1), System::Warning { code: "lossy".into(), text: "the replay was shortened".into() }),
        tell(20, Some(1), System::Question(Box::new(question()))),
        tell(21, Some(1), System::QuestionAnswered(question().answered(AnsweredBy::User, Some("allow")))),
        tell(22, Some(1), System::QuestionWithdrawn { question: "req_02".into() }),
        tell(
            23,
            Some(1),
            System::Session(AgentSession {
                agent: Agent::Claude,
                session: SESSION.into(),
                model: Some("claude-opus-4-1".into()),
                agent_version: Some("2.1.197".into()),
            }),
        ),
        tell(24, None, System::Asked(Asked::Cancel { turn: message(1) })),
        tell(25, Some(1), System::Project(Box::new(marks()))),
    ]
}

fn marks() -> ProjectMarks {
    ProjectMarks {
        directory: Some(DirectoryMark { inode: 4_718_593, born: 1_763_150_400_123_456_789 }),
        git_common_dir: Some("/home/ann/app/.git".into()),
        work_tree: None,
        first_commit: Some("4b825dc642cb6eb9a060e54bf8d69288fbee4904".into()),
        remote: Some("9f86d081884c7d659a2feaa0c55ad015".into()),
    }
}

fn call() -> CallNote {
    CallNote::begun("toolu_01", "Bash", &json!({"command": "ls"}), "2026-11-15T20:00:05Z".into())
}

/// What a subagent did.
fn inside() -> Event {
    Event::ToolUse {
        message: message(5),
        id: "toolu_02".into(),
        name: "Read".into(),
        input: json!({"file_path": "a.rs"}),
        parent: Some("toolu_01".into()),
    }
}

fn question() -> Question {
    let option = |label: &str, description: &str, kind| QuestionOption {
        id: label.into(),
        label: label.into(),
        description: description.into(),
        kind,
    };
    Question {
        id: "req_01".into(),
        text: "Claude wants to use Bash: ls".into(),
        options: vec![
            option("allow", "this once", OptionKind::AllowOnce),
            option("deny", "Claude goes on without it", OptionKind::RejectOnce),
        ],
        tool: Some("Bash".into()),
        call: Some("toolu_01".into()),
        ..Question::default()
    }
}

fn intent(plan: Decision) -> Intent {
    Intent {
        agent: Agent::Claude,
        run: 1,
        number: 1,
        plan,
        model: None,
        session_dir: None,
        bytes: 21,
        stands_in: None,
        pin: None,
    }
}

fn attachment() -> Attachment {
    Attachment {
        name: "tree.png".into(),
        media_type: "image/png".into(),
        size: 12_288,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824".into(),
    }
}

fn pin(done: bool) -> Pin {
    let mark = Mark::EMPTY.push(message(1), 0);
    let witness = Witness {
        path: "/home/ann/.claude/projects/-home-ann-app/0f6c1d1e.jsonl".into(),
        size: 5120,
        mtime: 1_763_236_802_000_000_000,
    };
    Pin {
        session: SessionId::new(Agent::Claude, SESSION).unwrap(),
        scope: Scope::Shared,
        dir: PROJECT.into(),
        store: "/home/ann/.claude".into(),
        product: "claude (Claude Code)".into(),
        home: "a2b7c9d4-6f1e-4b3a-8c5d-0e9f8a7b6c5d".into(),
        state: if done { PinState::Live } else { PinState::Tentative },
        seen: if done { mark } else { Mark::EMPTY },
        exposed: mark,
        witness: done.then_some(witness),
        at_least: None,
        lossy: false,
        total: None,
        failing: None,
    }
}

fn receipt(plan: Decision, usage: Usage) -> Receipt {
    let mut receipt = Receipt::new(message(1), Agent::Claude, plan, Outcome::Completed);
    receipt.conversation = Some(conversation(0));
    (receipt.runs, receipt.bytes, receipt.milliseconds, receipt.diagnostics) = (1, 21, 4210, 1);
    receipt.session = Some(SESSION.into());
    receipt.model = Some("claude-opus-5-1".into());
    receipt.attachments = vec![attachment()];
    (receipt.usage, receipt.cost) = (Some(usage), Some(0.0125));
    receipt.exit_code = Some(0);
    receipt
}

/// Does not compile when a kind of record is added: write it into the example and the document.
fn subtype(system: &System) -> &'static str {
    match system {
        System::Conversation(_) => "conversation",
        System::Title { .. } => "title",
        System::Tags { .. } => "tags",
        System::Moved { .. } => "moved",
        System::Permissions { .. } => "permissions",
        System::Intent(_) => "intent",
        System::Session(_) => "session",
        System::Pin(_) => "pin",
        System::Receipt(_) => "receipt",
        System::Amendment { .. } => "amendment",
        System::Head { .. } => "head",
        System::Forked { .. } => "forked",
        System::Compaction { .. } => "compaction",
        System::Gap { .. } => "gap",
        System::Diagnostic { .. } => "diagnostic",
        System::Warning { .. } => "warning",
        System::Question(_) => "question",
        System::QuestionAnswered(_) => "question_answered",
        System::QuestionWithdrawn { .. } => "question_withdrawn",
        System::Asked(_) => "asked",
        System::Project(_) => "project",
    }
}

#[test]
fn every_line_in_the_document_is_a_real_one() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let shown: Vec<&str> = document.lines().filter(|line| line.starts_with("{\"uuid\"")).collect();
    let written: Vec<String> =
        example().iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    let lacking: Vec<&str> =
        written.iter().map(String::as_str).filter(|line| !shown.contains(line)).collect();
    assert!(lacking.is_empty(), "docs/journal.md lacks these lines:\n{}", lacking.join("\n"));
    for line in shown {
        assert!(
            written.iter().any(|written| written == line),
            "docs/journal.md shows what nobody writes:\n{line}"
        );
    }
}

#[test]
fn every_kind_of_record_and_every_field_is_documented() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let mut subtypes = std::collections::BTreeSet::new();
    for record in example() {
        if let Some(name) = &record.subtype {
            let payload = record.system_payload.as_ref().unwrap().to_string();
            assert_eq!(subtype(&System::read(name, &payload).unwrap()), name);
            subtypes.insert(name.clone());
        }
        for field in serde_json::to_value(&record).unwrap().as_object().unwrap().keys() {
            assert!(document.contains(&format!("| `{field}` |")), "{field} is not in the table");
        }
    }
    assert_eq!(subtypes.len(), 21);
    for name in subtypes {
        assert!(document.contains(&format!("`{name}`")), "{name} is not told");
    }
}

#[test]
fn the_example_is_a_conversation() {
    let disk = Disk::new();
    std::fs::write(disk.path(), "").unwrap();
    disk.append(&example());
    let loaded = load(&disk.store, disk.id).unwrap();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let turn = loaded.conversation.tree.turn(message(1)).unwrap();
    let texts: Vec<String> = messages(&disk.store, disk.id, turn, usize::MAX)
        .unwrap()
        .messages
        .iter()
        .map(rejoin_core::Message::text)
        .collect();
    assert_eq!(texts, ["Which Rust files are here?", "Let me see: I look.", "", "a.rs and b.rs."]);
    assert_eq!(loaded.conversation.pins.len(), 1);
    assert!(disk.store.list(Some(PROJECT)).unwrap()[0].info.is_some());
}

/// Every field a pin, an intent or a receipt may have, besides those of the example.
fn with_everything() -> Vec<serde_json::Value> {
    let mut pin = pin(true);
    (pin.lossy, pin.total) = (true, Some(Usage { input: 1, cached: 2, output: 3 }));
    pin.failing = Some(Repeated { class: FailureClass::NoResult, times: 1 });
    pin.state = PinState::Retired { why: "it overflowed".into() };
    let mut intent = intent(Decision::Resume { session: SESSION.into(), catch_up: 1 });
    (intent.model, intent.session_dir) = (Some("opus".into()), Some("/s".into()));
    intent.stands_in = Some(StandIn {
        instead_of: Agent::Codex,
        turn: message(1),
        since: "2026-11-15T20:00:10Z".into(),
        resets: Some("2026-11-15T22:00:00Z".into()),
        ceiling: Some(Permissions::Edit),
    });
    let stands_in = intent.stands_in.clone();
    let outcome = Outcome::Failed { class: FailureClass::NoResult, message: "it stopped".into() };
    let plan = Decision::Fresh { why: Reason::FirstTurn, replayed: 0 };
    let mut receipt = receipt(plan, Usage { input: 1, cached: 2, output: 3 });
    (receipt.asked, receipt.lossy, receipt.outcome) = (Some(SESSION.into()), true, outcome);
    receipt.warnings = vec!["one".into()];
    receipt.stands_in = stands_in;
    let marks = ProjectMarks { work_tree: Some("app-2".into()), ..marks() };
    let values = [
        serde_json::to_value(pin),
        serde_json::to_value(intent),
        serde_json::to_value(receipt),
        serde_json::to_value(marks),
    ];
    values.map(Result::unwrap).to_vec()
}

#[test]
fn every_field_of_what_rejoin_notes_is_named() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let mut payloads: Vec<_> = example().into_iter().filter_map(|record| record.system_payload).collect();
    payloads.extend(with_everything());
    for field in payloads.iter().flat_map(|payload| payload.as_object().unwrap().keys()) {
        let named = [format!("`{field}`"), format!("\"{field}\":")];
        assert!(named.iter().any(|name| document.contains(name)), "{field} is not told");
    }
    for part in ["id", "name", "status", "timestamp", "milliseconds", "description"] {
        assert!(
            serde_json::to_value(call().ended(CallStatus::Error, 1)).unwrap().get(part).is_some(),
            "{part}"
        );
        assert!(document.contains(part), "{part}");
    }
    for status in [CallStatus::Success, CallStatus::Error, CallStatus::Cancelled] {
        let name = serde_json::to_string(&status).unwrap();
        assert!(document.contains(&format!("`{}`", name.trim_matches('"'))), "{name} is not told");
    }
}

#[test]
fn the_commands_of_the_document_work() {
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    let disk = Disk::new();
    std::fs::write(disk.path(), "").unwrap();
    disk.append(&example());
    let commands = document.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<&str> =
        commands.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert_eq!(commands.len(), 6);
    let has_jq = std::process::Command::new("jq").arg("--version").output().is_ok();
    if !has_jq {
        eprintln!("skipped: there is no jq");
        return;
    }
    for command in commands {
        let output = std::process::Command::new("sh")
            .args(["-c", command])
            .env("J", disk.path())
            .env("REJOIN_HOME", disk.home.root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.trim().is_empty(), "{command}: {output:?}");
    }
}

#[test]
fn the_example_tells_of_its_tool_calls_and_tokens() {
    let disk = Disk::new();
    std::fs::write(disk.path(), "").unwrap();
    disk.append(&example());
    let loaded = load(&disk.store, disk.id).unwrap();
    let turn = loaded.conversation.tree.turn(message(1)).unwrap();
    assert_eq!((turn.calls.all, turn.calls.errors), (1, 0), "that of the subagent does not count");
    let merged = messages(&disk.store, disk.id, turn, usize::MAX).unwrap().messages;
    assert_eq!(merged[3].tokens, Some(Usage { input: 1200, cached: 9000, output: 85 }));
    let calls = rejoin_core::tool_calls(&merged, false);
    assert_eq!(calls[0].call, call().ended(CallStatus::Success, 31));
    assert_eq!(calls[0].inside[0].line(), "Read a.rs");
}
