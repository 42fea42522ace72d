use std::path::PathBuf;

use rejoin_core::{Usage, Witness};

use crate::Damage;

/// Where a stored session was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// In this file.
    At(PathBuf),
    /// It is not there.
    Nowhere,
    /// This store cannot be looked into.
    CannotTell,
}

impl Found {
    /// In a file of this name, or nowhere.
    pub(crate) fn file(file: PathBuf) -> Self {
        match file.try_exists() {
            Ok(true) => Found::At(file),
            Ok(false) => Found::Nowhere,
            Err(_) => Found::CannotTell,
        }
    }
}

/// What one look into an agent's store shows of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    /// Where it is. All else is `None` if it is nowhere.
    pub found: Found,
    /// How it stands: a change means that somebody used it. `None` also for one that is there and can no
    /// longer be read as a session.
    pub witness: Option<Witness>,
    /// What is wrong with it, if that was [wanted](Wanted::damage).
    pub damage: Option<Damage>,
    /// The agent's running total as stored, if that was [wanted](Wanted::total) and the agent counts so.
    pub total: Option<Usage>,
}

impl Look {
    /// A session that is not there, or cannot be looked at.
    pub fn at_nothing(found: Found) -> Self {
        Self { found, witness: None, damage: None, total: None }
    }
}

/// What a look shall find out that costs reading all of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// What is wrong with it.
    pub damage: bool,
    /// The running total.
    pub total: bool,
}

impl Wanted {
    /// Before a turn: may it be resumed, and what has it counted so far?
    pub const BEFORE: Self = Self { damage: true, total: true };
    /// After one: how was it left? What an agent has just written is not looked through.
    pub const AFTER: Self = Self { damage: false, total: true };
}
