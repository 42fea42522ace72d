//! What a turn looks like: stdout is data, stderr is talk.

use rejoin::{
    BrokenOffTurn, ConversationId, Decision, Event, MessageId, Outcome, Reason, Receipt, Rejoin, Stream,
    TurnOutcome, TurnResult, call_words,
};

use crate::chat::ToolCallLines;
use crate::commands::turn_args::Output;
use crate::markdown::Markdown;
use crate::screen::{WhileRead, label};
use crate::{style, tty};

/// Prints a turn while it happens.
#[allow(clippy::struct_excessive_bools, reason = "three independent facts about the stream")]
pub(crate) struct TurnPrinter<'a> {
    rejoin: &'a Rejoin,
    output: Output,
    stdout: WhileRead,
    /// The message being printed and how much of it was.
    printed: Option<(MessageId, usize)>,
    at_line_start: bool,
    begun: bool,
    ended: bool,
    stderr_lines: Vec<String>,
    /// In a live conversation: the answer as Markdown, tool calls with what became of them.
    live: Option<(Markdown, ToolCallLines)>,
}

impl<'a> TurnPrinter<'a> {
    pub(crate) fn new(rejoin: &'a Rejoin, output: Output) -> Self {
        Self {
            rejoin,
            output,
            stdout: WhileRead::default(),
            printed: None,
            at_line_start: true,
            begun: false,
            ended: false,
            stderr_lines: Vec::new(),
            live: None,
        }
    }

    /// For a person in a live conversation.
    pub(crate) fn live(rejoin: &'a Rejoin) -> Self {
        let live = Some((Markdown::new(style::colour()), ToolCallLines::default()));
        Self { live, ..Self::new(rejoin, Output::Text) }
    }

    /// Takes in one event.
    pub(crate) fn event(&mut self, event: &Event) {
        self.begun = true;
        self.ended |= matches!(event, Event::Result { .. });
        match self.output {
            Output::StreamJson => {
                if let Ok(line) = serde_json::to_string(event) {
                    self.stdout.json(&(line + "\n"));
                }
            }
            Output::Text => self.show(event),
            Output::Json => Self::warn_only(event),
        }
    }

    fn warn_only(event: &Event) {
        if let Event::Warning { code, text } = event
            && (code != "retry" || style::on_terminal())
        {
            style::loud(&format!("! {text}"));
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Init { agent, plan, number, bytes, conversation, attachments, .. } => {
                let other_turns = |id| self.rejoin.turns(id).is_ok_and(|turns| turns > 1);
                style::talk(&headline(agent.as_str(), plan, *number, *bytes, *conversation, &other_turns));
                for attachment in attachments {
                    style::talk(&format!("  + {}", style::attachment(attachment)));
                }
            }
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                self.text(*message, *offset, text);
            }
            // A person likes to see what goes on; a log of a script would drown in it.
            Event::ToolUse { id, name, input, parent: None, .. } if style::on_terminal() => {
                self.end_words();
                let words = call_words(input);
                match &mut self.live {
                    Some((_, calls)) => calls.begin(id, name, &words),
                    None => style::talk(&format!("  ⚙ {} {}", label(name), style::one_line(&words, 80))),
                }
            }
            Event::ToolResult { id, output, error, parent: None, .. } if self.live.is_some() => {
                self.end_words();
                if let Some((_, calls)) = &mut self.live {
                    calls.end(id, output, *error);
                }
            }
            Event::Warning { .. } => {
                self.end_line();
                Self::warn_only(event);
            }
            Event::ResumeRejected { agent, session, text } => {
                self.end_line();
                let (agent, session) = (label(agent.as_str()), label(style::short_session(session)));
                style::loud(&format!(
                    "○ {agent} · would not resume {session} ({text}) · fresh session, the whole history is replayed"
                ));
            }
            Event::Question(_) if self.live.is_some() => self.end_line(),
            Event::QuestionWithdrawn { .. } if style::on_terminal() => {
                self.end_line();
                style::talk("  the agent took its question back");
            }
            Event::Compaction { text } => {
                if self.live.is_some() {
                    self.end_line();
                }
                style::talk(&format!("  the agent compacted its memory: {text}"));
            }
            Event::Diagnostic { stream: Stream::Stderr, text } if self.stderr_lines.len() < 20 => {
                self.stderr_lines.push(text.clone());
            }
            _ => {}
        }
    }

    /// Prints of a piece or a block only what was not printed yet.
    fn text(&mut self, message: MessageId, offset: usize, text: &str) {
        let done = match self.printed {
            Some((id, done)) if id == message => done,
            _ => {
                if self.printed.is_some() {
                    self.end_text();
                    self.stdout.print(&"\n".into());
                }
                0
            }
        };
        let new = match done.checked_sub(offset) {
            Some(known) => text.get(known..).unwrap_or_default(),
            None => text,
        };
        self.printed = Some((message, done.max(offset + text.len())));
        if !new.is_empty() {
            match &mut self.live {
                Some((markdown, calls)) => {
                    calls.interrupt();
                    let shown = markdown.feed(new, tty::text_columns());
                    self.stdout.print(&shown);
                }
                // A program gets the answer as it is.
                None => self.stdout.data(new),
            }
            self.at_line_start = new.ends_with('\n');
        }
    }

    /// Ends the line on the screen, whatever stands on it.
    fn end_line(&mut self) {
        self.end_words();
        if let Some((_, calls)) = &mut self.live {
            calls.interrupt();
        }
    }

    /// Ends a line of the answer.
    fn end_words(&mut self) {
        if let Some((markdown, _)) = &mut self.live {
            let held = markdown.end_line();
            self.stdout.print(&held);
        } else if !self.at_line_start {
            self.stdout.print(&"\n".into());
        }
        self.at_line_start = true;
    }

    /// Ends a message of the answer.
    fn end_text(&mut self) {
        self.end_line();
        if let Some((markdown, _)) = &mut self.live {
            markdown.end();
        }
    }

    /// The last line of a turn that ran.
    pub(crate) fn finish(&mut self, outcome: &TurnOutcome) -> anyhow::Result<()> {
        let receipt = outcome.receipt();
        match self.output {
            Output::StreamJson => {}
            Output::Json => {
                let object = serde_json::to_value(TurnResult::from(outcome))?;
                self.stdout.json(&(serde_json::to_string_pretty(&object)? + "\n"));
            }
            Output::Text => {
                self.end_text();
                if matches!(receipt.outcome, Outcome::Failed { .. }) {
                    for line in &self.stderr_lines {
                        style::talk(&format!("  {line}"));
                    }
                }
                let line = closing_line(receipt);
                if receipt.outcome == Outcome::Completed { style::talk(&line) } else { style::loud(&line) }
            }
        }
        Ok(())
    }

    /// rejoin itself failed in the middle: the stream still gets its one closing line.
    pub(crate) fn broke_off(&mut self, error: &rejoin::Error) {
        if self.output == Output::StreamJson && self.begun && !self.ended {
            if let Ok(line) = serde_json::to_value(BrokenOffTurn::from(error)) {
                self.stdout.json(&format!("{line}\n"));
            }
        } else {
            self.end_line();
        }
    }
}

/// `● claude · resumed 4f1c2a9e · turn 4 · 10 bytes sent`
pub(crate) fn headline(
    agent: &str,
    plan: &Decision,
    number: usize,
    bytes: usize,
    conversation: Option<ConversationId>,
    other_turns: &dyn Fn(ConversationId) -> bool,
) -> String {
    let (agent, bytes) = (label(agent), style::bytes(bytes));
    match plan {
        Decision::Resume { session, catch_up } => {
            let session = label(style::short_session(session));
            let told = match catch_up {
                0 => String::new(),
                count => format!(" · told {} it missed", style::plural(*count, "turn")),
            };
            format!("● {agent} · resumed {session} · turn {number}{told} · {bytes} sent")
        }
        Decision::Fresh { why: Reason::FirstTurn, .. } => match conversation {
            // The head stood before its first turn.
            Some(id) if other_turns(id) => {
                format!("○ {agent} · conversation {} from its beginning · {bytes} sent", id.short())
            }
            Some(id) => format!("○ {agent} · new conversation {} · {bytes} sent", id.short()),
            None => format!("○ {agent} · {bytes} sent"),
        },
        Decision::Fresh { why, replayed: 0 } => format!("○ {agent} · fresh: {} · {bytes} sent", reason(why)),
        Decision::Fresh { why, replayed } => {
            format!(
                "○ {agent} · fresh: {} · {} replayed, {bytes}",
                reason(why),
                style::plural(*replayed, "turn")
            )
        }
    }
}

/// A reason with paths as people write them.
fn reason(why: &Reason) -> String {
    let words = match why {
        Reason::WorkdirChanged { was, now } => {
            Reason::WorkdirChanged { was: style::home_path(was), now: style::home_path(now) }.to_string()
        }
        Reason::StoreChanged { was, now } => {
            Reason::StoreChanged { was: style::home_path(was), now: style::home_path(now) }.to_string()
        }
        why => why.to_string(),
    };
    label(&words)
}

/// `✓ 12.4 s · 1,204 in (11,980 cached) · 310 out · $0.021`
fn closing_line(receipt: &Receipt) -> String {
    let mut parts = vec![match &receipt.outcome {
        Outcome::Completed => format!("✓ {}", style::elapsed(receipt.milliseconds)),
        Outcome::Failed { class, message } => {
            format!("✗ failed: {} · {}", class.words(), style::one_line(message, 300))
        }
        Outcome::Timeout { message } => format!("✗ timeout: {message}"),
        Outcome::Cancelled => "■ cancelled".to_owned(),
    }];
    if let Some(usage) = receipt.usage.filter(|usage| !usage.is_zero()) {
        let cached = match usage.cached {
            0 => String::new(),
            cached => format!(" ({} cached)", style::number(cached)),
        };
        parts.push(format!("{} in{cached}", style::number(usage.input)));
        parts.push(format!("{} out", style::number(usage.output)));
    }
    if let Some(cost) = receipt.cost.filter(|cost| *cost > 0.0) {
        parts.push(format!("${cost:.3}"));
    }
    if let Some(id) = receipt.conversation.filter(|_| receipt.outcome != Outcome::Completed) {
        parts.push(format!("what was said is kept, go on with `rejoin run -r {}`", id.short()));
    }
    parts.join(" · ")
}
