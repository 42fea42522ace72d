//! The life of a pin: every change a session's pin goes through, from the plan to the receipt.
//!
//! ```text
//! begins / resumes ─▶ intended ─▶ named ─▶ stored ─▶ settled
//!                                   └────▶ refused
//! ```
//!
//! The engine writes down what these calls return, and the property tests of the core walk the same
//! calls: there is no second telling of these rules.

use crate::{FailureClass, Mark, Outcome, Pin, PinState, Repeated, Scope, SessionId, Usage, Witness};

/// What a new session is bound to: whoever would find it elsewhere, or with another program, does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PinBinding {
    /// The scope of its conversation.
    pub scope: Scope,
    /// The directory it lives in (real path).
    pub dir: String,
    /// Where the agent keeps it.
    pub store: String,
    /// The program that makes it.
    pub product: String,
    /// Which home makes it.
    pub home: String,
}

/// The pin of one launch of an agent. Each call that changes it returns what must now be written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PinLife {
    binding: PinBinding,
    /// What the session may hold once it is launched: the slice with this turn at its end.
    exposed: Mark,
    /// The history it is told had to be shortened.
    lossy: bool,
    /// The session was asked for: another one in its place goes on with what it held.
    resumed: bool,
    /// As it stands in the journal.
    pin: Option<Pin>,
}

/// What is known of a session when its launch is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchEnd<'a> {
    /// The session the agent named.
    pub session: Option<&'a SessionId>,
    /// The agent showed that it is stored.
    pub stored: bool,
    /// How the turn ended.
    pub outcome: &'a Outcome,
    /// The agent's running total, as it told it.
    pub total_told: Option<Usage>,
    /// The agent's running total, as it stored it.
    pub total_stored: Option<Usage>,
    /// How the stored session looks now.
    pub witness: Option<Witness>,
}

impl PinLife {
    /// A launch that begins a session, whose id is known beforehand where we may choose it.
    pub fn begins(binding: PinBinding, session: Option<SessionId>, exposed: Mark, lossy: bool) -> Self {
        let mut life = Self { binding, exposed, lossy, resumed: false, pin: None };
        life.pin = session.map(|session| life.new_pin(session));
        life
    }

    /// A launch that resumes a session; `total` is what it had counted before, where that was looked up.
    pub fn resumes(binding: PinBinding, pin: &Pin, total: Option<Usage>, exposed: Mark, lossy: bool) -> Self {
        let pin = Pin {
            exposed,
            // Until the turn is settled nobody can say how the stored session should look.
            at_least: pin.witness.clone().or_else(|| pin.at_least.clone()),
            witness: None,
            lossy: pin.lossy || lossy,
            total: total.or(pin.total),
            ..pin.clone()
        };
        Self { binding, exposed, lossy, resumed: true, pin: Some(pin) }
    }

    /// As it must stand in the journal before anything is launched: what the session may hold has moved,
    /// what it surely holds has not.
    pub fn intended(&self) -> Option<&Pin> {
        self.pin.as_ref()
    }

    /// The agent named its session.
    pub fn named(&mut self, session: &SessionId) -> Option<&Pin> {
        if self.pin.as_ref().is_some_and(|pin| pin.session == *session) {
            return None;
        }
        self.pin = Some(self.pin_of(session));
        self.pin.as_ref()
    }

    /// The agent showed that the session it named is stored.
    pub fn stored(&mut self) -> Option<&Pin> {
        let pin = self.pin.as_mut().filter(|pin| pin.state == PinState::Tentative)?;
        pin.state = PinState::Live;
        Some(pin)
    }

    /// The agent refused the session that was asked for: a dead id is never kept.
    pub fn refused(&self, words: &str) -> Option<Pin> {
        let pin = self.pin.as_ref().filter(|_| self.resumed)?;
        Some(pin.clone().retired(format!("the agent refused to resume it: {words}")))
    }

    /// The turn ended: the pin as it is from now on, and what the turn used by the agent's own count.
    /// A failure before the session was named counts for the one that was meant, else it would be
    /// resumed, and fail, for ever.
    pub fn settled(self, end: LaunchEnd<'_>) -> Option<(Pin, Option<Usage>)> {
        let meant = self.pin.as_ref().filter(|_| *end.outcome != Outcome::Completed);
        let session = end.session.or(meant.map(|pin| &pin.session))?;
        let mut pin = self.pin_of(session);
        if end.stored && pin.state == PinState::Tentative {
            pin.state = PinState::Live;
        }
        match end.outcome {
            Outcome::Completed => {
                pin.seen = pin.exposed;
                pin.note_failure(None);
            }
            Outcome::Failed { class, .. } => pin.note_failure(Some(*class)),
            Outcome::Timeout { .. } | Outcome::Cancelled => {}
        }
        let counted = Usage::of_turn(pin.total.unwrap_or_default(), end.total_told, end.total_stored);
        if let Some((_, total)) = counted {
            pin.total = Some(total);
        }
        pin.witness = end.witness;
        if pin.witness.is_some() {
            pin.at_least = None;
        }
        let used = counted.map(|(used, _)| used).filter(|used| !used.is_zero());
        Some((pin, used))
    }

    /// The pin of the session the agent named. One that goes on with the resumed session under another
    /// id holds what that one held.
    fn pin_of(&self, session: &SessionId) -> Pin {
        match &self.pin {
            Some(pin) if pin.session == *session => pin.clone(),
            Some(pin) if self.resumed => Pin { session: session.clone(), at_least: None, ..pin.clone() },
            _ => self.new_pin(session.clone()),
        }
    }

    fn new_pin(&self, session: SessionId) -> Pin {
        let PinBinding { scope, dir, store, product, home } = self.binding.clone();
        Pin {
            session,
            scope,
            dir,
            store,
            product,
            home,
            state: PinState::Tentative,
            seen: Mark::EMPTY,
            exposed: self.exposed,
            witness: None,
            at_least: None,
            lossy: self.lossy,
            total: None,
            failing: None,
        }
    }
}

impl Pin {
    /// Never to be resumed again.
    #[must_use]
    pub fn retired(self, why: impl Into<String>) -> Pin {
        Pin { state: PinState::Retired { why: why.into() }, ..self }
    }

    /// The user asked for a fresh session.
    #[must_use]
    pub fn retired_by_the_user(self) -> Pin {
        self.retired("a fresh session was asked for")
    }

    /// Notes how a turn on this session ended: success clears the count of failures, a poisoning
    /// or a second equal lasting failure retires it, the weather of the world changes nothing.
    fn note_failure(&mut self, failure: Option<FailureClass>) {
        let Some(class) = failure else {
            self.failing = None;
            return;
        };
        if class.poisons() {
            self.state = PinState::Retired { why: format!("{} on resume", class.words()) };
        } else if class.lasting() {
            let times = match self.failing {
                Some(before) if before.class == class => before.times + 1,
                _ => 1,
            };
            self.failing = Some(Repeated { class, times });
            if times >= 2 {
                self.state = PinState::Retired { why: format!("{}, twice in a row", class.words()) };
            }
        }
    }
}
