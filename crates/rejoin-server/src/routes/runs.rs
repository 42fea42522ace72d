//! `/runs`: to ask for a turn, to see how it stands, to stop it, and to have it again.

use std::sync::PoisonError;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use rejoin::{ConversationId, Cursor, Rejoin, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::access::conversation_id;
use super::body::{Body, Params, Path};
use super::find_turn::{running_turns, show_turn};
use super::run_view::{RunStatus, ShownRun};
use crate::app::{App, Shared};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};
use crate::queue::{Asked, Ephemeral, Phase, RunLook, Submitted, Wanted, key_reused};

/// How long an answer waits for a run that should begin at once, to tell at once if it cannot.
const FOR_THE_START: Duration = Duration::from_secs(2);

/// The longest anybody waits for a change.
const LONGEST_WAIT: u64 = 60;

/// How often a turn of another process is looked at for somebody who waits.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

const USUAL_PAGE: usize = 50;
const LONGEST_PAGE: usize = 200;

/// A run that was taken.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenRun {
    /// Its id.
    #[schema(value_type = uuid::Uuid)]
    run: TurnId,
    /// The same: a run is a turn.
    #[schema(value_type = uuid::Uuid)]
    turn: TurnId,
    /// Its conversation; none if it is ephemeral.
    #[schema(value_type = Option<uuid::Uuid>)]
    conversation: Option<ConversationId>,
    /// Where to watch the conversation from, to see all of this run; none if it is ephemeral.
    #[schema(value_type = Option<String>)]
    cursor: Option<Cursor>,
    /// How it stands.
    status: RunStatus,
    /// Whether the agent's questions wait for somebody to answer them.
    interactive: bool,
    /// Its place among those that wait in the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<usize>,
    /// The queue of the conversation is paused: nothing begins until it goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    queue_paused: bool,
}

impl From<RunLook> for TakenRun {
    fn from(look: RunLook) -> Self {
        let status = RunStatus::of(&look);
        Self {
            run: look.asked.run(),
            turn: look.asked.run(),
            conversation: Some(look.conversation),
            cursor: Some(look.asked.cursor),
            status,
            interactive: look.asked.request.interactive,
            position: look.position,
            queue_paused: look.paused && status == RunStatus::Queued,
        }
    }
}

/// The key of a request, if it has one.
pub(super) fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().unwrap_or_default().to_owned();
    let request = rejoin_core::RequestKey { key, digest: String::new() };
    request.check().map_err(|error| Problem::bad_request(error.to_string()))?;
    Ok(Some(request.key))
}

/// Asks for a turn.
///
/// It waits in the queue of its conversation until it is its turn. With an `Idempotency-Key`, or `turn`, it is safe to
/// send twice: the second time the run that stands is told.
#[utoipa::path(
    post, path = "/runs", operation_id = "begin_run", tag = "runs", request_body = Wanted,
    params(("Idempotency-Key" = Option<String>, Header, description = "The caller's own name for the request")),
    responses((status = 202, body = TakenRun), (status = "4XX", body = ProblemBody))
)]
pub(crate) async fn post(
    State(app): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    caller.require(TokenScope::Prompt)?;
    let key = key_of(&headers)?;
    wanted.check(key.as_deref())?;
    app.queue.is_ready().await;
    let run = wanted.run(&caller, key.as_deref())?;
    if let Some(known) = app.queue.look(run) {
        return replay(known, &caller, &wanted.digest());
    }
    let (ephemeral, has_key) = (wanted.ephemeral, key.is_some() || wanted.turn.is_some());
    let asking = app.clone();
    let resolved = app.blocking(move |rejoin| {
        let naming =
            wanted.name.is_some().then(|| asking.queue.naming.lock().unwrap_or_else(PoisonError::into_inner));
        let resolved = wanted.resolve(&asking, rejoin, &caller, run, key.as_deref())?;
        if ephemeral {
            let mut asked = resolved.asked;
            asked.request.ceiling = caller.ceiling;
            return Ok(Err((asked.project, asked.request)));
        }
        let submitted = submit(&asking, rejoin, resolved.conversation, resolved.asked);
        drop(naming);
        submitted.map(Ok)
    });
    match resolved.await? {
        Ok(submitted) => answer(&app, run, &submitted, has_key).await,
        Err((project, request)) => {
            let interactive = request.interactive;
            let run = Ephemeral::start(&app, project, request).await?;
            let status = RunStatus::Running;
            let taken = TakenRun {
                run,
                turn: run,
                conversation: None,
                cursor: None,
                status,
                interactive,
                position: None,
                queue_paused: false,
            };
            Ok((StatusCode::ACCEPTED, Json(taken)).into_response())
        }
    }
}

pub(super) fn submit(
    app: &App,
    rejoin: &Rejoin,
    conversation: ConversationId,
    asked: Asked,
) -> Result<Submitted, Problem> {
    rejoin.make_home()?;
    app.queue.submit(rejoin, conversation, asked)
}

/// What was asked for before, if it is the same.
pub(super) fn replay(known: RunLook, caller: &Caller, digest: &str) -> Result<Response, Problem> {
    if known.asked.token != caller.token || known.asked.digest != digest {
        return Err(key_reused(&known.asked, known.conversation, &caller.token));
    }
    let mut response = told(known);
    response
        .headers_mut()
        .insert(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"));
    Ok(response)
}

/// The answer to a run that was taken: if it should begin at once, it is waited for whether it can. One that cannot, and
/// that nobody can ask for again by a key of his, is forgotten.
pub(super) async fn answer(
    app: &Shared,
    run: TurnId,
    submitted: &Submitted,
    has_key: bool,
) -> Result<Response, Problem> {
    let mut changes = app.queue.changes();
    let deadline = Instant::now() + FOR_THE_START;
    while app.queue.look(run).is_some_and(|look| look.phase == Phase::Waiting) && app.queue.begins_now(run) {
        if tokio::time::timeout_at(deadline, changes.changed()).await.is_err() {
            break;
        }
    }
    let look =
        app.queue.look(run).ok_or_else(|| Problem::not_found(format!("run {run} was removed meanwhile")))?;
    if let Some(problem) = look.refusal().filter(|_| !has_key).cloned() {
        // Its end is noted a moment before whoever was at it has let go.
        while app.queue.look(run).is_some_and(|look| look.here) {
            if tokio::time::timeout_at(deadline, changes.changed()).await.is_err() {
                break;
            }
        }
        let forgetting = app.clone();
        app.blocking(move |rejoin| {
            forgetting.queue.forget_refused(rejoin, run);
            Ok(())
        })
        .await?;
        return Ok(problem_again(None, &problem));
    }
    let mut response = told(look);
    if matches!(submitted, Submitted::Before) {
        let replayed = HeaderName::from_static("idempotent-replayed");
        response.headers_mut().insert(replayed, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// A run that was taken; one that could not begin, by why.
fn told(look: RunLook) -> Response {
    match look.refusal() {
        Some(problem) => problem_again(Some(look.asked.run()), problem),
        None => (StatusCode::ACCEPTED, Json(TakenRun::from(look))).into_response(),
    }
}

/// A problem as it was kept, with its run where that is.
fn problem_again(run: Option<TurnId>, problem: &Value) -> Response {
    let status = problem["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    let status = status
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut body = problem.clone();
    if let (Some(body), Some(run)) = (body.as_object_mut(), run) {
        body.insert("run".to_owned(), Value::from(run.to_string()));
    }
    let mut response = (status, Json(body)).into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(axum::http::header::CONTENT_TYPE, kind);
    response
}

/// Which runs to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichRuns {
    /// Only those that stand like this.
    status: Option<RunStatus>,
    /// Only those of this project, by its root.
    project: Option<String>,
    /// Only those of this conversation.
    conversation: Option<String>,
    /// So many, 50 if nothing is said, 200 at most.
    limit: Option<usize>,
    /// Behind those of an earlier page.
    cursor: Option<String>,
}

/// A page of runs, the newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct RunPage {
    runs: Vec<ShownRun>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The runs of this daemon: those that wait, those on their way, and those that ended within a week. While they run,
/// turns of terminals and of flows stand among them.
#[utoipa::path(get, path = "/runs", operation_id = "list_runs", tag = "runs", params(WhichRuns), responses((status = 200, body = RunPage)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Params(which): Params<WhichRuns>,
) -> Result<Json<RunPage>, Problem> {
    caller.require(TokenScope::Read)?;
    app.queue.is_ready().await;
    let limit = which.limit.unwrap_or(USUAL_PAGE).clamp(1, LONGEST_PAGE);
    let after = which.cursor.as_deref().map(|text| {
        let parsed =
            text.split_once('~').and_then(|(time, run)| Some((time.to_owned(), run.parse::<TurnId>().ok()?)));
        parsed.ok_or_else(|| Problem::bad_request(format!("{text:?} is no cursor of a list of runs")))
    });
    let after = after.transpose()?;
    let mut all = app.queue.look_at_all();
    all.retain(|look| caller.sees(look.asked.project.as_ref()));
    let mut all: Vec<Row> = all.into_iter().map(|look| Row::Queued(Box::new(look))).collect();
    if which.status.is_none_or(|status| matches!(status, RunStatus::Running | RunStatus::Waiting)) {
        let looking = app.clone();
        let running = app.blocking(move |rejoin| running_turns(&looking, rejoin, &caller)).await?;
        all.extend(running.into_iter().map(|shown| Row::Turn(Box::new(shown))));
    }
    all.retain(|row| {
        which.takes(row) && after.as_ref().is_none_or(|(time, run)| row.place() < (time.as_str(), *run))
    });
    all.sort_unstable_by(|one, other| other.place().cmp(&one.place()));
    let more = all.len() > limit;
    all.truncate(limit);
    let cursor = all.last().filter(|_| more).map(|last| {
        let (time, run) = last.place();
        format!("{time}~{run}")
    });
    Ok(Json(RunPage { runs: all.into_iter().map(Row::shown).collect(), cursor }))
}

/// What may stand in a list of runs.
enum Row {
    /// A run of this daemon's queue.
    Queued(Box<RunLook>),
    /// A turn that runs and did not come through the queue.
    Turn(Box<ShownRun>),
}

impl Row {
    /// Where it stands in a list: when it was asked for, or began, and its id.
    fn place(&self) -> (&str, TurnId) {
        match self {
            Self::Queued(look) => (&look.asked.time, look.asked.run()),
            Self::Turn(shown) => (shown.begun.as_deref().unwrap_or_default(), shown.run),
        }
    }

    fn shown(self) -> ShownRun {
        match self {
            Self::Queued(look) => ShownRun::listed(*look),
            Self::Turn(shown) => *shown,
        }
    }
}

impl WhichRuns {
    fn takes(&self, row: &Row) -> bool {
        let (status, project, conversation) = match row {
            Row::Queued(look) => {
                (RunStatus::of(look), Some(look.asked.project.as_str()), Some(look.conversation))
            }
            Row::Turn(shown) => (shown.status, shown.project.as_deref(), shown.conversation),
        };
        self.status.is_none_or(|wanted| wanted == status)
            && self.project.as_deref().is_none_or(|wanted| project == Some(wanted))
            && self
                .conversation
                .as_ref()
                .is_none_or(|wanted| conversation.is_some_and(|id| id.to_string() == *wanted))
    }
}

/// How to look at a run.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct HowToLook {
    /// Wait so many seconds, 60 at most, until it stands otherwise or is over.
    wait: Option<u64>,
    /// The conversation of a turn that did not come through this daemon; without it, all are looked through.
    conversation: Option<String>,
}

/// How a run stands.
#[utoipa::path(
    get, path = "/runs/{id}", operation_id = "show_run", tag = "runs", params(("id" = uuid::Uuid, Path), HowToLook),
    responses((status = 200, body = ShownRun), (status = 404, body = ProblemBody))
)]
pub(crate) async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(how): Params<HowToLook>,
) -> Result<Json<ShownRun>, Problem> {
    caller.require(TokenScope::Read)?;
    app.queue.is_ready().await;
    let run = run_id(&id)?;
    let conversation = how.conversation.as_deref().map(conversation_id).transpose()?;
    let wait = Duration::from_secs(how.wait.unwrap_or(0).min(LONGEST_WAIT));
    if standing(&app, run).is_some() {
        await_change(&app, run, wait).await;
        return Ok(Json(show(&app, &caller, run, conversation).await?));
    }
    // Another process is at it: nobody tells us, so its journal is looked at now and then.
    let (deadline, first) = (Instant::now() + wait, show(&app, &caller, run, conversation).await?);
    let (before, mut shown) = (first.status, first);
    while !before.is_final() && shown.status == before && Instant::now() < deadline {
        tokio::time::sleep(LOOK_AGAIN.min(deadline - Instant::now())).await;
        shown = show(&app, &caller, run, shown.conversation).await?;
    }
    Ok(Json(shown))
}

pub(super) fn run_id(text: &str) -> Result<TurnId, Problem> {
    text.parse().map_err(|_| {
        Problem::not_found(format!("there is no run {text:?}")).hint("a run is named by its whole id")
    })
}

/// How a run stands and where it waits: what somebody who waits wants to hear of.
fn standing(app: &App, run: TurnId) -> Option<(RunStatus, Option<usize>)> {
    if let Some(look) = app.queue.look(run) {
        return Some((RunStatus::of(&look), look.position));
    }
    let (known, asks) = app.queue.look_at_ephemeral(run)?;
    Some((ShownRun::of_ephemeral(run, known, asks).status, None))
}

/// Waits until a run stands otherwise than now; not at all if it is over, or not one of ours.
async fn await_change(app: &App, run: TurnId, wait: Duration) {
    let (mut changes, deadline) = (app.queue.changes(), Instant::now() + wait);
    let before = standing(app, run);
    let is_over = before.is_none_or(|(status, _)| status.is_final());
    while !wait.is_zero() && !is_over && standing(app, run) == before {
        if tokio::time::timeout_at(deadline, changes.changed()).await.is_err() {
            return;
        }
    }
}

/// A run, or a turn of another process, as this caller may see it.
pub(super) async fn show(
    app: &Shared,
    caller: &Caller,
    run: TurnId,
    conversation: Option<ConversationId>,
) -> Result<ShownRun, Problem> {
    if let Some((known, asks)) =
        app.queue.look_at_ephemeral(run).filter(|(known, _)| caller.sees(known.project.as_ref()))
    {
        return Ok(ShownRun::of_ephemeral(run, known, asks));
    }
    let known = app.queue.look(run).filter(|look| caller.sees(look.asked.project.as_ref()));
    let (looking, caller) = (app.clone(), caller.clone());
    app.blocking(move |rejoin| match known {
        Some(look) => ShownRun::whole(rejoin, look),
        None => show_turn(&looking, rejoin, &caller, run, conversation),
    })
    .await
}
