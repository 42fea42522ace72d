//! Runs of which nothing is kept: they begin at once or not at all, and are remembered for some minutes.

use std::time::{Duration, Instant};

use rejoin::{AsyncTurn, Receipt, TurnId, TurnRequest};

use super::entry::RunEnd;
use super::now;
use crate::app::Shared;
use crate::problem::Problem;

/// How long one that is over can be asked for.
const REMEMBERED: Duration = Duration::from_mins(10);

/// An ephemeral run.
#[derive(Clone, Debug)]
pub(crate) struct Ephemeral {
    pub(crate) project: String,
    pub(crate) prompt: String,
    pub(crate) interactive: bool,
    pub(crate) begun: String,
    pub(crate) end: Option<EphemeralEnd>,
}

/// How one ended.
#[derive(Clone, Debug)]
pub(crate) struct EphemeralEnd {
    pub(crate) status: RunEnd,
    pub(crate) text: String,
    pub(crate) receipt: Option<Receipt>,
    pub(crate) problem: Option<Problem>,
    pub(crate) time: String,
    since: Instant,
}

impl Ephemeral {
    pub(super) fn is_stale(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.since.elapsed() > REMEMBERED)
    }

    /// Begins one, and lets it go on by itself.
    pub(crate) async fn start(
        app: &Shared,
        project: String,
        request: TurnRequest,
    ) -> Result<TurnId, Problem> {
        let run = request.turn;
        let (prompt, interactive) = (request.prompt.clone(), request.interactive);
        app.queue.enter_ephemeral(run, Self { project, prompt, interactive, begun: now(), end: None })?;
        match AsyncTurn::start(&app.rejoin(), request).await {
            Ok(turn) => {
                app.queue.started(run, turn.canceller());
                tokio::spawn(follow(app.clone(), turn));
                Ok(run)
            }
            Err(error) => {
                app.queue.leave_ephemeral(run);
                Err(error.into())
            }
        }
    }
}

async fn follow(app: Shared, mut turn: AsyncTurn) {
    let (run, since) = (turn.turn(), Instant::now());
    while let Some(event) = turn.next().await {
        app.queue.see(run, &event);
    }
    let ended = turn.join().await;
    let (status, text, receipt, problem) = match ended {
        Ok(outcome) => {
            let receipt = outcome.receipt().clone();
            (RunEnd::from(outcome.outcome()), outcome.text().to_owned(), Some(receipt), None)
        }
        Err(error) => (RunEnd::Failed, String::new(), None, Some(Problem::from(error))),
    };
    let ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(%run, outcome = status.name(), ms, "ephemeral run");
    let end = EphemeralEnd { status, text, receipt, problem, time: now(), since: Instant::now() };
    app.queue.change_ephemeral(run, |known| known.end = Some(end));
    app.queue.ended(run, status);
}
