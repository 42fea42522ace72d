use std::path::Path;
use std::sync::Arc;

use rejoin_core::compose::Composed;
use rejoin_core::{Event, MessageId, Permissions, Usage};

use crate::{Attached, Step};

/// One turn, as it is put to an agent that runs or is about to.
pub struct TurnRequest<'a> {
    /// Which session and which words.
    pub composed: &'a Composed,
    /// Files that go along with the words, all of a kind it [takes](crate::Definition::takes).
    pub attachments: &'a [Attached],
    /// The directory their copies will be in, if [`Process::copies`](crate::Process::copies) asks for them.
    pub copies: &'a Path,
    /// The model, if one was named.
    pub model: Option<&'a str>,
    /// What the agent may do.
    pub permissions: Permissions,
    /// Somebody is there to answer questions.
    pub can_ask: bool,
    /// The session's total before this turn, for agents that count the whole session.
    pub total_before: Usage,
    /// Ids for new messages.
    pub ids: IdSource,
}

/// Where ids of new messages come from.
pub type IdSource = Arc<dyn Fn() -> MessageId + Send + Sync>;

/// The code of a warning that is told before a turn begins.
pub(crate) const BEFOREHAND: &str = "launch";

/// What the user should know before the words are sent.
pub(crate) fn warning(text: impl Into<String>) -> Step {
    Step::Emit(Event::Warning { code: BEFOREHAND.into(), text: text.into() })
}

/// Takes out of the steps of [`Driver::begin_turn`](crate::Driver::begin_turn) what the user should be told
/// before they are carried out.
pub fn warnings_beforehand(steps: &mut Vec<Step>) -> Vec<String> {
    let told = steps
        .extract_if(.., |step| matches!(step, Step::Emit(Event::Warning { code, .. }) if code == BEFOREHAND));
    let text = |step| match step {
        Step::Emit(Event::Warning { text, .. }) => Some(text),
        _ => None,
    };
    told.filter_map(text).collect()
}
