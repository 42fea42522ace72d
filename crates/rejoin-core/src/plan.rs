//! The rule of resuming, in one place.
//!
//! > A session may be resumed iff **exposed is a prefix of the slice** and the same product would
//! > find it in the same place.

use serde::Serialize;

use crate::{Decision, Pin, PinState, Reason, Scope, SessionId, Slice, TurnId};

/// What will be done. "A new session without the history" cannot be expressed.
#[derive(Clone, PartialEq, Debug)]
pub enum Plan {
    /// The agent's own session goes on.
    Resume {
        /// The session's pin.
        pin: Box<Pin>,
        /// What it missed, oldest first.
        catch_up: Vec<Missed>,
    },
    /// A new session is told the history.
    Fresh {
        /// Why.
        why: Reason,
        /// The whole slice, oldest first.
        history: Vec<TurnId>,
    },
}

/// A turn the session does not surely hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The turn.
    pub turn: TurnId,
    /// It was sent to this session once (then the turn failed or was cut).
    pub maybe_known: bool,
}

/// What the user wants about resuming.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wish {
    /// Resume whenever it is safe.
    #[default]
    Auto,
    /// `--fresh-session`.
    Fresh,
    /// `--ephemeral`.
    Ephemeral,
    /// `resume = "never"`.
    Never,
}

/// Whether the agent still has the session a pin points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// As we left it.
    Stored,
    /// Somebody used it since.
    Advanced,
    /// It is gone.
    Missing,
    /// It is there and lacks something it held: what, in a few words.
    Damaged(&'static str),
    /// This agent's store cannot be looked into.
    CannotTell,
}

/// The program that would run the turn, as far as sessions are concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Runtime {
    /// Command name and the product it says it is. Path and version do not count: updates and
    /// version managers change them.
    pub product: String,
    /// Whether it can resume a session by id.
    pub can_resume: bool,
    /// Where it keeps its sessions.
    pub store: String,
}

/// Everything the decision depends on.
#[derive(Debug)]
pub struct Situation<'a> {
    /// What the agent should know.
    pub slice: &'a Slice,
    /// The path has no turn yet, of whatever agent.
    pub first_turn: bool,
    /// The agent's pins in this conversation, the most recently touched last.
    pub pins: &'a [Pin],
    /// The conversation's scope.
    pub scope: Scope,
    /// The directory of the turn (real path).
    pub dir: &'a str,
    /// The id of this `$REJOIN_HOME`.
    pub home: &'a str,
    /// The program.
    pub runtime: &'a Runtime,
    /// What the user wants.
    pub wish: Wish,
}

/// What must hold for a session to be resumed, in the order it is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// It was not given up.
    InUse,
    /// The program that made it is the one that would resume it.
    SameProgram,
    /// It was made by this `$REJOIN_HOME`.
    SameHome,
    /// The agent looks for sessions where this one is kept.
    SameStore,
    /// The turn runs where the session lives.
    SameDirectory,
    /// The conversation's scope is the one it was made with.
    SameScope,
    /// All it may hold stands unchanged on the path.
    HistoryUnchanged,
    /// The agent still has it.
    StillStored,
}

impl Guard {
    /// All of them. The store is looked into last: it costs most.
    pub const ALL: [Guard; 8] = [
        Guard::InUse,
        Guard::SameProgram,
        Guard::SameHome,
        Guard::SameStore,
        Guard::SameDirectory,
        Guard::SameScope,
        Guard::HistoryUnchanged,
        Guard::StillStored,
    ];

    /// Why a pin fails this guard; `None` if it passes.
    pub fn objection(
        self,
        pin: &Pin,
        situation: &Situation<'_>,
        stored: impl Fn(&Pin) -> Stored,
    ) -> Option<Reason> {
        let runtime = situation.runtime;
        let session = || pin.session.as_str().to_owned();
        match self {
            Guard::InUse => match &pin.state {
                PinState::Retired { why } => {
                    Some(Reason::SessionRetired { session: session(), why: why.clone() })
                }
                PinState::Tentative | PinState::Live => None,
            },
            Guard::SameProgram => (pin.product != runtime.product)
                .then(|| Reason::RuntimeChanged { was: pin.product.clone(), now: runtime.product.clone() }),
            Guard::SameHome => (pin.home != situation.home).then(|| Reason::StoreChanged {
                was: "another rejoin home".to_owned(),
                now: "this one".to_owned(),
            }),
            Guard::SameStore => (pin.store != runtime.store)
                .then(|| Reason::StoreChanged { was: pin.store.clone(), now: runtime.store.clone() }),
            Guard::SameDirectory => (pin.dir != situation.dir)
                .then(|| Reason::WorkdirChanged { was: pin.dir.clone(), now: situation.dir.to_owned() }),
            Guard::SameScope => (pin.scope != situation.scope).then_some(Reason::ScopeChanged),
            Guard::HistoryUnchanged => {
                let slice = situation.slice;
                let unchanged = slice.starts_with(&pin.exposed) && slice.starts_with(&pin.seen);
                (!unchanged).then_some(Reason::HistoryChanged)
            }
            Guard::StillStored => match (stored(pin), &pin.state) {
                (Stored::Missing | Stored::Damaged(_) | Stored::CannotTell, PinState::Tentative) => {
                    Some(Reason::SessionUnconfirmed { session: session() })
                }
                (Stored::Missing, _) => Some(Reason::SessionMissing { session: session(), why: None }),
                (Stored::Damaged(why), _) => {
                    Some(Reason::SessionMissing { session: session(), why: Some(why.to_owned()) })
                }
                _ => None,
            },
        }
    }
}

/// Decides between resuming one of the pins and a fresh session. `stored` looks a pin's session
/// up; it is asked only about pins that pass every other guard.
pub fn plan(situation: &Situation<'_>, stored: impl Fn(&Pin) -> Stored) -> Plan {
    match weigh(situation, stored) {
        Ok(pin) => {
            let (seen, exposed) = (pin.seen.turns(), pin.exposed.turns());
            let missed = situation.slice.after(seen).enumerate();
            let catch_up =
                missed.map(|(at, turn)| Missed { turn, maybe_known: seen + at < exposed }).collect();
            Plan::Resume { pin: Box::new(pin.clone()), catch_up }
        }
        Err((why, _)) => Plan::fresh(why, situation.slice),
    }
}

/// The pin a decision is about: the one that is resumed, else the one whose objection is shown.
pub fn considered<'a>(situation: &Situation<'a>, stored: impl Fn(&Pin) -> Stored) -> Option<&'a Pin> {
    weigh(situation, stored).map_or_else(|(_, pin)| pin, Some)
}

/// The pin to resume, or why there is none and which pin the objection is against.
fn weigh<'a>(
    situation: &Situation<'a>,
    stored: impl Fn(&Pin) -> Stored,
) -> Result<&'a Pin, (Reason, Option<&'a Pin>)> {
    match situation.wish {
        Wish::Ephemeral => return Err((Reason::Ephemeral, None)),
        _ if situation.first_turn => return Err((Reason::FirstTurn, None)),
        Wish::Fresh => return Err((Reason::Forced, None)),
        Wish::Never => return Err((Reason::Disabled, None)),
        Wish::Auto => {}
    }
    // Before the pins are looked at: such a program has none, and "no session yet" would promise one.
    if !situation.runtime.can_resume {
        return Err((Reason::Unsupported, None));
    }
    let mut best: Option<&Pin> = None;
    // Shown is the objection to the session that reached the head (people mean that one; after a
    // change of branch it is not the newest), else to the most recently touched.
    let mut shown = (false, (Reason::NoSession, None));
    let head = situation.slice.mark();
    for pin in situation.pins {
        match Guard::ALL.iter().find_map(|guard| guard.objection(pin, situation, &stored)) {
            None if best.is_none_or(|best| pin.seen.turns() >= best.seen.turns()) => best = Some(pin),
            None => {}
            Some(reason) => {
                let at_head = pin.exposed == head;
                if at_head >= shown.0 {
                    shown = (at_head, (reason, Some(pin)));
                }
            }
        }
    }
    best.ok_or(shown.1)
}

impl Plan {
    /// The last turn that the session to resume may hold.
    pub fn last_held(&self, slice: &Slice) -> Option<TurnId> {
        let Plan::Resume { pin, .. } = self else { return None };
        slice.after(pin.exposed.turns().checked_sub(1)?).next()
    }

    /// A new session that is told the whole slice.
    pub fn fresh(why: Reason, slice: &Slice) -> Plan {
        Plan::Fresh { why, history: slice.after(0).collect() }
    }

    /// The session to be resumed.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Plan::Resume { pin, .. } => Some(&pin.session),
            Plan::Fresh { .. } => None,
        }
    }

    /// The turns whose text the agent must be told.
    pub fn told(&self) -> Vec<TurnId> {
        match self {
            Plan::Resume { catch_up, .. } => catch_up.iter().map(|missed| missed.turn).collect(),
            Plan::Fresh { history, .. } => history.clone(),
        }
    }

    /// The plan as shown and stored.
    pub fn decision(&self) -> Decision {
        match self {
            Plan::Resume { pin, catch_up } => {
                Decision::Resume { session: pin.session.as_str().to_owned(), catch_up: catch_up.len() }
            }
            Plan::Fresh { why, history } => Decision::Fresh { why: why.clone(), replayed: history.len() },
        }
    }
}
