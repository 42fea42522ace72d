use std::sync::Arc;

use rejoin_agents::Refusal;
use rejoin_core::{ConversationId, TurnId};
use rejoin_journal::{JournalError, Owner};

use crate::NotAnswered;

/// Why a turn was not carried out. A turn that ran and failed is no error but an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// Something that was named does not exist.
    #[error("{0}")]
    NotFound(String),
    /// What was asked for contradicts itself or cannot be done.
    #[error("{0}")]
    Usage(String),
    /// A permission level that cannot be enforced or would be widened.
    #[error("{0}")]
    Permission(String),
    /// Somebody else is at it.
    #[error("{what} is in use{}; wait until it is done (`run` does with --wait), or stop the other one", by(owner.as_deref()))]
    Busy {
        /// What is in use.
        what: String,
        /// By whom, where known.
        owner: Option<Box<Owner>>,
    },
    /// This process runs as many turns as it can.
    #[error(
        "{running} turns run in this process, and it may open {limit} files at once, which is too few for one more; wait for one of them, or raise the limit (`ulimit -n`)"
    )]
    TooMany {
        /// How many run.
        running: usize,
        /// How many files may be open.
        limit: u64,
    },
    /// It was asked for already, with the same key.
    #[error("this was asked for already with the key {key:?}: turn {turn} of conversation {} stands for it", conversation.short())]
    AlreadyAsked {
        /// The key of the request.
        key: String,
        /// Where it stands.
        conversation: ConversationId,
        /// The turn that was asked for, which may still run.
        turn: TurnId,
    },
    /// The key was given to another request.
    #[error("the key {key:?} was used for another request already, turn {turn} of conversation {}; give each request a key of its own", conversation.short())]
    KeyReused {
        /// The key of the request.
        key: String,
        /// Where it stands.
        conversation: ConversationId,
        /// The turn that was asked for with it.
        turn: TurnId,
    },
    /// It is no longer what was looked at.
    #[error("{what} went on since it was looked at; it is kept as it is: look again")]
    Changed {
        /// What.
        what: String,
    },
    /// The user gave up before it was our turn.
    #[error("cancelled while waiting for {what}; nothing was done")]
    Cancelled {
        /// What was in use.
        what: String,
    },
    /// An answer that is none, or comes too late.
    #[error(transparent)]
    NotAnswered(#[from] NotAnswered),
    /// The journal could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The agent was launched, and the journal could not be written to the end of the turn.
    #[error(
        "{cause}; of this turn the prompt is kept and what was written before that, the rest and how it ended is not surely on the disk: look with `rejoin show {conversation}` before you go on"
    )]
    Unrecorded {
        /// The conversation, as it is shown.
        conversation: String,
        /// What the disk said first.
        cause: Arc<JournalError>,
    },
    /// The system refused something else.
    #[error("{what}: {cause}")]
    System {
        /// What was tried.
        what: String,
        /// What it said.
        cause: std::io::Error,
    },
}

fn by(owner: Option<&Owner>) -> String {
    match owner {
        Some(owner) => format!(" by {owner}"),
        None => String::new(),
    }
}

impl TurnError {
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> TurnError {
        let what = what.into();
        move |cause| TurnError::System { what, cause }
    }

    pub(crate) fn panicked() -> TurnError {
        let cause = std::io::Error::other("a thread of rejoin panicked");
        TurnError::System { what: "the turn was lost, this is a bug in rejoin".into(), cause }
    }
}

impl From<Refusal> for TurnError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Permissions(text) => TurnError::Permission(text),
            Refusal::Unsupported(text) => TurnError::Usage(text),
        }
    }
}
