//! A limit was reached: the same prompt goes on with another agent, as a turn of the same conversation.

use rejoin_core::{Agent, Event, FailureClass, Outcome, Permissions, Receipt, StandIn, TurnId};
use rejoin_engine::{CancelWatch, TurnOutcome};

use crate::handover::Direction;
use crate::resolve::known_agent;
use crate::{Error, Rejoin, TurnBuilder, TurnRequest, WantedConversation, WantedPlace};

/// Whether a turn ended at a limit of its agent.
fn is_limited(receipt: &Receipt) -> bool {
    matches!(receipt.outcome, Outcome::Failed { class: FailureClass::Quota, .. })
}

impl Rejoin {
    /// The turn with which another agent goes on where the limit of this one was reached: the same prompt again, as a
    /// turn behind the one that was cut off, at no more than its level. `None` if it did not end at a limit.
    ///
    /// [`TurnBuilder::run`] does this by itself for the agents of [`TurnBuilder::fallback`], and asks first. Whoever
    /// [starts](Rejoin::start) turns decides by himself whether that is wanted: [`TurnOutcome::was_active`] tells
    /// whether something was done already.
    pub fn instead_of_limited(
        &self,
        request: &TurnRequest,
        limited: &TurnOutcome,
        to: &Agent,
    ) -> Option<TurnRequest> {
        let receipt = limited.receipt();
        if !is_limited(receipt) {
            return None;
        }
        let configured = self.setup(to).permissions;
        let ceiling = match (limited.permissions(), configured) {
            // Of an agent's own settings nobody knows how far they go: no further than what they are compared with.
            (Permissions::Agent, Some(Permissions::Full)) => Some(Permissions::Agent),
            (Permissions::Agent, _) => None,
            (level, _) => Some(level),
        };
        // The first of several in a row stays the one who is preferred again.
        let stands_in = match &receipt.stands_in {
            Some(before) => {
                StandIn { ceiling: crate::after_limit::narrower(before.ceiling, ceiling), ..before.clone() }
            }
            None => StandIn {
                instead_of: receipt.agent.clone(),
                turn: receipt.turn,
                since: format!("{:.0}", jiff::Timestamp::now()),
                resets: receipt.resets.clone(),
                ceiling,
            },
        };
        let mut next = TurnRequest {
            turn: TurnId::new(uuid::Uuid::new_v4()),
            agent: Some(to.clone()),
            fresh: false,
            // What is said in the terms of the other agent.
            model: None,
            session_dir: None,
            extra_args: Vec::new(),
            idempotency_key: None,
            stands_in: Some(stands_in),
            ..request.clone()
        };
        if let Some(conversation) = receipt.conversation {
            next.conversation = Some(WantedConversation::Id(conversation));
            next.place = Some(WantedPlace::Again(Some(receipt.turn.into())));
            next.prompt = String::new();
            next.scope = None;
            // They stand in the conversation, and hold there.
            next.permissions = None;
        }
        Some(next)
    }
}

impl TurnBuilder<'_> {
    /// Carries out the turn, and goes on with the next agent for as long as limits are reached.
    pub(crate) fn run_with_fallback(
        &mut self,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<TurnOutcome, Error> {
        let others = self.request.fallback.clone();
        for agent in &others {
            known_agent(agent)?;
        }
        let cancel = match self.cancel.take() {
            Some(cancel) => cancel,
            None => CancelWatch::pair()?.1,
        };
        let Attempt { outcome, mut result, .. } = self.attempt(&cancel, on_event);
        let mut limited = outcome?;
        let mut tried = vec![limited.receipt().agent.clone()];
        tried.extend(limited.receipt().stands_in.iter().map(|stands_in| stands_in.instead_of.clone()));
        for to in others {
            if !is_limited(limited.receipt()) {
                break;
            }
            if tried.contains(&to) {
                continue;
            }
            tried.push(to.clone());
            let from = limited.receipt().agent.clone();
            let not_over = |why: String| Event::Warning {
                code: "fallback".to_owned(),
                text: format!("not handed over to {to}: {why}"),
            };
            if limited.was_active() && !self.request.fallback_after_work {
                on_event(&not_over(format!(
                    "{from} had begun to work before its limit was reached; look at what was done, then go on with `-a {to}`, or allow it with --fallback-after-work"
                )));
                break;
            }
            let rejoin = self.rejoin();
            let ask = self.on_handover.as_mut().map(|ask| &mut **ask as &mut crate::handover::Asked<'_>);
            if let Err(why) = rejoin.may_hand_over(&from, &to, Direction::Away, ask)? {
                on_event(&not_over(why));
                continue;
            }
            let Some(next) = rejoin.instead_of_limited(&self.request, &limited, &to) else { break };
            let before = std::mem::replace(&mut self.request, next);
            let attempt = self.attempt(&cancel, on_event);
            match attempt.outcome {
                // Nothing was written or run.
                Err(error) if !attempt.begun => {
                    self.request = before;
                    on_event(&not_over(error.to_string()));
                }
                outcome => (limited, result) = (outcome?, attempt.result),
            }
        }
        if let Some(result) = result {
            on_event(&result);
        }
        Ok(limited)
    }

    /// One turn; its result is not told yet.
    fn attempt(&mut self, cancel: &CancelWatch, on_event: &mut dyn FnMut(&Event)) -> Attempt {
        let (mut begun, mut result) = (false, None);
        let outcome = cancel.again().map_err(Error::from).and_then(|watch| {
            self.cancel = Some(watch);
            self.run_once(&mut |event| {
                begun = true;
                match event {
                    Event::Result { .. } => result = Some(event.clone()),
                    event => on_event(event),
                }
            })
        });
        Attempt { outcome, begun, result }
    }
}

struct Attempt {
    outcome: Result<TurnOutcome, Error>,
    /// Something was told of it.
    begun: bool,
    result: Option<Event>,
}
