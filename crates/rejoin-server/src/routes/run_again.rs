//! `POST /runs/{id}/cancel` and `/retry`: to stop a run, and to have it again.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::Response;
use rejoin::{
    ConversationId, Cursor, Rejoin, TurnId, TurnRequest, WantedConversation, WantedMessage, WantedPlace,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::conversation_id;
use super::body::{Path, expect_type, read_json, take_bytes};
use super::run_view::ShownRun;
use super::runs::{TakenRun, answer, key_of, replay, run_id, show, submit};
use crate::app::{App, Shared};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};
use crate::queue::{Asked, Entry, RunEnd, RunLook, are_kept, derived_ids, now};

/// How to stop a run.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct HowToCancel {
    /// Do not wait for the agent any longer: end everything at once.
    force: bool,
    /// The conversation of a turn that this daemon did not run.
    conversation: Option<String>,
}

/// A body that may be missing.
async fn optional<T: Default + serde::de::DeserializeOwned>(request: Request) -> Result<T, Problem> {
    let headers = request.headers().clone();
    let bytes = take_bytes(request, &()).await?;
    if bytes.is_empty() {
        return Ok(T::default());
    }
    expect_type(&headers, "application/json")?;
    read_json(&bytes)
}

/// Stops a run, this one only. What waits behind it in its conversation is paused then, and the answer says so.
#[utoipa::path(
    post, path = "/runs/{id}/cancel", operation_id = "cancel_run", tag = "runs", params(("id" = uuid::Uuid, Path)),
    request_body(content = Option<HowToCancel>),
    responses((status = 200, body = ShownRun), (status = 404, body = ProblemBody))
)]
pub(crate) async fn cancel(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    request: Request,
) -> Result<Json<ShownRun>, Problem> {
    caller.require(TokenScope::Prompt)?;
    let how: HowToCancel = optional(request).await?;
    app.queue.is_ready().await;
    let run = run_id(&id)?;
    let conversation = how.conversation.as_deref().map(conversation_id).transpose()?;
    let shown = show(&app, &caller, run, conversation).await?;
    let Some(conversation) = shown.conversation else {
        app.queue.cancel_here(run, how.force);
        return Ok(Json(show(&app, &caller, run, None).await?));
    };
    if !shown.status.is_final() {
        let asking = app.clone();
        app.blocking(move |rejoin| cancel_one(&asking, rejoin, conversation, run, how.force)).await?;
    }
    let mut shown = show(&app, &caller, run, Some(conversation)).await?;
    let queue = app.queue.look_at_queue(conversation);
    shown.queue_paused = queue.paused.is_some() && !queue.waiting.is_empty();
    Ok(Json(shown))
}

fn cancel_one(
    app: &App,
    rejoin: &Rejoin,
    conversation: ConversationId,
    run: TurnId,
    force: bool,
) -> Result<(), Problem> {
    // Where it was asked for, which is where others wait behind it.
    let queue = app.queue.home_of(run).unwrap_or(conversation);
    let waited = app.queue.change(rejoin, queue, |standing| {
        let waits = standing.idle(run).is_ok();
        let mut entries = Vec::new();
        if waits {
            let (status, problem, agent) = (RunEnd::Cancelled, None, None);
            entries.push(Entry::Ended { run, status, problem, agent, time: now() });
        }
        let others = standing.state.waiting().iter().any(|other| *other != run);
        if others && standing.state.paused().is_none() {
            entries.push(Entry::Paused { why: format!("run {run} was cancelled") });
        }
        Ok((entries, waits))
    })?;
    if !waited && !app.queue.cancel_here(run, force) {
        rejoin.ask_to_cancel(conversation, run)?;
    }
    Ok(())
}

/// What to change when a run is wanted again.
#[derive(Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct HowToRetry {
    /// The conversation of a turn that this daemon did not run.
    conversation: Option<String>,
    /// Whether somebody answers the agent's questions; as it was, if nothing is said.
    interactive: Option<bool>,
}

/// Has a run again that is over: one that failed or was cut goes on in its session, a completed one gets a sibling.
#[utoipa::path(
    post, path = "/runs/{id}/retry", operation_id = "retry_run", tag = "runs",
    params(
        ("id" = uuid::Uuid, Path),
        ("Idempotency-Key" = Option<String>, Header, description = "The caller's own name for the request"),
    ),
    request_body(content = Option<HowToRetry>),
    responses((status = 202, body = TakenRun), (status = "4XX", body = ProblemBody))
)]
pub(crate) async fn retry(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Problem> {
    caller.require(TokenScope::Prompt)?;
    let key = key_of(&headers)?;
    let how: HowToRetry = optional(request).await?;
    app.queue.is_ready().await;
    let before = run_id(&id)?;
    let digest = format!("retry {before} {}", serde_json::to_string(&how).unwrap_or_default());
    let run = key
        .as_ref()
        .map_or_else(|| TurnId::new(uuid::Uuid::new_v4()), |key| derived_ids::turn(&caller.token, key));
    if let Some(known) = app.queue.look(run) {
        return replay(known, &caller, &digest);
    }
    let conversation = how.conversation.as_deref().map(conversation_id).transpose()?;
    let shown = show(&app, &caller, before, conversation).await?;
    let Some(conversation) = shown.conversation else {
        return Err(Problem::new(Code::Conflict, "an ephemeral run is not kept, so it cannot be had again")
            .hint("ask for it anew"));
    };
    if !shown.status.is_final() {
        return Err(Problem::new(Code::Conflict, format!("run {before} is not over"))
            .hint("cancel it first, or wait"));
    }
    let again = again(app.queue.look(before), &shown, run, conversation, &how)?;
    let asking = app.clone();
    let submitted = app
        .blocking(move |rejoin| {
            let (project, name, mut request, home) = again;
            if !are_kept(rejoin, &request.attach_kept) {
                request.attach_kept.clear();
            }
            // It may be yet to begin.
            let cursor = rejoin.end_of(home).unwrap_or(Cursor::BEGINNING);
            if request.dir.as_os_str().is_empty() {
                let view = rejoin.open_conversation(home)?;
                request.dir = view.info().map(|info| info.dir.clone()).unwrap_or_default().into();
            }
            let asked = Asked { token: caller.token, digest, request, project, name, cursor, time: now() };
            submit(&asking, rejoin, home, asked)
        })
        .await?;
    answer(&app, run, &submitted, key.is_some()).await
}

type Again = (String, Option<String>, TurnRequest, ConversationId);

/// The request for a run that is wanted again.
fn again(
    known: Option<RunLook>,
    shown: &ShownRun,
    run: TurnId,
    conversation: ConversationId,
    how: &HowToRetry,
) -> Result<Again, Problem> {
    let project = shown.project.clone().ok_or_else(|| {
        Problem::new(Code::Conflict, "nothing tells which project this conversation belongs to")
    })?;
    let stands = shown.begun.is_some();
    let name = known.as_ref().and_then(|look| look.asked.name.clone()).filter(|_| !stands);
    let mut request = known.map_or_else(|| TurnRequest::new("", ""), |look| look.asked.request.clone());
    request.turn = run;
    request.interactive = how.interactive.unwrap_or(request.interactive);
    if stands {
        // With its own words: whoever begins it has them from the journal, these are to be shown.
        request.prompt.clone_from(&shown.prompt);
        request.conversation = Some(WantedConversation::Id(conversation));
        request.place = Some(WantedPlace::Again(Some(WantedMessage::Id(shown.run))));
        request.scope = None;
    }
    Ok((project, name, request, conversation))
}
