//! What was done.

use rejoin_agents::reset_time;
use rejoin_core::plan::Wish;
use rejoin_core::{Decision, FailureClass, Outcome, Receipt, TurnId};

use crate::Order;
use crate::before::context::TurnContext;
use crate::before::prepare::about;

/// What was done, so far as it is known before the clock is read.
pub(crate) fn receipt(
    order: &Order,
    context: &TurnContext,
    turn: TurnId,
    plan: Decision,
    outcome: Outcome,
) -> Receipt {
    let mut receipt = Receipt::new(turn, order.agent.agent(), plan, outcome);
    receipt.conversation = (order.wish != Wish::Ephemeral).then_some(context.id);
    receipt.attachments = about(order);
    receipt.stands_in.clone_from(&order.stands_in);
    if let Outcome::Failed { class: FailureClass::Quota, message } = &receipt.outcome {
        receipt.resets = reset_time(message, &jiff::Zoned::now()).map(|at| format!("{at:.0}"));
    }
    receipt
}
