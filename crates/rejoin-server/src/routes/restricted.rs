//! What somebody gets who may not see or do everything.

use std::fs;
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use rejoin::{Config, Helper, Permissions, Rejoin};
use rejoin_core::{Content, ConversationId, ConversationInfo, Kind, MessageId, Part, Record, Scope, System};
use rejoin_journal::Writer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::body::{Body, Params};
use super::flows::{begin, limits_of, list_runs, show_run};
use super::{agents, metrics, projects, search, stats};
use crate::app::{App, Shared};
use crate::auth::{Auth, Hosts};
use crate::caller::{Caller, TokenScope};
use crate::listen::Listen;
use crate::problem::{Code, Problem};
use crate::queue::Queue;
use crate::stream::Hubs;

/// A daemon over two projects, in each of which somebody spoke of walruses.
struct Desk {
    directory: TempDir,
    app: Shared,
}

impl Desk {
    fn new() -> Self {
        Self::rooted(|_| Vec::new())
    }

    /// Serving only what lies in some directories.
    fn rooted(roots: impl FnOnce(&Path) -> Vec<PathBuf>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        let rejoin = Rejoin::open_with(base.join("home"), Config::default(), Helper::Thread).unwrap();
        rejoin.make_home().unwrap();
        for (number, name) in [(1, "mine"), (2, "theirs")] {
            let project = base.join(name);
            fs::create_dir(&project).unwrap();
            speak(&rejoin, number, &project, &format!("walrus of {name}"));
        }
        let hosts = Hosts::of(&Listen::Loopback(0), None, &[]);
        let auth = Auth::open(rejoin.home(), hosts).unwrap();
        let app = Shared::new(App::new(rejoin, roots(&base), auth, Queue::new(1), Hubs::default()));
        Self { directory, app }
    }

    fn project(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn app(&self) -> State<Shared> {
        State(Shared::clone(&self.app))
    }

    /// Who sees one of the projects.
    fn limited(&self) -> Caller {
        Caller { projects: Some(vec![self.project("mine")]), ..anybody() }
    }
}

fn anybody() -> Caller {
    Caller {
        token: "t".to_owned(),
        scopes: vec![TokenScope::Read, TokenScope::Prompt],
        ceiling: None,
        projects: None,
    }
}

fn speak(rejoin: &Rejoin, number: u128, project: &Path, text: &str) {
    let id = ConversationId::new(Uuid::from_u128(0x4f1c_2a9e_0000_4000_8000_0000_0000_0000 + number));
    let info = ConversationInfo {
        schema: System::SCHEMA,
        project: project.to_str().unwrap().to_owned(),
        dir: project.to_str().unwrap().to_owned(),
        scope: Scope::Shared,
    };
    let record = |kind| Record {
        uuid: MessageId::new(Uuid::new_v4()),
        parent_uuid: None,
        session_id: id,
        timestamp: "2026-11-15T20:00:01.000Z".to_owned(),
        kind,
        cwd: info.dir.clone(),
        version: "0.1.0".to_owned(),
        git_branch: None,
        subtype: None,
        message: None,
        replaces: None,
        offset: None,
        cost: None,
        tokens: None,
        model: None,
        tool_calls_metadata: Vec::new(),
        native: None,
        request: None,
        system_payload: None,
    };
    let (subtype, system_payload) = System::Conversation(info.clone()).write();
    let first = Record { subtype, system_payload, ..record(Kind::System) };
    let said = Record { message: Some(Content::model(vec![Part::text(text)])), ..record(Kind::User) };
    rejoin.store().create(id, &info, &[first, said], Writer::Label).unwrap();
}

fn params<T: DeserializeOwned>(values: Value) -> Params<T> {
    Params(serde_json::from_value(values).unwrap())
}

#[track_caller]
fn value<T: Serialize>(answer: Result<Json<T>, Problem>) -> Value {
    serde_json::to_value(answer.unwrap().0).unwrap()
}

#[track_caller]
fn refusal<T>(answer: Result<T, Problem>) -> Code {
    match answer {
        Ok(_) => panic!("it was allowed"),
        Err(problem) => problem.code(),
    }
}

async fn projects_of(desk: &Desk, caller: Caller) -> Vec<Value> {
    let answer = projects::projects(desk.app(), caller, params(json!({}))).await;
    value(answer)["projects"].as_array().unwrap().iter().map(|project| project["name"].clone()).collect()
}

#[tokio::test]
async fn only_projects_that_are_seen_are_listed() {
    let desk = Desk::new();
    assert_eq!(projects_of(&desk, anybody()).await.len(), 2);
    assert_eq!(projects_of(&desk, desk.limited()).await, ["mine"]);
    let rooted = Desk::rooted(|base| vec![base.join("theirs")]);
    assert_eq!(projects_of(&rooted, anybody()).await, ["theirs"]);
    assert!(projects_of(&rooted, rooted.limited()).await.is_empty());
}

#[tokio::test]
async fn words_of_other_projects_are_not_found() {
    let desk = Desk::new();
    let find = async |caller: Caller, more: Value| {
        let mut wanted = json!({ "q": "walrus" });
        wanted.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        search::search(desk.app(), caller, params(wanted)).await
    };
    let all = value(find(anybody(), json!({})).await);
    assert_eq!(all["hits"].as_array().unwrap().len(), 2);
    let found = value(find(desk.limited(), json!({ "limit": 1 })).await);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(found["more"], false, "that there are others is not told either");
    assert!(!found.to_string().contains("theirs"), "{found}");
    let theirs = find(desk.limited(), json!({ "project": desk.project("theirs") })).await;
    assert_eq!(refusal(theirs), Code::NotAllowed);
    let nowhere = find(desk.limited(), json!({ "project": "/no/where" })).await;
    assert_eq!(refusal(nowhere), Code::NotAllowed, "nor what exists elsewhere");
}

#[tokio::test]
async fn turns_are_counted_of_a_project_that_is_seen() {
    let desk = Desk::new();
    let count = async |caller: Caller, wanted: Value| stats::stats(desk.app(), caller, params(wanted)).await;
    assert_eq!(value(count(anybody(), json!({})).await)["all"]["turns"], 2);
    assert_eq!(refusal(count(desk.limited(), json!({})).await), Code::NotAllowed);
    let theirs = json!({ "project": desk.project("theirs") });
    assert_eq!(refusal(count(desk.limited(), theirs).await), Code::NotAllowed);
    let mine = json!({ "project": desk.project("mine") });
    assert_eq!(value(count(desk.limited(), mine.clone()).await)["all"]["turns"], 1);
    // A directory that belongs to a project above it, which is not seen.
    fs::create_dir(desk.project(".git")).unwrap();
    assert_eq!(refusal(count(desk.limited(), mine).await), Code::NotAllowed);
}

#[tokio::test]
async fn without_the_scope_nothing_is_told_or_begun() {
    let desk = Desk::new();
    let nobody = || Caller { scopes: Vec::new(), ..anybody() };
    assert_eq!(refusal(agents::agents(desk.app(), nobody()).await), Code::ScopeMissing);
    assert_eq!(refusal(metrics::metrics(desk.app(), nobody()).await), Code::ScopeMissing);
    assert_eq!(refusal(metrics::metrics(desk.app(), desk.limited()).await), Code::NotAllowed);
    let page = params(json!({}));
    assert_eq!(refusal(projects::projects(desk.app(), nobody(), page).await), Code::ScopeMissing);
    let reader = Caller { scopes: vec![TokenScope::Read], ..anybody() };
    let flow = json!({ "project": desk.project("mine"), "file": "x.flow.yaml" });
    let begun = begin(desk.app(), reader, Body(serde_json::from_value(flow).unwrap())).await;
    assert_eq!(refusal(begun), Code::ScopeMissing);
}

#[tokio::test]
async fn runs_of_other_projects_do_not_exist() {
    let desk = Desk::new();
    let theirs = desk.project("theirs");
    fs::write(theirs.join("x.flow.yaml"), "steps: { a: { run: 'true', when: 'false' } }").unwrap();
    let flow = json!({ "project": theirs, "file": "x.flow.yaml" });
    let body = || Body(serde_json::from_value(flow.clone()).unwrap());
    assert_eq!(refusal(begin(desk.app(), desk.limited(), body()).await), Code::NotAllowed);
    let (_, Json(begun)) = begin(desk.app(), anybody(), body()).await.unwrap();
    let run = serde_json::to_value(begun).unwrap()["run"].as_str().unwrap().parse().unwrap();
    let list = async |caller: Caller| {
        let listed = value(list_runs(desk.app(), caller, params(json!({}))).await);
        listed["runs"].as_array().unwrap().len()
    };
    assert_eq!((list(anybody()).await, list(desk.limited()).await), (1, 0));
    value(show_run(desk.app(), anybody(), run).await);
    assert_eq!(refusal(show_run(desk.app(), desk.limited(), run).await), Code::NotFound);
    // The last one ends before the home is removed.
    desk.app.flow_runs.drain().await;
    assert_eq!(refusal(begin(desk.app(), anybody(), body()).await), Code::Stopping);
}

#[test]
fn a_ceiling_excludes_every_step_that_goes_beyond_it() {
    let desk = Desk::new();
    let under = |ceiling, step: &str| {
        let text = format!("steps: {{ a: {step} }}");
        let dir = desk.project("mine");
        let (_, flow) = rejoin_flow::Source::text_within(&dir, "x.flow.yaml".as_ref(), text).unwrap();
        let caller = Caller { ceiling, ..desk.limited() };
        limits_of(&desk.app, &caller, &flow, &dir).map_err(|problem| problem.code())
    };
    let edit = Some(Permissions::Edit);
    let agent = |more: &str| format!("{{ agent: demo, prompt: x{more} }}");
    assert_eq!(under(None, "{ run: x }"), Ok(()));
    assert_eq!(under(None, &agent("")), Ok(()));
    assert_eq!(under(edit, &agent(", permissions: edit")), Ok(()));
    assert_eq!(under(edit, &agent(", permissions: read")), Ok(()));
    let nested = |inner: &str| format!("{{ parallel: {{ b: {inner} }} }}");
    let each = |inner: &str| format!("{{ for_each: [1], step: {inner} }}");
    for beyond in [
        "{ run: x }".to_owned(),
        agent(""),
        agent(", permissions: agent"),
        agent(", permissions: full"),
        agent(", permissions: edit, env: { PATH: . }"),
    ] {
        for step in [beyond.clone(), nested(&beyond), each(&beyond)] {
            assert_eq!(under(edit, &step), Err(Code::CeilingExceeded), "{step}");
        }
    }
    assert_eq!(under(Some(Permissions::Full), &agent(", permissions: agent")), Err(Code::CeilingExceeded));
    assert_eq!(under(Some(Permissions::Full), "{ run: x }"), Err(Code::CeilingExceeded));
    assert_eq!(under(None, &agent(", cwd: ../mine")), Ok(()));
    assert_eq!(under(None, &agent(", cwd: ../theirs")), Err(Code::NotAllowed));
    assert_eq!(under(None, "{ run: x, cwd: '{{ 1 }}' }"), Err(Code::NotAllowed));
}

#[tokio::test]
async fn a_problem_names_the_step() {
    let desk = Desk::new();
    let mine = desk.project("mine");
    fs::write(
        mine.join("x.flow.yaml"),
        "steps: { good: { agent: demo, permissions: read, prompt: x }, sh: { run: x } }",
    )
    .unwrap();
    let flow = json!({ "project": mine, "file": "x.flow.yaml" });
    let caller = Caller { ceiling: Some(Permissions::Read), ..anybody() };
    let begun = begin(desk.app(), caller, Body(serde_json::from_value(flow).unwrap())).await;
    let Err(problem) = begun else { panic!("it was begun") };
    assert_eq!(serde_json::to_value(problem.body()).unwrap()["step"], "sh");
    assert_eq!(problem.into_response().status(), 403);
}
