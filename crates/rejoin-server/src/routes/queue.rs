//! `/conversations/{id}/queue`: the prompts that wait in a conversation.

use axum::Json;
use axum::extract::State;
use rejoin::{ConversationId, TurnId, WantedPlace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::{Body, Path};
use super::run_view::ShownRun;
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Code, Problem, ProblemBody};
use crate::queue::{Entry, RunEnd, now};

/// What waits in a conversation.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShownQueue {
    /// Nothing begins until it goes on.
    paused: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Those that wait, the next one first.
    runs: Vec<ShownRun>,
}

/// One change of a queue.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum QueueChange {
    /// Let nothing begin, or go on.
    Pause(bool),
    /// These come first, in this order; the others keep theirs behind them.
    #[schema(value_type = Vec<uuid::Uuid>)]
    Order(Vec<TurnId>),
    /// Let one say something else.
    Edit(PromptEdit),
    /// Take one out.
    #[schema(value_type = uuid::Uuid)]
    Delete(TurnId),
}

/// Other words for a run that waits.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptEdit {
    #[schema(value_type = uuid::Uuid)]
    run: TurnId,
    prompt: String,
}

/// The conversation, if this caller sees it; one that is yet to begin is there if something waits in it.
async fn seen(app: &Shared, caller: &Caller, id: &str) -> Result<ConversationId, Problem> {
    let unknown = || Problem::not_found(format!("there is no conversation {id:?}"));
    let conversation: ConversationId = id.parse().map_err(|_| unknown())?;
    app.queue.is_ready().await;
    if let Some(asked) = app.queue.first_waiting(conversation) {
        return caller.sees(asked.project.as_ref()).then_some(conversation).ok_or_else(unknown);
    }
    let caller = caller.clone();
    let sees = app.blocking(move |rejoin| {
        let view = rejoin.open_conversation(conversation)?;
        Ok(view.info().is_some_and(|info| caller.sees(info.project.as_ref())))
    });
    if sees.await? { Ok(conversation) } else { Err(unknown()) }
}

fn shown(app: &Shared, conversation: ConversationId) -> ShownQueue {
    let queue = app.queue.look_at_queue(conversation);
    let runs = queue.waiting.into_iter().filter_map(|run| {
        let look = app.queue.look(run)?;
        let prompt = look.asked.request.prompt.clone();
        Some(ShownRun { prompt, ..ShownRun::listed(look) })
    });
    ShownQueue { paused: queue.paused.is_some(), runs: runs.collect(), why: queue.paused }
}

/// The prompts that wait in a conversation, whole.
#[utoipa::path(
    get, path = "/conversations/{id}/queue", operation_id = "show_queue", tag = "runs", params(("id" = uuid::Uuid, Path)),
    responses((status = 200, body = ShownQueue), (status = 404, body = ProblemBody))
)]
pub(crate) async fn get(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ShownQueue>, Problem> {
    caller.require(TokenScope::Read)?;
    let conversation = seen(&app, &caller, &id).await?;
    Ok(Json(shown(&app, conversation)))
}

/// Whether a caller may put words into a run of a token, with whose rights it is carried out: only if he could have asked
/// for it himself.
fn may_edit(caller: &Caller, token: &str) -> bool {
    caller.token == token || (caller.ceiling.is_none() && caller.projects.is_none())
}

/// Changes the queue of a conversation, and tells how it stands then.
#[utoipa::path(
    patch, path = "/conversations/{id}/queue", operation_id = "change_queue", tag = "runs", params(("id" = uuid::Uuid, Path)),
    request_body = QueueChange,
    responses((status = 200, body = ShownQueue), (status = "4XX", body = ProblemBody))
)]
pub(crate) async fn patch(
    State(app): State<Shared>,
    caller: Caller,
    Path(id): Path<String>,
    Body(change): Body<QueueChange>,
) -> Result<Json<ShownQueue>, Problem> {
    caller.require(TokenScope::Prompt)?;
    let conversation = seen(&app, &caller, &id).await?;
    if let QueueChange::Edit(edit) = &change {
        crate::queue::check_prompt(&edit.prompt)?;
    }
    let changing = app.clone();
    app.blocking(move |rejoin| {
        changing.queue.change(rejoin, conversation, |standing| {
            let entries = match change {
                QueueChange::Pause(true) if standing.state.paused().is_some() => Vec::new(),
                QueueChange::Pause(true) => vec![Entry::Paused { why: "somebody paused it".to_owned() }],
                QueueChange::Pause(false) => vec![Entry::Resumed],
                QueueChange::Order(order) => {
                    for run in &order {
                        standing.idle(*run)?;
                    }
                    vec![Entry::Ordered { order }]
                }
                QueueChange::Edit(PromptEdit { run, prompt }) => {
                    let asked = &standing.idle(run)?.asked;
                    if !may_edit(&caller, &asked.token) {
                        let text = "this prompt is another token's, and would run with that one's rights";
                        return Err(Problem::new(Code::NotAllowed, text)
                            .hint("take it out of the queue and ask for another one"));
                    }
                    if matches!(asked.request.place, Some(WantedPlace::Again(_))) {
                        return Err(Problem::new(
                            Code::Conflict,
                            "this run has a turn again, with its own words",
                        )
                        .hint("take it out of the queue and ask for another one"));
                    }
                    vec![Entry::Edited { run, prompt }]
                }
                QueueChange::Delete(run) => {
                    standing.idle(run)?;
                    let (status, time) = (RunEnd::Cancelled, now());
                    vec![Entry::Ended { run, status, problem: None, agent: None, time }]
                }
            };
            Ok((entries, ()))
        })
    })
    .await?;
    Ok(Json(shown(&app, conversation)))
}

#[cfg(test)]
mod tests {
    use rejoin::Permissions;

    use super::*;

    #[test]
    fn nobody_borrows_the_rights_of_another_token_by_editing_what_it_asked_for() {
        let narrow = Caller {
            token: "phone".into(),
            scopes: vec![TokenScope::Prompt],
            ceiling: Some(Permissions::Read),
            projects: None,
        };
        assert!(may_edit(&narrow, "phone") && !may_edit(&narrow, "laptop"));
        let elsewhere = Caller { ceiling: None, projects: Some(vec!["/p".into()]), ..narrow.clone() };
        assert!(!may_edit(&elsewhere, "laptop"));
        assert!(may_edit(&Caller { ceiling: None, ..narrow }, "laptop"));
    }
}
