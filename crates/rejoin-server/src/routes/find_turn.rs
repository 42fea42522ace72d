//! Turns that did not come through the queue of this daemon: those of terminals, and of flows. They are runs, too.

use rejoin::{ConversationId, ConversationView, Rejoin, Turn, TurnId};

use super::access::open;
use super::run_view::ShownRun;
use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// Finds a turn in the conversation that is named, or in the one the index tells, and looks at it there.
pub(crate) fn find_turn<T>(
    app: &App,
    rejoin: &Rejoin,
    caller: &Caller,
    run: TurnId,
    conversation: Option<ConversationId>,
    look: impl FnOnce(&ConversationView<'_>, &Turn) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let candidates = match conversation {
        Some(id) => vec![id],
        None => rejoin.with_turn(run)?,
    };
    for id in candidates {
        let Ok(view) = open(app, rejoin, caller, id) else { continue };
        if let Some(turn) = view.conversation().tree.turn(run).filter(|turn| turn.id == run) {
            return look(&view, turn);
        }
    }
    Err(match conversation {
        Some(id) => Problem::not_found(format!("there is no run {run} in conversation {id}"))
            .hint("leave `conversation` out: it is looked for in all of them"),
        None => Problem::not_found(format!("there is no run {run}")).hint(
            "a turn of a terminal is found from its prompt on; ?conversation=ID looks into one conversation",
        ),
    })
}

/// The same as a run is shown.
pub(crate) fn show_turn(
    app: &App,
    rejoin: &Rejoin,
    caller: &Caller,
    run: TurnId,
    conversation: Option<ConversationId>,
) -> Result<ShownRun, Problem> {
    find_turn(app, rejoin, caller, run, conversation, |view, turn| {
        let mut shown = ShownRun::of_turn(rejoin, view, turn)?;
        shown.queue_paused = app.queue.look_at_queue(view.id()).paused.is_some();
        Ok(shown)
    })
}

/// The turns that run now and did not come through the queue, as a list shows them.
pub(crate) fn running_turns(app: &App, rejoin: &Rejoin, caller: &Caller) -> Result<Vec<ShownRun>, Problem> {
    let mut found = Vec::new();
    for id in rejoin.running()? {
        let Ok(view) = open(app, rejoin, caller, id) else { continue };
        let Some(turn) = view.conversation().tree.head() else { continue };
        if app.queue.home_of(turn.id).is_some() {
            continue;
        }
        let shown = ShownRun::of_turn(rejoin, &view, turn)?;
        // Somebody may hold the conversation for something else.
        if !shown.status.is_final() {
            found.push(shown.cut());
        }
    }
    Ok(found)
}
