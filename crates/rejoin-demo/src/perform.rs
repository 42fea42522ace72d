//! Doing what the words of a message ask for, step by step.

use std::fs;
use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::answer::{clipped, pieces};
use crate::args::Permissions;
use crate::children;
use crate::directives::{Question, Step};
use crate::flood;
use crate::input::Inbox;
use crate::output::{Event, Out};
use crate::session::{Record, Session};
use crate::turn::Stop;

/// A turn that is going on.
pub(crate) struct Turn<'a> {
    pub(crate) out: &'a mut Out,
    pub(crate) inbox: &'a Inbox,
    pub(crate) session: &'a mut Session,
    permissions: Permissions,
    /// What the answer should mention.
    pub(crate) notes: Vec<String>,
    /// How many bytes of text were said.
    pub(crate) said: u64,
    messages: usize,
    tools: usize,
    questions: usize,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        out: &'a mut Out,
        inbox: &'a Inbox,
        session: &'a mut Session,
        permissions: Permissions,
    ) -> Self {
        let notes = Vec::new();
        Self { out, inbox, session, permissions, notes, said: 0, messages: 0, tools: 0, questions: 0 }
    }

    pub(crate) fn store(&mut self, record: &Record<'_>) -> Result<(), Stop> {
        self.session.append(record).map_err(|error| Stop::not_stored(&error))
    }

    /// A whole message, piece by piece.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), Stop> {
        let message = self.message();
        for piece in pieces(text) {
            self.out.event(&Event::Delta { message: &message, text: piece })?;
        }
        self.finish(&message, text)
    }

    pub(crate) fn perform(&mut self, step: Step) -> Result<(), Stop> {
        match step {
            Step::Think => {
                let message = self.message();
                let text = "The user wants to see a thought, so here is one.";
                self.out.event(&Event::Thinking { message: &message, text })?;
            }
            Step::Run(command) => self.run(&command)?,
            Step::Write { path, text } => self.write(&path, &text)?,
            Step::Recite(path) => {
                let read = fs::read_to_string(&path);
                self.say(&read.unwrap_or_else(|error| format!("I cannot read {path}: {error}.\n")))?;
            }
            Step::Slow(count) => {
                self.in_pieces(count, |number| format!("piece {number} of {count}\n"))?;
            }
            Step::Clock(count) => self.in_pieces(count, |_| format!("@{}\n", microseconds_since_1970()))?,
            Step::Sleep(time) => {
                let tool = self.open_tool("sleep", json!({ "seconds": time.as_secs_f64() }))?;
                self.inbox.pause(time)?;
                self.close_tool(&tool, "slept", false)?;
            }
            Step::Ask(question) => self.ask(&question)?,
            Step::Compact => {
                let text = format!(
                    "compacted {} earlier prompts (nothing is forgotten)",
                    self.session.prompts.len()
                );
                self.store(&Record::Compaction { text: text.as_str().into() })?;
                self.out.event(&Event::Compaction { text: &text })?;
            }
            Step::Stderr(text) => drop(writeln!(io::stderr(), "{text}")),
            Step::Fail { class, message } => return Err(Stop::Failed { class, message }),
            Step::Hang => {
                self.out.flush()?;
                return Err(Stop::Exit(children::hang()));
            }
            Step::Die => {
                self.half_a_text()?;
                children::die();
            }
            Step::Exit(code) => {
                self.half_a_text()?;
                return Err(Stop::Exit(code));
            }
            Step::Garbage => self.garbage()?,
            Step::Flood { bytes, line, tools } => self.flood(bytes, line, tools)?,
            Step::BigLine(bytes) => {
                let tool = self.open_tool("bigline", json!({ "bytes": bytes }))?;
                let opening = format!(r#"{{"type":"tool_result","id":"{tool}","output":""#);
                flood::padded(self.out, &opening, "\",\"error\":false}\n", bytes)?;
            }
            Step::Child { time, hold } => self.child(time, hold)?,
        }
        Ok(())
    }

    fn message(&mut self) -> String {
        self.messages += 1;
        format!("m{}", self.messages)
    }

    fn finish(&mut self, message: &str, text: &str) -> Result<(), Stop> {
        self.said += text.len() as u64;
        self.store(&Record::Assistant { text: text.into() })?;
        self.out.event(&Event::Message { message, text })?;
        Ok(())
    }

    fn open_tool(&mut self, name: &str, input: Value) -> Result<String, Stop> {
        let message = self.message();
        self.tools += 1;
        let id = format!("t{}", self.tools);
        self.out.event(&Event::Tool { message: &message, id: &id, name, input })?;
        self.out.flush()?;
        Ok(id)
    }

    fn close_tool(&mut self, id: &str, output: &str, error: bool) -> Result<(), Stop> {
        self.out.event(&Event::ToolResult { id, output, error })?;
        self.out.flush()?;
        Ok(())
    }

    /// Whether a tool must be refused; the refusal is its result then.
    fn refuses(&mut self, tool: &str) -> Result<bool, Stop> {
        let refused = self.permissions == Permissions::Read;
        if refused {
            self.close_tool(tool, "refused: the permissions are read", true)?;
            self.notes.push("I was not allowed to use a tool.".to_owned());
        }
        Ok(refused)
    }

    fn run(&mut self, command: &str) -> Result<(), Stop> {
        let tool = self.open_tool("shell", json!({ "command": command }))?;
        if self.refuses(&tool)? {
            return Ok(());
        }
        let ran = children::run(command, self.inbox)?;
        self.close_tool(&tool, &ran.output, ran.failed)?;
        let end = if ran.failed { "failed" } else { "ran" };
        self.notes.push(format!("`{}` {end}: “{}”.", clipped(command), clipped(&ran.output)));
        Ok(())
    }

    fn write(&mut self, path: &str, text: &str) -> Result<(), Stop> {
        let tool = self.open_tool("write", json!({ "path": path, "text": text }))?;
        if self.refuses(&tool)? {
            return Ok(());
        }
        let (result, failed) = match fs::write(path, format!("{text}\n")) {
            Ok(()) => (format!("wrote {} bytes to {path}", text.len() + 1), false),
            Err(error) => (format!("cannot write {path}: {error}"), true),
        };
        self.close_tool(&tool, &result, failed)?;
        self.notes.push(format!("I {result}."));
        Ok(())
    }

    fn in_pieces(&mut self, count: u64, piece: impl Fn(u64) -> String) -> Result<(), Stop> {
        let message = self.message();
        let mut text = String::new();
        for number in 1..=count {
            let piece = piece(number);
            text.push_str(&piece);
            self.out.event(&Event::Delta { message: &message, text: &piece })?;
            self.out.flush()?;
            self.inbox.pause(Duration::from_millis(20))?;
        }
        self.finish(&message, &text)
    }

    fn ask(&mut self, question: &Question) -> Result<(), Stop> {
        self.questions += 1;
        let id = format!("q{}", self.questions);
        self.out.event(&Event::Question { id: &id, text: &question.text, choices: &question.choices })?;
        self.out.flush()?;
        self.notes.push(match self.inbox.answer(&id)? {
            Some(text) => format!("You answered “{}”.", clipped(&text)),
            None => "Nobody answered my question.".to_owned(),
        });
        Ok(())
    }

    fn half_a_text(&mut self) -> Result<(), Stop> {
        let message = self.message();
        for piece in ["This answer ", "will not be ", "fin"] {
            self.out.event(&Event::Delta { message: &message, text: piece })?;
        }
        self.out.flush()?;
        Ok(())
    }

    fn garbage(&mut self) -> Result<(), Stop> {
        let message = self.message();
        self.out.bytes(b"this line is no JSON\n")?;
        self.out.bytes(b"\n")?;
        self.out.bytes(b"{\"type\":\"delta\",\"mess\n")?;
        self.out.bytes(b"42\n")?;
        self.out.bytes(b"invalid UTF-8: \xff\xfe\xc3\n")?;
        self.out.bytes(b"{\"type\":\"from_the_future\",\"text\":\"\xf0\x9f\"}\n")?;
        self.out.bytes(b"NUL: \0 and ESC: \x1b[31m\n")?;
        self.out.bytes(b"{\"type\":\"from_the_future\",\"text\":\"an unknown type\"}\n")?;
        let crlf = format!(r#"{{"type":"thinking","message":"{message}","text":"This line ends in CRLF."}}"#);
        self.out.bytes(crlf.as_bytes())?;
        self.out.bytes(b"\r\n")?;
        Ok(())
    }

    fn flood(&mut self, bytes: u64, line: u64, tools: bool) -> Result<(), Stop> {
        let message = self.message();
        let pour = if tools { flood::tools } else { flood::deltas };
        pour(self.out, self.inbox, &message, bytes, line)
    }

    fn child(&mut self, time: Duration, hold: bool) -> Result<(), Stop> {
        let tool = self.open_tool("child", json!({ "seconds": time.as_secs_f64(), "hold": hold }))?;
        match children::leave(time, hold) {
            Ok(pid) => self.close_tool(&tool, &format!("pid {pid}"), false),
            Err(error) => self.close_tool(&tool, &format!("cannot start a child: {error}"), true),
        }
    }
}

fn microseconds_since_1970() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros()
}
