//! After a restart: what waits goes on, and of what was in mid-air the journal tells how it ended.

use std::time::Duration;

use super::carry_out::settle;
use super::{ago, log, uploads};
use crate::app::Shared;

/// So long the keys of runs that ended are remembered.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);

/// Takes in all queues there are.
pub(super) async fn recover(app: &Shared) {
    let rejoin = app.rejoin();
    let read = tokio::task::spawn_blocking(move || {
        let (mut found, limit) = (Vec::new(), ago(REMEMBERED));
        let all = log::conversations(&rejoin).unwrap_or_else(|error| {
            tracing::error!(%error, "the queues cannot be read");
            Vec::new()
        });
        for conversation in all {
            match log::load(&rejoin, conversation) {
                Ok((mut state, lines)) => {
                    state.forget_before(&limit);
                    let lines = log::compact(&rejoin, conversation, &state, lines).unwrap_or(lines);
                    found.extend((!state.is_empty()).then_some((conversation, state, lines)));
                }
                Err(error) => tracing::error!(%conversation, %error, "a queue cannot be read"),
            }
        }
        found
    });
    let begun = app.queue.recovered(read.await.unwrap_or_default());
    for (conversation, run) in begun {
        tokio::spawn(settle(app.clone(), conversation, run));
    }
}

/// Forgets what nobody needs any more.
pub(super) fn tidy(app: &Shared) {
    let (app, rejoin) = (app.clone(), app.rejoin());
    tokio::task::spawn_blocking(move || {
        app.queue.forget_before(&rejoin, &ago(REMEMBERED));
        uploads::tidy(&app.queue, &rejoin);
    });
}
