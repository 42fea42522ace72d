//! What a turn looks like: stdout is data, stderr is talk.
//!
//! On a terminal the answer is rendered, tool calls have a line each with what became of them, and a status line tells
//! what the agent does now. A program gets the answer as it came.

use rejoin::{
    BrokenOffTurn, Event, MessageId, Outcome, Question, QuestionAnswer, Rejoin, Stream, TurnOutcome,
    TurnResult, call_words,
};

use crate::chat::ToolCallLines;
use crate::commands::turn_args::{Look, Output};
use crate::markdown::Markdown;
use crate::screen::{self, Painted, WhileRead, label};
use crate::status_line::{After, StatusHandle, StatusLine};
use crate::thoughts::{Thinking, Thoughts};
use crate::turn_words::{self, Headline, Stage, closing_line, go_on};
use crate::{style, tty};

/// Prints a turn while it happens.
#[allow(clippy::struct_excessive_bools, reason = "independent facts about the streams")]
pub(crate) struct TurnPrinter<'a> {
    rejoin: &'a Rejoin,
    output: Output,
    look: Look,
    /// The person goes on at the prompt: how to is not said.
    in_chat: bool,
    stdout: WhileRead,
    /// The answer is seen on a terminal.
    is_seen: bool,
    /// The message being printed and how much of it was.
    printed: Option<(MessageId, usize)>,
    at_line_start: bool,
    begun: bool,
    /// A turn was shown.
    shown: bool,
    ended: bool,
    stderr_lines: Vec<String>,
    /// Questions that were not answered yet.
    questions: Vec<Question>,
    /// What is said once the agent has confirmed its session, or says something else.
    headline: Option<Headline>,
    /// The answer as Markdown.
    markdown: Option<Markdown>,
    /// Tool calls with what became of them.
    calls: Option<ToolCallLines>,
    thoughts: Thoughts,
    status: StatusLine,
}

impl<'a> TurnPrinter<'a> {
    /// From here on the status line is seen, if it is wanted.
    pub(crate) fn new(rejoin: &'a Rejoin, output: Output, look: Look) -> Self {
        let is_seen = tty::on_stdout();
        let is_in_the_way = output == Output::StreamJson && is_seen;
        let has_status = !look.quiet && !is_in_the_way;
        let usual = if style::on_terminal() { Thinking::Brief } else { Thinking::Off };
        let thinking = if look.quiet { Thinking::Off } else { look.thinking.unwrap_or(usual) };
        Self {
            rejoin,
            output,
            look,
            in_chat: false,
            stdout: WhileRead::default(),
            is_seen,
            printed: None,
            at_line_start: true,
            begun: false,
            shown: false,
            ended: false,
            stderr_lines: Vec::new(),
            questions: Vec::new(),
            headline: None,
            markdown: (is_seen && !look.plain).then(|| Markdown::new(style::stdout_colour())),
            calls: style::on_terminal().then(ToolCallLines::default),
            thoughts: Thoughts::new(thinking),
            status: StatusLine::begin(has_status, "getting ready"),
        }
    }

    /// For a turn of a live conversation.
    pub(crate) fn in_chat(rejoin: &'a Rejoin, look: Look) -> Self {
        Self { in_chat: true, ..Self::new(rejoin, Output::Text, look) }
    }

    /// The turn may have to wait before it begins.
    pub(crate) fn may_wait(&self) {
        self.status.begins_with("waiting while the conversation is in use");
    }

    /// For whoever stops the turn, from another thread.
    pub(crate) fn status(&self) -> StatusHandle {
        self.status.handle()
    }

    /// Takes in one event.
    pub(crate) fn event(&mut self, event: &Event) {
        self.begun = true;
        self.ended |= matches!(event, Event::Result { .. });
        self.status.event(event);
        match self.output {
            Output::StreamJson => {
                if let Ok(line) = serde_json::to_string(event) {
                    self.stdout.json(&(line + "\n"));
                }
            }
            Output::Text => self.show(event),
            Output::Json => self.warn_only(event),
        }
    }

    fn warn_only(&self, event: &Event) {
        let Event::Warning { code, text } = event else { return };
        // That it tries again is told by the status line while it does; a log would drown in it.
        if code == "retry" && (self.status.is_drawn() || !style::on_terminal() || self.look.quiet) {
            return;
        }
        self.status.clear();
        style::loud(&format!("! {text}"));
        self.status.put_back(After::Line);
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::Init { agent, plan, number, bytes, conversation, attachments, .. } => {
                // Another agent goes on: what the one before it said, stays.
                if self.shown {
                    self.end_text();
                    self.stderr_lines.clear();
                    self.questions.clear();
                }
                self.shown = true;
                let headline = Headline {
                    agent: agent.to_string(),
                    plan: plan.clone(),
                    number: *number,
                    bytes: *bytes,
                    conversation: *conversation,
                    others: conversation.is_some_and(|id| self.rejoin.turns(id).is_ok_and(|turns| turns > 1)),
                };
                let resumes = plan.resumes();
                self.headline = Some(headline);
                if !resumes {
                    self.say_headline(Stage::Asked);
                }
                for attachment in attachments {
                    self.talk(&format!("  + {}", style::attachment(attachment)));
                }
            }
            // A session other than the one that was asked for is never told of.
            Event::Session { .. } => self.say_headline(Stage::Confirmed),
            Event::TextDelta { message, offset, text } | Event::Message { message, offset, text, .. } => {
                self.text(*message, *offset, text);
            }
            Event::Thinking { text, .. } => {
                if let Some(thought) = self.thoughts.feed(text) {
                    self.say_headline(Stage::Asked);
                    self.end_answer_line();
                    self.say_thought(&thought);
                }
            }
            // A person likes to see what goes on; a log of a script would drown in it.
            Event::ToolUse { id, name, input, parent: None, .. } if !self.look.quiet => {
                self.say(false, |calls| {
                    if let Some(calls) = calls {
                        calls.begin(id, name, &call_words(input));
                    }
                });
            }
            Event::ToolResult { id, output, error, parent: None, .. } if !self.look.quiet => {
                self.say(false, |calls| {
                    if let Some(calls) = calls {
                        calls.end(id, output, *error);
                    }
                });
            }
            Event::Warning { .. } => {
                self.end_line();
                self.warn_only(event);
            }
            Event::ResumeRejected { agent, session, text } => {
                let (agent, session) = (label(agent.as_str()), label(style::short_session(session)));
                self.loud(&format!(
                    "○ {agent} · would not resume {session} ({text}) · fresh session, the whole history is replayed"
                ));
            }
            Event::Question(question) => {
                self.end_line();
                self.questions.push(question.clone());
            }
            Event::QuestionAnswered(answer) => self.answered(answer),
            Event::QuestionWithdrawn { .. } if style::on_terminal() => {
                self.talk("  the agent took its question back");
            }
            Event::Compaction { text } => self.talk(&format!("  the agent compacted its memory: {text}")),
            Event::Diagnostic { stream: Stream::Stderr, text } if self.stderr_lines.len() < 20 => {
                self.stderr_lines.push(text.clone());
            }
            _ => {}
        }
    }

    /// Prints of a piece or a block only what was not printed yet.
    fn text(&mut self, message: MessageId, offset: usize, text: &str) {
        self.end_thought();
        self.say_headline(Stage::Asked);
        let done = match self.printed {
            Some((id, done)) if id == message => done,
            _ => {
                if self.printed.is_some() {
                    self.end_text();
                    self.on_stdout(|printer| printer.stdout.print(&"\n".into()));
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
            if let Some(calls) = &mut self.calls {
                calls.interrupt();
            }
            self.at_line_start = new.ends_with('\n');
            self.on_stdout(|printer| match &mut printer.markdown {
                Some(markdown) => {
                    let shown = markdown.feed(new, tty::text_columns());
                    printer.stdout.print(&shown);
                }
                // A program gets the answer as it is.
                None => printer.stdout.data(new),
            });
        }
    }

    /// Prints something of the answer; the status line gives way if both are seen on the same terminal.
    fn on_stdout(&mut self, print: impl FnOnce(&mut Self)) {
        if !self.is_seen {
            return print(self);
        }
        self.status.clear();
        print(self);
        let column = match &self.markdown {
            Some(markdown) => Some(markdown.column()),
            None => self.at_line_start.then_some(0),
        };
        self.status.put_back(After::Text(column));
    }

    /// Says something between what else is printed. With `interrupts` the lines of tool calls stay as they are.
    fn say(&mut self, interrupts: bool, say: impl FnOnce(Option<&mut ToolCallLines>)) {
        self.end_words();
        if let (true, Some(calls)) = (interrupts, &mut self.calls) {
            calls.interrupt();
        }
        self.status.clear();
        say(self.calls.as_mut());
        self.status.put_back(After::Line);
    }

    fn talk(&mut self, line: &str) {
        if !self.look.quiet {
            self.say(true, |_| style::talk(line));
        }
    }

    fn loud(&mut self, line: &str) {
        self.say(true, |_| style::loud(line));
    }

    /// Says how the turn began, unless that was said.
    /// Whoever was asked here sees that somebody else was faster. An answer of this process names nobody.
    fn answered(&mut self, answer: &QuestionAnswer) {
        let asked = self.questions.iter().position(|asked| asked.id == answer.question);
        let Some(question) = asked.map(|at| self.questions.remove(at)) else { return };
        if let Some(who) = &answer.who {
            let words = turn_words::answer(&question, &answer.clone().into());
            self.talk(&format!("  {words} (elsewhere, by {})", label(who)));
        }
    }

    fn say_headline(&mut self, stage: Stage) {
        if let Some(headline) = self.headline.take() {
            self.talk(&headline.line(stage));
        }
    }

    /// A thought that was held back is said.
    fn end_thought(&mut self) {
        if let Some(thought) = self.thoughts.end() {
            self.say_thought(&thought);
        }
    }

    fn say_thought(&mut self, thought: &Painted) {
        if let Some(calls) = &mut self.calls {
            calls.interrupt();
        }
        self.status.clear();
        screen::say(thought);
        self.status.put_back(After::Line);
    }

    /// Ends the line on the screen, whatever stands on it.
    fn end_line(&mut self) {
        self.end_words();
        if let Some(calls) = &mut self.calls {
            calls.interrupt();
        }
    }

    /// Ends a line of the answer, and whatever is held back before something else is said.
    fn end_words(&mut self) {
        self.say_headline(Stage::Asked);
        self.end_answer_line();
        self.end_thought();
    }

    fn end_answer_line(&mut self) {
        if self.at_line_start && self.markdown.as_ref().is_none_or(Markdown::holds_nothing) {
            return;
        }
        self.on_stdout(|printer| {
            if let Some(markdown) = &mut printer.markdown {
                let held = markdown.end_line();
                printer.stdout.print(&held);
            } else {
                printer.stdout.print(&"\n".into());
            }
            printer.at_line_start = true;
        });
    }

    /// Ends a message of the answer.
    fn end_text(&mut self) {
        self.end_line();
        if let Some(markdown) = &mut self.markdown {
            let held = markdown.end();
            self.status.clear();
            self.stdout.print(&held);
        }
    }

    /// The last line of a turn that ran.
    pub(crate) fn finish(&mut self, outcome: &TurnOutcome) -> anyhow::Result<()> {
        let receipt = outcome.receipt();
        match self.output {
            Output::StreamJson => self.status.end(),
            Output::Json => {
                self.status.end();
                let object = serde_json::to_value(TurnResult::from(outcome))?;
                self.stdout.json(&(serde_json::to_string_pretty(&object)? + "\n"));
            }
            Output::Text => {
                if self.calls.as_ref().is_some_and(ToolCallLines::is_any_waiting) {
                    self.say(false, |calls| {
                        if let Some(calls) = calls {
                            calls.cancel();
                        }
                    });
                }
                self.end_text();
                self.status.end();
                let line = closing_line(receipt);
                match &receipt.outcome {
                    Outcome::Completed if self.look.quiet => {}
                    Outcome::Completed => style::talk(&line),
                    Outcome::Failed { class, message } => {
                        for words in self.stderr_lines.iter().filter(|words| !message.contains(words.trim()))
                        {
                            style::talk(&format!("  {words}"));
                        }
                        style::failure(&line);
                        if let Some(cure) = self.rejoin.cure(&receipt.agent, *class) {
                            style::loud(&format!("  → {cure}"));
                        }
                    }
                    Outcome::Timeout { .. } | Outcome::Cancelled => style::loud(&line),
                }
                if let Some(hint) = go_on(receipt).filter(|_| !self.in_chat) {
                    style::talk(&format!("  {hint}"));
                }
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
        self.status.end();
    }
}
