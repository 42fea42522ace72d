//! What the decision about a turn depends on, as it stands now, for whoever explains it.

use rejoin_agents::Look;
use rejoin_core::plan::{Plan, Situation, Stored};
use rejoin_core::{Conversation, ConversationId, Pin, TurnId};

use crate::before::context::TurnContext;
use crate::{Engine, Installation, Order, TurnError};

/// A turn that is not begun.
pub struct NextTurn<'a> {
    /// The conversation; a new one has its id already.
    pub conversation: ConversationId,
    /// All that was folded from its journal.
    pub history: &'a Conversation,
    /// The turns it goes on from, oldest first.
    pub path: &'a [TurnId],
    /// What is decided by.
    pub situation: &'a Situation<'a>,
    /// Who would do it.
    pub installation: &'a Installation,
    /// What the user should know of it: a stable word and a sentence each.
    pub warnings: &'a [(String, String)],
    context: &'a TurnContext,
    order: &'a Order,
}

impl NextTurn<'_> {
    /// How the stored session of a pin stands against what we left.
    pub fn stored(&self, pin: &Pin) -> Stored {
        self.context.stored(self.order, pin)
    }

    /// Bytes of history that would go along with the prompt, by stored sizes, within the budget of a replay.
    pub fn told_bytes(&self, plan: &Plan) -> usize {
        let known = self.situation.slice.len().saturating_sub(plan.told().len());
        self.context.told_bytes(self.order, known)
    }

    /// The same for a fresh session.
    pub fn replay_bytes(&self) -> usize {
        self.context.told_bytes(self.order, 0)
    }

    /// The stored session of a pin, looked at once.
    pub fn look(&self, pin: &Pin) -> Look {
        self.context.looks.at(&*self.order.agent, pin)
    }
}

impl Engine {
    /// Reads all that a turn depends on and tells it. Nothing is run or written.
    pub fn look_ahead<T>(
        &self,
        mut order: Order,
        tell: impl FnOnce(&NextTurn<'_>) -> T,
    ) -> Result<T, TurnError> {
        let loaded = order.loaded.take();
        let order = &order;
        let context = &TurnContext::read(self, order, loaded)?;
        Ok(context.judge(self, order, |situation| {
            tell(&NextTurn {
                conversation: context.id,
                history: &context.conversation,
                path: &context.path,
                situation,
                installation: &context.installation,
                warnings: &context.warnings,
                context,
                order,
            })
        }))
    }
}
