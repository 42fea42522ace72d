//! A turn is over in two moments. It has *ended* when the agent said so, or can no longer say anything: then the receipt is
//! written and the result told. It has *settled* when the agent's store shows it: only then its pin says that the
//! session holds the turn, and the next one builds on that.
//!
//! For an agent whose process ends with its turn both are behind us when the process is gone, and one write tells of
//! both. One that speaks before it stores ([`Settles::Afterwards`]) is given [`Limits::settle`](crate::Limits::settle) to
//! do so. If its store does not show the turn by then, the pin stays as it stood while the turn ran: what the session may
//! hold and what it surely holds differ, and the next plan says so.

use rejoin_agents::Settles;
use rejoin_core::{Event, LaunchEnd, Outcome, Pin, PinLife, Receipt, SessionId, System, Usage};

use crate::after::settled::await_settled;
use crate::before::stored_session;
use crate::during::launch_result::LaunchResult;
use crate::turn::Turn;
use crate::{TurnError, TurnOutcome};

impl Turn<'_> {
    /// The turn has ended: pin and receipt, synced, then the result. The pin of one that is yet to settle comes after
    /// that.
    pub(crate) fn ended(
        &mut self,
        mut receipt: Receipt,
        mut result: LaunchResult,
        life: Option<PinLife>,
    ) -> Result<TurnOutcome, TurnError> {
        let was_known = life.as_ref().is_some_and(|life| life.intended().is_some());
        let life = life.filter(|_| !self.ephemeral());
        let completed = receipt.outcome == Outcome::Completed;
        // A turn that did not end well may never be stored.
        let settles_later = result.settles == Some(Settles::Afterwards) && completed;
        let (to_settle, life) =
            if settles_later { (life.zip(result.session.clone()), None) } else { (None, life) };
        let settled = life.and_then(|life| self.settle_now(life, &result, &receipt.outcome));
        if let Some((_, used)) = &settled {
            result.usage = result.usage.or(*used);
        }
        let should_have = !self.ephemeral() && self.context.runtime.can_resume;
        if settled.is_none() && to_settle.is_none() && should_have && completed {
            let then = if was_known { "tells it this one again" } else { "replays the history" };
            let text = format!("the agent did not name its session: the next turn {then}");
            self.outbox.emit(Event::Warning { code: "no_session".into(), text: text.clone() });
            result.warn(&text);
        }
        receipt.session = result.session.as_ref().map(|session| session.as_str().to_owned());
        receipt.warnings = std::mem::take(&mut self.warnings);
        receipt.warnings.extend(result.take_warnings());
        receipt.model.clone_from(&result.model);
        receipt.usage = result.usage;
        receipt.cost = result.cost;
        receipt.exit_code = result.exit_code;
        receipt.diagnostics = result.diagnostics;
        receipt.milliseconds = self.started.elapsed().as_millis() as u64;
        if !self.ephemeral() {
            let pin = settled.map(|(pin, _)| self.pin_record(pin));
            let mut records: Vec<_> = pin.into_iter().collect();
            records.push(self.head.system(Some(self.id), &System::Receipt(Box::new(receipt.clone()))));
            self.outbox.write_synced(records).map_err(|trouble| self.unrecorded(trouble))?;
        }
        let text = std::mem::take(&mut result.answer).into_string();
        self.outbox.emit(Event::Result { text: text.clone(), receipt: Box::new(receipt.clone()) });
        self.outbox.flush();
        if let Some((life, session)) = to_settle {
            self.settle_later(life, &session, &result);
        }
        let diagnostics = std::mem::take(&mut self.lines);
        Ok(TurnOutcome {
            text,
            session: result.session,
            receipt,
            diagnostics,
            active: result.active,
            permissions: self.context.permissions,
        })
    }

    /// What a turn ended in is in the agent's store by now: the one look at it, and the pin by what it shows.
    fn settle_now(
        &self,
        life: PinLife,
        result: &LaunchResult,
        outcome: &Outcome,
    ) -> Option<(Pin, Option<Usage>)> {
        let session = result.session.as_ref().or(life.intended().map(|pin| &pin.session))?.clone();
        let stored = stored_session::after_turn(&*self.order.agent, self.context, &session);
        life.settled(LaunchEnd {
            session: result.session.as_ref(),
            stored: result.stored,
            outcome,
            total_told: result.total,
            total_stored: stored.total,
            witness: stored.witness,
        })
    }

    /// Waits until the agent's store shows the turn, and writes the pin then. If it does not, or if that cannot be
    /// written, the pin stays as it stood during the turn: the next one tells the session this turn again.
    fn settle_later(&mut self, life: PinLife, session: &SessionId, result: &LaunchResult) {
        let limit = self.order.limits.settle;
        let Some(stored) = await_settled(&*self.order.agent, self.context, session, limit, self.cancel)
        else {
            return;
        };
        let settled = life.settled(LaunchEnd {
            session: Some(session),
            stored: result.stored,
            outcome: &Outcome::Completed,
            total_told: result.total,
            total_stored: stored.total,
            witness: stored.witness,
        });
        if let Some((pin, _)) = settled {
            let record = self.pin_record(pin);
            let _ = self.outbox.write_synced(vec![record]);
        }
    }
}
