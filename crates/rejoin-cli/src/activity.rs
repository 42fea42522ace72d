//! What the agent does now, in a few words, told by the events of its turn.

use rejoin::{Decision, Event, Usage, call_words};

use crate::screen::label;
use crate::style;

/// Of more calls at a time than this, the oldest are forgotten.
const MOST_CALLS: usize = 256;

/// What the agent does now.
pub(crate) struct Activity {
    words: String,
    /// Calls of tools that have not come back: their ids, and what each is about.
    calls: Vec<(String, String)>,
    usage: Option<Usage>,
}

impl Activity {
    /// Before the first event.
    pub(crate) fn new(words: &str) -> Self {
        Self { words: words.to_owned(), calls: Vec::new(), usage: None }
    }

    /// Takes in one event.
    pub(crate) fn take(&mut self, event: &Event) {
        let words = match event {
            Event::Init { plan: Decision::Resume { session, .. }, .. } => {
                format!("resuming {}", label(style::short_session(session)))
            }
            Event::Init { agent, .. } => format!("starting {}", label(agent.as_str())),
            Event::ResumeRejected { agent, .. } => format!("starting {} anew", label(agent.as_str())),
            Event::Thinking { .. } => "thinking".to_owned(),
            Event::TextDelta { .. } => "answering".to_owned(),
            // Whether more comes only the agent knows.
            Event::Message { .. } | Event::Compaction { .. } => "waiting for the agent".to_owned(),
            Event::Session { .. } | Event::QuestionAnswered(_) | Event::QuestionWithdrawn { .. } => {
                "waiting for the model".to_owned()
            }
            Event::Question(_) => "waiting for an answer".to_owned(),
            Event::Warning { code, text } if code == "retry" => {
                format!("retrying: {}", style::one_line(text, 200))
            }
            Event::ToolUse { id, name, input, .. } => {
                let about = format!("{} {}", style::cut(name, 30), style::one_line(&call_words(input), 200));
                self.calls.push((id.clone(), about.trim_end().to_owned()));
                self.calls.drain(..self.calls.len().saturating_sub(MOST_CALLS));
                return;
            }
            Event::ToolResult { id, .. } => {
                self.calls.retain(|(open, _)| open != id);
                "waiting for the model".to_owned()
            }
            Event::Usage { usage, .. } => {
                self.usage = Some(*usage);
                return;
            }
            _ => return,
        };
        self.words = words;
    }

    /// `thinking`, `⚙ shell cargo test`, `waiting for the model`.
    pub(crate) fn words(&self) -> String {
        match &self.calls[..] {
            [] => self.words.clone(),
            [(_, about)] => format!("⚙ {about}"),
            [others @ .., (_, about)] => format!("⚙ {about} (and {} more)", others.len()),
        }
    }

    /// Tokens of the turn so far, where the agent tells.
    pub(crate) fn tokens(&self) -> Option<Usage> {
        self.usage.filter(|usage| !usage.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use rejoin::{Agent, MessageId};

    use super::*;

    fn call(id: &str, command: &str) -> Event {
        let input = serde_json::json!({ "command": command });
        let (id, message) = (id.to_owned(), MessageId::new(uuid::Uuid::nil()));
        Event::ToolUse { message, id, name: "shell".into(), input, parent: None }
    }

    fn back(id: &str) -> Event {
        let message = MessageId::new(uuid::Uuid::nil());
        Event::ToolResult { message, id: id.into(), output: String::new(), error: false, parent: None }
    }

    #[test]
    fn the_newest_call_that_has_not_come_back_is_told() {
        let mut activity = Activity::new("getting ready");
        assert_eq!(activity.words(), "getting ready");
        activity.take(&call("1", "cargo test"));
        activity.take(&call("2", "sleep 30\nand more"));
        assert_eq!(activity.words(), "⚙ shell sleep 30 (and 1 more)");
        activity.take(&back("2"));
        assert_eq!(activity.words(), "⚙ shell cargo test");
        activity.take(&back("1"));
        assert_eq!(activity.words(), "waiting for the model");
    }

    #[test]
    fn a_retry_tells_why_and_a_session_that_it_is_there() {
        let mut activity = Activity::new("");
        let session =
            Event::Session { agent: Agent::Claude, session: "s".into(), model: None, agent_version: None };
        activity.take(&session);
        assert_eq!(activity.words(), "waiting for the model");
        activity.take(&Event::Warning { code: "retry".into(), text: "the service is overloaded".into() });
        assert_eq!(activity.words(), "retrying: the service is overloaded");
        activity.take(&Event::Warning { code: "lossy".into(), text: "something else".into() });
        assert_eq!(activity.words(), "retrying: the service is overloaded");
        assert_eq!(activity.tokens(), None);
    }
}
