//! The driver: begins what is next, and sees each run to its end.

use std::time::{Duration, Instant};

use rejoin::{AsyncTurn, ConversationId, TurnError, TurnId, TurnStatus};
use rejoin_journal::LeaseName;
use serde_json::Value;

use super::begin::{Beginning, begin};
use super::entry::{Entry, RunEnd};
use super::schedule::Candidate;
use super::state::Phase;
use super::surroundings::tell;
use super::{now, recover, uploads};
use crate::app::Shared;
use crate::problem::Problem;

/// How often what is left of former days is looked for.
const TIDY: Duration = Duration::from_hours(1);

/// How often it is looked whether a turn of a daemon before us is over.
const LOOK: Duration = Duration::from_millis(100);

/// Lets runs begin, as long as the daemon lives.
pub(crate) async fn drive(app: Shared) {
    recover::recover(&app).await;
    let mut tidy = tokio::time::interval(TIDY);
    loop {
        let (chosen, again) = app.queue.pick(Instant::now());
        for candidate in chosen {
            tokio::spawn(carry_out(app.clone(), candidate));
        }
        let again = again.unwrap_or_else(|| Instant::now() + TIDY);
        tokio::select! {
            () = app.queue.kick.notified() => {}
            () = tokio::time::sleep_until(again.into()) => {}
            _ = tidy.tick() => recover::tidy(&app),
        }
    }
}

/// One run, from being chosen to its end.
async fn carry_out(app: Shared, candidate: Candidate) {
    let Candidate { conversation, run, .. } = candidate;
    let Some(look) = app.queue.look(run).filter(|look| look.phase == Phase::Waiting) else {
        return app.queue.ended(run, RunEnd::Cancelled);
    };
    match begin(&app, conversation, look.asked).await {
        Beginning::NotYet => {
            if !app.queue.hold(conversation, run) {
                end(&app, conversation, run, RunEnd::Cancelled, None).await;
            }
        }
        Beginning::Begun(turn) => follow(&app, conversation, *turn).await,
        Beginning::Stands(stands) => {
            note(&app, conversation, Entry::Begun { run, conversation: stands, time: now() }).await;
            settle(app, conversation, run).await;
        }
        Beginning::Refused(problem) => end(&app, conversation, run, RunEnd::Failed, Some(&problem)).await,
    }
}

/// Hands on what happens in a turn, until it is over.
async fn follow(app: &Shared, conversation: ConversationId, mut turn: AsyncTurn) {
    let (run, begun) = (turn.turn(), Instant::now());
    let stands = turn.conversation().unwrap_or(conversation);
    app.queue.started(run, turn.canceller());
    note(app, conversation, Entry::Begun { run, conversation: stands, time: now() }).await;
    while let Some(event) = turn.next().await {
        app.queue.see(run, &event);
        tell(app, stands, run, &event);
    }
    let milliseconds = || u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    match turn.join().await {
        Ok(outcome) => {
            let receipt = outcome.receipt();
            let decision = if receipt.plan.resumes() { "resume" } else { "fresh" };
            let (agent, came_to) = (&receipt.agent, receipt.outcome.name());
            tracing::info!(%run, conversation = %stands, %agent, decision, outcome = came_to, ms = milliseconds(), "run");
            end(app, conversation, run, RunEnd::from(outcome.outcome()), None).await;
        }
        Err(error) => {
            tracing::error!(%run, conversation = %stands, %error, ms = milliseconds(), "run");
            end(app, conversation, run, RunEnd::Failed, Some(&error.into())).await;
        }
    }
}

/// Waits until nobody is at a turn that another daemon began, and notes how it ended.
pub(super) async fn settle(app: Shared, conversation: ConversationId, run: TurnId) {
    let Some(stands) = app.queue.look(run).map(|look| look.conversation) else { return };
    loop {
        let rejoin = app.rejoin();
        let looked = tokio::task::spawn_blocking(move || {
            if matches!(rejoin.leases().holder(&LeaseName::conversation(stands)), Ok(Some(_))) {
                return Ok(None);
            }
            let view = rejoin.open_conversation(stands)?;
            let turn = view.conversation().tree.turn(run);
            let turn = turn.ok_or_else(|| {
                TurnError::NotFound(format!("turn {run} is not in its conversation any more"))
            })?;
            Ok::<_, rejoin::Error>(Some((view.turn_status(turn)?, turn.agent.clone())))
        });
        let (status, problem) = match looked.await {
            Ok(Ok(None)) => {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            Ok(Ok(Some((status, agent)))) => {
                app.queue.done_by(run, agent);
                match status {
                    // Somebody took the lease between the two looks.
                    TurnStatus::Running | TurnStatus::Waiting => continue,
                    TurnStatus::Completed => (RunEnd::Completed, None),
                    TurnStatus::Timeout => (RunEnd::Timeout, None),
                    TurnStatus::Cancelled => (RunEnd::Cancelled, None),
                    TurnStatus::Interrupted => (RunEnd::Interrupted, None),
                    _ => (RunEnd::Failed, None),
                }
            }
            Ok(Err(error)) => (RunEnd::Failed, Some(Problem::from(error))),
            Err(error) => (RunEnd::Failed, Some(Problem::lost(&error))),
        };
        tracing::info!(%run, conversation = %stands, outcome = status.name(), "run of a daemon before this one");
        return end(&app, conversation, run, status, problem.as_ref()).await;
    }
}

async fn end(
    app: &Shared,
    conversation: ConversationId,
    run: TurnId,
    status: RunEnd,
    problem: Option<&Problem>,
) {
    if let Some(problem) = problem {
        tracing::info!(%run, %conversation, code = ?problem.code(), detail = problem.detail(), "run did not begin or was lost");
    }
    let (problem, agent) = (problem.and_then(kept), app.queue.look(run).and_then(|look| look.agent));
    note(app, conversation, Entry::Ended { run, status, problem, agent, time: now() }).await;
    if status == RunEnd::Completed {
        uploads::release(app, run).await;
    }
    app.queue.ended(run, status);
}

/// Notes it on a thread that may wait for the disk.
async fn note(app: &Shared, conversation: ConversationId, entry: Entry) {
    let (noting, rejoin) = (app.clone(), app.rejoin());
    let noted = tokio::task::spawn_blocking(move || noting.queue.note(&rejoin, conversation, entry)).await;
    if let Err(error) = noted {
        tracing::error!(%conversation, %error, "the queue could not be written");
    }
}

/// Why a run never began, as it is kept.
fn kept(problem: &Problem) -> Option<Value> {
    serde_json::to_value(problem.body()).ok()
}
