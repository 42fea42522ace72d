//! Runs of which nothing is kept: they begin at once or not at all, and are remembered for some minutes.

use std::time::{Duration, Instant};

use rejoin::{AsyncTurn, Receipt, TurnId, TurnRequest};

use super::all_queues::Queue;
use super::at_work::AtWork;
use super::entry::RunEnd;
use super::now;
use crate::app::Shared;
use crate::problem::{Code, Problem};

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

/// Ephemeral turns: they take a place among those that run, and nothing else.
impl Queue {
    /// Takes a place, if one is free.
    pub(crate) fn enter_ephemeral(&self, run: TurnId, ephemeral: Ephemeral) -> Result<(), Problem> {
        let mut all = self.all();
        if all.stopping {
            return Err(Problem::new(Code::Stopping, "the daemon is about to end and takes nothing new"));
        }
        if !all.has_room(self.max_runs) {
            return Err(Problem::new(
                Code::TooMany,
                format!("{} runs are on their way, and an ephemeral one cannot wait", self.max_runs),
            )
            .hint("send it again later, or let it be kept: then it waits for its turn")
            .retry_after(5));
        }
        all.ephemeral.retain(|_, known| !known.is_stale());
        if all.ephemeral.contains_key(&run) || all.runs.contains_key(&run) {
            return Err(Problem::new(Code::Conflict, format!("there is a run {run} already")));
        }
        let project = ephemeral.project.clone();
        all.at_work.insert(run, AtWork { project, here: true, ..AtWork::default() });
        all.ephemeral.insert(run, ephemeral);
        Ok(())
    }

    /// It was refused: there is no such run.
    pub(crate) fn leave_ephemeral(&self, run: TurnId) {
        let mut all = self.all();
        all.at_work.remove(&run);
        all.ephemeral.remove(&run);
        drop(all);
        self.changed();
        self.kick.notify_one();
    }

    /// Notes how it ended.
    pub(super) fn change_ephemeral(&self, run: TurnId, change: impl FnOnce(&mut Ephemeral)) {
        if let Some(known) = self.all().ephemeral.get_mut(&run) {
            change(known);
        }
    }

    /// How one stands, and whether it asks something.
    pub(crate) fn look_at_ephemeral(&self, run: TurnId) -> Option<(Ephemeral, bool)> {
        let all = self.all();
        let asks = all.at_work.get(&run).is_some_and(|at_work| at_work.open_questions > 0);
        Some((all.ephemeral.get(&run)?.clone(), asks))
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
