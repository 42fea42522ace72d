//! What was done.

use rejoin_core::plan::Wish;
use rejoin_core::{Decision, Outcome, Receipt, TurnId};

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
    Receipt {
        conversation: (order.wish != Wish::Ephemeral).then_some(context.id),
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
