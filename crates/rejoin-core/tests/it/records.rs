//! What stands on disk and in the event stream: round trips, tolerance for newer versions, and how
//! damaged files are read.

use rejoin_core::{
    Agent, AgentSession, AnsweredBy, Asked, Attachment, Conversation, ConversationId, ConversationInfo,
    Decision, DirectoryMark, Envelope, Event, FailureClass, Gap, Intent, Kind, Mark, MessageId, OptionKind,
    Outcome, Part, Permissions, Pin, PinState, ProjectMarks, Question, QuestionAnswer, QuestionOption,
    Reason, Receipt, Record, Repeated, SCHEMA_VERSION, Scope, SessionId, StandIn, Stream, System, TurnId,
    TurnState, Usage, Witness,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, record};

const CLAUDE: Agent = Agent::Claude;

fn id(number: u128) -> MessageId {
    MessageId::new(Uuid::from_u128(number))
}

#[track_caller]
fn comes_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value, "{json}");
}

fn pin() -> Pin {
    Pin {
        session: SessionId::new(CLAUDE, "0198c1de-5000-4000-8000-000000000001").unwrap(),
        scope: Scope::Own,
        dir: "/src/app".into(),
        store: "/home/me/.claude".into(),
        product: "claude (Claude Code)".into(),
        home: "home-1".into(),
        state: PinState::Live,
        seen: Mark::EMPTY.push(id(1), 0),
        exposed: Mark::EMPTY.push(id(1), 0).push(id(2), 3),
        witness: Some(Witness { path: "/home/me/x.jsonl".into(), size: 12, mtime: -1 }),
        at_least: Some(Witness { path: "/home/me/x.jsonl".into(), size: 11, mtime: -2 }),
        lossy: true,
        total: Some(Usage { input: 1, cached: 2, output: 3 }),
        failing: Some(Repeated { class: FailureClass::NoResult, times: 1 }),
    }
}

fn attachment() -> Attachment {
    Attachment {
        name: "diagram.png".into(),
        media_type: "image/png".into(),
        size: 68,
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into(),
    }
}

fn stand_in() -> StandIn {
    StandIn {
        instead_of: CLAUDE,
        turn: id(9),
        since: "2026-11-18T15:58:03Z".into(),
        resets: Some("2026-11-18T18:00:00Z".into()),
        ceiling: Some(Permissions::Edit),
    }
}

fn receipt() -> Receipt {
    let mut receipt = bare_receipt();
    receipt.conversation = Some(ConversationId::new(Uuid::from_u128(7)));
    receipt.asked = Some("old".into());
    receipt.session = Some("new".into());
    receipt.model = Some("a-model".into());
    receipt.outcome = Outcome::failed(FailureClass::RateLimit, "429");
    receipt.resets = Some("2026-11-18T18:00:00Z".into());
    receipt.stands_in = Some(stand_in());
    receipt.replay_bytes = Some(4000);
    receipt.attachments = vec![attachment()];
    receipt.lossy = true;
    receipt.usage = Some(Usage { input: 10, cached: 20, output: 30 });
    receipt.cost = Some(0.25);
    receipt.exit_code = Some(1);
    receipt.diagnostics = 3;
    receipt.warnings = vec!["careful".into()];
    receipt
}

fn bare_receipt() -> Receipt {
    let why = Reason::WorkdirChanged { was: "/a".into(), now: "/b".into() };
    let plan = Decision::Fresh { why, replayed: 2 };
    let mut receipt = Receipt::new(id(1), CLAUDE, plan, Outcome::Completed);
    (receipt.runs, receipt.bytes, receipt.milliseconds) = (2, 100, 1234);
    receipt
}

fn reasons() -> Vec<Reason> {
    let session = || "s".to_owned();
    let (was, now, why) = (|| "a".to_owned(), || "b".to_owned(), || "c".to_owned());
    vec![
        Reason::FirstTurn,
        Reason::Forced,
        Reason::Ephemeral,
        Reason::Disabled,
        Reason::NoSession,
        Reason::Unsupported,
        Reason::HistoryChanged,
        Reason::WorkdirChanged { was: was(), now: now() },
        Reason::RuntimeChanged { was: was(), now: now() },
        Reason::StoreChanged { was: was(), now: now() },
        Reason::ScopeChanged,
        Reason::SessionMissing { session: session(), why: None },
        Reason::SessionMissing { session: session(), why: Some("its last record is cut".into()) },
        Reason::SessionUnconfirmed { session: session() },
        Reason::SessionRetired { session: session(), why: why() },
        Reason::SessionRejected { session: session(), why: why() },
        Reason::Unknown,
    ]
}

// -- round trips -------------------------------------------------------------------------------

#[test]
fn every_reason_is_stored_under_its_shown_name_and_comes_back() {
    for why in reasons() {
        let json = serde_json::to_value(&why).unwrap();
        assert_eq!(json["reason"], why.name());
        comes_back(&why);
        comes_back(&Decision::Fresh { why, replayed: 3 });
    }
    comes_back(&Decision::Resume { session: "s".into(), catch_up: 1 });
    comes_back(&Decision::Adopted { session: "s".into() });
}

#[test]
fn every_outcome_and_failure_comes_back() {
    use FailureClass as F;
    for class in [
        F::Login,
        F::Quota,
        F::RateLimit,
        F::Server,
        F::Network,
        F::ContextOverflow,
        F::InvalidHistory,
        F::InvalidRequest,
        F::StepLimit,
        F::Busy,
        F::NoResult,
        F::Launch,
        F::Setup,
        F::Other,
    ] {
        comes_back(&Outcome::failed(class, "words"));
    }
    for outcome in [Outcome::Completed, Outcome::Cancelled, Outcome::Timeout { message: "idle".into() }] {
        comes_back(&outcome);
        assert_eq!(serde_json::to_value(&outcome).unwrap()["outcome"], outcome.name());
    }
}

#[test]
fn pins_and_receipts_come_back_whole_and_bare() {
    let bare = Pin { witness: None, at_least: None, lossy: false, total: None, failing: None, ..pin() };
    for state in [PinState::Tentative, PinState::Live, PinState::Retired { why: "full".into() }] {
        comes_back(&Pin { state: state.clone(), ..pin() });
        comes_back(&Pin { state, ..bare.clone() });
    }
    comes_back(&receipt());
    comes_back(&bare_receipt());
}

fn systems() -> Vec<System> {
    let intent = Intent {
        agent: CLAUDE,
        run: 1,
        number: 3,
        plan: Decision::Resume { session: "s".into(), catch_up: 2 },
        model: Some("a-model".into()),
        session_dir: Some("/sessions".into()),
        bytes: 9,
        stands_in: Some(stand_in()),
        pin: Some(pin()),
    };
    vec![
        System::Conversation(ConversationInfo {
            schema: System::SCHEMA,
            project: "/src".into(),
            dir: "/src/app".into(),
            scope: Scope::Own,
        }),
        System::Title { name: "a \"name\"\n".into() },
        System::Tags { add: vec!["x".into()], remove: Vec::new() },
        System::Tags { add: Vec::new(), remove: vec!["x".into()] },
        System::Moved { project: "/src/new".into(), dir: "/src/new/app".into() },
        System::Project(Box::new(ProjectMarks {
            directory: Some(DirectoryMark { inode: 7, born: 8 }),
            git_common_dir: Some("/src/.git".into()),
            work_tree: Some("a".into()),
            first_commit: Some("c0".into()),
            remote: None,
        })),
        System::Permissions { ceiling: Permissions::Edit },
        System::Intent(Box::new(Intent {
            pin: None,
            model: None,
            session_dir: None,
            stands_in: None,
            ..intent.clone()
        })),
        System::Intent(Box::new(intent)),
        System::Session(AgentSession {
            agent: CLAUDE,
            session: "s".into(),
            model: Some("a-model".into()),
            agent_version: None,
        }),
        System::Pin(Box::new(pin())),
        System::Receipt(Box::new(receipt())),
        System::Amendment {
            target: id(1),
            parts: vec![
                Part::text("new"),
                Part::Attachment { attachment: attachment() },
                Part::Other(json!({"x": 1})),
            ],
        },
        System::Head { to: Some(id(2)), branch: None },
        System::Head { to: None, branch: Some("idea".into()) },
        System::Compaction { agent: CLAUDE, text: "shorter".into() },
        System::Gap { agent: CLAUDE, session: "s".into(), text: "used elsewhere".into() },
        System::Diagnostic { run: 1, stream: Stream::Stderr, text: "warning".into() },
        System::Warning { code: "background".into(), text: "still running".into() },
        System::Question(Box::new(Question { id: "q1".into(), ..Question::default() })),
        System::QuestionAnswered(QuestionAnswer {
            question: "q1".into(),
            by: AnsweredBy::Nobody,
            who: None,
            option: None,
            options: Vec::new(),
            text: None,
        }),
        System::QuestionWithdrawn { question: "q1".into() },
        System::Asked(Asked::Cancel { turn: id(1) }),
        System::Asked(Asked::Answer {
            turn: id(1),
            answer: QuestionAnswer {
                question: "q1".into(),
                by: AnsweredBy::User,
                who: Some("phone".into()),
                option: Some("1".into()),
                options: Vec::new(),
                text: None,
            },
        }),
        System::Forked { conversation: ConversationId::new(Uuid::from_u128(7)), turn: id(1) },
    ]
}

#[test]
fn every_system_record_comes_back_through_a_line_of_the_journal() {
    for system in systems() {
        let (subtype, system_payload) = system.write();
        let line = Record { subtype, system_payload, ..record(Kind::System, id(9), Some(id(1))) };
        comes_back(&line);
        let json = serde_json::to_string(&line).unwrap();
        let envelope: Envelope<'_> = serde_json::from_str(&json).unwrap();
        assert_eq!(envelope.system(), Some(system), "{json}");
        assert_eq!(envelope.parent_uuid, Some(id(1)));
    }
}

#[test]
fn a_full_record_comes_back() {
    let full = Record {
        git_branch: Some("main".into()),
        message: Some(rejoin_core::Content::model(vec![
            Part::thought("hm"),
            Part::call("c", "Bash", json!({"command": "ls"})),
            Part::response("c", "Bash", "x", true),
        ])),
        replaces: Some(3),
        tokens: Some(Usage { input: 1, cached: 2, output: 3 }),
        model: Some("a-model".into()),
        tool_calls_metadata: vec![json!({"subagent": 1})],
        native: Some(rejoin_core::Native {
            agent: Some(CLAUDE),
            session: Some("s".into()),
            message_id: Some("m".into()),
        }),
        ..record(Kind::Assistant, id(2), Some(id(1)))
    };
    comes_back(&full);
    let json = serde_json::to_value(&full).unwrap();
    for field in ["parentUuid", "sessionId", "gitBranch", "toolCallsMetadata"] {
        assert!(!json[field].is_null(), "{field}");
    }
    assert_eq!(json["message"]["parts"][1]["functionCall"]["name"], "Bash");
    assert_eq!(json["message"]["parts"][2]["functionResponse"]["response"]["error"], true);
}

fn events() -> Vec<Event> {
    let message = id(2);
    vec![
        Event::Init {
            schema: SCHEMA_VERSION,
            version: "0.1.0".into(),
            conversation: Some(ConversationId::new(Uuid::from_u128(7))),
            turn: id(1),
            number: 3,
            agent: CLAUDE,
            plan: Decision::Resume { session: "0198c1de".into(), catch_up: 1 },
            cwd: "/src/app".into(),
            bytes: 42,
            attachments: vec![attachment()],
        },
        Event::Session {
            agent: CLAUDE,
            session: "0198c1de".into(),
            model: Some("a-model".into()),
            agent_version: Some("2.1.0".into()),
        },
        Event::TextDelta { message, offset: 0, text: "Hel".into() },
        Event::Message {
            message,
            offset: 0,
            text: "Hello".into(),
            model: Some("a-model".into()),
            native: Some("msg_1".into()),
        },
        Event::Thinking { message, text: "hm".into() },
        Event::ToolUse {
            message,
            id: "c1".into(),
            name: "Bash".into(),
            input: json!({"command": "ls"}),
            parent: None,
        },
        Event::ToolResult {
            message: id(3),
            id: "c1".into(),
            output: "x".into(),
            error: true,
            parent: Some("c0".into()),
        },
        Event::Usage { usage: Usage { input: 10, cached: 20, output: 30 }, cost: Some(0.25) },
        Event::Question(Question {
            id: "q1".into(),
            text: "May I?".into(),
            options: vec![
                QuestionOption {
                    id: "allow".into(),
                    label: "yes".into(),
                    description: "once".into(),
                    kind: OptionKind::AllowOnce,
                },
                QuestionOption { id: "2".into(), label: "no".into(), ..QuestionOption::default() },
            ],
            tool: Some("Bash".into()),
            call: Some("c1".into()),
            ..Question::default()
        }),
        Event::QuestionAnswered(QuestionAnswer {
            question: "q1".into(),
            by: AnsweredBy::User,
            who: Some("phone".into()),
            option: Some("allow".into()),
            options: Vec::new(),
            text: None,
        }),
        Event::QuestionWithdrawn { question: "q2".into() },
        Event::Compaction { text: "context compacted".into() },
        Event::Warning { code: "advanced".into(), text: "the session was used elsewhere".into() },
        Event::Diagnostic { stream: Stream::Stdout, text: "not json".into() },
        Event::ResumeRejected { agent: CLAUDE, session: "0198c1de".into(), text: "not found".into() },
        Event::Result { text: "Hello".into(), receipt: Box::new(receipt()) },
    ]
}

#[test]
fn one_of_each_event_as_the_documentation_shows_it() {
    let events = events();
    // As many as there are: `event.rs` has a test that does not compile when one is added.
    assert_eq!(events.len(), 16);
    events.iter().for_each(comes_back);
    let lines: Vec<String> = events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_pin_as_it_stands_on_disk() {
    insta::assert_json_snapshot!(pin());
}

#[test]
fn an_id_reads_the_same_wherever_it_is_written() {
    let text = "4f1c2a9e-0000-4000-8000-000000000000";
    let id: MessageId = text.parse().unwrap();
    assert_eq!(
        [id.to_string(), format!("{id:?}"), serde_json::to_value(id).unwrap().as_str().unwrap().into()],
        [text; 3]
    );
}

#[test]
fn a_replacement_from_inside_a_character_keeps_nothing_after_it() {
    let mut message = rejoin_core::Message::new(id(1), Kind::Assistant);
    message.parts = vec![Part::text("aé"), Part::thought("hm"), Part::text("later")];
    message.merge(vec![Part::text("b")], Some(2));
    assert_eq!(message.text(), "ab");
    message.merge(vec![Part::text("c")], Some(99));
    assert_eq!(message.text(), "abc");
}

// -- newer versions ----------------------------------------------------------------------------

fn put(mut json: Value, path: &[&str], value: Value) -> Value {
    let mut at = &mut json;
    for key in path {
        at = &mut at[*key];
    }
    *at = value;
    json
}

#[test]
fn unknown_fields_are_passed_over_everywhere() {
    let strange = || json!({"hologram": [1, 2]});
    let pin_json = put(serde_json::to_value(pin()).unwrap(), &["strange"], strange());
    assert_eq!(serde_json::from_value::<Pin>(pin_json).unwrap(), pin());
    let receipt_json = put(serde_json::to_value(receipt()).unwrap(), &["strange"], strange());
    assert_eq!(serde_json::from_value::<Receipt>(receipt_json).unwrap(), receipt());
    for event in events() {
        let json = put(serde_json::to_value(&event).unwrap(), &["strange"], strange());
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }
    for system in systems() {
        let (subtype, payload) = system.write();
        let payload = put(payload.unwrap(), &["strange"], strange()).to_string();
        assert_eq!(System::read(&subtype.unwrap(), &payload), Some(system));
    }
    let line = put(serde_json::to_value(record(Kind::User, id(1), None)).unwrap(), &["strange"], strange())
        .to_string();
    serde_json::from_str::<Record>(&line).unwrap();
    serde_json::from_str::<Envelope<'_>>(&line).unwrap();
}

#[test]
fn a_reason_or_failure_of_a_newer_version_does_not_cost_the_receipt() {
    let mut json = serde_json::to_value(receipt()).unwrap();
    json["plan"]["reason"] = json!("moon_phase");
    json["class"] = json!("moon_phase");
    let read: Receipt = serde_json::from_value(json).unwrap();
    assert_eq!(read.plan, Decision::Fresh { why: Reason::Unknown, replayed: 2 });
    assert_eq!(read.outcome, Outcome::failed(FailureClass::Other, "429"));
    assert!(!FailureClass::Other.poisons());

    let mut json = serde_json::to_value(pin()).unwrap();
    json["failing"]["class"] = json!("moon_phase");
    let read: Pin = serde_json::from_value(json).unwrap();
    assert_eq!(read.failing, Some(Repeated { class: FailureClass::Other, times: 1 }));
}

#[test]
fn an_agent_this_version_has_never_heard_of_is_a_name_like_any_other() {
    let json = put(serde_json::to_value(pin()).unwrap(), &["agent"], json!("hal"));
    assert_eq!(serde_json::from_value::<Pin>(json).unwrap().session.agent(), &Agent::named("hal"));
}

#[test]
fn types_and_subtypes_of_a_newer_version_are_counted_and_passed_over() {
    let mut world = World::new();
    world.ok(&CLAUDE, "one", "1");
    let before = (world.path(), world.conversation.pins.clone());
    let odd = Record { subtype: Some("horoscope".into()), ..record(Kind::System, id(90), None) };
    world.write(&Record { system_payload: Some(json!({"sign": "libra"})), ..odd.clone() });
    world.write(&odd);
    let line = serde_json::to_string(&record(Kind::User, id(91), None)).unwrap();
    world.write_line(line.replace("\"type\":\"user\"", "\"type\":\"hologram\""));
    assert_eq!(world.conversation.unknown, 3);
    assert_eq!((world.path(), world.conversation.pins.clone()), before);
}

#[test]
fn what_hangs_on_a_message_of_an_unknown_type_still_belongs_together() {
    let mut world = World::new();
    let first = world.ok(&CLAUDE, "one", "1");
    let end = world.conversation.tree.head().unwrap().end;
    let line = serde_json::to_string(&record(Kind::Assistant, id(90), Some(end))).unwrap();
    world.write_line(line.replace("\"type\":\"assistant\"", "\"type\":\"hologram\""));
    let second = world.say(Kind::User, id(91), Some(id(90)), vec![Part::text("two")]);
    assert_eq!(world.path(), [first, second]);
    assert_eq!(world.conversation.tree.orphans(), []);
}

fn write_pin_of_a_newer_version(world: &mut World, intent: bool) {
    let mut payload = serde_json::to_value(world.conversation.pins.iter().next().unwrap()).unwrap();
    payload["state"] = json!("entangled");
    let subtype = if intent { "intent" } else { "pin" };
    let payload = if intent { json!({"agent": "claude", "pin": payload}) } else { payload };
    let odd = record(Kind::System, id(90), None);
    world.write(&Record { subtype: Some(subtype.into()), system_payload: Some(payload), ..odd });
}

#[test]
fn a_pin_a_newer_version_moved_on_is_not_resumed_from_where_we_knew_it() {
    for intent in [false, true] {
        let mut world = World::new();
        world.ok(&CLAUDE, "the word is plum", "noted");
        world.next(&CLAUDE, "x").resumes("claude-1");
        write_pin_of_a_newer_version(&mut world, intent);
        assert_eq!(world.conversation.unknown, 1);
        world.next(&CLAUDE, "x").starts_fresh("session_retired").says(&["the word is plum"]);
    }
}

#[test]
fn only_what_may_stand_as_an_argument_is_read_as_a_session() {
    for bad in ["--yolo", "", "a b", "../x"] {
        let json = put(serde_json::to_value(pin()).unwrap(), &["session"], json!(bad));
        assert!(serde_json::from_value::<Pin>(json).is_err(), "{bad:?}");
    }
}

// -- damaged and strange files -----------------------------------------------------------------

fn user(world: &mut World, uuid: u128, parent: Option<u128>) -> TurnId {
    world.say(Kind::User, id(uuid), parent.map(id), vec![Part::text(format!("ask {uuid}"))])
}

fn gap(world: &World) -> Option<Gap> {
    world.conversation.tree.path(world.head()).1
}

#[test]
fn lines_with_one_id_are_one_message_and_a_copy_of_a_turn_is_passed_over() {
    let mut world = World::new();
    user(&mut world, 1, None);
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("he")]);
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("llo")]);
    user(&mut world, 1, None);
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("he")]);
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("llo")]);
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("!")]);
    assert_eq!(world.conversation.tree.turns().len(), 1);
    let told = world.told(&[id(1)]).remove(0);
    let texts: Vec<String> = told.messages.iter().map(rejoin_core::Message::text).collect();
    assert_eq!(texts, ["ask 1", "hello!"]);
    assert_eq!(world.conversation.tree.turn(id(2)).unwrap().end, id(2));
}

#[test]
fn an_id_used_again_does_not_move_the_head_or_make_a_turn() {
    let mut world = World::new();
    user(&mut world, 1, None);
    user(&mut world, 2, Some(1));
    user(&mut world, 1, Some(2));
    assert_eq!(world.path(), [id(1), id(2)]);
    assert_eq!(gap(&world), None);
}

#[test]
fn a_second_root_is_a_branch_of_its_own() {
    let mut world = World::new();
    user(&mut world, 1, None);
    user(&mut world, 2, Some(1));
    user(&mut world, 3, None);
    assert_eq!(world.path(), [id(3)]);
    assert_eq!(gap(&world), None);
    world.rewind(Some(id(2)));
    assert_eq!(world.path(), [id(1), id(2)]);
}

#[test]
fn a_missing_parent_ends_the_walk_and_is_reported() {
    let mut world = World::new();
    user(&mut world, 1, None);
    user(&mut world, 3, Some(2));
    user(&mut world, 4, Some(3));
    assert_eq!(world.path(), [id(3), id(4)], "never stitched to what stands before it in the file");
    assert_eq!(gap(&world), Some(Gap::MissingParent(id(2))));
    assert_eq!(world.conversation.tree.orphans(), [id(2)]);
}

#[test]
fn an_answer_to_a_missing_prompt_is_reported_and_on_no_path() {
    let mut world = World::new();
    user(&mut world, 1, None);
    world.say(Kind::Assistant, id(3), Some(id(2)), vec![Part::text("?")]);
    assert_eq!(world.path(), [id(1)]);
    assert_eq!(world.conversation.tree.orphans(), [id(2)]);
    assert!(world.conversation.tree.turn(id(3)).is_none());
}

#[test]
fn a_parent_that_comes_later_is_not_missing_in_the_end() {
    let mut world = World::new();
    user(&mut world, 2, Some(1));
    user(&mut world, 1, None);
    world.rewind(Some(id(2)));
    assert_eq!(world.path(), [id(1), id(2)]);
    assert_eq!((gap(&world), world.conversation.tree.orphans()), (None, vec![]));
}

#[test]
fn a_prompt_that_names_its_own_descendant_is_a_cycle_and_the_walk_ends() {
    let mut world = World::new();
    user(&mut world, 1, Some(3));
    user(&mut world, 2, Some(1));
    user(&mut world, 3, Some(2));
    assert_eq!(world.path(), [id(1), id(2), id(3)]);
    assert_eq!(gap(&world), Some(Gap::Cycle(id(3))));
}

#[test]
fn a_prompt_that_names_itself_or_its_own_answer_is_a_cycle() {
    let mut world = World::new();
    user(&mut world, 1, Some(1));
    assert_eq!((world.path(), gap(&world)), (vec![id(1)], Some(Gap::Cycle(id(1)))));

    let mut world = World::new();
    user(&mut world, 1, Some(2));
    world.say(Kind::Assistant, id(2), Some(id(1)), vec![Part::text("x")]);
    assert_eq!((world.path(), gap(&world)), (vec![id(1)], Some(Gap::Cycle(id(1)))));
}

#[test]
fn the_head_moves_to_the_turn_of_any_message_and_before_the_first() {
    let mut world = World::new();
    let first = world.ok(&CLAUDE, "one", "1");
    let answer = world.conversation.tree.head().unwrap().end;
    world.ok(&CLAUDE, "two", "2");
    world.rewind(Some(answer));
    assert_eq!(world.head(), Some(first));
    world.rewind(None);
    assert_eq!(world.head(), None);
    assert_eq!(world.conversation.last_agent(), Some(&CLAUDE), "nobody better to ask");
    world.rewind(Some(first));
    assert_eq!(world.conversation.last_agent(), Some(&CLAUDE));
}

#[test]
fn a_head_that_is_not_there_moves_nothing_and_is_reported() {
    let mut world = World::new();
    let first = world.ok(&CLAUDE, "one", "1");
    world.rewind(Some(id(99)));
    assert_eq!(world.head(), Some(first));
    assert_eq!(world.conversation.tree.orphans(), [id(99)]);
}

#[test]
fn a_late_line_of_a_left_branch_does_not_move_the_head() {
    let mut world = World::new();
    user(&mut world, 1, None);
    user(&mut world, 2, Some(1));
    world.rewind(Some(id(1)));
    world.say(Kind::Assistant, id(3), Some(id(2)), vec![Part::text("late")]);
    assert_eq!(world.head(), Some(id(1)));
    assert_eq!(world.conversation.tree.turn(id(3)).unwrap().id, id(2));
}

#[test]
fn an_amendment_is_a_new_revision_of_exactly_its_turn() {
    let mut world = World::new();
    let first = world.ok(&CLAUDE, "one", "1");
    let answer = world.conversation.tree.head().unwrap().end;
    let second = world.ok(&CLAUDE, "two", "2");
    let revisions =
        |world: &World| world.conversation.tree.turns().iter().map(|turn| turn.revision).collect::<Vec<_>>();
    world.edit(answer, "eins");
    assert_eq!(revisions(&world), [1, 0]);
    world.edit(first, "ONE");
    world.edit(second, "TWO");
    world.edit(id(99), "nobody's");
    assert_eq!(revisions(&world), [2, 1]);
    let told = world.told(&[first]).remove(0);
    let texts: Vec<String> = told.messages.iter().map(rejoin_core::Message::text).collect();
    assert_eq!(texts, ["ONE", "eins"]);
}

#[test]
fn a_turn_without_a_receipt_is_cut_and_its_receipt_says_how_it_ended() {
    let mut world = World::new();
    let running = world.begin(&CLAUDE, "one");
    let state = |world: &World| world.conversation.tree.head().unwrap().state();
    assert_eq!(state(&world), TurnState::Cut);
    assert_eq!(world.conversation.last_agent(), Some(&CLAUDE));
    world.end(running, Outcome::Completed);
    assert_eq!(state(&world), TurnState::Completed);
    world.failed(&CLAUDE, "two", FailureClass::Server);
    assert_eq!(state(&world), TurnState::Failed);
    world.cancelled(&CLAUDE, "three", "3");
    assert_eq!(state(&world), TurnState::Cut);
}

#[test]
fn the_first_description_of_a_conversation_stays_and_the_last_name_wins() {
    let mut world = World::new();
    let info = |dir: &str| {
        System::Conversation(ConversationInfo {
            schema: 1,
            project: "/p".into(),
            dir: dir.into(),
            scope: Scope::Shared,
        })
    };
    world.system(None, &info("/elsewhere"));
    assert_eq!(world.conversation.info.as_ref().unwrap().dir, crate::world::DIR);
    world.system(None, &System::Title { name: "a".into() });
    world.system(None, &System::Title { name: "b".into() });
    assert_eq!(world.conversation.name.as_deref(), Some("b"));
    world.system(None, &System::Permissions { ceiling: Permissions::Read });
    world.system(None, &System::Permissions { ceiling: Permissions::Edit });
    assert_eq!(world.conversation.ceiling, Some(Permissions::Edit));
}

#[test]
fn a_pin_is_replaced_whole_and_the_touched_one_stands_last() {
    let mut world = World::new();
    world.ok(&CLAUDE, "one", "1");
    world.ok(&Agent::Codex, "two", "2");
    let names = |conversation: &Conversation| {
        conversation.pins.iter().map(|pin| pin.session.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&world.conversation), ["claude-1", "codex-2"]);
    world.ok(&CLAUDE, "three", "3");
    assert_eq!(names(&world.conversation), ["codex-2", "claude-1"]);
}
