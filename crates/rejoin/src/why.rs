//! Would the next turn resume? Each guard with its two values.

use rejoin_agents::Found;
use rejoin_core::plan::{Guard, Stored, considered, plan};
use rejoin_core::{Agent, ConversationId, Decision, Divergence, Pin, Turn, Witness, divergence};
use rejoin_engine::{Engine, NextTurn, Order, TurnError};
use serde::Serialize;

/// What the next turn would do, and what speaks for and against it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Why {
    /// Who would do it.
    pub agent: Agent,
    /// The conversation.
    pub conversation: ConversationId,
    /// Resume or fresh, and why.
    pub plan: Decision,
    /// The program.
    pub program: String,
    /// Its version, where it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it can resume at all.
    pub can_resume: bool,
    /// The session the guards are about: the one that is resumed, or the nearest one to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Bytes of history that would go along with the prompt, by the stored sizes of the turns that would be told,
    /// within the agent's replay budget.
    pub history_bytes: usize,
    /// The same for a fresh session, which is told all it should know.
    pub replay_bytes: usize,
    /// Every guard, in the order they are asked; none if there is no session.
    pub checks: Vec<GuardCheck>,
    /// What the user should know of the next turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One guard, and the two values it compares.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct GuardCheck {
    /// Which.
    pub guard: Guard,
    /// It lets the session pass.
    pub ok: bool,
    /// What the session has.
    pub was: String,
    /// What the turn has.
    pub now: String,
    /// The stored session as it looks now, for the guard that looks at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Witness>,
    /// How the history came to differ, for the guard that compares it.
    #[serde(skip)]
    pub divergence: Option<Divergence>,
}

/// Would this turn resume, and why, or why not? Nothing is run or written.
pub(crate) fn explain(engine: &Engine, order: Order) -> Result<Why, TurnError> {
    let agent = order.agent.agent();
    engine.look_ahead(order, |next| {
        let (situation, stored) = (next.situation, |pin: &Pin| next.stored(pin));
        let pin = considered(situation, stored);
        let check = |guard: &Guard| {
            pin.map(|pin| GuardCheck {
                ok: guard.objection(pin, situation, stored).is_none(),
                ..compare(next, &agent, *guard, pin)
            })
        };
        let plan = plan(situation, stored);
        Why {
            agent: agent.clone(),
            conversation: next.conversation,
            plan: plan.decision(),
            history_bytes: next.told_bytes(&plan),
            replay_bytes: next.replay_bytes(),
            program: next.installation.path.to_string_lossy().into_owned(),
            version: next.installation.capabilities.version.clone(),
            can_resume: situation.runtime.can_resume,
            session: pin.map(|pin| pin.session.as_str().to_owned()),
            checks: Guard::ALL.iter().filter_map(check).collect(),
            warnings: next.warnings.iter().map(|(_, text)| text.clone()).collect(),
        }
    })
}

/// The two values a guard compares.
fn compare(next: &NextTurn<'_>, agent: &Agent, guard: Guard, pin: &Pin) -> GuardCheck {
    let mut check = GuardCheck {
        guard,
        ok: false,
        was: String::new(),
        now: String::new(),
        stored: None,
        divergence: None,
    };
    let situation = next.situation;
    (check.was, check.now) = match guard {
        Guard::InUse => (pin.state.words(), String::new()),
        Guard::SameProgram => (pin.product.clone(), situation.runtime.product.clone()),
        Guard::SameHome => (pin.home.clone(), situation.home.to_owned()),
        Guard::SameStore => (pin.store.clone(), situation.runtime.store.clone()),
        Guard::SameDirectory => (pin.dir.clone(), situation.dir.to_owned()),
        Guard::SameScope => (pin.scope.name().to_owned(), situation.scope.name().to_owned()),
        Guard::HistoryUnchanged => {
            if !situation.slice.starts_with(&pin.exposed) {
                let tree = &next.history.tree;
                let path: Vec<&Turn> = next.path.iter().filter_map(|turn| tree.turn(*turn)).collect();
                check.divergence = Some(divergence(tree, &path, situation.scope, agent, &pin.exposed));
            }
            (turns(pin.exposed.turns()), turns(situation.slice.len()))
        }
        Guard::StillStored => {
            let look = next.look(pin);
            let now = match (&look.found, &look.witness, next.stored(pin)) {
                (Found::CannotTell, ..) => "cannot be looked at".into(),
                (Found::Nowhere, ..) | (Found::At(_), None, _) => "gone".into(),
                (Found::At(_), Some(now), Stored::Damaged(why)) => format!("{} ({why})", now.path),
                (Found::At(_), Some(now), _) => now.path.clone(),
            };
            check.stored = look.witness;
            (pin.witness.as_ref().map(|witness| witness.path.clone()).unwrap_or_default(), now)
        }
    };
    check
}

fn turns(count: usize) -> String {
    if count == 1 { "1 turn".into() } else { format!("{count} turns") }
}
