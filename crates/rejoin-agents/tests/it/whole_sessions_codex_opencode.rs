//! Sessions of Codex and OpenCode, read whole: compared with what was written down beside each.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rejoin_agents::{SessionStore, StoredOutcome, StoredSession, StoredStep, StoredTurn, WholeSession};
use rejoin_core::{Agent, Usage};
use rejoin_testkit::fuzz::fuzz;
use serde_json::Value;

use crate::recording::directory;
use crate::sessions::{agent, laid_out, name, sessions, store_of};

/// Of an answer so many characters were written down.
const WRITTEN_DOWN: usize = 120;

fn samples(agent: &str) -> Vec<PathBuf> {
    let folders = ["sessions", "whole_sessions"].map(directory);
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut samples: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    samples.retain(|sample| name(sample).starts_with(agent));
    samples.sort();
    samples
}

fn sample(wanted: &str) -> PathBuf {
    samples(wanted.split('_').next().unwrap()).into_iter().find(|sample| name(sample) == wanted).unwrap()
}

/// A session by its id; one that another session began is not listed.
fn session(store: &dyn SessionStore, id: &str) -> StoredSession {
    sessions(store).0.remove(id).unwrap_or_else(|| {
        let files = store.files().files;
        let is_it = |file: &&PathBuf| name(file).contains(id) || name(file) == "opencode.db";
        StoredSession {
            id: id.into(),
            file: files.iter().find(is_it).unwrap().clone(),
            ..StoredSession::default()
        }
    })
}

fn whole(sample: &Path, id: &str) -> WholeSession {
    let place = laid_out(sample);
    let store = store_of(&agent(sample), place.path());
    store.read_whole(&session(&*store, id)).unwrap()
}

/// The turns the agent would remember, the first one first.
fn path(whole: &WholeSession) -> Vec<&StoredTurn> {
    let mut path = Vec::new();
    let mut next = whole.head;
    while let Some(at) = next {
        path.push(&whole.turns[at]);
        next = whole.turns[at].parent;
    }
    path.reverse();
    path
}

fn check(whole: &WholeSession) {
    assert!(whole.head.is_none_or(|head| head < whole.turns.len()));
    let mut ids = HashSet::new();
    for (at, turn) in whole.turns.iter().enumerate() {
        assert!(turn.parent.is_none_or(|parent| parent < at));
        assert!(ids.insert(&turn.id), "{} is there twice", turn.id);
    }
}

/// Prompts that a rewind dropped: what was written down is only of the path.
fn dropped(sample: &str) -> usize {
    match sample {
        "codex_0.166.0_rewound" | "codex_0.123.0_rewound" => 2,
        "codex_0.123.0_names_rollback_compaction" => 1,
        _ => 0,
    }
}

fn texts(pairs: &Value) -> Vec<(Option<&str>, &str)> {
    pairs
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| (pair[0].as_str(), pair[1].as_str().unwrap().trim()))
        .collect()
}

fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(WRITTEN_DOWN).map_or(text.len(), |(at, _)| at);
    text[..end].trim()
}

/// Codex has one id for all that is typed while a task runs; ours are told apart by a number.
fn native(id: &str) -> &str {
    id.split_once(':').map_or(id, |(native, _)| native)
}

fn compare(sample: &Path, told: &Value, whole: &WholeSession) {
    let id = told["id"].as_str().unwrap();
    let what = format!("{}: {id}", name(sample));
    let is_codex = agent(sample) == Agent::Codex;
    let is_0_65 = name(sample).starts_with("codex_0.65.0");
    let path = path(whole);
    check(whole);

    let prompts = texts(&told["prompts_on_the_current_path"]);
    let found: Vec<_> = path.iter().map(|turn| (turn.id.as_str(), turn.prompt.trim())).collect();
    assert_eq!(found.len(), prompts.len(), "{what}: {found:?}");
    for (at, ((id, prompt), (told_id, told))) in found.iter().zip(&prompts).enumerate() {
        assert_eq!(prompt, told, "{what}");
        match told_id {
            Some(told_id) => assert_eq!(native(id), *told_id, "{what}"),
            // 0.65 has no ids of turns.
            None => assert_eq!(*id, format!("{}:{}", whole.id, at + 1), "{what}"),
        }
    }
    assert_eq!(told["prompts_off_it"], 0);
    assert_eq!(whole.turns.len() - path.len(), dropped(name(sample)), "{what}");

    let answers = path.iter().flat_map(|turn| turn.steps.iter().map(move |step| (*turn, step)));
    let answers: Vec<(&str, &str)> = answers
        .filter_map(|(turn, step)| match step {
            // Of Codex the id of the turn was written down: up to 0.123 answers have none.
            StoredStep::Answer(answer) if !answer.text.is_empty() => {
                Some((if is_codex { native(&turn.id) } else { &answer.id }, beginning(&answer.text)))
            }
            _ => None,
        })
        .collect();
    let told_answers = texts(&told["answers"]);
    assert_eq!(answers.len(), told_answers.len(), "{what}: {answers:?}");
    for ((id, text), (told_id, told)) in answers.into_iter().zip(told_answers) {
        assert_eq!(text, told, "{what}");
        assert!(is_0_65 || Some(id) == told_id, "{what}: {id}");
    }

    // Here those off the path were written down as well, and a call was "ok" if it came back.
    let steps = || whole.turns.iter().flat_map(|turn| &turn.steps);
    let results: HashSet<&str> = steps()
        .filter_map(|step| match step {
            StoredStep::Result { call, .. } => Some(call.as_str()),
            _ => None,
        })
        .collect();
    let calls: Vec<(&str, bool)> = steps()
        .filter_map(|step| match step {
            StoredStep::Call { id, name, .. } => Some((name.as_str(), results.contains(id.as_str()))),
            _ => None,
        })
        .collect();
    let told_calls = told["tool_calls"].as_array().unwrap().iter();
    let told_calls: Vec<_> =
        told_calls.map(|call| (call["name"].as_str().unwrap(), call["ok"].as_bool().unwrap())).collect();
    assert_eq!(calls, told_calls, "{what}");

    assert_eq!(whole.is_subagent, told["subagent"], "{what}");
    assert_eq!(whole.forked_from.as_deref(), told["forked_from"].as_str(), "{what}");
    // OpenCode names a sub-agent's session, too.
    assert_eq!(whole.title.as_deref(), told["title"].as_str(), "{what}");
    for turn in path {
        assert_eq!(turn.branch.as_deref(), told["branch"].as_str(), "{what}");
        assert_eq!(turn.dir.as_deref(), told["cwd"].as_str(), "{what}");
        assert!(turn.started_ms.is_some() && turn.ended_ms >= turn.started_ms, "{what}");
    }
    assert_eq!(whole.not_understood, [], "{what}");
    compare_outcomes(sample, told, whole);
}

fn compare_outcomes(sample: &Path, told: &Value, whole: &WholeSession) {
    let Some(told) = told.get("turn_outcomes").and_then(Value::as_array) else { return };
    let path = path(whole);
    // Those of tasks were written down, of which one may hold several prompts; 0.65 marks none.
    if told.len() != path.len() || told[0] == "?" {
        return;
    }
    for (turn, told) in path.into_iter().zip(told) {
        let outcome = match &turn.outcome {
            // 0.123 marks a failed turn as done; that nothing was said in it tells.
            StoredOutcome::Failed(why) if name(sample).starts_with("codex_0.123") && why.is_empty() => "done",
            StoredOutcome::Completed => "done",
            StoredOutcome::Failed(_) => "failed",
            StoredOutcome::Interrupted => "interrupted",
            StoredOutcome::Open => "cut",
        };
        assert_eq!(outcome, told, "{}: {}", name(sample), turn.prompt);
    }
}

fn compare_all(agent: &str) {
    for sample in samples(agent) {
        let expected: Vec<Value> =
            serde_json::from_slice(&fs::read(sample.join("expected.json")).unwrap()).unwrap();
        for told in expected {
            compare(&sample, &told, &whole(&sample, told["id"].as_str().unwrap()));
        }
    }
}

#[test]
fn sessions_of_codex_are_read_as_written_down() {
    compare_all("codex");
}

#[test]
fn sessions_of_opencode_are_read_as_written_down() {
    compare_all("opencode");
}

fn prompts(whole: &WholeSession) -> Vec<&str> {
    path(whole).into_iter().map(|turn| turn.prompt.as_str().trim()).collect()
}

fn failed_calls(turn: &StoredTurn) -> usize {
    turn.steps.iter().filter(|step| matches!(step, StoredStep::Result { failed: true, .. })).count()
}

#[test]
fn files_of_opencode_before_its_database_are_read() {
    // Of this version nobody wrote down what there is.
    let whole = whole(&sample("opencode_1.1.31_three_turns"), "ses_e1c7f8e79ffedUQO0l8awG2lGQ");
    let told = prompts(&whole);
    assert_eq!(told.len(), 3);
    assert!(
        told[0].contains("MARK-a1") && told[1] == "MARK-b2-look" && told[2].contains("MARK-c3"),
        "{told:?}"
    );
    assert_eq!(whole.turns[1].attached, ["dot.png"]);
    assert!(whole.turns.iter().all(|turn| turn.outcome == StoredOutcome::Completed));
    assert_eq!(failed_calls(&whole.turns[0]), 1);
    assert_eq!(whole.not_understood, []);
}

#[test]
fn what_a_turn_used_and_which_calls_failed_is_told() {
    for (name, id, usage, model) in [
        ("codex_0.65.0_three_turns", "01a1e37c-a61b-7771-9ede-8d32fd2d8375", (1192, 44, 337), "mock-model"),
        ("codex_0.123.0_three_turns", "01a1e386-3c02-7ad1-a123-2d47f66d3b5d", (0, 44, 0), "mock-model"),
        (
            "codex_0.166.0_three_turns",
            "01a1e385-6ce3-7012-934b-d26866431da1",
            (21_917, 44, 319),
            "mock-model",
        ),
        ("opencode_1.18.33_three_turns", "ses_e1caac199ffepH9gt5eH79FpGK", (573, 44, 27), "mock/mock-1"),
    ] {
        let whole = whole(&sample(name), id);
        let first = &whole.turns[0];
        let used = first.usage().unwrap();
        let (input, cached, output) = usage;
        assert_eq!(used.cached, cached, "{name}");
        if input > 0 {
            assert_eq!(used, Usage { input, cached, output }, "{name}");
        }
        // `exit 3`
        assert_eq!(failed_calls(first), 1, "{name}");
        let answers: Vec<_> = first
            .steps
            .iter()
            .filter_map(|step| if let StoredStep::Answer(answer) = step { Some(answer) } else { None })
            .collect();
        assert!(answers.iter().all(|answer| answer.model.as_deref() == Some(model)), "{name}: {answers:?}");
        assert!(
            answers.iter().filter(|answer| answer.thought.contains("mock thought")).count() == 2,
            "{name}"
        );
        assert_eq!(
            answers.iter().map(|answer| &answer.id).collect::<HashSet<_>>().len(),
            answers.len(),
            "{name}"
        );
        let outputs: Vec<_> = first
            .steps
            .iter()
            .filter_map(
                |step| if let StoredStep::Result { output, .. } = step { Some(output.trim()) } else { None },
            )
            .collect();
        assert!(outputs.contains(&"one") && outputs.contains(&"p2"), "{name}: {outputs:?}");
    }
}

#[test]
fn compactions_stand_where_they_were_made() {
    for (name, id, before) in [
        ("codex_0.65.0_compacted", "01a1e37c-b669-7211-ba76-470e5cfed88a", 2),
        ("codex_0.123.0_compacted", "01a1e33a-eaa4-7f11-a19c-1b2d61ab88aa", 1),
        ("codex_0.166.0_names_rollback_compaction", "01a1e339-1235-7c41-b6d3-df528a341823", 3),
        ("opencode_1.18.33_fork_revert_compaction", "ses_e1cabd27cffeFcZmQ4wVa2j63H", 2),
    ] {
        let whole = whole(&sample(name), id);
        let summaries = whole.turns.iter().enumerate().flat_map(|(at, turn)| {
            turn.steps.iter().filter_map(move |step| match step {
                StoredStep::Compaction { summary } => Some((at, summary.contains("SEEN n="))),
                _ => None,
            })
        });
        assert_eq!(summaries.collect::<Vec<_>>(), [(before, true)], "{name}");
    }
}

#[test]
fn turns_that_a_rewind_dropped_are_a_branch_of_their_own() {
    for (name, id) in [
        ("codex_0.166.0_rewound", "01a1e340-9467-7780-89f7-450d2d417320"),
        ("codex_0.123.0_rewound", "01a1e340-e440-7382-a541-7afa8b623655"),
    ] {
        let whole = whole(&sample(name), id);
        let tree: Vec<_> = whole.turns.iter().map(|turn| (turn.prompt.as_str(), turn.parent)).collect();
        let expected = [
            ("MARK-a1 prompt", None),
            ("MARK-b2 prompt", Some(0)),
            ("MARK-c3 prompt", Some(1)),
            ("MARK-b2 prompt", Some(0)),
            ("MARK-d4 after going back", Some(3)),
        ];
        assert_eq!(tree, expected, "{name}");
        assert_eq!(whole.head, Some(4), "{name}");
    }
}

#[test]
fn what_is_undone_in_opencode_is_off_the_path_until_it_is_gone() {
    let place = laid_out(&sample("opencode_1.18.33_three_turns"));
    let database = rusqlite::Connection::open(place.path().join("opencode.db")).unwrap();
    let (id, from) = ("ses_e1caac199ffepH9gt5eH79FpGK", "msg_1e35573ae001vp3NtEG17z25me");
    let revert = format!(r#"{{"messageID":"{from}","snapshot":"x"}}"#);
    database.execute("UPDATE session SET revert = ?1 WHERE id = ?2", [&revert, id]).unwrap();
    drop(database);
    let store = store_of(&Agent::OpenCode, place.path());
    let whole = store.read_whole(&session(&*store, id)).unwrap();
    assert_eq!((whole.head, whole.turns.len()), (Some(0), 3));
    assert_eq!(whole.turns[2].parent, Some(1));
}

#[test]
fn a_prompt_glued_to_a_torn_line_is_found() {
    let id = "01a1e386-3c02-7ad1-a123-2d47f66d3b5d";
    let (place, file) = file_of("codex_0.123.0_three_turns", id);
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let prompt = lines.iter().rposition(|line| line.contains("\"user_message\"")).unwrap();
    let mut torn = lines[..prompt].join("\n");
    torn.truncate(torn.len() - 30);
    torn.push_str(&lines[prompt..].join("\n"));
    fs::write(&file, torn).unwrap();
    let store = store_of(&Agent::Codex, place.path());
    let whole = store.read_whole(&session(&*store, id)).unwrap();
    assert_eq!(prompts(&whole).len(), 3);
    assert_eq!(whole.not_understood, []);
}

/// A sample of Codex that lies somewhere, and the file of a session in it.
fn file_of(name: &str, id: &str) -> (tempfile::TempDir, PathBuf) {
    let place = laid_out(&sample(name));
    let file = session(&*store_of(&Agent::Codex, place.path()), id).file;
    (place, file)
}

#[test]
fn what_is_too_large_or_compressed_is_refused_with_words() {
    let id = "01a1e386-3c02-7ad1-a123-2d47f66d3b5d";
    let (place, file) = file_of("codex_0.123.0_three_turns", id);
    let store = store_of(&Agent::Codex, place.path());
    let session = session(&*store, id);
    fs::OpenOptions::new().append(true).open(&file).unwrap().set_len((512 << 20) + 1).unwrap();
    let error = store.read_whole(&session).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert!(error.to_string().contains("512 MiB"), "{error}");
    let compressed = file.with_extension("jsonl.zst");
    fs::rename(&file, &compressed).unwrap();
    let session = StoredSession { file: compressed, ..session };
    assert_eq!(store.read_whole(&session).unwrap_err().kind(), io::ErrorKind::Unsupported);
}

#[test]
fn of_a_session_whose_beginning_is_gone_the_rest_is_read_and_that_is_told() {
    let id = "01a1e385-788b-7892-8060-65a373560080";
    let (place, file) = file_of("codex_0.166.0_three_turns", id);
    let store = store_of(&Agent::Codex, place.path());
    for other in store.files().files.into_iter().filter(|other| *other != file) {
        fs::remove_file(other).unwrap();
    }
    let whole = store.read_whole(&session(&*store, id)).unwrap();
    assert_eq!(prompts(&whole).len(), 3);
    assert_eq!(whole.not_understood, [("history_base that is not there".to_owned(), 1)]);
}

#[test]
fn a_file_of_codex_that_is_cut_anywhere_keeps_the_turns_before_the_cut() {
    for sample in samples("codex") {
        let place = laid_out(&sample);
        let store = store_of(&Agent::Codex, place.path());
        let all: BTreeMap<String, StoredSession> = sessions(&*store).0;
        for session in all.into_values().filter(|session| session.follows.is_none()) {
            let full = store.read_whole(&session).unwrap();
            let bytes = fs::read(&session.file).unwrap();
            let is_alone = !name(&sample).ends_with("0.166.0_rewound");
            for cut in (0..60).map(|part| bytes.len() * part / 60) {
                fs::write(&session.file, &bytes[..cut]).unwrap();
                let Ok(whole) = store.read_whole(&session) else { continue };
                check(&whole);
                let text = String::from_utf8_lossy(&bytes[..cut]);
                let (lines, _) = text.rsplit_once('\n').unwrap_or_default();
                let typed = ["\"type\":\"user_message\"", "\"type\":\"UserMessage\""];
                let typed =
                    lines.lines().filter(|line| typed.iter().any(|typed| line.contains(typed))).count();
                let ids =
                    |whole: &WholeSession| whole.turns.iter().map(|turn| turn.id.clone()).collect::<Vec<_>>();
                if is_alone {
                    assert_eq!(ids(&whole), ids(&full)[..typed], "{}: {cut}", name(&sample));
                }
            }
            fs::write(&session.file, &bytes).unwrap();
        }
    }
}

#[test]
fn files_of_opencode_that_are_cut_anywhere_cost_only_themselves() {
    for sample in samples("opencode") {
        let place = laid_out(&sample);
        let store = store_of(&Agent::OpenCode, place.path());
        let all: Vec<StoredSession> = sessions(&*store).0.into_values().collect();
        let mut left = vec![place.path().to_owned()];
        while let Some(file) = left.pop() {
            if file.is_dir() {
                left.extend(fs::read_dir(&file).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let bytes = fs::read(&file).unwrap();
            for cut in (0..7).map(|part| bytes.len() * part / 7) {
                fs::write(&file, &bytes[..cut]).unwrap();
                for whole in all.iter().filter_map(|session| store.read_whole(session).ok()) {
                    check(&whole);
                }
            }
            fs::write(&file, &bytes).unwrap();
        }
    }
}

#[test]
fn reading_whole_leaves_no_trace() {
    for sample in samples("opencode").into_iter().chain(samples("codex")) {
        let place = laid_out(&sample);
        let store = store_of(&agent(&sample), place.path());
        let names = || {
            let mut names: Vec<_> =
                fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            names
        };
        let before = names();
        for session in sessions(&*store).0.values() {
            store.read_whole(session).unwrap();
        }
        assert_eq!(names(), before);
    }
}

/// Whatever stands in a file: what is read of it is a tree.
fn fuzz_whole(who: &str) {
    let agent = Agent::named(who.split('_').next().unwrap());
    let mut files = Vec::new();
    let mut first = None;
    for sample in samples(who) {
        let place = laid_out(&sample);
        let store = store_of(&agent, place.path());
        for file in store.files().files {
            let ids: Vec<String> = sessions(&*store).0.into_keys().collect();
            files.push(fs::read(&file).unwrap());
            let inside = file.strip_prefix(place.path()).unwrap().to_owned();
            first.get_or_insert((inside, sample.clone(), ids));
        }
    }
    let (inside, sample, ids) = first.unwrap();
    let place = laid_out(&sample);
    let store = store_of(&agent, place.path());
    let file = place.path().join(inside);
    fuzz(files, |bytes| {
        fs::write(&file, bytes).unwrap();
        let by_id =
            |id: &String| StoredSession { id: id.clone(), file: file.clone(), ..StoredSession::default() };
        let found = sessions(&*store).0.into_values();
        for session in found.chain(ids.iter().map(by_id)) {
            if let Ok(whole) = store.read_whole(&session) {
                check(&whole);
            }
        }
    });
}

#[test]
fn whatever_stands_in_a_file_of_codex_a_tree_is_read_of_it() {
    fuzz_whole("codex");
}

#[test]
fn whatever_stands_in_a_database_of_opencode_a_tree_is_read_of_it() {
    fuzz_whole("opencode_1.18");
}
