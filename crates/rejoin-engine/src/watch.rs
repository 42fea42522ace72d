//! The blocking way: a turn is run to its end, and whoever watches is called on the caller's thread.

use rejoin_agents::Answer;
use rejoin_core::Event;

use crate::during::answers::{NotAnswered, OpenQuestion};
use crate::during::cancel::CancelWatch;
use crate::handle::StopOnPanic;
use crate::{Engine, Order, TurnError, TurnOutcome};

/// Whoever watches a turn.
pub struct Watcher<'a> {
    /// Sees every event, in order, on the caller's thread.
    pub on_event: &'a mut dyn FnMut(&Event),
    /// Answers questions; without it agents are told that nobody is there. An answer that was not offered declines.
    pub on_question: Option<&'a mut dyn FnMut(&OpenQuestion<'_>) -> Answer>,
    /// Stops the turn from elsewhere.
    pub cancel: CancelWatch,
}

impl Engine {
    /// Carries out one turn: starts it, shows what it tells, waits for its end.
    pub fn run(&self, order: Order, watcher: Watcher<'_>) -> Result<TurnOutcome, TurnError> {
        let Watcher { on_event, mut on_question, cancel } = watcher;
        let order = Order { interactive: on_question.is_some(), ..order };
        let turn = self.start(order, cancel)?;
        let answers = turn.answers.clone();
        let _guard = StopOnPanic(turn.canceller(), turn.feed.clone());
        for event in turn.events() {
            on_event(&event);
            if let (Event::Question(question), Some(answer)) = (&event, on_question.as_mut()) {
                let open = OpenQuestion { question, answers: &answers };
                if open.is_open() {
                    let given = turn.answer_as(None, &question.id, answer(&open));
                    // Whoever is called is not asked twice, and nobody else may be there.
                    if matches!(given, Err(NotAnswered::Unfit(_))) {
                        turn.answer(&question.id, Answer::Declined);
                    }
                }
            }
        }
        turn.join()
    }
}
