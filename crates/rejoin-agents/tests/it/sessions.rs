//! Stores of real programs, listed: each beside what a reader should find in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rejoin_agents::{SessionStore, StoredSession};
use rejoin_core::Agent;
use rejoin_testkit::fuzz::fuzz;
use serde_json::Value;

use crate::recording::directory;

const HERE: &str = "/home/dev/proj";
/// How the sessions begin that were then compacted.
const COMPACTED: &str = "MARK-a1 SH [echo a] THEN BIG 6000";

fn samples() -> Vec<PathBuf> {
    let mut samples: Vec<PathBuf> =
        fs::read_dir(directory("sessions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    samples
}

pub(crate) fn name(sample: &Path) -> &str {
    sample.file_name().unwrap().to_str().unwrap()
}

pub(crate) fn agent(sample: &Path) -> Agent {
    Agent::named(name(sample).split('_').next().unwrap())
}

pub(crate) fn store_of(agent: &Agent, store: &Path) -> Box<dyn SessionStore> {
    rejoin_agents::find(agent).unwrap().session_store(store, Path::new(HERE)).unwrap()
}

/// The sessions of a store, by their ids; what was not understood is counted.
pub(crate) fn sessions(store: &dyn SessionStore) -> (BTreeMap<String, StoredSession>, usize) {
    let files = store.files();
    let mut not_understood = files.unread.len();
    let mut read = Vec::new();
    for file in files.files {
        match store.read(&file) {
            Ok(sessions) => read.extend(sessions),
            Err(_) => not_understood += 1,
        }
    }
    let joined = store.join(read);
    let count = joined.len();
    let by_id: BTreeMap<_, _> = joined.into_iter().map(|session| (session.id.clone(), session)).collect();
    assert_eq!(by_id.len(), count, "an id is there twice");
    (by_id, not_understood)
}

/// A copy of a sample as the program would have it; databases are made from what was dumped of them.
pub(crate) fn laid_out(sample: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let mut left = vec![sample.to_owned()];
    while let Some(path) = left.pop() {
        let to = copy.path().join(path.strip_prefix(sample).unwrap());
        if path.is_dir() {
            fs::create_dir_all(&to).unwrap();
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.ends_with("opencode.sql") {
            let database = rusqlite::Connection::open(copy.path().join("opencode.db")).unwrap();
            let dump = fs::read_to_string(&path).unwrap();
            // What was deleted may still be referred to.
            database.execute_batch(&format!("PRAGMA foreign_keys = OFF;\n{dump}")).unwrap();
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
    copy
}

#[test]
fn every_session_a_person_began_is_listed_with_what_was_typed_first() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let expected: Vec<Value> =
            serde_json::from_slice(&fs::read(sample.join("expected.json")).unwrap()).unwrap();
        let store = laid_out(&sample);
        let (found, not_understood) = sessions(&*store_of(&agent(&sample), store.path()));
        if not_understood > 0 {
            wrong.push(format!("{}: {not_understood} not understood", name(&sample)));
        }
        // Of this version nobody wrote down what there is.
        if name(&sample).starts_with("opencode_1.1.31") {
            let prompts: Vec<_> = found.values().map(|session| session.first_prompt.as_deref()).collect();
            assert!(matches!(prompts[..], [Some(prompt)] if prompt.starts_with("MARK-a1")), "{prompts:?}");
            continue;
        }
        let told: BTreeMap<&str, &Value> = expected
            .iter()
            .filter(|session| session["subagent"] != true)
            .map(|session| (session["id"].as_str().unwrap(), session))
            .collect();
        let ids = |ids: Vec<&str>| ids.join(" ");
        let (is, should) =
            (ids(found.keys().map(String::as_str).collect()), ids(told.keys().copied().collect()));
        if is != should {
            wrong.push(format!("{}: found {is}\n  instead of {should}", name(&sample)));
            continue;
        }
        for (id, told) in told {
            let session = &found[id];
            let on_path = told["prompts_on_the_current_path"][0][1].as_str().unwrap_or_default();
            // A summary took the place of what was typed first, which is still told.
            let first = if name(&sample).ends_with("_compacted") { COMPACTED } else { on_path };
            let is = session.first_prompt.as_deref().unwrap_or_default();
            if is.is_empty() || !first.trim().starts_with(is.trim_end_matches('…')) {
                wrong.push(format!("{}: {id}: prompt {is:?} instead of {first:?}", name(&sample)));
            }
            let same = |what: &str, is: Option<&str>, told: &Value| {
                let odd = format!("{}: {id}: {what} {is:?} instead of {told}", name(&sample));
                (is != told.as_str()).then_some(odd)
            };
            wrong.extend(same("branch", session.branch.as_deref(), &told["branch"]));
            wrong.extend(same("title", session.title.as_deref(), &told["title"]));
            if name(&sample).ends_with("_moved_to_worktree") {
                let moved = format!("{HERE}/.claude/worktrees/wtx");
                wrong.extend(same("directory", session.dir.as_deref(), &moved.into()));
            } else if told["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/')) {
                wrong.extend(same("directory", session.dir.as_deref(), &told["cwd"]));
            } else if session.dir.as_deref() != Some(HERE) {
                wrong.push(format!("{}: {id}: directory {:?}", name(&sample), session.dir));
            }
            if session.used_ms.is_none() || session.messages == Some(0) {
                wrong.push(format!("{}: {id}: {session:?}", name(&sample)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn looking_at_a_store_leaves_no_trace_in_it() {
    for sample in samples() {
        let store = laid_out(&sample);
        let before = trace(store.path());
        sessions(&*store_of(&agent(&sample), store.path()));
        assert_eq!(trace(store.path()), before, "{}", name(&sample));
    }
}

/// Every file with its size and time.
fn trace(store: &Path) -> BTreeMap<PathBuf, (u64, std::time::SystemTime)> {
    let mut left = vec![store.to_owned()];
    let mut all = BTreeMap::new();
    while let Some(path) = left.pop() {
        let meta = fs::metadata(&path).unwrap();
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        all.insert(path, (meta.len(), meta.modified().unwrap()));
    }
    all
}

/// Whatever stands in a file: it is read without a panic, and costs only itself.
fn fuzz_store(who: &str) {
    let agent = Agent::named(who);
    let mut files = Vec::new();
    let mut first = None;
    for sample in samples().into_iter().filter(|sample| name(sample).starts_with(who)) {
        let store = laid_out(&sample);
        for file in store_of(&agent, store.path()).files().files {
            files.push(fs::read(&file).unwrap());
            let inside = file.strip_prefix(store.path()).unwrap().to_owned();
            first.get_or_insert((inside, sample.clone()));
        }
    }
    let (inside, sample) = first.unwrap();
    let place = laid_out(&sample);
    let store = store_of(&agent, place.path());
    fuzz(files, |bytes| {
        fs::write(place.path().join(&inside), bytes).unwrap();
        let (found, _) = sessions(&*store);
        for session in found.values() {
            assert!(session.first_prompt.as_deref().unwrap_or_default().len() <= 1000);
            assert!(session.dir.as_deref().is_none_or(|dir| dir.starts_with('/')));
        }
    });
}

macro_rules! fuzz_every_store {
    ($($agent:ident),+) => {
        mod fuzz_sessions {
            $(#[test]
            fn $agent() {
                super::fuzz_store(stringify!($agent));
            })+
        }
    };
}

fuzz_every_store!(claude, codex, gemini, opencode, pi, qwen);

#[test]
fn pipes_and_foreign_files_among_the_sessions_are_counted_and_not_waited_for() {
    let store = laid_out(&directory("sessions").join("claude_2.0.34_three_turns"));
    let project = store.path().join("projects/-home-dev-proj");
    let at = |number: u8| project.join(format!("0000000{number}-0000-4000-8000-00000000000f.jsonl"));
    fs::write(at(1), "").unwrap();
    fs::write(at(2), [0; 4096]).unwrap();
    fs::write(at(3), "{\"foreign\":true}\n").unwrap();
    fs::create_dir(at(4)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at(5)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(at(6)).status().unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink(at(6), at(7)).unwrap();
    let (found, not_understood) = sessions(&*store_of(&Agent::Claude, store.path()));
    assert_eq!((found.len(), not_understood), (1, 7));
}
