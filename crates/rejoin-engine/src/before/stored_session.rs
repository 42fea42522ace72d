//! Looks at the agent's stored session before and after a turn.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use rejoin_agents::{Definition, Found, Look, Wanted};
use rejoin_core::plan::Stored;
use rejoin_core::{Pin, SessionId, Usage, Witness};

use crate::before::context::TurnContext;

/// Nobody's use makes a session shorter: an older copy was put back, or its end was lost with the
/// power. It would go on without what was said since.
const SHORTER: &str = "it is shorter than it was left";

/// How the stored session of a pin stands against what we left. Its size and time do not tell
/// whether it still holds anything, so it is looked into.
pub(crate) fn stands(look: &Look, pin: &Pin) -> Stored {
    let now = match (&look.found, &look.witness) {
        (Found::CannotTell, _) => return Stored::CannotTell,
        (Found::Nowhere, _) | (Found::At(_), None) => return Stored::Missing,
        (Found::At(_), Some(now)) => now,
    };
    let shorter = |before: &Witness| before.path == now.path && now.size < before.size;
    if pin.witness.as_ref().or(pin.at_least.as_ref()).is_some_and(shorter) {
        return Stored::Damaged(SHORTER);
    }
    if let Some(damage) = look.damage {
        return Stored::Damaged(damage.words());
    }
    if pin.witness.as_ref().is_some_and(|before| before != now) { Stored::Advanced } else { Stored::Stored }
}

/// Whether somebody used a session since we left it. It is there and sound.
pub(crate) fn was_used_elsewhere(look: &Look, pin: &Pin) -> bool {
    matches!((&pin.witness, &look.witness), (Some(before), Some(now)) if before != now)
}

/// The looks that were taken before a turn: one at each session that is asked about.
#[derive(Default)]
pub(crate) struct Looks(RefCell<HashMap<SessionId, Look>>);

impl Looks {
    /// The stored session of a pin.
    pub(crate) fn at(&self, agent: &dyn Definition, pin: &Pin) -> Look {
        let mut looks = self.0.borrow_mut();
        let take = || look(agent, pin, Wanted { damage: true, total: false });
        looks.entry(pin.session.clone()).or_insert_with(take).clone()
    }

    /// The look that was taken at a session, if one was.
    pub(crate) fn taken_at(&self, session: &SessionId) -> Option<Look> {
        self.0.borrow().get(session).cloned()
    }
}

/// The running total the agent stored with a session, for agents that count the whole of it.
pub(crate) fn total(agent: &dyn Definition, pin: &Pin) -> Option<Usage> {
    look(agent, pin, Wanted { damage: false, total: true }).total
}

/// Looks at the stored session after a turn, once.
pub(crate) fn after_turn(agent: &dyn Definition, context: &TurnContext, session: &SessionId) -> Look {
    let wanted = Wanted { damage: false, total: true };
    context.store.as_deref().map_or_else(
        || Look::at_nothing(Found::CannotTell),
        |store| agent.look(store, &context.dir, session, wanted),
    )
}

/// One look at the stored session of a pin.
fn look(agent: &dyn Definition, pin: &Pin, wanted: Wanted) -> Look {
    agent.look(Path::new(&pin.store), Path::new(&pin.dir), &pin.session, wanted)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use rejoin_core::{Agent, Mark, PinState, Scope};

    use super::*;

    const SOUND: &str = "{\"type\":\"session\"}\n{\"type\":\"user\",\"text\":\"hello\"}\n";

    /// A session of the demo agent as we left it.
    struct Left {
        agent: std::sync::Arc<dyn Definition>,
        file: PathBuf,
        pin: Pin,
        _store: tempfile::TempDir,
    }

    impl Left {
        fn behind() -> Self {
            let agent = rejoin_agents::find(&Agent::Demo).unwrap();
            let store = tempfile::tempdir().unwrap();
            let session = agent.session_id("766fde6e-0724-4c4c-bed4-a8c19bfcc35e").unwrap();
            let file = store.path().join(format!("{session}.jsonl"));
            fs::write(&file, SOUND).unwrap();
            let witness = agent.witness(&file, &session);
            let pin = Pin {
                session,
                scope: Scope::Shared,
                dir: "/p".into(),
                store: store.path().to_string_lossy().into_owned(),
                product: String::new(),
                home: String::new(),
                state: PinState::Live,
                seen: Mark::EMPTY,
                exposed: Mark::EMPTY,
                witness,
                at_least: None,
                lossy: false,
                total: None,
                failing: None,
            };
            Self { agent, file, pin, _store: store }
        }

        /// After a turn that nobody settled.
        fn killed(mut self) -> Self {
            self.pin.at_least = self.pin.witness.take();
            self
        }

        fn look(&self) -> Look {
            Looks::default().at(&*self.agent, &self.pin)
        }

        /// With other bytes, and the time it had.
        fn holds(&self, bytes: &[u8]) -> Stored {
            let time = fs::metadata(&self.file).unwrap().modified().unwrap();
            fs::write(&self.file, bytes).unwrap();
            File::options().append(true).open(&self.file).unwrap().set_modified(time).unwrap();
            stands(&self.look(), &self.pin)
        }
    }

    #[test]
    fn a_session_is_as_it_was_left_or_was_used_elsewhere() {
        let left = Left::behind();
        assert_eq!(left.holds(SOUND.as_bytes()), Stored::Stored);
        assert!(!was_used_elsewhere(&left.look(), &left.pin));
        assert_eq!(left.holds(format!("{SOUND}{SOUND}").as_bytes()), Stored::Advanced);
        assert!(was_used_elsewhere(&left.look(), &left.pin));
        let left = Left::behind().killed();
        assert_eq!(left.holds(format!("{SOUND}{SOUND}").as_bytes()), Stored::Stored, "by that turn");
    }

    #[test]
    fn zeros_of_the_same_size_and_time_are_no_use_of_it() {
        for left in [Left::behind(), Left::behind().killed()] {
            let half = SOUND.len() / 2;
            let half = [&SOUND.as_bytes()[..half], &vec![0; SOUND.len() - half]].concat();
            for zeros in [vec![0; SOUND.len()], half, [SOUND.as_bytes(), &[0; 100]].concat()] {
                assert_eq!(left.holds(&zeros), Stored::Damaged("it holds zeros where words should be"));
            }
        }
    }

    #[test]
    fn an_end_that_is_missing_is_noticed_also_after_a_turn_that_nobody_settled() {
        for left in [Left::behind(), Left::behind().killed()] {
            let first_line = SOUND.find('\n').unwrap() + 1;
            assert_eq!(left.holds(&SOUND.as_bytes()[..first_line]), Stored::Damaged(SHORTER));
            let torn = format!("{SOUND}{{\"type\":\"us");
            assert_eq!(left.holds(torn.as_bytes()), Stored::Damaged("its last record is cut"));
        }
    }
}
