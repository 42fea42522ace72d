//! What happens in this conversation elsewhere (another terminal, the web app) while a person sits at the prompt:
//! it appears above the line they type. While a turn of their own runs, it waits.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rejoin::{ConversationId, ConversationWatch, Cursor, Event, NextEvents, Rejoin, Told, TurnId};
use rustyline::ExternalPrinter;

use super::turns_elsewhere::TurnsElsewhere;
use crate::screen::{Painted, in_rows, label};

/// Nothing but the end of the chat needs to be heard sooner.
const LOOK: Duration = Duration::from_mins(1);

/// A conversation that is followed, until this is dropped.
pub(super) struct Elsewhere {
    conversation: ConversationId,
    shared: Arc<Shared>,
    stop: Box<dyn Fn()>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    at_prompt: bool,
    over: bool,
    /// The turns of this chat, which were shown when they were made.
    ours: HashSet<TurnId>,
    /// The questions of which it was said here what became of them.
    told: HashSet<String>,
    /// Changes of the conversation that stand before this in its journal were made here, or were there already.
    changed_here: u64,
}

impl Elsewhere {
    /// Follows a conversation from what was shown of it on, but for these turns.
    pub(super) fn follow(
        rejoin: &Rejoin,
        (conversation, after): (ConversationId, Option<Cursor>),
        ours: HashSet<TurnId>,
        printer: impl ExternalPrinter + Send + 'static,
    ) -> anyhow::Result<Self> {
        let watch = rejoin.watch(conversation, after)?;
        let stopper = watch.stopper();
        let state = State { ours, ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let its = Arc::clone(&shared);
        std::thread::Builder::new().name("elsewhere".into()).spawn(move || its.show_all(watch, printer))?;
        Ok(Self { conversation, shared, stop: Box::new(move || stopper.wake()) })
    }

    pub(super) fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// The person sits at the prompt, or no longer does.
    pub(super) fn at_prompt(&self, at_prompt: bool) {
        self.shared.state().at_prompt = at_prompt;
        self.shared.changed.notify_all();
    }

    /// A turn of this chat.
    pub(super) fn is_ours(&self, turn: TurnId) {
        self.shared.state().ours.insert(turn);
    }

    /// It was said here what became of this question.
    pub(super) fn was_told(&self, question: &str) {
        self.shared.state().told.insert(question.to_owned());
    }

    /// What was changed before this position of the journal is known here.
    pub(super) fn changes_are_ours_before(&self, position: u64) {
        self.shared.state().changed_here = position;
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.shared.state().over = true;
        self.shared.changed.notify_all();
        (self.stop)();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the person sits at the prompt; `false` if nothing is to be shown any more.
    fn is_wanted(&self) -> bool {
        let waits = |state: &mut State| !state.at_prompt && !state.over;
        let state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        !state.over
    }

    fn was_told(&self, told: &Told) -> bool {
        let Told::Event(Event::QuestionAnswered(answer)) = told else { return false };
        self.state().told.contains(&answer.question)
    }

    fn show_all(&self, mut watch: ConversationWatch, mut printer: impl ExternalPrinter) {
        let mut turns = TurnsElsewhere::default();
        while self.is_wanted() {
            let events = match watch.next_within(LOOK) {
                Ok(NextEvents::Events(events)) => events,
                Ok(NextEvents::Nothing) => continue,
                Ok(NextEvents::Over) => return,
                Err(error) => {
                    let text = format!("! what happens elsewhere is not shown any more: {error}\n");
                    let _ = printer.print(in_rows(&label(text.trim_end())) + "\n");
                    return;
                }
            };
            // A turn that began meanwhile may be ours; who makes it known does so before the next prompt.
            if !self.is_wanted() {
                return;
            }
            let is_ours = {
                let state = self.state();
                match &events.turn {
                    Some(turn) => state.ours.contains(turn),
                    None => events.position() <= state.changed_here,
                }
            };
            if is_ours {
                continue;
            }
            let mut out = Painted::default();
            for told in events.told.iter().filter(|told| !self.was_told(told)) {
                turns.take(events.turn, told, &mut out);
            }
            // Whoever cannot be reached has left.
            if !out.as_str().is_empty() && printer.print(out.as_str().to_owned()).is_err() {
                return;
            }
        }
    }
}
