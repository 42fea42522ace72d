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

mod builder;
mod change;
mod config;
mod doctor;
mod duration;
mod error;
mod export;
mod find;
mod find_message;
mod home;
mod keep;
mod list;
mod name;
mod request;
mod resolve;
mod search;
mod stats;
mod view;

pub use builder::TurnBuilder;
pub use change::{Moved, Rewind};
pub use config::{AgentConfig, Config, ProjectConfig, Resume, suggestion};
pub use doctor::{Check, Checkup, Finding};
pub use duration::parse_duration;
pub use error::Error;
pub use export::{Format, Imported, Redactor, Taken};
pub use home::Rejoin;
pub use keep::Checked;
pub use list::{ListFilter, Listed, Listing};
pub use name::check_name;
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
    CancelWatch, Canceller, Check as GuardCheck, CommandEnd, CommandOutcome, DryRun, Events, Helper, Limits,
    NextEvent, OpenQuestion, SUPERVISE, ShellCommand, TurnError, TurnHandle, TurnOutcome, Why, end_left,
    supervisor_main,
};
pub use rejoin_index::{
    Bar, ConversationState as State, Grouping, Hit, Progress, Query, Stats, Summary, TextSource as Source,
};
pub use request::{TurnRequest, WantedConversation, WantedPlace};
pub use search::{Found, SearchFilter};
pub use stats::{Counted, StatsFilter};
pub use view::{AgentReport, ConversationView, known_agents};
