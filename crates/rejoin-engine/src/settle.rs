//! The end of a turn: what the session now holds, and what was done.

use rejoin_core::plan::Wish;
use rejoin_core::{Decision, Outcome, Pin, PinState, Receipt, TurnId, Usage};

use crate::harvest::Yield;
use crate::ready::about;
use crate::scene::Scene;
use crate::{Order, preflight};

/// A pin as it must stand in the journal before the agent is launched: what it may hold has moved,
/// what it surely holds has not.
pub(crate) fn exposed(mut pin: Pin, scene: &Scene, turn: TurnId, lossy: bool) -> Pin {
    pin.exposed = scene.slice.mark().push(turn, 0);
    // Until the turn is settled nobody can say how the stored session should look.
    pin.at_least = pin.witness.take().or(pin.at_least);
    pin.lossy |= lossy;
    pin
}

/// The pin after the turn: `pin` is what stands in the journal, or must if the agent chose its id. What
/// the turn used is put in if the agent did not come to tell it.
pub(crate) fn settled(order: &Order, scene: &Scene, mut pin: Pin, got: &mut Yield, outcome: &Outcome) -> Pin {
    if got.stored && pin.state == PinState::Tentative {
        pin.state = PinState::Live;
    }
    match outcome {
        Outcome::Completed => {
            pin.seen = pin.exposed;
            pin.note_failure(None);
        }
        Outcome::Failed { class, .. } => pin.note_failure(Some(*class)),
        Outcome::Timeout { .. } | Outcome::Cancelled => {}
    }
    let before = pin.total.unwrap_or_default();
    if let Some((used, total)) = Usage::of_turn(before, got.total, preflight::total(&*order.agent, &pin)) {
        pin.total = Some(total);
        got.usage = got.usage.or(Some(used).filter(|used| !used.is_zero()));
    }
    pin.witness = scene
        .store
        .as_deref()
        .and_then(|store| preflight::witness(&*order.agent, store, &scene.dir, &pin.session));
    if pin.witness.is_some() {
        pin.at_least = None;
    }
    pin
}

/// What was done, so far as it is known before the clock is read.
pub(crate) fn receipt(
    order: &Order,
    scene: &Scene,
    turn: TurnId,
    plan: Decision,
    outcome: Outcome,
) -> Receipt {
    Receipt {
        conversation: (order.wish != Wish::Ephemeral).then_some(scene.id),
        turn,
        agent: order.agent.agent(),
        plan,
        runs: 0,
        asked: None,
        session: None,
        model: None,
        outcome,
        bytes: 0,
        attachments: about(order),
        lossy: false,
        usage: None,
        cost: None,
        milliseconds: 0,
        exit_code: None,
        diagnostics: 0,
        warnings: Vec::new(),
    }
}
