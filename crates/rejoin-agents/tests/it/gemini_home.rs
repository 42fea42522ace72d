//! What Gemini CLI is given besides arguments: settings, trust, a home that is thrown away.

use std::fs;
use std::path::{Path, PathBuf};

use rejoin_agents::{Found, Process, Refusal};
use rejoin_core::{Agent, Permissions};

use crate::requests::{Asked, GEMINI_SESSION, definition, gemini};

fn put(path: &Path, text: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    path.to_owned()
}

/// A project and a home, in a place nothing is known about.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.dir()).unwrap();
        fs::create_dir_all(place.store()).unwrap();
        place
    }

    fn dir(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("projects/app")
    }

    fn store(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("home/.gemini")
    }

    fn asked(&self) -> Asked {
        Asked {
            dir: self.dir().to_str().unwrap().to_owned(),
            store: Some(self.store().to_str().unwrap().to_owned()),
            ..Asked::gemini()
        }
    }

    fn with_env(&self, env: &[(&str, &str)]) -> Asked {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Asked { env, ..self.asked() }
    }
}

fn variable<'a>(launch: &'a Process, name: &str) -> Option<&'a str> {
    launch.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn trusts(asked: &Asked) -> bool {
    asked.launch().unwrap().args.iter().any(|arg| arg == "--skip-trust")
}

const SETTINGS: &str = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
const OFF: &str = r#"{"general":{"sessionRetention":{"enabled":false}}}"#;

#[test]
fn the_clean_up_is_switched_off_by_a_file_of_ours() {
    let launch = Place::new().asked().launch().unwrap();
    assert_eq!(variable(&launch, SETTINGS), Some("/rejoin/agents/own/settings.json"));
    assert_eq!(variable(&launch, "GEMINI_CLI_NO_RELAUNCH"), Some("1"));
    let [(file, text)] = &launch.files[..] else { panic!("{:?}", launch.files) };
    assert_eq!((file.to_str(), text.trim_end()), (Some("/rejoin/agents/own/settings.json"), OFF));
}

#[test]
fn settings_of_an_administrator_stay_in_force() {
    let place = Place::new();
    let theirs = put(&place.0.path().join("system.json"), "{}");
    let asked = place.with_env(&[(SETTINGS, theirs.to_str().unwrap())]);
    let launch = asked.launch().unwrap();
    assert_eq!(variable(&launch, SETTINGS), None);
    assert!(
        launch.warnings[0].contains("clean-up") && launch.warnings[0].contains(OFF),
        "{:?}",
        launch.warnings
    );
    put(&theirs, OFF);
    assert!(asked.launch().unwrap().warnings.is_empty());
    put(&theirs, "{}");
    put(&place.store().join("settings.json"), OFF);
    assert!(asked.launch().unwrap().warnings.is_empty(), "the user has switched it off");
    put(&theirs, r#"{"general":{"sessionRetention":{"enabled":true}}}"#);
    assert_eq!(asked.launch().unwrap().warnings.len(), 1);
}

#[test]
fn ours_is_known_again_in_a_nested_run() {
    let launch = Place::new().with_env(&[(SETTINGS, "/rejoin/agents/own/settings.json")]).launch().unwrap();
    assert_eq!(launch.files.len(), 1);
}

#[test]
fn a_directory_is_trusted_only_where_there_is_nothing_to_trust() {
    let place = Place::new();
    assert!(trusts(&place.asked()));
    assert!(!trusts(&place.with_env(&[("GEMINI_CLI_TRUST_WORKSPACE", "false")])));
    for file in ["projects/app/.env", "projects/app/.gemini/x", "projects/app/.agents/x", "projects/.env"] {
        let place = Place::new();
        put(&place.0.path().join(file), "x");
        for level in [Permissions::Agent, Permissions::Read, Permissions::Full] {
            assert!(!trusts(&place.asked().level(level)), "{file}");
        }
    }
}

#[test]
fn what_the_user_told_gemini_about_a_directory_stands() {
    for (level, here) in [("DO_NOT_TRUST", "app"), ("TRUST_FOLDER", ""), ("TRUST_PARENT", "other")] {
        let place = Place::new();
        let folder = place.dir().parent().unwrap().join(here);
        let text = format!("{{{:?}:{level:?}}}", folder.to_str().unwrap());
        put(&place.store().join("trustedFolders.json"), &text);
        assert!(!trusts(&place.asked()), "{text}");
    }
    let place = Place::new();
    put(&place.store().join("trustedFolders.json"), r#"{"/elsewhere":"TRUST_FOLDER"}"#);
    assert!(trusts(&place.asked()));
    put(&place.store().join("trustedFolders.json"), "garbage");
    assert!(!trusts(&place.asked()));
}

#[test]
fn an_ephemeral_turn_has_a_home_that_is_thrown_away() {
    let place = Place::new();
    put(&place.store().join("settings.json"), r#"{"ui":{}}"#);
    put(&place.store().join("GEMINI.md"), "be terse");
    put(&place.store().join("oauth_creds.json"), "secret");
    put(&place.store().join("trustedFolders.json"), "{}");
    put(&place.store().join("policies/mine.toml"), "");
    put(&place.store().join("agents/a.md"), "");
    let asked = Asked { ephemeral: true, ..place.with_env(&[("GEMINI_API_KEY", "k")]) };
    let launch = asked.launch().unwrap();
    let scratch = launch.scratch.clone().unwrap();
    assert!(scratch.starts_with("/rejoin/agents/own") && scratch != Path::new("/rejoin/agents/own"));
    assert_eq!(variable(&launch, "GEMINI_CLI_HOME"), scratch.to_str());
    assert_eq!(variable(&launch, SETTINGS), None);
    let folders = place.store().join("trustedFolders.json");
    assert_eq!(variable(&launch, "GEMINI_CLI_TRUSTED_FOLDERS_PATH"), folders.to_str());
    let names: Vec<String> = launch
        .files
        .iter()
        .map(|(file, _)| file.strip_prefix(&scratch).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["tmp/.keep", ".gemini/settings.json", ".gemini/GEMINI.md"]);
    assert!(launch.args.iter().any(|arg| arg.to_string_lossy().ends_with(".gemini/policies")));
    assert!(launch.warnings[0].contains("agents"));
}

#[test]
fn an_ephemeral_turn_that_would_lose_the_login_is_refused() {
    let login = |settings: &str, env: &[(&str, &str)]| {
        let place = Place::new();
        put(&place.store().join("settings.json"), settings);
        Asked { ephemeral: true, ..place.with_env(env) }.launch().map(drop)
    };
    let chosen = |kind: &str| format!(r#"{{"security":{{"auth":{{"selectedType":"{kind}"}}}}}}"#);
    let key = ("GEMINI_API_KEY", "k");
    assert!(login("{}", &[key]).is_ok());
    assert!(login(&chosen("gemini-api-key"), &[key]).is_ok());
    assert!(login(&chosen("vertex-ai"), &[("GOOGLE_API_KEY", "k")]).is_ok());
    assert!(login(&chosen("compute-default-credentials"), &[]).is_ok());
    for (settings, env) in [
        ("{}", &[][..]),
        ("{}", &[key, ("GOOGLE_GENAI_USE_GCA", "true")]),
        (&chosen("gemini-api-key"), &[]),
        (&chosen("oauth-personal"), &[key]),
        (&chosen("vertex-ai"), &[key]),
    ] {
        let refusal = login(settings, env).unwrap_err();
        assert!(
            matches!(refusal, Refusal::Unsupported(_)) && refusal.to_string().contains("--ephemeral"),
            "{settings}"
        );
    }
}

fn find(store: &Path, dir: &str) -> Found {
    let session = definition(&gemini()).session_id(GEMINI_SESSION).unwrap();
    definition(&gemini()).find_session(store, Path::new(dir), &session)
}

const CONTEXT: &str =
    r#"{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"<session_context>\nx"}]}]}}"#;
const PROMPT: &str = r#"{"id":"m1","type":"user","content":[{"text":"hello"}]}"#;
const ANSWER: &str = r#"{"id":"m2","type":"gemini","content":"hi","thoughts":[],"tokens":{}}"#;

fn header() -> String {
    format!(r#"{{"sessionId":"{GEMINI_SESSION}","projectHash":"x","kind":"main"}}"#)
}

fn log(lines: &[&str]) -> String {
    format!("{}\n{}\n", header(), lines.join("\n"))
}

fn chats(store: &Path, project: &str) -> PathBuf {
    store.join("tmp").join(project).join("chats")
}

#[test]
fn a_session_is_found_by_the_noted_name_of_its_project() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path();
    assert_eq!(find(store, "/p"), Found::Nowhere);
    put(&store.join("projects.json"), r#"{"projects":{"/p":"app-1","/evil":"../../x"}}"#);
    let file =
        put(&chats(store, "app-1").join("session-2026-11-15T19-07-9febcd42.jsonl"), &log(&[CONTEXT, PROMPT]));
    assert_eq!(find(store, "/p"), Found::At(file.clone()));
    assert_eq!(find(store, "/other"), Found::Nowhere);
    assert_eq!(find(store, "/evil"), Found::Nowhere);
    // The noted name may be lost: the directory itself tells.
    fs::remove_file(store.join("projects.json")).unwrap();
    assert_eq!(find(store, "/p"), Found::Nowhere);
    put(&store.join("tmp/app-1/.project_root"), "/p\n");
    assert_eq!(find(store, "/p"), Found::At(file));
}

#[test]
fn older_versions_name_projects_by_a_hash_and_write_whole_files() {
    let place = tempfile::tempdir().unwrap();
    let text = format!("{{\n\"sessionId\":\"{GEMINI_SESSION}\",\n\"messages\":[{PROMPT},{ANSWER}]}}\n");
    let name = "session-2025-11-15T19-07-9febcd42.json";
    let file = put(&chats(place.path(), &"0af".repeat(22)[..64]).join(name), &text);
    assert_eq!(find(place.path(), "/p"), Found::At(file));
}

#[test]
fn a_session_without_a_word_is_none() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path();
    put(&store.join("projects.json"), r#"{"projects":{"/p":"p"}}"#);
    let file = chats(store, "p").join("session-2026-11-15T19-07-9febcd42.jsonl");
    let command = r#"{"id":"m1","type":"user","content":"/clear"}"#;
    let other = log(&[CONTEXT, PROMPT]).replace(GEMINI_SESSION, "9febcd42-edb2-4407-96f3-000000000000");
    for text in [
        String::new(),
        "garbage\n".to_owned(),
        log(&[]),
        log(&[CONTEXT]),
        log(&[CONTEXT, command]),
        log(&[CONTEXT, PROMPT, r#"{"$rewindTo":"m1"}"#]),
        log(&[CONTEXT, PROMPT, r#"{"$rewindTo":"unknown"}"#]),
        log(&[CONTEXT, PROMPT, ANSWER, CONTEXT]),
        log(&[CONTEXT, PROMPT]).replace("main", "subagent"),
        other,
    ] {
        put(&file, &text);
        assert_eq!(find(store, "/p"), Found::Nowhere, "{text}");
    }
    for text in [
        log(&[CONTEXT, PROMPT]),
        log(&[CONTEXT, PROMPT, ANSWER, r#"{"$rewindTo":"m2"}"#]),
        log(&[CONTEXT, command, ANSWER]),
        log(&[CONTEXT, PROMPT, "{\"id\":\"torn"]),
    ] {
        put(&file, &text);
        assert_eq!(find(store, "/p"), Found::At(file.clone()), "{text}");
    }
    // A resume leaves a file without a word next to the real one.
    put(&file.with_file_name("session-2026-11-15T19-09-9febcd42.jsonl"), &log(&[CONTEXT]));
    assert_eq!(find(store, "/p"), Found::At(file));
}

#[test]
fn only_files_without_a_word_are_cleared_away_and_only_next_to_the_real_one() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path();
    put(&store.join("projects.json"), r#"{"projects":{"/p":"p"}}"#);
    let session = definition(&gemini()).session_id(GEMINI_SESSION).unwrap();
    let other = log(&[CONTEXT]).replace(GEMINI_SESSION, "9febcd42-edb2-4407-96f3-000000000000");
    let named =
        |minute: &str| chats(store, "p").join(format!("session-2026-11-15T19-{minute}-9febcd42.jsonl"));
    let stub = put(&named("09"), &log(&[CONTEXT]));
    let tidy = || definition(&gemini()).tidy(store, Path::new("/p"), &session);
    tidy();
    assert!(stub.exists(), "there is no real one");
    let kept = [
        put(&named("07"), &log(&[CONTEXT, PROMPT])),
        put(&named("08"), &log(&[CONTEXT, ANSWER])),
        put(&named("10"), &other),
        put(&named("11"), "garbage"),
        put(&named("12"), &log(&[CONTEXT]).replace("main", "subagent")),
        put(&chats(store, "p").join("session-2026-11-15T19-13-aaaaaaaa.jsonl"), &log(&[CONTEXT])),
    ];
    tidy();
    assert!(!stub.exists());
    assert!(kept.iter().all(|file| file.exists()));
}

#[test]
fn only_messages_are_a_sign_of_use() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("session-x.jsonl");
    let session = definition(&gemini()).session_id(GEMINI_SESSION).unwrap();
    let witness = |text: &str| {
        put(&file, text);
        definition(&gemini()).witness(&file, &session)
    };
    let before = witness(&log(&[CONTEXT, PROMPT, ANSWER])).unwrap();
    let titled = log(&[CONTEXT, PROMPT, ANSWER, r#"{"$set":{"summary":"x","lastUpdated":"y"}}"#]);
    assert_eq!(witness(&titled), Some(before.clone()));
    let used = log(&[CONTEXT, PROMPT, ANSWER, PROMPT]);
    assert_ne!(witness(&used), Some(before));
    assert_eq!(witness(&log(&[CONTEXT])), None);
    assert_ne!(definition(&Agent::Claude).witness(&file, &session), None);
}
