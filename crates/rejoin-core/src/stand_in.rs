//! Who works in whose stead since a limit was reached.

use serde::{Deserialize, Serialize};

use crate::{Agent, Permissions, TurnId};

/// An agent does a turn because the limit of another one was reached. Stays on the turns that follow, until that one
/// goes on or the user names an agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StandIn {
    /// Whose limit was reached: it is preferred again later.
    #[serde(rename = "for")]
    pub instead_of: Agent,
    /// The turn in which that was.
    pub turn: TurnId,
    /// When that was.
    pub since: String,
    /// When the limit resets, where the agent told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<String>,
    /// The level that turn ran at, where it is a known one: no more than that is allowed in its stead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Permissions>,
}
