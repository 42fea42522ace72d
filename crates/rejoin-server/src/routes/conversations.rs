//! Conversations: listed, looked at, named, labelled, marked as read, removed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as FilePath, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use rejoin::{
    Agent, ConversationId, ConversationState, Cursor, ListFilter, ListPlace, ListedConversation, Permissions,
    Pin, Query, Rejoin, Scope, SearchFilter, ShownOrigin, TurnId,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{conversation_id, open, sees};
use super::body::{Body, Params, Path};
use super::etag;
use super::paging::{from_cursor, page_size, to_cursor};
use super::project_dir::sees_all;
use crate::app::{App, Shared};
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem};

/// Which conversations.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListParams {
    /// Only of the project around this directory.
    #[param(value_type = Option<String>)]
    project: Option<PathBuf>,
    /// Only those in which this agent took a turn.
    agent: Option<String>,
    /// Only those with this label.
    tag: Option<String>,
    /// Only those in which all of these words were said or done.
    text: Option<String>,
    /// Only those that stand like this.
    state: Option<ConversationState>,
    /// At most so many (1 to 500; 50 if nothing is said).
    limit: Option<usize>,
    /// Behind the page that gave this.
    cursor: Option<String>,
}

/// A page of conversations, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationPage {
    conversations: Vec<ListedRow>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// A conversation in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ListedRow {
    #[serde(flatten)]
    listed: ListedConversation,
    /// Something ended in it that nobody has looked at yet.
    unread: bool,
    /// Prompts that wait.
    queued: usize,
}

impl ListedRow {
    fn new(app: &App, listed: ListedConversation) -> Self {
        let unread = app.read_marks.is_unread(listed.id, listed.used_ms);
        Self { unread, queued: app.queue.look_at_queue(listed.id).waiting.len(), listed }
    }
}

/// Conversations, newest first.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "conversations", params(ListParams),
    responses((status = 200, body = ConversationPage))
)]
pub(crate) async fn list(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<ConversationPage>, Problem> {
    caller.require(TokenScope::Read)?;
    let size = page_size(params.limit)?;
    let behind: Option<Behind> = from_cursor(params.cursor.as_deref())?;
    let shared = Shared::clone(&app);
    let page = app
        .blocking(move |rejoin| {
            let found = params.text.as_deref().map(|text| found_in(rejoin, text, params.project.clone()));
            let filter = ListFilter {
                project: params.project,
                agent: params.agent.map(Agent::named),
                tags: params.tag.into_iter().collect(),
                state: params.state,
                only: found.transpose()?,
                behind: behind.map(ListPlace::from),
                limit: Some(size + 1),
                ..ListFilter::default()
            };
            let seen = |project: Option<&str>| sees(&shared, &caller, FilePath::new(project.unwrap_or("/")));
            let listing = rejoin.list_where(&filter, &seen)?;
            let mut rows = listing.conversations;
            let more = rows.len() > size;
            rows.truncate(size);
            let next = rows.last().filter(|_| more).and_then(|last| to_cursor(&Behind::of(last)));
            let conversations = rows.into_iter().map(|listed| ListedRow::new(&shared, listed)).collect();
            // They name files of any project.
            let warnings = if sees_all(&shared, &caller) { listing.warnings } else { Vec::new() };
            Ok(ConversationPage { conversations, next, warnings })
        })
        .await?;
    Ok(Json(page))
}

/// So many places are looked at for words.
const MOST_HITS: usize = 1000;

/// The conversations in which all words of a text were said or done.
fn found_in(
    rejoin: &Rejoin,
    text: &str,
    project: Option<PathBuf>,
) -> Result<BTreeSet<ConversationId>, Problem> {
    let Some(query) = Query::parse(&[text]) else { return Ok(BTreeSet::new()) };
    let filter = SearchFilter { project, limit: Some(MOST_HITS), ..SearchFilter::default() };
    Ok(rejoin.search(&query, &filter)?.hits.into_iter().map(|hit| hit.conversation).collect())
}

/// The last conversation of a page: when it was used, and which it is.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Behind {
    used_ms: u64,
    id: ConversationId,
}

impl Behind {
    fn of(listed: &ListedConversation) -> Self {
        Self { used_ms: listed.used_ms, id: listed.id }
    }
}

impl From<Behind> for ListPlace {
    fn from(Behind { used_ms, id }: Behind) -> Self {
        Self { used_ms, id }
    }
}

/// All of a conversation but its turns.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationDetail {
    #[serde(flatten)]
    row: ListedRow,
    /// The turn the next one goes on from.
    head: Option<TurnId>,
    /// The last turns of the branches that have a name.
    named_branches: BTreeMap<String, TurnId>,
    /// Which turns its agents should know.
    scope: Option<Scope>,
    /// The level the user named last.
    permissions: Option<Permissions>,
    /// The model that was named last, per agent.
    models: BTreeMap<Agent, String>,
    /// The sessions of agents it knows of.
    pins: Vec<Pin>,
    /// Where it came from.
    origin: ShownOrigin,
    /// What is wrong with its journal.
    problems: Vec<String>,
    /// Behind its last record: whoever watches from here hears what comes.
    cursor: Cursor,
    /// What a change of it must name in `If-Match`.
    etag: String,
}

fn detail(
    app: &App,
    rejoin: &Rejoin,
    caller: &Caller,
    id: ConversationId,
) -> Result<(String, ConversationDetail), Problem> {
    let view = open(app, rejoin, caller, id)?;
    let conversation = view.conversation();
    let tree = &conversation.tree;
    let etag = etag::tag(&view);
    let detail = ConversationDetail {
        row: ListedRow::new(app, rejoin.listed_one(id)?),
        head: tree.head().map(|turn| turn.id),
        named_branches: tree.branches().map(|(name, turn)| (name.to_owned(), turn.id)).collect(),
        scope: view.info().map(|info| info.scope),
        permissions: conversation.ceiling,
        models: conversation.models.clone(),
        pins: conversation.pins.iter().cloned().collect(),
        origin: view.origin()?.into(),
        problems: view.problems().to_vec(),
        cursor: view.cursor()?,
        etag: etag.clone(),
    };
    Ok((etag, detail))
}

/// One conversation, without its turns.
#[utoipa::path(
    get, path = "/conversations/{id}", operation_id = "show_conversation", tag = "conversations", params(("id" = String, Path)),
    responses((status = 200, body = ConversationDetail))
)]
pub(crate) async fn show(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<(HeaderMap, Json<ConversationDetail>), Problem> {
    caller.require(TokenScope::Read)?;
    let id = conversation_id(&id)?;
    let shared = Shared::clone(&app);
    let (etag, detail) = app.blocking(move |rejoin| detail(&shared, rejoin, &caller, id)).await?;
    Ok((etag::headers(&etag), Json(detail)))
}

/// What to change of a conversation; names and labels may change at any time, also while a turn runs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConversationPatch {
    /// Its new name.
    name: Option<String>,
    /// Labels to put on and to take off.
    #[serde(default)]
    tags: TagsPatch,
    /// Whether it counts as looked at.
    read: Option<bool>,
}

/// Labels to put on and to take off.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TagsPatch {
    /// New labels.
    add: Vec<String>,
    /// Labels it has.
    remove: Vec<String>,
}

/// Names a conversation, labels it, marks it as read or unread.
#[utoipa::path(
    patch, path = "/conversations/{id}", operation_id = "change_conversation", tag = "conversations", params(("id" = String, Path)),
    request_body = ConversationPatch, responses((status = 200, body = ConversationDetail))
)]
pub(crate) async fn change(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Body(patch): Body<ConversationPatch>,
) -> Result<(HeaderMap, Json<ConversationDetail>), Problem> {
    let id = conversation_id(&id)?;
    let TagsPatch { add, remove } = patch.tags;
    // To have looked at something is no change of it.
    let only_read = patch.name.is_none() && add.is_empty() && remove.is_empty();
    caller.require(if only_read { TokenScope::Read } else { TokenScope::Prompt })?;
    let shared = Shared::clone(&app);
    let (etag, detail) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?;
            if let Some(name) = &patch.name {
                view.rename(name)?;
            }
            view.tag(&add, &remove)?;
            if let Some(read) = patch.read {
                let used = rejoin.listed_one(id)?.used_ms;
                shared.read_marks.mark(id, if read { used } else { 0 })?;
            }
            detail(&shared, rejoin, &caller, id)
        })
        .await?;
    Ok((etag::headers(&etag), Json(detail)))
}

/// Removes a conversation for good; the agents' own sessions stay. Refused while a turn runs or waits in it.
#[utoipa::path(
    delete, path = "/conversations/{id}", operation_id = "remove_conversation", tag = "conversations", params(("id" = String, Path)),
    responses((status = 204))
)]
pub(crate) async fn remove(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    caller.require(TokenScope::Prompt)?;
    let id = conversation_id(&id)?;
    let waiting = app.queue.look_at_queue(id).waiting.len();
    let first = app.queue.first_waiting(id);
    // That something waits is told to those who see where.
    if waiting > 0 && first.is_none_or(|asked| sees(&app, &caller, FilePath::new(&asked.project))) {
        return Err(Problem::new(Code::Conflict, format!("{waiting} prompts wait in this conversation"))
            .hint(format!("take them out of its queue first (PATCH /api/v1/conversations/{id}/queue)")));
    }
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        open(&shared, rejoin, &caller, id)?.remove()?;
        shared.queue.forget(rejoin, id)?;
        shared.read_marks.forget(id);
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}
