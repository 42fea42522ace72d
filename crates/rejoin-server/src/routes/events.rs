//! Streams of what happens: of a conversation, of a run, and of many conversations at once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use rejoin::Rejoin;
use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::{Cursor, load};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::access::{conversation_id, open};
use super::body::{Params, Path};
use super::find_turn::find_turn;
use super::project_dir::sees_all;
use super::runs::run_id;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};
use crate::stream::{ConversationStream, Frame, Ids, Listener, Replay, response};

/// A stream tells of so many conversations at most.
const MOST_SUBSCRIBED: usize = 200;
/// Between who tells and the socket.
const ROOM: usize = 1;

/// Where a stream begins.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// The cursor behind the last event that was seen; all from the beginning without it. The header `Last-Event-ID`,
    /// which browsers send when they reconnect, goes before it.
    after: Option<String>,
}

/// Everything that happens in a conversation: what was, then what comes, for ever.
#[utoipa::path(
    get,
    path = "/conversations/{id}/events",
    tag = "events",
    params(("id" = String, Path, description = "The conversation"), After),
    responses((status = 200, description = "Server-sent events, as docs/events.md has them", content_type = "text/event-stream"))
)]
pub(crate) async fn conversation_events(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<After>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.require(TokenScope::Read)?;
    let conversation = conversation_id(&id)?;
    let after = wanted_cursor(&headers, params.after.as_deref())?;
    may_watch(&app, &caller, conversation).await?;
    let slot = app.hubs.take_slot()?;
    exists(&app, conversation).await?;
    let (out, frames) = mpsc::channel(ROOM);
    let stream = ConversationStream::new(&app.hubs, app.rejoin(), conversation, out);
    tokio::spawn(stream.tell(after.unwrap_or(Cursor::BEGINNING), after.is_some()));
    Ok(response(frames, Ids::Cursors, slot))
}

/// Where a run's stream begins, and of which conversation it is.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunAfter {
    /// The cursor behind the last event that was seen; the run's first one without it. `Last-Event-ID` goes before it.
    after: Option<String>,
    /// The conversation of a turn that did not come through this daemon; without it, all are looked through.
    conversation: Option<String>,
}

/// What happens in one run, from its prompt to its `result`; then the stream ends.
#[utoipa::path(
    get,
    path = "/runs/{id}/events",
    tag = "events",
    params(("id" = String, Path, description = "The run, which is a turn"), RunAfter),
    responses(
        (status = 200, description = "Server-sent events, as docs/events.md has them", content_type = "text/event-stream"),
        (status = 204, description = "The run has ended, and nothing of it stands behind the cursor")
    )
)]
pub(crate) async fn run_events(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<RunAfter>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    caller.require(TokenScope::Read)?;
    let run = run_id(&id)?;
    let named = params.conversation.as_deref().map(conversation_id).transpose()?;
    let after = wanted_cursor(&headers, params.after.as_deref())?;
    app.queue.is_ready().await;
    let conversation = conversation_of(&app, &caller, run, named).await?;
    may_watch(&app, &caller, conversation).await?;
    let slot = app.hubs.take_slot()?;
    exists(&app, conversation).await?;
    let rejoin = app.rejoin();
    let begin = app.hubs.read(move || run_begin(&rejoin, conversation, run, after)).await??;
    let Some(begin) = begin else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let (out, frames) = mpsc::channel(ROOM);
    let stream = ConversationStream::new(&app.hubs, app.rejoin(), conversation, out).only(run);
    tokio::spawn(stream.tell(begin, after.is_some()));
    Ok(response(frames, Ids::Cursors, slot))
}

/// The conversation in which a run stands, or will.
async fn conversation_of(
    app: &Shared,
    caller: &Caller,
    run: TurnId,
    named: Option<ConversationId>,
) -> Result<ConversationId, Problem> {
    let known = app.queue.look(run).filter(|look| caller.sees(look.asked.project.as_ref()));
    let known = known.map(|look| look.conversation);
    let ephemeral = app.queue.look_at_ephemeral(run);
    if ephemeral.is_some_and(|(known, _)| caller.sees(known.project.as_ref())) {
        let text = format!("run {run} is ephemeral: nothing of it is kept, so it has no events");
        return Err(Problem::new(Code::Conflict, text)
            .hint("GET /api/v1/runs/{id}?wait=30 tells how it stands, and its answer when it ended"));
    }
    if let Some(known) = known.filter(|known| named.is_none_or(|named| named == *known)) {
        return Ok(known);
    }
    let (shared, caller) = (Shared::clone(app), caller.clone());
    app.blocking(move |rejoin| find_turn(&shared, rejoin, &caller, run, named, |view, _| Ok(view.id()))).await
}

/// Where to begin with a run: behind what was seen of it, or with its first record, or where that will come. `None` if
/// all of it was seen: a browser would ask again and again.
fn run_begin(
    rejoin: &Rejoin,
    conversation: ConversationId,
    run: TurnId,
    after: Option<Cursor>,
) -> Result<Option<Cursor>, Problem> {
    let store = rejoin.store();
    let loaded = load(store, conversation)?;
    let turn = loaded.conversation.tree.turn(run).filter(|turn| turn.id == run);
    let Some(cursor) = after else {
        let begin = turn.and_then(|turn| turn.records.first().copied()).unwrap_or(loaded.end);
        return Ok(Some(store.cursor(conversation, begin)?));
    };
    // What does not fit is told by the stream itself.
    let ended = turn.is_some_and(|turn| turn.receipt.is_some());
    if !ended || store.place(conversation, &cursor).is_err() {
        return Ok(Some(cursor));
    }
    let mut replay = Replay::new(conversation, rejoin.watch(conversation, Some(cursor))?);
    loop {
        let page = replay.page()?;
        if page.frames.iter().any(|frame| frame.turn == Some(run)) {
            return Ok(Some(cursor));
        }
        if page.frames.is_empty() {
            return Ok(None);
        }
    }
}

/// Many conversations at once, and that something happened in any other.
#[utoipa::path(
    get,
    path = "/stream",
    tag = "events",
    params(("sub" = Vec<String>, Query, description = "A conversation, or one with the cursor behind what was seen of it: `CONVERSATION@CURSOR`; up to 200 of them")),
    responses((status = 200, description = "Server-sent events, as docs/events.md has them", content_type = "text/event-stream"))
)]
pub(crate) async fn stream(
    State(app): State<Shared>,
    caller: Caller,
    Query(params): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    caller.require(TokenScope::Read)?;
    let subscribed = subscriptions(params)?;
    for (conversation, _) in &subscribed {
        may_watch(&app, &caller, *conversation).await?;
    }
    let slot = app.hubs.take_slot()?;
    let (hubs, rejoin) = (app.hubs.clone(), app.rejoin());
    let listener = app.hubs.read(move || hubs.changes().listen(&rejoin)).await??;
    let (out, frames) = mpsc::channel(ROOM);
    tokio::spawn(tell_changes(
        Arc::clone(&app),
        caller,
        listener,
        subscribed.iter().map(|(conversation, _)| *conversation).collect(),
        out.clone(),
    ));
    for (conversation, after) in subscribed {
        let stream = ConversationStream::new(&app.hubs, app.rejoin(), conversation, out.clone());
        tokio::spawn(stream.tell(after.unwrap_or(Cursor::BEGINNING), after.is_some()));
    }
    Ok(response(frames, Ids::WithConversation, slot))
}

/// Tells of conversations that are not subscribed.
async fn tell_changes(
    app: Shared,
    caller: Caller,
    mut listener: Listener,
    subscribed: HashSet<ConversationId>,
    out: mpsc::Sender<Frame>,
) {
    loop {
        let next = tokio::select! {
            next = listener.next() => next,
            () = out.closed() => return,
        };
        let frame = match next {
            None => return,
            Some(Err(many)) => many,
            Some(Ok(changed)) if subscribed.contains(&changed.conversation) => continue,
            Some(Ok(changed)) if may_watch(&app, &caller, changed.conversation).await.is_err() => continue,
            Some(Ok(changed)) => changed.frame,
        };
        if out.send(frame).await.is_err() {
            return;
        }
    }
}

fn subscriptions(params: Vec<(String, String)>) -> Result<Vec<(ConversationId, Option<Cursor>)>, Problem> {
    let mut subscribed: Vec<(ConversationId, Option<Cursor>)> = Vec::new();
    for (_, value) in params.into_iter().filter(|(name, _)| name == "sub") {
        let (conversation, cursor) = match value.split_once('@') {
            Some((conversation, cursor)) => (conversation, Some(parse_cursor(cursor)?)),
            None => (value.as_str(), None),
        };
        let conversation = conversation.parse().map_err(|_| {
            Problem::bad_request(format!("{conversation:?} is no id of a conversation"))
                .hint("sub is CONVERSATION or CONVERSATION@CURSOR")
        })?;
        if subscribed.iter().any(|(known, _)| *known == conversation) {
            return Err(Problem::bad_request(format!("{conversation} is subscribed twice"))
                .hint("give each conversation once, with the newest cursor"));
        }
        subscribed.push((conversation, cursor));
    }
    if subscribed.len() > MOST_SUBSCRIBED {
        return Err(Problem::new(
            Code::TooMany,
            format!(
                "{} conversations are more than the {MOST_SUBSCRIBED} one stream may tell of",
                subscribed.len()
            ),
        )
        .hint("subscribe to those that are looked at; `change` events tell of all others"));
    }
    Ok(subscribed)
}

/// Refuses what the caller may not see: for him it does not exist.
async fn may_watch(app: &Shared, caller: &Caller, conversation: ConversationId) -> Result<(), Problem> {
    if sees_all(app, caller) {
        return Ok(());
    }
    let (shared, caller) = (Shared::clone(app), caller.clone());
    app.blocking(move |rejoin| open(&shared, rejoin, &caller, conversation).map(drop)).await
}

/// How long is waited for a conversation whose first turn is still in the queue.
const BEGINS_WITHIN: Duration = Duration::from_secs(30);

/// Refuses what does not exist, before anything is sent. What is about to begin is waited for.
async fn exists(app: &Shared, conversation: ConversationId) -> Result<(), Problem> {
    let until = Instant::now() + BEGINS_WITHIN;
    let mut changes = app.queue.changes();
    loop {
        let (hubs, rejoin) = (app.hubs.clone(), app.rejoin());
        // It lingers until the stream itself subscribes.
        let found = app.hubs.read(move || hubs.subscribe(&rejoin, conversation).map(drop)).await?;
        match found {
            Err(problem) if problem.code() == Code::NotFound && !app.queue.is_idle(conversation) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(Problem::new(
                        Code::Busy,
                        "the first turn of this conversation has not begun yet",
                    )
                    .hint("GET /api/v1/runs tells what it waits for")
                    .retry_after(5));
                }
                let _ = tokio::time::timeout(left.min(Duration::from_millis(250)), changes.changed()).await;
            }
            found => return found,
        }
    }
}

/// What was seen, as the request tells.
fn wanted_cursor(headers: &HeaderMap, after: Option<&str>) -> Result<Option<Cursor>, Problem> {
    let last = headers.get("last-event-id").map(|value| value.to_str().unwrap_or("?"));
    last.or(after).map(parse_cursor).transpose()
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    text.parse().map_err(|error: rejoin_journal::NotACursor| {
        Problem::bad_request(error.to_string()).hint("a cursor is the id of an event, as it was sent")
    })
}
