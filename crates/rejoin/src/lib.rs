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
//! # Where to look
//!
//! | to | use |
//! |---|---|
//! | describe a turn and run it | [`Rejoin::project`], [`TurnBuilder`]; [`TurnRequest`] is the same as plain data, to be stored or sent |
//! | go on with another agent where a limit is reached | [`TurnBuilder::fallback`], [`TurnBuilder::on_handover`] |
//! | have a turn go on beside your program | [`TurnBuilder::start`], [`TurnHandle`]: events, answers, cancel, join |
//! | reach a turn of another process | [`Rejoin::ask_to_cancel`], [`Rejoin::ask_to_answer`] |
//! | know before what a turn would do | [`TurnBuilder::why`] (each guard of resuming), [`TurnBuilder::dry_run`] (the command line) |
//! | find conversations | [`Rejoin::list`], [`Rejoin::search`], [`Rejoin::stats`], [`Rejoin::view`] by what a person types |
//! | read one | [`ConversationView`]: turns, messages, tool calls, questions, states; [`ConversationView::shown`] for all of it at once |
//! | change one between turns | [`ConversationView::rename`], [`tag`](ConversationView::tag), [`branch`](ConversationView::branch), [`rewind`](ConversationView::rewind), [`amend`](ConversationView::amend), [`remove`](ConversationView::remove); [`Rejoin::fork`] |
//! | take in what agents keep themselves | [`Rejoin::agent_sessions`], [`Rejoin::adopt`] |
//! | take conversations along | [`ConversationView::export`], [`Rejoin::import`], [`Rejoin::move_project`] |
//! | keep a chat's state | [`ChatState`] |
//! | look after agents and journals | [`Rejoin::agents`], [`Rejoin::doctor`], [`Rejoin::check_home`], [`Rejoin::check`], [`Rejoin::prunable`] |
//!
//! Results that the command prints with `--json` are types here, and serialise to the same. What was not done is an
//! [`Error`]; a turn that ran and failed is an [`Outcome`]. [`exit_code`] has the command's number for each.
//!
//! # The supervisor
//!
//! Agents run below a small supervisor process, the `rejoin` executable: it is looked for in
//! `$REJOIN_HELPER`, beside the running program, and on `PATH`. Without it supervision is reduced
//! (children may outlive a crash) and every turn says so; the embedded `demo` agent needs it, too.
//!
//! Everything here waits on the thread that calls it. With the feature `tokio` (off by default), `AsyncTurn`
//! is a turn to be awaited.

mod adopt;
mod after_limit;
mod agent_sessions;
mod agents;
#[cfg(feature = "tokio")]
mod async_turn;
mod builder;
mod chat_state;
mod check_home;
mod check_journal;
mod code_spans;
mod come_along;
mod config;
mod conversation_view;
mod derived_id;
mod doctor;
mod duration;
mod edit_conversation;
mod error;
pub mod exit_code;
mod export;
mod fallback;
mod find_conversation;
mod find_message;
mod fork;
mod former_projects;
mod handover;
mod home;
mod limit_words;
mod list;
mod move_project;
mod name;
mod original_wording;
mod other_processes;
mod projects;
mod prune;
mod request;
mod resolve;
mod search;
mod session_cache;
mod settings;
mod shown;
mod state_digest;
mod stats;
mod text_width;
mod tree_rows;
mod turn_options;
mod turn_result;
mod turn_status;
mod why;

pub use adopt::{AdoptOutcome, AdoptReport, AdoptRequest, AdoptedSession, WantedSessions};
pub use agent_sessions::{ListedSession, PassedOverFile, SessionFilter, SessionListing};
pub use agents::{AgentReport, known_agents};
#[cfg(feature = "tokio")]
pub use async_turn::AsyncTurn;
pub use builder::TurnBuilder;
pub use chat_state::{ChatConversation, ChatStart, ChatState};
pub use check_home::HomeCheckup;
pub use check_journal::{JournalCheck, JournalProblem};
pub use code_spans::{CodeColours, CodeKind, CodeSpan};
pub use config::{AgentConfig, BuiltNotify, Config, Notify, ProjectConfig, Resume, suggestion};
pub use conversation_view::ConversationView;
pub use derived_id::derived_id;
pub use doctor::{AgentCheck, AgentCheckup, Finding};
pub use duration::parse_duration;
pub use edit_conversation::{MovedHead, Rewind};
pub use error::Error;
pub use export::{Format, ImportOutcome, Imported, Redactor};
pub use former_projects::{FormerProject, OtherCheckout, OtherPlaces};
pub use handover::{Handover, Handovers};
pub use home::Rejoin;
pub use limit_words::{limit_words, resets_words};
pub use list::{ListFilter, ListedConversation, Listing};
pub use name::check_name;
pub use projects::ListedProject;
pub use prune::PruneFilter;
pub use rejoin_agents::{Answer, Capabilities};
pub use rejoin_core::plan::Guard;
pub use rejoin_core::{
    Agent, AnsweredBy, AskedQuestion, Attachment, CallNote, CallStatus, Calls, Change, Content, Conversation,
    ConversationId, ConversationInfo, Decision, Divergence, Event, FailureClass, Gap, Kind, Message,
    MessageId, OptionKind, Origin, Outcome, Part, Permissions, Pin, PinState, Prompt, Question,
    QuestionAnswer, QuestionOption, QuestionState, Reason, Receipt, SaidHere, Scope, SessionId, StandIn,
    Stream, Told, ToolCall, Turn, TurnId, TurnState, UnfitAnswer, Usage, call_words, visible, visible_line,
};
pub use rejoin_engine::{
    CancelWatch, Canceller, CommandEnd, CommandOutcome, ConversationWatch, DryRun, Events, Helper,
    KeptAttachment, Limits, NextEvent, NextEvents, NotAnswered, OpenQuestion, SUPERVISE, ShellCommand,
    TurnError, TurnHandle, TurnOutcome, WatchedEvents, end_left, project_of, runs_inside, supervisor_main,
};
pub use rejoin_index::{ConversationState, Grouping, ListPlace, Progress, Query, TextSource};
pub use rejoin_journal::{BlobId, Cursor, JournalError, Owner, Problem, Process};
pub use request::{TurnRequest, WantedConversation, WantedMessage, WantedPlace};
pub use search::{SearchFilter, SearchHit, SearchResults};
pub use settings::{Setting, SettingOrigin};
pub use shown::{ShownConversation, ShownMessage, ShownOrigin, ShownTurn};
pub use stats::{GroupCounts, Stats, StatsFilter, TurnCounts};
pub use text_width::{cut_to_width, one_line};
pub use tree_rows::TreeRow;
pub use turn_options::TurnOptions;
pub use turn_result::{BrokenOffTurn, TurnResult};
pub use turn_status::TurnStatus;
pub use why::{GuardCheck, Why};
