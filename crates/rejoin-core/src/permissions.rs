use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What an agent may do to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Permissions {
    /// Look, change nothing.
    Read,
    /// Change files of the project.
    Edit,
    /// Anything, without asking.
    Full,
    /// As the agent itself is configured.
    #[default]
    Agent,
}

impl Permissions {
    /// The word used in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Permissions::Read => "read",
            Permissions::Edit => "edit",
            Permissions::Full => "full",
            Permissions::Agent => "agent",
        }
    }

    /// Whether this level allows no more than `ceiling`. `Agent` is nobody's known level, so it
    /// fits only under `Full` and itself.
    pub fn fits_under(self, ceiling: Permissions) -> bool {
        use Permissions::{Agent, Edit, Full, Read};
        match ceiling {
            Full => true,
            Agent => matches!(self, Agent | Read),
            Edit => matches!(self, Edit | Read),
            Read => self == Read,
        }
    }
}

/// Somebody who has a say in what an agent may do, and how far they let it go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// As far as this.
    pub level: Permissions,
    /// Who says so.
    pub by: LimitedBy,
}

/// Who limits what an agent may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LimitedBy {
    /// The level the user named last in the conversation.
    Conversation,
    /// A level the conversation brought along from another home.
    Import,
    /// The user's configuration of the agent.
    Configuration,
    /// A project's own file, by its path.
    Project(String),
    /// Whoever asks for the turn may go no further: the ceiling of a token.
    Caller,
    /// Nobody: the agent's own settings decide.
    Nobody,
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitedBy::Conversation => f.write_str("the ceiling of the conversation"),
            LimitedBy::Import => f.write_str("the level the conversation had in another home"),
            LimitedBy::Configuration => f.write_str("your configuration"),
            LimitedBy::Project(file) => f.write_str(file),
            LimitedBy::Caller => f.write_str("the ceiling of the token"),
            LimitedBy::Nobody => f.write_str("the default"),
        }
    }
}

/// Two limits of which none is the narrower one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{} says {:?} and {} says {:?}, of which one is not narrower than the other; name the level with --permissions",
    .0.by, .0.level.name(), .1.by, .1.level.name()
)]
pub struct Incomparable(pub Limit, pub Limit);

impl Permissions {
    /// The level in force: the one the user names now, else the narrowest of all limits. Where neither
    /// the conversation nor the configuration says one, the agent's own settings are a limit, too, unless whoever asks
    /// may not go by them: then his ceiling is in their place.
    pub fn in_force(named: Option<Permissions>, limits: &[Limit]) -> Result<Permissions, Incomparable> {
        if let Some(named) = named {
            return Ok(named);
        }
        let is_chosen = |limit: &Limit| match limit.by {
            LimitedBy::Conversation | LimitedBy::Configuration => true,
            LimitedBy::Caller => !Permissions::Agent.fits_under(limit.level),
            _ => false,
        };
        let nobody = Limit { level: Permissions::Agent, by: LimitedBy::Nobody };
        let limits: Vec<&Limit> =
            limits.iter().chain((!limits.iter().any(is_chosen)).then_some(&nobody)).collect();
        let fits_all = |limit: &&&Limit| limits.iter().all(|other| limit.level.fits_under(other.level));
        if let Some(narrowest) = limits.iter().find(fits_all) {
            return Ok(narrowest.level);
        }
        let pairs = limits.iter().flat_map(|one| limits.iter().map(move |other| (*one, *other)));
        let apart = |(one, other): &(&Limit, &Limit)| {
            !one.level.fits_under(other.level) && !other.level.fits_under(one.level)
        };
        // Levels without a narrowest one hold two that cannot be compared.
        match pairs.into_iter().find(apart) {
            Some((one, other)) => Err(Incomparable(one.clone(), other.clone())),
            None => Ok(Permissions::Read),
        }
    }
}

impl FromStr for Permissions {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "read" => Ok(Self::Read),
            "edit" => Ok(Self::Edit),
            "full" => Ok(Self::Full),
            "agent" => Ok(Self::Agent),
            _ => Err(format!("{text:?} is not a permission level: read, edit, full or agent")),
        }
    }
}
