//! Sessions of Claude Code and Qwen Code, read whole: each beside what a reader should find in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rejoin_agents::{SessionStore, StoredOutcome, StoredSession, StoredStep, StoredTurn, WholeSession};
use rejoin_core::Agent;
use rejoin_testkit::fuzz::fuzz;
use serde_json::Value;

use crate::recording::directory;

const HERE: &str = "/home/dev/proj";
/// Sessions in which more calls are told than stand on the current path: of those made in parallel some stand beside
/// it, and so does one that was cut by a kill.
const WITH_CALLS_BESIDE: [&str; 5] = [
    "claude_2.1.197_cut_and_errors 00000001",
    "claude_2.1.197_three_turns 00000001",
    "claude_2.1.197_three_turns 00000002",
    "claude_2.1.197_three_turns 00000003",
    "claude_2.1.52_cut_and_errors 00000001",
];

/// An answer that the agent itself lost: its two records have one time, and it went on after the first of them.
const WITH_LOST_ANSWER: [&str; 1] =
    ["claude_2.1.52_three_turns 5d86cd20-3c0f-4693-be10-7e181e1e3225@72b645e2-80bf-4f37-9859-508eed5695f3"];

fn samples(agent: &str) -> Vec<PathBuf> {
    let entries = ["sessions", "whole_sessions"].map(|kind| fs::read_dir(directory(kind)).unwrap());
    let all = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut samples: Vec<PathBuf> = all.filter(|path| name(path).starts_with(&format!("{agent}_"))).collect();
    samples.sort();
    samples
}

fn name(sample: &Path) -> &str {
    sample.file_name().unwrap().to_str().unwrap()
}

fn store_of(agent: &str, store: &Path) -> Box<dyn SessionStore> {
    rejoin_agents::find(&Agent::named(agent)).unwrap().session_store(store, Path::new(HERE)).unwrap()
}

fn sessions(store: &dyn SessionStore) -> BTreeMap<String, StoredSession> {
    let read = store.files().files.iter().flat_map(|file| store.read(file).unwrap()).collect();
    store.join(read).into_iter().map(|session| (session.id.clone(), session)).collect()
}

fn sample(name: &str, id: &str) -> WholeSession {
    let agent = name.split('_').next().unwrap();
    let path = samples(agent).into_iter().find(|path| path.ends_with(name)).unwrap();
    let store = store_of(agent, &path);
    let session = sessions(&*store).into_values().find(|session| session.id.starts_with(id)).unwrap();
    store.read_whole(&session).unwrap()
}

/// The turns that the agent would remember, the first one first.
fn path(whole: &WholeSession) -> Vec<&StoredTurn> {
    let mut path = Vec::new();
    let mut next = whole.head;
    while let Some(turn) = next {
        path.push(&whole.turns[turn]);
        next = whole.turns[turn].parent;
    }
    path.reverse();
    path
}

fn check_shape(whole: &WholeSession) {
    for (place, turn) in whole.turns.iter().enumerate() {
        assert!(turn.parent.is_none_or(|parent| parent < place), "{place}: {turn:?}");
        assert!(!turn.id.is_empty());
    }
    assert!(whole.head.is_none_or(|head| head < whole.turns.len()));
    let mut ids: Vec<&str> = whole.turns.iter().map(|turn| turn.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), whole.turns.len(), "an id is there twice");
}

fn pairs(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().trim().to_owned();
    value.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

/// Two prompts were written down in other words than a user would know them by: a command for the shell without the
/// mark it was typed with (2.1.197 and newer), and one that Qwen 0.5.2 keeps together with what it says of a file.
fn reworded(prompt: &mut String) {
    if prompt == "echo shellmode" {
        prompt.insert(0, '!');
    }
    if let Some((typed, _)) = prompt.split_once("\n\n--- Content from referenced files ---") {
        *prompt = typed.to_owned();
    }
}

/// Long texts were written down by their beginnings.
fn are_same(is: &[(String, String)], should: &[(String, String)]) -> bool {
    let same = |text: &str, should: &str| {
        text == should || (should.chars().count() >= 100 && text.starts_with(should))
    };
    is.len() == should.len()
        && is.iter().zip(should).all(|(is, should)| is.0 == should.0 && same(&is.1, &should.1))
}

fn calls(path: &[&StoredTurn]) -> Vec<(String, Option<bool>)> {
    let steps = || path.iter().flat_map(|turn| &turn.steps);
    let failed: BTreeMap<&str, bool> = steps()
        .filter_map(|step| match step {
            StoredStep::Result { call, failed, .. } => Some((call.as_str(), *failed)),
            _ => None,
        })
        .collect();
    steps()
        .filter_map(|step| match step {
            StoredStep::Call { id, name, .. } => {
                Some((name.clone(), failed.get(id.as_str()).map(|failed| !failed)))
            }
            _ => None,
        })
        .collect()
}

fn compare(agent: &str) {
    let (mut wrong, mut with_more_calls, mut with_other_ends, mut count) =
        (Vec::new(), Vec::new(), Vec::new(), 0);
    for sample in samples(agent) {
        let store = store_of(agent, &sample);
        let found = sessions(&*store);
        let expected: Vec<Value> =
            serde_json::from_slice(&fs::read(sample.join("expected.json")).unwrap()).unwrap();
        for told in expected {
            count += 1;
            let id = told["id"].as_str().unwrap();
            let whole = store.read_whole(&found[id]).unwrap();
            check_shape(&whole);
            let other_ends = whole.turns.iter().filter(|turn| turn.id.contains('@'));
            with_other_ends.extend(other_ends.map(|turn| format!("{} {}", name(&sample), turn.id)));
            let mut differ = |what: &str, is: &dyn std::fmt::Debug, should: &dyn std::fmt::Debug| {
                wrong.push(format!("{} {id}: {what}\n  is     {is:?}\n  should {should:?}", name(&sample)));
            };
            if !whole.not_understood.is_empty() {
                differ("not understood", &whole.not_understood, &());
            }
            for (what, is) in [("title", &whole.title), ("forked_from", &whole.forked_from)] {
                if is.as_deref() != told[what].as_str() {
                    differ(what, is, &told[what]);
                }
            }
            let path = path(&whole);
            // A fork of a compacted session begins without a prompt.
            let typed = |turn: &&&StoredTurn| !turn.prompt.is_empty();
            let prompts: Vec<_> = path
                .iter()
                .filter(typed)
                .map(|turn| (turn.id.clone(), turn.prompt.trim().to_owned()))
                .collect();
            let mut should = pairs(&told["prompts_on_the_current_path"]);
            for (_, prompt) in &mut should {
                reworded(prompt);
            }
            if !are_same(&prompts, &should) {
                differ("prompts", &prompts, &should);
            }
            let off = whole.turns.iter().filter(|turn| {
                !turn.prompt.is_empty() && !turn.id.contains('@') && !path.iter().any(|on| on.id == turn.id)
            });
            let off = off.count() as u64;
            if Some(off) != told["prompts_off_it"].as_u64() {
                differ("prompts off the path", &off, &told["prompts_off_it"]);
            }
            let answers: Vec<_> = path
                .iter()
                .flat_map(|turn| &turn.steps)
                .filter_map(|step| match step {
                    StoredStep::Answer(answer) if !answer.text.is_empty() => {
                        Some((answer.id.clone(), answer.text.trim().to_owned()))
                    }
                    _ => None,
                })
                .collect();
            let should = pairs(&told["answers"]);
            if !are_same(&answers, &should) {
                differ("answers", &answers, &should);
            }
            let model = path.iter().flat_map(|turn| &turn.steps).rev().find_map(|step| match step {
                StoredStep::Answer(answer) => answer.model.clone(),
                _ => None,
            });
            if model.as_deref() != told["model"].as_str() {
                differ("model", &model, &told["model"]);
            }
            let is = calls(&path);
            let on_path: Vec<_> = told["tool_calls"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| (call["name"].as_str().unwrap().to_owned(), call["ok"].as_bool()))
                .collect();
            let mut left = is.iter();
            if !on_path.iter().all(|call| left.any(|is| is == call)) {
                differ("calls", &is, &on_path);
            }
            if is.len() > on_path.len() {
                with_more_calls.push(format!("{} {}", name(&sample), &id[..8]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let should: Vec<_> = WITH_CALLS_BESIDE.into_iter().filter(|name| name.starts_with(agent)).collect();
    assert_eq!(with_more_calls, should);
    assert!(count >= 20, "{count}");
    let should: Vec<_> = WITH_LOST_ANSWER.into_iter().filter(|name| name.starts_with(agent)).collect();
    assert_eq!(with_other_ends, should);
}

#[test]
fn every_session_of_claude_is_read_as_claude_would_go_on_with_it() {
    compare("claude");
}

#[test]
fn every_session_of_qwen_is_read_as_qwen_would_go_on_with_it() {
    compare("qwen");
}

/// How each turn of the current path ended.
fn outcomes(name: &str, id: &str) -> Vec<(String, StoredOutcome)> {
    let whole = sample(name, id);
    path(&whole).iter().map(|turn| (turn.prompt[..7].to_owned(), turn.outcome.clone())).collect()
}

#[test]
fn how_a_turn_ended_is_told() {
    use StoredOutcome::{Completed, Failed, Interrupted, Open};
    let told = |name: &str, id: &str, should: &[(&str, StoredOutcome)]| {
        let should: Vec<_> = should.iter().map(|(prompt, end)| ((*prompt).to_owned(), end.clone())).collect();
        assert_eq!(outcomes(name, id), should, "{name} {id}");
    };
    told(
        "claude_2.1.197_cut_and_errors",
        "00000001",
        &[("MARK-a1", Completed), ("MARK-b2", Open), ("MARK-c3", Open), ("MARK-d4", Completed)],
    );
    let failed = |why: &str| Failed(why.to_owned());
    let overloaded =
        "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"mock 529\"}}";
    let wrong =
        "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"mock 400\"}}";
    told(
        "claude_2.1.52_cut_and_errors",
        "00000003",
        &[
            ("MARK-g1", failed(wrong)),
            ("MARK-g2", failed(overloaded)),
            ("MARK-g3", Completed),
            ("MARK-g4", Completed),
        ],
    );
    told(
        "claude_2.1.197_cut_and_errors",
        "00000004",
        &[
            ("MARK-i1", Open),
            ("MARK-i2", Interrupted),
            ("MARK-i3", Interrupted),
            ("MARK-i4", Completed),
            ("MARK-i5", Completed),
        ],
    );
    told(
        "qwen_0.24.4_cut_and_errors",
        "5b2c0b6b",
        &[("MARK-a1", Completed), ("MARK-b2", Open), ("MARK-c3", Open), ("MARK-d4", Completed)],
    );
    told("qwen_0.24.4_cut_and_errors", "4dab3567", &[("MARK-i1", Interrupted), ("MARK-i2", Completed)]);
    for (name, id) in [("qwen_0.24.4_cut_and_errors", "db0fcd8d"), ("qwen_0.12.0_cut_and_errors", "77d3fdbd")]
    {
        told(name, id, &[("MARK-g1", failed("400 mock 400")), ("MARK-g2", Completed)]);
    }
}

#[test]
fn a_turn_tells_what_was_used_where_it_ran_and_what_it_thought() {
    let whole = sample("claude_2.1.197_three_turns", "00000001");
    let turn = &whole.turns[0];
    // Four answers, of which three are several records; each of these says the same.
    let per_answer = turn.steps.iter().filter_map(|step| match step {
        StoredStep::Answer(answer) => answer.usage,
        _ => None,
    });
    assert_eq!(per_answer.clone().count(), 4);
    assert_eq!(per_answer.map(|usage| usage.cached).sum::<u64>(), 4 * 11);
    assert_eq!((turn.dir.as_deref(), turn.branch.as_deref()), (Some(HERE), Some("main")));
    assert!(turn.started_ms.is_some() && turn.ended_ms > turn.started_ms);
    let StoredStep::Answer(first) = &turn.steps[0] else { panic!("{:?}", turn.steps[0]) };
    assert_eq!((first.thought.as_str(), first.text.as_str()), ("mock thought about MARK-a1", ""));
    let attached = whole.turns.iter().find(|turn| !turn.attached.is_empty()).unwrap();
    assert_eq!(attached.attached, ["/home/dev/proj/README.md"]);
    let qwen = sample("qwen_0.15.10_three_turns", "df001389");
    assert!(qwen.turns[0].usage().is_some_and(|usage| usage.output > 0));
    assert_eq!(qwen.turns[1].attached, ["dot.png"]);
}

#[test]
fn a_compaction_stands_where_the_agent_knows_no_more_than_its_summary() {
    let whole = |name: &str, id: &str| {
        let whole = sample(name, id);
        let shown = |turn: &&StoredTurn| {
            let compacts = turn.steps.iter().any(|step| match step {
                StoredStep::Compaction { summary } => summary.contains("MARK-a1"),
                _ => false,
            });
            (turn.prompt.chars().take(7).collect::<String>(), compacts)
        };
        path(&whole).iter().map(shown).collect::<Vec<_>>()
    };
    let should = |turns: &[(&str, bool)]| -> Vec<(String, bool)> {
        turns.iter().map(|(prompt, compacts)| ((*prompt).to_owned(), *compacts)).collect()
    };
    assert_eq!(
        whole("claude_2.1.52_compacted", "00000001"),
        should(&[
            ("MARK-a1", false),
            ("MARK-b1", false),
            ("MARK-c1", true),
            ("/compac", false),
            ("MARK-d4", false)
        ])
    );
    assert_eq!(
        whole("claude_2.1.197_compacted", "00000002"),
        should(&[("", true), ("/compac", false), ("MARK-d4", false), ("MARK-e5", false)])
    );
    assert_eq!(
        whole("qwen_0.24.4_compacted", "cb15808c"),
        should(&[("MARK-a1", false), ("MARK-b2", false), ("MARK-c2", true), ("MARK-d4", false)])
    );
}

#[test]
fn a_session_of_a_sub_agent_is_told_as_one() {
    for (agent, sample, file) in [
        ("claude", "claude_2.1.52_subagent", "agent-aef284adfeb4e84a3.jsonl"),
        ("qwen", "qwen_0.24.4_subagent", "agent-general-purpose-call_cdd68ff904f24c79.jsonl"),
    ] {
        let mut left = vec![directory("sessions").join(sample)];
        let file = loop {
            let path = left.pop().unwrap();
            if path.ends_with(file) {
                break path;
            }
            if path.is_dir() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        };
        let session = StoredSession { id: "sub".into(), file, ..StoredSession::default() };
        let whole = store_of(agent, Path::new("/")).read_whole(&session).unwrap();
        assert!(whole.is_subagent, "{sample}");
        assert_eq!(path(&whole)[0].prompt, "SUBWORK SH [echo insub] THEN SAY [sub done]");
    }
}

fn read_bytes(agent: &str, bytes: &[u8]) -> std::io::Result<WholeSession> {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("session.jsonl");
    fs::write(&file, bytes).unwrap();
    let session = StoredSession { id: "x".into(), file, ..StoredSession::default() };
    store_of(agent, place.path()).read_whole(&session)
}

/// Lines of a session of Claude: `id parent kind text`.
fn claude_lines(records: &[(&str, &str, &str, &str)]) -> String {
    let line = |(id, parent, kind, text): &(&str, &str, &str, &str)| {
        let parent = if parent.is_empty() { Value::Null } else { (*parent).into() };
        let message = serde_json::json!({"id": format!("msg_{id}"), "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}]});
        let record = serde_json::json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "x",
            "version": "2.1.325", "message": message});
        format!("{record}\n")
    };
    records.iter().map(line).collect()
}

#[test]
fn a_path_that_leaves_a_turn_in_its_middle_keeps_what_was_said_on_both_ways() {
    let lines = claude_lines(&[
        ("p1", "", "user", "begin"),
        ("a1", "p1", "assistant", "one"),
        ("a2", "a1", "assistant", "two"),
        ("p2", "a2", "user", "after two"),
        ("a3", "p2", "assistant", "three"),
        ("p3", "a1", "user", "after one"),
        ("a4", "p3", "assistant", "four"),
    ]);
    let whole = read_bytes("claude", lines.as_bytes()).unwrap();
    check_shape(&whole);
    let ids = |turns: Vec<&StoredTurn>| turns.iter().map(|turn| turn.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(whole.turns.iter().collect()), ["p1", "p1@a2", "p2", "p3"]);
    assert_eq!(whole.turns[2].parent, Some(1));
    assert_eq!(ids(path(&whole)), ["p1", "p3"]);
    assert_eq!((whole.turns[0].steps.len(), whole.turns[1].steps.len()), (1, 2));
    // What the agent notes as the end of its path counts more than what was written last.
    let noted = format!("{lines}{{\"type\":\"last-prompt\",\"sessionId\":\"x\",\"leafUuid\":\"a3\"}}\n");
    let whole = read_bytes("claude", noted.as_bytes()).unwrap();
    assert_eq!(ids(path(&whole)), ["p1", "p2"]);
    assert_eq!(ids(whole.turns.iter().collect()), ["p1", "p1@a1", "p2", "p3"]);
}

#[test]
fn a_record_glued_to_a_torn_one_is_read_and_unknown_ones_are_counted() {
    let lines = claude_lines(&[("p1", "", "user", "begin"), ("p2", "p1", "user", "go on")]);
    let (first, second) = lines.split_at(lines.find('\n').unwrap() + 1);
    let torn = format!("{first}{{\"type\":\"mode\",\"mo{second}{{\"type\":\"new\"}}\n[]\n{{\"type\":\"us");
    let whole = read_bytes("claude", torn.as_bytes()).unwrap();
    assert_eq!(path(&whole).len(), 2);
    assert_eq!(whole.not_understood, [("new".to_owned(), 1), ("no record".to_owned(), 2)]);
    for agent in ["claude", "qwen"] {
        for bytes in [&b""[..], b"\n", b"hello\n", &[0; 4096]] {
            assert_eq!(read_bytes(agent, bytes).unwrap_err().kind(), ErrorKind::InvalidData);
        }
    }
}

#[test]
fn an_answer_that_claude_will_lose_is_kept_beside_the_path() {
    let place =
        samples("claude").into_iter().find(|path| path.ends_with("claude_2.1.52_three_turns")).unwrap();
    let file = place.join("projects/-home-dev-proj/00000001-0000-4000-8000-000000000000.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let after_the_answer = text.find("Continue from where you left off.").unwrap();
    let whole = read_bytes("claude", &text.as_bytes()[..after_the_answer]).unwrap();
    let says = |turn: &StoredTurn| format!("{:?}", turn.steps).contains("SEEN n=1");
    assert_eq!(path(&whole).into_iter().map(says).collect::<Vec<_>>(), [false]);
    assert_eq!(whole.turns.iter().map(says).collect::<Vec<_>>(), [false, true]);
}

/// All files of sessions of an agent.
fn files(agent: &str) -> Vec<Vec<u8>> {
    let all = samples(agent).into_iter().flat_map(|sample| store_of(agent, &sample).files().files);
    all.map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn a_session_that_was_cut_anywhere_keeps_the_turns_before_the_cut() {
    const STEP: usize = 997;
    for agent in ["claude", "qwen"] {
        for bytes in files(agent) {
            for cut in (0..bytes.len()).step_by(STEP) {
                let Ok(whole) = read_bytes(agent, &bytes[..cut]) else { continue };
                check_shape(&whole);
                let lines = bytes[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let before = read_bytes(agent, &bytes[..lines]).unwrap_or_default();
                let prompts = |whole: &WholeSession| {
                    whole.turns.iter().map(|turn| (turn.id.clone(), turn.prompt.clone())).collect::<Vec<_>>()
                };
                assert!(prompts(&whole).starts_with(&prompts(&before)), "{agent} {cut}");
            }
        }
    }
}

#[test]
fn turns_keep_their_ids_while_their_file_grows() {
    for agent in ["claude", "qwen"] {
        for bytes in files(agent) {
            let whole = read_bytes(agent, &bytes).unwrap_or_default();
            let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            for end in ends.step_by(5) {
                let before = read_bytes(agent, &bytes[..end]).unwrap_or_default();
                for turn in before.turns.iter().filter(|turn| !turn.id.contains('@')) {
                    assert!(whole.turns.iter().any(|other| other.id == turn.id), "{agent} {end} {}", turn.id);
                }
            }
        }
    }
}

fn fuzz_whole(agent: &str) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("session.jsonl");
    let store = store_of(agent, place.path());
    let session = StoredSession { id: "x".into(), file: file.clone(), ..StoredSession::default() };
    fuzz(files(agent), |bytes| {
        fs::write(&file, bytes).unwrap();
        if let Ok(whole) = store.read_whole(&session) {
            check_shape(&whole);
        }
    });
}

#[test]
fn mangled_sessions_of_claude_are_read_without_a_panic() {
    fuzz_whole("claude");
}

#[test]
fn mangled_sessions_of_qwen_are_read_without_a_panic() {
    fuzz_whole("qwen");
}
