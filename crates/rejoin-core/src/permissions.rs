use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What an agent may do to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
