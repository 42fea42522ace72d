//! Sessions of Gemini and Pi, read whole: stores of the real programs, each beside what a reader should find in it.

use std::fs;
use std::path::{Path, PathBuf};

use rejoin_agents::{SessionStore, StoredOutcome, StoredSession, StoredStep, StoredTurn, WholeSession};
use rejoin_core::Agent;
use rejoin_testkit::fuzz::fuzz;
use serde_json::{Value, json};

use crate::recording::directory;

const HERE: &str = "/home/dev/proj";
/// What Gemini's own first words after a summary are.
const THANKS: &str = "Got it. Thanks for the additional context!";

fn samples(who: &str) -> Vec<PathBuf> {
    let folders = ["sessions", "whole_sessions"].map(directory);
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut samples: Vec<PathBuf> = paths.filter(|path| name(path).starts_with(who)).collect();
    samples.sort();
    samples
}

fn name(sample: &Path) -> &str {
    sample.file_name().unwrap().to_str().unwrap()
}

fn store_of(who: &str, store: &Path) -> Box<dyn SessionStore> {
    rejoin_agents::find(&Agent::named(who)).unwrap().session_store(store, Path::new(HERE)).unwrap()
}

fn listed(store: &dyn SessionStore) -> Vec<StoredSession> {
    let read = store.files().files.iter().filter_map(|file| store.read(file).ok()).flatten().collect();
    store.join(read)
}

fn all(who: &str, sample: &Path) -> Vec<WholeSession> {
    let store = store_of(who, sample);
    listed(&*store).iter().map(|session| store.read_whole(session).unwrap()).collect()
}

fn one(sample: &str, id: &str) -> WholeSession {
    let folders = ["sessions", "whole_sessions"].map(|folder| directory(folder).join(sample));
    let sample = folders.iter().find(|sample| sample.exists()).unwrap();
    let who = name(sample).split('_').next().unwrap();
    all(who, sample).into_iter().find(|session| session.id.starts_with(id)).unwrap()
}

/// The turns that the agent would remember, the first one first.
fn path(session: &WholeSession) -> Vec<&StoredTurn> {
    let mut path = Vec::new();
    let mut at = session.head;
    while let Some(turn) = at {
        path.push(&session.turns[turn]);
        at = session.turns[turn].parent;
    }
    path.reverse();
    path
}

fn prompts<'a>(turns: &[&'a StoredTurn]) -> Vec<&'a str> {
    turns.iter().map(|turn| turn.prompt.as_str()).collect()
}

fn answers(turns: &[&StoredTurn]) -> Vec<(String, String)> {
    let steps = turns.iter().flat_map(|turn| &turn.steps);
    let answers = steps.filter_map(|step| match step {
        StoredStep::Answer(answer) if !answer.text.is_empty() => {
            Some((answer.id.clone(), answer.text.clone()))
        }
        _ => None,
    });
    answers.collect()
}

fn tools(turns: &[&StoredTurn]) -> Vec<Value> {
    let steps: Vec<&StoredStep> = turns.iter().flat_map(|turn| &turn.steps).collect();
    let calls = steps.iter().filter_map(|step| match step {
        // Commands of the user's own are no calls to whoever wrote down what there is.
        StoredStep::Call { name, .. } if name == "bashExecution" => None,
        StoredStep::Call { id, name, .. } => {
            let ok = steps.iter().find_map(|step| match step {
                StoredStep::Result { call, failed, .. } if call == id => Some(!failed),
                _ => None,
            });
            Some(json!({ "name": name, "ok": ok }))
        }
        _ => None,
    });
    calls.collect()
}

fn summaries(turn: &StoredTurn) -> Vec<&str> {
    let summaries = turn.steps.iter().filter_map(|step| match step {
        StoredStep::Compaction { summary } => Some(summary.as_str()),
        _ => None,
    });
    summaries.collect()
}

/// Every turn stands behind its parent, the head is one of them, and no id is there twice.
fn assert_sound(session: &WholeSession) {
    let mut ids = std::collections::HashSet::new();
    for (at, turn) in session.turns.iter().enumerate() {
        assert!(turn.parent.is_none_or(|parent| parent < at));
        assert!(!turn.id.is_empty() && ids.insert(&turn.id), "{:?}", turn.id);
    }
    assert!(session.head.is_none_or(|head| head < session.turns.len()));
}

/// What was written down of a sample, where the rules say otherwise.
fn corrected(sample: &str, mut told: Value) -> Value {
    let id = told["id"].as_str().unwrap().to_owned();
    let prompts = told["prompts_on_the_current_path"].as_array_mut().unwrap();
    for prompt in prompts.iter_mut() {
        // The contents of files are no part of what was typed.
        let words = prompt[1].as_str().unwrap().split("--- Content from").next().unwrap().trim();
        prompt[1] = json!(words);
    }
    match (sample, &id[..8]) {
        // Gemini went on by itself ("System: Please continue."), and showed the prompt again.
        ("gemini_0.37.2_cut_and_errors", "8157f9ef") => {
            prompts.retain(|prompt| prompt[0] != "550ffebb-7c93-463d-8285-16f640276bf5");
        }
        // Of a copy it was not looked into what stands as parts of messages.
        ("gemini_0.61.0_three_turns", "61ce2f34") => {
            told["tool_calls"] = json!(vec![json!({ "name": "run_shell_command", "ok": true }); 4]);
        }
        // A summary took the place of earlier turns. Here the path leads through them, and what was kept beside the
        // summary under new ids is not told twice.
        ("gemini_0.61.0_compacted" | "gemini_0.61.0_interactive", _) => return Value::Null,
        _ => {}
    }
    told
}

fn compare(who: &str) {
    let mut wrong = Vec::new();
    for sample in samples(who) {
        let expected = fs::read(sample.join("expected.json")).unwrap();
        let expected: Vec<Value> = serde_json::from_slice(&expected).unwrap();
        let sample_name = name(&sample);
        let found = all(who, &sample);
        for told in expected.into_iter().filter(|told| told["subagent"] != true) {
            let told = corrected(sample_name, told);
            let Some(id) = told["id"].as_str() else { continue };
            let Some(session) = found.iter().find(|session| session.id == id) else {
                wrong.push(format!("{sample_name}: {id} is missing"));
                continue;
            };
            assert_sound(session);
            let path = path(session);
            let pairs = |pairs: Vec<(String, String)>| json!(pairs);
            let prompts = path.iter().map(|turn| (turn.id.clone(), turn.prompt.trim().to_owned()));
            let mut differs = |what: &str, is: Value, should: &Value| {
                if is != *should {
                    wrong.push(format!("{sample_name}: {id}: {what}\n  {is}\n  instead of\n  {should}"));
                }
            };
            differs("prompts", pairs(prompts.collect()), &told["prompts_on_the_current_path"]);
            differs("prompts off it", json!(session.turns.len() - path.len()), &told["prompts_off_it"]);
            // Long answers were not written down whole.
            let mut answers = answers(&path);
            let told_answers = told["answers"].as_array().unwrap().iter();
            for (answer, told) in answers.iter_mut().zip(told_answers) {
                let told = told[1].as_str().unwrap();
                if told.len() >= 120 {
                    answer.1.truncate(told.len());
                }
            }
            differs("answers", pairs(answers), &told["answers"]);
            differs("tools", json!(tools(&path)), &told["tool_calls"]);
            differs("title", json!(session.title), &told["title"]);
            let model = session.turns.iter().flat_map(|turn| &turn.steps).find_map(|step| match step {
                StoredStep::Answer(answer) => answer.model.clone(),
                _ => None,
            });
            differs("model", json!(model), &told["model"]);
            let not_understood = session.not_understood.clone();
            differs("not understood", json!(not_understood), &json!([]));
            for turn in &session.turns {
                differs("directory", json!(turn.dir), &json!(HERE));
                differs(
                    "time",
                    json!(turn.started_ms.is_some() && turn.ended_ms >= turn.started_ms),
                    &json!(true),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_of_a_session_of_gemini_is_found() {
    compare("gemini");
}

#[test]
fn all_of_a_session_of_pi_is_found() {
    compare("pi");
}

#[test]
fn a_summary_of_gemini_stands_on_the_path_behind_the_turns_it_is_of() {
    let session = one("gemini_0.61.0_compacted", "c4e3f35f");
    let path = path(&session);
    let begins: Vec<&str> = prompts(&path).iter().map(|prompt| &prompt[..7]).collect();
    assert_eq!(begins, ["MARK-a1", "MARK-b2", "MARK-c2", "MARK-d2"]);
    assert_eq!(path.len(), session.turns.len());
    let summaries: Vec<_> = path.iter().map(|turn| summaries(turn)).collect();
    assert_eq!(summaries[..2], [vec!["SEEN n=1 marks=MARK-a1"], vec!["SEEN n=2 marks=MARK-a1,MARK-b2"]]);
    assert!(summaries[2].len() == 1 && summaries[3].is_empty());
    // The prompts that were replaced keep what was known of them.
    assert_eq!(tools(&path).len(), 4);
    assert!(path.iter().all(|turn| turn.outcome == StoredOutcome::Completed && turn.usage().is_some()));
    assert!(answers(&path).iter().all(|(_, text)| text != THANKS));
}

#[test]
fn turns_kept_beside_a_summary_are_not_told_twice_and_those_taken_back_are_beside_the_path() {
    let session = one("gemini_0.61.0_interactive", "352aeb43");
    let path = path(&session);
    let mut told = prompts(&path);
    assert!(told.remove(4).starts_with("I ran the following shell command:"));
    assert_eq!(
        told,
        [
            "MARK-a1 SH [echo one]",
            "MARK-b2 second",
            "MARK-c3 third",
            "MARK-e5 after rewind",
            "MARK-f6 after shell"
        ]
    );
    assert_eq!(summaries(path[2]), ["SEEN n=1 marks=MARK-a1"]);
    let off: Vec<_> = session.turns.iter().filter(|turn| !path.contains(turn)).collect();
    assert_eq!(prompts(&off), ["MARK-d4 after compress"]);
    assert_eq!(session.turns[off[0].parent.unwrap()].prompt, "MARK-c3 third");
    assert!(session.turns.iter().all(|turn| turn.outcome == StoredOutcome::Completed));
    assert!(answers(&path).iter().all(|(_, text)| text != THANKS));
}

#[test]
fn how_turns_of_gemini_ended_is_told() {
    let failed = one("gemini_0.61.0_cut_and_errors", "9a5732ff");
    let ended: Vec<_> = failed.turns.iter().map(|turn| (&turn.prompt[..7], &turn.outcome)).collect();
    let no_reason = StoredOutcome::Failed(String::new());
    assert_eq!(
        ended,
        [
            ("MARK-h1", &StoredOutcome::Completed),
            ("MARK-h2", &no_reason),
            ("MARK-h3", &no_reason),
            ("MARK-h4", &StoredOutcome::Completed)
        ]
    );
    assert!(failed.turns[1..].iter().all(|turn| turn.parent == Some(0)));
    let killed = one("gemini_0.61.0_cut_and_errors", "1a97de08");
    assert_eq!(killed.turns[1].outcome, StoredOutcome::Open);
    assert_eq!(killed.turns[2].outcome, StoredOutcome::Open);
}

#[test]
fn a_resumed_session_of_gemini_keeps_tokens_thoughts_and_tools_of_its_first_turn() {
    let session = one("gemini_0.61.0_three_turns", "1554e8e9");
    let first = &session.turns[0];
    let StoredStep::Answer(answer) = &first.steps[0] else { panic!("{:?}", first.steps[0]) };
    assert_eq!(
        (answer.text.as_str(), answer.thought.as_str()),
        ("hi there", "**Mock subject** mock thought")
    );
    assert_eq!(answer.model.as_deref(), Some("gemini-2.5-flash"));
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.cached, usage.output), (194, 11, 7));
    assert_eq!(first.started_ms.map(|time| time / 1000), Some(1_794_818_541));
    let results = first.steps.iter().filter(|step| matches!(step, StoredStep::Result { .. })).count();
    assert_eq!(results, 4);
    assert_eq!(session.turns[1].attached, ["image/png"]);
    let copy = one("gemini_0.61.0_three_turns", "61ce2f34");
    assert_eq!(copy.forked_from.as_deref(), Some(session.id.as_str()));
}

#[test]
fn a_session_of_gemini_that_is_being_resumed_is_not_empty() {
    let sample = directory("sessions").join("gemini_0.61.0_cut_and_errors");
    let inside = "tmp/proj/chats/session-2026-11-16T07-34-1a97de08.jsonl";
    let text = fs::read_to_string(sample.join(inside)).unwrap();
    let mut seen = 0;
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(line);
        let emptied = line.contains(r#""messages":["#) && line.matches(r#""id":"#).count() == 1;
        if !emptied || lines.len() < 5 {
            continue;
        }
        seen += 1;
        let store = tempfile::tempdir().unwrap();
        let file = store.path().join(inside);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let session = StoredSession {
            id: "1a97de08-a465-4ae8-ba6e-fd2703d36372".into(),
            file,
            ..StoredSession::default()
        };
        let whole = store_of("gemini", store.path()).read_whole(&session).unwrap();
        assert_eq!(path(&whole).len(), seen);
        assert_eq!(whole.turns.len(), seen);
    }
    assert_eq!(seen, 3);
}

#[test]
fn a_session_of_gemini_in_an_older_and_a_newer_file_is_one() {
    let store = tempfile::tempdir().unwrap();
    let chats = store.path().join("tmp/proj/chats");
    fs::create_dir_all(&chats).unwrap();
    let said = |rich: &str| {
        format!(
            r#"[{{"id":"u1","type":"user","timestamp":"2026-11-16T08:00:00Z","content":[{{"text":"one"}}]}},
            {{"id":"g1","type":"gemini","content":[{{"text":"yes"}}]{rich}}}]"#
        )
        .replace('\n', "")
    };
    let rich = r#","model":"m","tokens":{"input":5,"output":2,"total":7}"#;
    let old = format!(
        r#"{{"sessionId":"12345678-x","startTime":"2026-11-16T08:00:00Z","messages":{}}}"#,
        said(rich)
    );
    fs::write(chats.join("session-2026-11-16T08-00-12345678.json"), old).unwrap();
    let new = format!(
        "{}\n{{\"$set\":{{\"messages\":{}}}}}\n{}\n",
        r#"{"sessionId":"12345678-x","kind":"main","startTime":"2026-11-16T09:00:00Z"}"#,
        said(""),
        r#"{"id":"u2","type":"user","timestamp":"2026-11-16T09:00:01Z","content":"two"}"#
    );
    fs::write(chats.join("session-2026-11-16T09-00-12345678.jsonl"), new).unwrap();
    let [whole] = &all("gemini", store.path())[..] else { panic!("not one session") };
    assert_eq!(prompts(&path(whole)), ["one", "two"]);
    assert_eq!(whole.turns.len(), 2);
    assert_eq!(whole.turns[0].usage().unwrap().input, 5);
}

#[test]
fn the_summary_in_a_copy_of_a_session_of_gemini_is_no_prompt() {
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("session-1-12345678.jsonl");
    let said = |id: &str, role: &str, text: &str| {
        format!(r#"{{"id":"{id}","type":"{role}","content":[{{"text":"{text}"}}]}}"#)
    };
    let lines = [
        r#"{"sessionId":"12345678","kind":"main"}"#.to_owned(),
        said("import-1", "info", "Imported session from /gone/session-1-x.jsonl"),
        said("s", "user", "what was said"),
        said("t", "gemini", THANKS),
        said("u1", "user", "one"),
        said("g1", "gemini", "yes"),
    ];
    fs::write(&file, lines.join("\n")).unwrap();
    let session = StoredSession { id: "12345678".into(), file, ..StoredSession::default() };
    let whole = store_of("gemini", store.path()).read_whole(&session).unwrap();
    assert_eq!(prompts(&path(&whole)), ["one"]);
    assert_eq!((whole.turns.len(), summaries(&whole.turns[0])), (1, vec!["what was said"]));
    assert_eq!(whole.forked_from.as_deref(), Some("/gone/session-1-x.jsonl"));
}

#[test]
fn a_branch_of_pi_has_its_own_turns_and_the_summary_stands_where_it_was_made() {
    let session = one("pi_0.74.2_interactive", "01a1e360");
    let off: Vec<_> = session.turns.iter().filter(|turn| !path(&session).contains(turn)).collect();
    assert_eq!(prompts(&off), ["MARK-c3 third"]);
    let ran = session.turns.iter().flat_map(|turn| &turn.steps).any(
        |step| matches!(step, StoredStep::Call { name, input, .. } if name == "bashExecution" && input["command"] == "echo shellmode"),
    );
    assert!(ran);
    let compacted = one("pi_0.85.0_fork_name_compaction", "01a1e366-458c");
    assert_eq!(summaries(path(&compacted)[2]).len(), 1);
    assert_eq!(compacted.turns.len(), 4);
    let copy = one("pi_0.85.0_fork_name_compaction", "01a1e366-4986");
    assert_eq!(copy.forked_from.as_deref(), Some(compacted.id.as_str()));
}

#[test]
fn how_turns_of_pi_ended_is_told() {
    let failed = one("pi_0.85.0_cut_and_errors", "01a1e364-49dd");
    assert!(matches!(&failed.turns[0].outcome, StoredOutcome::Failed(why) if why.contains("mock 400")));
    let killed = one("pi_0.85.0_cut_and_errors", "01a1e364-0779");
    let ended: Vec<_> = killed.turns.iter().map(|turn| turn.outcome.clone()).collect();
    let (done, open) = (StoredOutcome::Completed, StoredOutcome::Open);
    assert_eq!(ended, [done.clone(), open.clone(), open, done]);
    let stopped = one("pi_0.85.0_fork_name_compaction", "01a1e366-49da");
    assert_eq!(stopped.turns[3].outcome, StoredOutcome::Interrupted);
    assert_eq!(stopped.turns[3].steps.len(), 1);
    let with_file = one("pi_0.85.0_three_turns", "01a1e363-c08a");
    assert_eq!(with_file.turns[1].prompt, "MARK-b2 look at this");
    assert_eq!(with_file.turns[1].attached, ["/home/dev/proj/dot.png"]);
}

fn pi_session(lines: &[&str]) -> WholeSession {
    let store = tempfile::tempdir().unwrap();
    let file = store.path().join("2026-11-16_x.jsonl");
    let header = r#"{"type":"session","id":"x","cwd":"/home/dev/proj"}"#;
    fs::write(&file, format!("{header}\n{}\n", lines.join("\n"))).unwrap();
    let session = StoredSession { id: "x".into(), file, ..StoredSession::default() };
    let whole = store_of("pi", store.path()).read_whole(&session).unwrap();
    assert_sound(&whole);
    whole
}

fn pi_said(role: &str, id: &str, parent: &str) -> String {
    let content = format!(r#"[{{"type":"text","text":"{id}!"}}]"#);
    let stop = if role == "assistant" { r#","stopReason":"stop""# } else { "" };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":{content}{stop}}}}}"#
    )
}

#[test]
fn a_branch_inside_a_turn_of_pi_knows_only_what_stands_before_it() {
    let said = pi_said;
    let lines = [
        said("user", "p1", ""),
        said("assistant", "a1", "p1"),
        said("assistant", "a2", "a1"),
        said("user", "p2", "a1"),
        said("assistant", "a3", "p2"),
    ];
    let session = pi_session(&lines.each_ref().map(String::as_str));
    let texts = |turns: &[&StoredTurn]| answers(turns).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(prompts(&path(&session)), ["p1!", "p2!"]);
    assert_eq!(texts(&path(&session)), ["a1", "a3"]);
    assert_eq!(
        (session.turns[0].id.as_str(), texts(&[&session.turns[0]])),
        ("p1", vec!["a1".into(), "a2".into()])
    );
    // Something is added behind a turn that was gone on from: it is not known there.
    let late = r#"{"type":"compaction","id":"c","parentId":"a1","summary":"s"}"#.to_owned();
    let lines = [said("user", "p1", ""), said("assistant", "a1", "p1"), said("user", "p2", "a1"), late];
    let session = pi_session(&lines.each_ref().map(String::as_str));
    assert_eq!(prompts(&path(&session)), ["p1!"]);
    assert_eq!(summaries(path(&session)[0]), ["s"]);
    assert!(summaries(&session.turns[0]).is_empty());
}

#[test]
fn behind_a_torn_entry_pi_remembers_nothing_from_before_and_we_do() {
    let torn = format!(r#"{{"type":"message","id":"t","par{}"#, pi_said("user", "p2", "a1"));
    let lines =
        [pi_said("user", "p1", ""), pi_said("assistant", "a1", "p1"), torn, pi_said("assistant", "a2", "p2")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(pi_session(&lines).head, None);
    let next = pi_said("user", "p3", "a2");
    let session = pi_session(&[&lines[..], &[&next]].concat());
    assert_eq!(prompts(&path(&session)), ["p3!"]);
    assert_eq!(prompts(&session.turns.iter().collect::<Vec<_>>()), ["p1!", "p2!", "p3!"]);
    assert_eq!(session.turns[1].parent, Some(0));
}

#[test]
fn a_long_chain_of_branches_is_read_in_no_time() {
    let begun = std::time::Instant::now();
    let mut lines = vec![pi_said("user", "p", "")];
    for at in 0..20_000 {
        let parent = if at == 0 { "p".to_owned() } else { format!("a{}", at - 1) };
        lines.push(pi_said("assistant", &format!("a{at}"), &parent));
    }
    lines.extend((0..5_000).map(|at| pi_said("user", &format!("u{at}"), &format!("a{at}"))));
    let session = pi_session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(session.turns.len() > 5_000);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// The turns whose prompts end before a cut are there whatever is cut off.
#[test]
fn a_file_that_is_cut_anywhere_keeps_the_turns_before_the_cut() {
    for who in ["gemini", "pi"] {
        for sample in samples(who) {
            let store = store_of(who, &sample);
            for session in
                listed(&*store).iter().filter(|session| session.file.extension().unwrap() == "jsonl")
            {
                let bytes = fs::read(&session.file).unwrap();
                let place = tempfile::tempdir().unwrap();
                let cut = StoredSession { file: place.path().join("session.jsonl"), ..session.clone() };
                let read_at = |at: usize| {
                    fs::write(&cut.file, &bytes[..at]).unwrap();
                    store_of(who, place.path()).read_whole(&cut)
                };
                let mut before: Vec<(String, Option<usize>)> = Vec::new();
                let step = (bytes.len() / 60).max(1);
                for at in (0..=bytes.len()).step_by(step).chain([bytes.len()]) {
                    let Ok(whole) = read_at(at) else {
                        assert!(before.is_empty());
                        continue;
                    };
                    assert_sound(&whole);
                    let turns: Vec<_> =
                        whole.turns.iter().map(|turn| (turn.id.clone(), turn.parent)).collect();
                    assert!(turns.starts_with(&before), "{}: {at}: {before:?} {turns:?}", name(&sample));
                    before = turns;
                }
            }
        }
    }
}

/// Whatever stands in a file: it is read without a panic, and the turns are a tree.
fn fuzz_whole(who: &str) {
    let mut files = Vec::new();
    let mut names = Vec::new();
    for sample in samples(who) {
        for session in listed(&*store_of(who, &sample)) {
            files.push(fs::read(&session.file).unwrap());
            names.push(session.file.file_name().unwrap().to_owned());
        }
    }
    let place = tempfile::tempdir().unwrap();
    let store = store_of(who, place.path());
    let kinds = if who == "gemini" { vec!["json", "jsonl"] } else { vec!["jsonl"] };
    let files = files.into_iter();
    let mut at = 0;
    fuzz(files, |bytes| {
        at += 1;
        let kind = if bytes.starts_with(b"{\n") { kinds[0] } else { kinds[at % kinds.len()] };
        let file = place.path().join(format!("session-{}.{kind}", at % 4));
        fs::write(&file, bytes).unwrap();
        let session = StoredSession { id: "x".into(), file, ..StoredSession::default() };
        if let Ok(whole) = store.read_whole(&session) {
            for (at, turn) in whole.turns.iter().enumerate() {
                assert!(turn.parent.is_none_or(|parent| parent < at));
            }
            assert!(whole.head.is_none_or(|head| head < whole.turns.len()));
        }
    });
    assert!(!names.is_empty());
}

#[test]
fn fuzz_whole_gemini() {
    fuzz_whole("gemini");
}

#[test]
fn fuzz_whole_pi() {
    fuzz_whole("pi");
}
