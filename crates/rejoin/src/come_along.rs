//! A conversation that goes on where its project lies now belongs there from then on, and the others of that project
//! come along.

use rejoin_core::{ConversationId, ConversationInfo, System};
use rejoin_engine::{EarlyLease, TurnError};
use rejoin_journal::{Loaded, load};

use crate::former_projects::{CameFrom, count};
use crate::move_project::says_moved;
use crate::{Error, Rejoin};

impl Rejoin {
    /// Lets a conversation of this project's former path belong here: with a lease on it, for good; without, only as it
    /// was read. Says so, if it is one. Before anything is written, it is asked what will be refused anyway.
    pub(crate) fn come_along(
        &self,
        id: ConversationId,
        loaded: &mut Loaded,
        lease: Option<&EarlyLease>,
        here: &str,
        refuse_first: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Option<String>, Error> {
        let Some(from) = self.was_here(id, &loaded.conversation, here)? else { return Ok(None) };
        let Some(info) = loaded.conversation.info.clone() else { return Ok(None) };
        let was = format!("this project was {}", from.path);
        let Some(lease) = lease else {
            if let Some(info) = &mut loaded.conversation.info {
                (info.dir, info.project) = (from.place(&info.dir), here.to_owned());
            }
            return Ok(Some(format!("{was}: its conversations come along with the next turn")));
        };
        refuse_first()?;
        let mut say_so = || self.engine.note_before_turn(id, lease, &info, &moved(&from, &info, here));
        self.engine.store().files()?.relocate(id, here, &mut say_so)?;
        *loaded = load(self.engine.store(), id)?;
        if from.alone {
            return Ok(Some(format!(
                "conversation {} came along from {}, a checkout of this repository that is gone",
                id.short(),
                from.path
            )));
        }
        let Others { came, in_use, stay } = self.bring_others(&from, here)?;
        let mut told = vec![format!("{was}: {} came along, and `rejoin mv` is not needed", count(came + 1))];
        if in_use > 0 {
            told.push(format!("{} in use will when it goes on", count(in_use)));
        }
        if stay > 0 {
            told.push(format!("{} from another home stayed (`rejoin mv {} .`)", count(stay), from.path));
        }
        Ok(Some(told.join("; ")))
    }

    fn bring_others(&self, from: &CameFrom, here: &str) -> Result<Others, Error> {
        let mut others = Others::default();
        for listed in self.engine.store().list(Some(&from.path))? {
            let Some(info) = listed.info else { continue };
            if !self.is_ours(listed.id) {
                others.stay += 1;
                continue;
            }
            match self.engine.hold(listed.id, "moving it") {
                Ok(hold) => self.relocate(&hold, &info, here, &from.place(&info.dir))?,
                Err(TurnError::Busy { .. }) => {
                    others.in_use += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            others.came += 1;
        }
        Ok(others)
    }
}

/// What became of the other conversations of a project.
#[derive(Default)]
struct Others {
    came: usize,
    in_use: usize,
    stay: usize,
}

fn moved(from: &CameFrom, info: &ConversationInfo, here: &str) -> [System; 1] {
    [says_moved(here, &from.place(&info.dir))]
}
