//! Coding agents that remember.
//!
//! One call runs one turn of Claude Code, Codex or another agent. Every follow-up turn resumes the
//! agent's own session by its real id when that is provably safe; otherwise the history is replayed
//! and the reason is told. It never forgets silently.
//!
//! ```no_run
//! use rejoin::{Agent, Rejoin};
//!
//! # fn main() -> Result<(), rejoin::Error> {
//! let rejoin = Rejoin::open()?;
//! let first = rejoin.project(".").agent(Agent::Codex).prompt("diagnose the bug").run(|_| {})?;
//! println!("{} (session {:?})", first.text(), first.session_id());
//!
//! let second = rejoin.project(".").continue_latest().prompt("now fix it").run(|event| {
//!     if let rejoin::Event::TextDelta { text, .. } = event {
//!         print!("{text}");
//!     }
//! })?;
//! assert!(second.receipt().plan.resumes());
//! # Ok(())
//! # }
//! ```
//!
//! Agents run below a small supervisor process, the `rejoin` executable: it is looked for in
//! `$REJOIN_HELPER`, beside the running program, and on `PATH`. Without it supervision is reduced
//! (children may outlive a crash) and every turn says so; the embedded `demo` agent needs it, too.
//!
//! Everything here waits on the thread that calls it. With the feature `tokio` (off by default), `AsyncTurn`
//! is a turn to be awaited.

mod agents;
#[cfg(feature = "tokio")]
mod async_turn;
mod builder;
mod chat_state;
mod check_journal;
mod config;
mod conversation_view;
mod doctor;
mod duration;
mod edit_conversation;
mod error;
mod export;
mod find_conversation;
mod find_message;
mod fork;
mod home;
mod list;
mod move_project;
mod name;
mod prune;
mod request;
mod resolve;
mod search;
mod shown;
mod stats;
mod text_width;
mod tree_rows;
mod turn_options;
mod turn_result;
mod turn_status;
mod why;

pub use agents::{AgentReport, known_agents};
#[cfg(feature = "tokio")]
pub use async_turn::AsyncTurn;
pub use builder::TurnBuilder;
pub use chat_state::{ChatConversation, ChatStart, ChatState};
pub use check_journal::{JournalCheck, JournalProblem};
pub use config::{AgentConfig, Config, ProjectConfig, Resume, suggestion};
pub use conversation_view::ConversationView;
pub use doctor::{Check, Checkup, Finding};
pub use duration::parse_duration;
pub use edit_conversation::{MovedHead, Rewind};
pub use error::Error;
pub use export::{Format, ImportOutcome, Imported, Redactor};
pub use home::Rejoin;
pub use list::{ConversationState, ListFilter, ListedConversation, Listing};
pub use name::check_name;
pub use prune::PruneFilter;
pub use rejoin_agents::{Answer, Capabilities};
pub use rejoin_core::plan::Guard;
pub use rejoin_core::{
    Agent, AnsweredBy, AskedQuestion, Attachment, CallNote, CallStatus, Calls, Choice, ChoiceKind, Content,
    Conversation, ConversationId, ConversationInfo, Decision, Divergence, Event, FailureClass, Gap, Kind,
    Message, MessageId, Origin, Outcome, Part, Permissions, Pin, PinState, Question, QuestionAnswer,
    QuestionState, Reason, Receipt, SaidHere, Scope, SessionId, Stream, ToolCall, Turn, TurnId, TurnState,
    Usage, call_words, visible, visible_line,
};
pub use rejoin_engine::{
    CancelWatch, Canceller, CommandEnd, CommandOutcome, DryRun, Events, Helper, KeptAttachment, Limits,
    NextEvent, OpenQuestion, SUPERVISE, ShellCommand, TurnError, TurnHandle, TurnOutcome, end_left,
    supervisor_main,
};
pub use rejoin_index::{Grouping, Progress, Query, TextSource as Source};
pub use rejoin_journal::{BlobId, JournalError, Owner, Problem, Process};
pub use request::{TurnRequest, WantedConversation, WantedMessage, WantedPlace};
pub use search::{SearchFilter, SearchHit, SearchResults};
pub use shown::{ShownConversation, ShownMessage, ShownOrigin, ShownTurn};
pub use stats::{Stats, StatsFilter, TurnCounts};
pub use text_width::{cut_to_width, one_line};
pub use tree_rows::TreeRow;
pub use turn_options::TurnOptions;
pub use turn_result::{BrokenOffTurn, TurnResult};
pub use turn_status::TurnStatus;
pub use why::{GuardCheck, Why};
