use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rejoin_agents::{Attached, Definition, Endpoint};
use rejoin_core::plan::Wish;
use rejoin_core::{ConversationId, MessageId, Permissions, RequestKey, Scope, StandIn, TurnId};
use rejoin_journal::{Lease, Loaded};

use crate::{EarlyLease, KeptAttachment, Limits, TurnError};

/// A turn to be carried out, with everything already resolved that configuration has a say in.
pub struct Order {
    /// The id the turn will have.
    pub id: TurnId,
    /// Who.
    pub agent: Arc<dyn Definition>,
    /// How that agent is set up.
    pub setup: AgentSetup,
    /// In which conversation.
    pub target: Target,
    /// What it goes on from.
    pub base: Base,
    /// The user's words.
    pub prompt: String,
    /// Files that go along.
    pub attachments: Vec<Attached>,
    /// Files that go along and are kept in the store: they are read before the turn begins.
    pub kept_attachments: Vec<KeptAttachment>,
    /// Where the agent shall keep its sessions from now on; empty for its own place.
    pub session_dir: Option<PathBuf>,
    /// Where, if not in the conversation's own directory.
    pub cwd: Option<PathBuf>,
    /// About resuming.
    pub wish: Wish,
    /// The model the user named for this turn.
    pub model: Option<String>,
    /// The level the user named for this turn; it becomes the conversation's ceiling.
    pub permissions: Option<Permissions>,
    /// The widest level whoever asks may have a turn run at, whatever anybody named.
    pub ceiling: Option<Permissions>,
    /// The directory the user stands in.
    pub here: PathBuf,
    /// What the file of a project, by its root, says of the level: it can only narrow. Asked for every
    /// project a turn has to do with.
    pub narrowing: fn(&Path) -> Result<Option<Permissions>, TurnError>,
    /// Replaces the agent's system prompt.
    pub system_prompt: Option<String>,
    /// Added to the agent's system prompt.
    pub append_system_prompt: Option<String>,
    /// The user's own arguments for the agent.
    pub extra_args: Vec<String>,
    /// Somebody is there to answer questions of the agent; else they are declined.
    pub interactive: bool,
    /// How long things may take.
    pub limits: Limits,
    /// How long to wait for a conversation that is in use.
    pub wait: Option<Duration>,
    /// By what whoever asks tells his requests apart: one that stands in the conversation is not carried out again.
    pub request: Option<RequestKey>,
    /// The conversation as it was read under that lease, if it was.
    pub loaded: Option<Loaded>,
    /// The lease on the conversation, where it was taken before the order was made: what an order
    /// depends on must not change in between.
    pub lease: Option<EarlyLease>,
    /// Held until a new conversation is written: while its name is free, or while its project has none
    /// to continue.
    pub beginning: Option<Lease>,
    /// In whose stead the agent does it, if a limit is why.
    pub stands_in: Option<StandIn>,
    /// What the user should be told first: a stable word and a sentence each.
    pub notices: Vec<(String, String)>,
}

/// What a turn goes on from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Base {
    /// The conversation's head.
    #[default]
    Head,
    /// The turn of this message: a branch, unless it is the head.
    Turn(MessageId),
    /// Nothing: it is another first turn.
    Start,
}

/// How an agent is set up by the user's configuration.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// The command, if not the usual one.
    pub command: Option<String>,
    /// Arguments for every turn.
    pub args: Vec<String>,
    /// Environment additions.
    pub env: BTreeMap<String, String>,
    /// The model, if none is named.
    pub model: Option<String>,
    /// The level, if one is configured.
    pub permissions: Option<Permissions>,
    /// How many bytes of history may be replayed.
    pub replay_budget: usize,
    /// The address of the model, for agents that are one.
    pub endpoint: Option<Endpoint>,
}

impl Default for AgentSetup {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            model: None,
            permissions: None,
            replay_budget: 256 << 10,
            endpoint: None,
        }
    }
}

/// Which conversation a turn belongs to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A new one.
    New {
        /// The id it will have.
        id: ConversationId,
        /// The project it belongs to (real path).
        project: PathBuf,
        /// The directory it lives in.
        dir: PathBuf,
        /// Which turns its agents should know.
        scope: Scope,
        /// Its name.
        name: Option<String>,
    },
    /// This one.
    Existing(ConversationId),
}
