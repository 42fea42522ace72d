//! The vocabulary of rejoin and its pure decisions.
//!
//! Nothing in this crate touches a file, a process, a clock or a source of randomness: every
//! decision takes values and returns values. Read [`plan`] first; it is the product.

/// Tells these sources from any others: what one build folded from a journal, another one may not believe.
pub const SOURCES: &str = env!("REJOIN_CORE_SOURCES");

mod agent;
mod answer_text;
mod attachment;
pub mod compose;
mod conversation;
mod divergence;
mod event;
mod ids;
mod mark;
mod message;
mod origin;
mod outcome;
mod permissions;
mod pin;
mod pin_life;
mod pins;
pub mod plan;
mod project_marks;
mod question;
mod quote;
mod reason;
mod receipt;
mod record;
mod request_key;
mod retell;
mod shorten;
mod slice;
mod stand_in;
mod system;
mod told;
mod told_messages;
mod tool_call;
mod tree;
mod usage;
mod visible;

pub use agent::Agent;
pub use answer_text::AnswerText;
pub use attachment::Attachment;
pub use conversation::Conversation;
pub use divergence::{Divergence, divergence};
pub use event::{Event, SCHEMA_VERSION, Stream};
pub use ids::{ConversationId, InvalidSessionId, MessageId, SessionId, TurnId};
pub use mark::Mark;
pub use message::{Content, Message, Part};
pub use origin::{Origin, SaidHere, Settings, not_counted, pins_to_weigh};
pub use outcome::{FailureClass, Outcome};
pub use permissions::{Incomparable, Limit, LimitedBy, Permissions};
pub use pin::{Pin, PinState, Repeated, Witness};
pub use pin_life::{LaunchEnd, PinBinding, PinLife};
pub use pins::Pins;
pub use plan::Plan;
pub use project_marks::{DirectoryMark, Kinship, ProjectMarks};
pub use question::{
    AnsweredBy, AskedQuestion, OptionKind, Question, QuestionAnswer, QuestionOption, QuestionState,
    Questions, UnfitAnswer,
};
pub use reason::Reason;
pub use receipt::{Decision, Receipt};
pub use record::{Envelope, Kind, Native, Record};
pub use request_key::{InvalidRequestKey, RequestKey};
pub use retell::{Reteller, Retold, ToldRecord};
pub use slice::{Scope, Slice};
pub use stand_in::StandIn;
pub use system::{AgentSession, Asked, ConversationInfo, Intent, System};
pub use told::{Change, Prompt, Told};
pub use tool_call::{CallNote, CallStatus, ToolCall, call_description, call_words, tool_calls};
pub use tree::{Calls, Edit, Gap, Launch, Tree, Turn, TurnState};
pub use usage::Usage;
pub use visible::{visible, visible_line};
