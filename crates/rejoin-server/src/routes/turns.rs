//! What was said and done in a conversation: windows of turns, one turn whole, all branches.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use rejoin::{
    Agent, AskedQuestion, ConversationView, Decision, Message, Question, QuestionAnswer, QuestionState,
    ShownTurn, TreeRow, Turn, TurnId, TurnStatus, Usage,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{conversation_id, open};
use super::body::{Params, Path};
use super::etag;
use super::paging::{from_cursor, page_size, to_cursor};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::Problem;

/// So much of each text is shown in a window; `GET …/turns/{turn}` has all of it.
const CUT: usize = 16 << 10;
/// The titles of turns in the tree, in columns.
const TITLE: usize = 120;

/// Which turns.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TurnsParams {
    /// Those before this one; it is `before` of an earlier window.
    before: Option<String>,
    /// On the path to the turn of this message (an id, a turn's number, a branch) instead of the head.
    at: Option<String>,
    /// At most so many (1 to 500; 50 if nothing is said).
    limit: Option<usize>,
}

/// A window of the path, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct TurnsWindow {
    turns: Vec<TurnBody>,
    /// Where the window before it ends; absent if this one begins with the first turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<TurnId>,
}

/// One prompt and all that was done about it.
#[derive(Serialize, ToSchema)]
pub(crate) struct TurnBody {
    #[serde(flatten)]
    shown: ShownTurn,
    /// Which turn of its path it is, from 1.
    number: usize,
    /// How it stands.
    status: TurnStatus,
    /// When it began.
    started: String,
    /// What the agent asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<QuestionBody>,
    /// The turns that stand beside it, itself included, oldest first; only if there are others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    siblings: Vec<TurnId>,
}

/// A question and what became of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestionBody {
    #[serde(flatten)]
    pub(crate) question: Question,
    /// `open`, `answered`, `withdrawn`, or `lost`.
    pub(crate) state: &'static str,
    /// The answer that stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<QuestionAnswer>,
}

impl From<AskedQuestion> for QuestionBody {
    fn from(asked: AskedQuestion) -> Self {
        let (state, answer) = match asked.state {
            QuestionState::Open => ("open", None),
            QuestionState::Answered(answer) => ("answered", Some(answer)),
            QuestionState::Withdrawn => ("withdrawn", None),
            QuestionState::Lost => ("lost", None),
        };
        Self { question: asked.question, state, answer }
    }
}

fn body(view: &ConversationView<'_>, turn: &Turn, number: usize, cut: usize) -> Result<TurnBody, Problem> {
    let tree = &view.conversation().tree;
    let beside: Vec<TurnId> =
        tree.turns().iter().filter(|other| other.parent == turn.parent).map(|other| other.id).collect();
    Ok(TurnBody {
        shown: view.shown_turn(turn, cut)?,
        number,
        status: view.turn_status(turn)?,
        started: turn.started.clone(),
        questions: view.questions(turn)?.into_iter().map(QuestionBody::from).collect(),
        siblings: if beside.len() > 1 { beside } else { Vec::new() },
    })
}

/// The last turns of the path, or those before an earlier window. Long texts are cut, visibly.
#[utoipa::path(
    get, path = "/conversations/{id}/turns", operation_id = "list_turns", tag = "conversations", params(("id" = String, Path), TurnsParams),
    responses((status = 200, body = TurnsWindow))
)]
pub(crate) async fn window(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<TurnsParams>,
) -> Result<(HeaderMap, Json<TurnsWindow>), Problem> {
    caller.require(TokenScope::Read)?;
    let (id, size) = (conversation_id(&id)?, page_size(params.limit)?);
    let shared = Shared::clone(&app);
    let (tag, window) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?;
            let path = match &params.at {
                Some(message) => view.path_to(message)?,
                None => view.path(),
            };
            let end = match &params.before {
                None => path.len(),
                Some(before) => {
                    path.iter().position(|turn| turn.id.to_string() == *before).ok_or_else(|| {
                        Problem::bad_request(format!("there is no turn {before:?} on this path"))
                            .hint("the head may be on another branch now: begin at the end again")
                    })?
                }
            };
            let begin = end.saturating_sub(size);
            let turns = path[begin..end].iter().zip(begin + 1..);
            let turns =
                turns.map(|(turn, number)| body(&view, turn, number, CUT)).collect::<Result<_, _>>()?;
            let before = path.get(begin).filter(|_| begin > 0).map(|turn| turn.id);
            Ok((etag::tag(&view), TurnsWindow { turns, before }))
        })
        .await?;
    Ok((etag::headers(&tag), Json(window)))
}

/// One turn, whole.
#[utoipa::path(
    get, path = "/conversations/{id}/turns/{turn}", operation_id = "show_turn", tag = "conversations",
    params(("id" = String, Path), ("turn" = String, Path, description = "A turn's or message's id, a number, a branch")),
    responses((status = 200, body = TurnBody))
)]
pub(crate) async fn whole(
    State(app): State<Shared>,
    caller: Caller,
    Path((id, turn)): Path<(String, String)>,
) -> Result<(HeaderMap, Json<TurnBody>), Problem> {
    caller.require(TokenScope::Read)?;
    let id = conversation_id(&id)?;
    let shared = Shared::clone(&app);
    let (tag, turn) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?;
            let path = view.path_to(&turn)?;
            let found = path.last().ok_or_else(|| Problem::not_found(format!("there is no turn {turn}")))?;
            Ok((etag::tag(&view), body(&view, found, path.len(), usize::MAX)?))
        })
        .await?;
    Ok((etag::headers(&tag), Json(turn)))
}

/// Which rows of the tree.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TreeParams {
    /// At most so many (1 to 500; 50 if nothing is said).
    limit: Option<usize>,
    /// Behind the page that gave this.
    cursor: Option<String>,
}

/// All branches, a row per turn, in the order in which they are drawn.
#[derive(Serialize, ToSchema)]
pub(crate) struct TreePage {
    rows: Vec<TreeEntry>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// How many rows there are in all.
    all: usize,
}

/// A turn in the drawing.
#[derive(Serialize, ToSchema)]
pub(crate) struct TreeEntry {
    #[serde(flatten)]
    row: TreeRow,
    /// The turn before it.
    parent: Option<TurnId>,
    /// Who did it.
    agent: Option<Agent>,
    /// How it stands.
    status: TurnStatus,
    /// How often it was reworded.
    revision: u32,
    /// The beginning of its prompt.
    title: String,
    /// When it began.
    started: String,
    /// What was decided for it; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Decision>,
    /// Its tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// All branches of a conversation.
#[utoipa::path(
    get, path = "/conversations/{id}/tree", tag = "conversations", params(("id" = String, Path), TreeParams),
    responses((status = 200, body = TreePage))
)]
pub(crate) async fn tree(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<TreeParams>,
) -> Result<(HeaderMap, Json<TreePage>), Problem> {
    caller.require(TokenScope::Read)?;
    let (id, size) = (conversation_id(&id)?, page_size(params.limit)?);
    let shared = Shared::clone(&app);
    let (tag, page) = app
        .blocking(move |rejoin| {
            let view = open(&shared, rejoin, &caller, id)?;
            let rows = view.tree_rows();
            let all = rows.len();
            let begin: usize = from_cursor(params.cursor.as_deref())?.unwrap_or_default();
            let rows: Vec<TreeEntry> = rows
                .into_iter()
                .skip(begin)
                .take(size)
                .map(|row| entry(&view, row))
                .collect::<Result<_, Problem>>()?;
            let end = begin + rows.len();
            Ok((
                etag::tag(&view),
                TreePage { rows, next: if end < all { to_cursor(&end) } else { None }, all },
            ))
        })
        .await?;
    Ok((etag::headers(&tag), Json(page)))
}

fn entry(view: &ConversationView<'_>, row: TreeRow) -> Result<TreeEntry, Problem> {
    let missing = || Problem::not_found(format!("turn {} cannot be found any more", row.turn));
    let turn = view.conversation().tree.turn(row.turn).ok_or_else(missing)?;
    let said = view.messages(turn, 4 * TITLE)?;
    Ok(TreeEntry {
        parent: turn.parent,
        agent: turn.agent.clone(),
        status: view.turn_status(turn)?,
        revision: turn.revision,
        title: rejoin::one_line(&said.first().map(Message::text).unwrap_or_default(), TITLE),
        started: turn.started.clone(),
        plan: turn.receipt.as_ref().map(|receipt| receipt.plan.clone()),
        usage: turn.receipt.as_ref().and_then(|receipt| receipt.usage),
        row,
    })
}
