use std::time::Duration;

use rejoin_agents::Answer;
use rejoin_core::Event;

use crate::during::answers::{AnswerBox, OpenQuestion};
use crate::during::cancel::CancelWatch;
use crate::during::outbox::Batch;
use crate::during::queue::{Popped, Queue};

/// Whoever watches a turn.
pub struct Watcher<'a> {
    /// Sees every event, in order, on the caller's thread.
    pub on_event: &'a mut dyn FnMut(&Event),
    /// Answers questions; without it agents are told that nobody is there.
    pub on_question: Option<&'a mut dyn FnMut(&OpenQuestion<'_>) -> Answer>,
    /// Stops the turn from elsewhere.
    pub cancel: CancelWatch,
}

/// How many lines that were not events an outcome keeps.
const DIAGNOSTICS_KEPT: usize = 50;

/// Hands events to whoever watches, on the caller's thread.
pub(crate) fn show(
    events: &Queue<Batch>,
    answers: &AnswerBox,
    on_event: &mut dyn FnMut(&Event),
    mut on_question: Option<&mut dyn FnMut(&OpenQuestion<'_>) -> Answer>,
    diagnostics: &mut Vec<String>,
) {
    loop {
        let batch = match events.pop(Duration::from_hours(1)) {
            Popped::Item(batch) => batch,
            Popped::Nothing => continue,
            Popped::Closed => return,
        };
        for event in &batch {
            if let Event::Diagnostic { text, .. } = event
                && diagnostics.len() < DIAGNOSTICS_KEPT
            {
                diagnostics.push(text.clone());
            }
            on_event(event);
            if let (Event::Question(question), Some(answer)) = (event, on_question.as_mut()) {
                let open = OpenQuestion { question, answers };
                if open.is_open() {
                    answers.put(question.id.clone(), answer(&open));
                }
            }
        }
    }
}

/// If one side of a turn panics, the other must not wait for it: the agent is stopped, the turn settled.
pub(crate) struct OnPanic<'a> {
    pub(crate) events: &'a Queue<Batch>,
    pub(crate) cancel: &'a CancelWatch,
}

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.events.close();
            self.cancel.request();
        }
    }
}
