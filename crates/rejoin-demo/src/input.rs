//! Standard input: one prompt, then answers and interrupts while the turn runs.

use std::io::{self, BufRead as _};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Prompt(Prompt),
    Answer {
        id: String,
        text: Option<String>,
    },
    Interrupt,
    #[serde(other)]
    Unknown,
}

/// What the user wants, as rejoin worded it.
#[derive(Deserialize, Debug)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) instructions: Option<String>,
    /// Files that came along.
    #[serde(default)]
    pub(crate) files: Vec<File>,
}

/// A file that came along with the prompt.
#[derive(Deserialize, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) media_type: String,
    /// In base64.
    pub(crate) data: String,
}

impl File {
    /// What is remembered of it.
    pub(crate) fn about(&self) -> String {
        let digits = self.data.trim_end_matches('=').len();
        format!("{} ({}, {} bytes)", self.name, self.media_type, digits * 3 / 4)
    }
}

/// Waits for the prompt, the first line.
pub(crate) fn prompt() -> Result<Prompt, String> {
    let mut line = Vec::new();
    io::stdin()
        .lock()
        .read_until(b'\n', &mut line)
        .map_err(|error| format!("cannot read standard input: {error}"))?;
    if line.is_empty() {
        return Err("standard input ended before a prompt came".to_owned());
    }
    match serde_json::from_slice(&line) {
        Ok(Line::Prompt(prompt)) => Ok(prompt),
        Ok(_) => Err("the first line on standard input is not a prompt".to_owned()),
        Err(error) => Err(format!("the first line on standard input is not a prompt: {error}")),
    }
}

/// Somebody asked to stop.
#[derive(Debug)]
pub(crate) struct Interrupted;

/// What comes after the prompt. A thread reads it, so that waiting for anything else can be cut short.
pub(crate) struct Inbox(Receiver<Line>);

impl Inbox {
    pub(crate) fn open() -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        thread::Builder::new().spawn(move || {
            let mut line = Vec::new();
            let mut stdin = io::stdin().lock();
            while stdin.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                match serde_json::from_slice(&line) {
                    Ok(line @ (Line::Answer { .. } | Line::Interrupt)) => {
                        if sender.send(line).is_err() {
                            return;
                        }
                    }
                    _ => crate::say("ignored a line on standard input that is no answer and no interrupt"),
                }
                line.clear();
            }
        })?;
        Ok(Self(receiver))
    }

    /// Lets time pass; zero only looks for an interrupt.
    pub(crate) fn pause(&self, time: Duration) -> Result<(), Interrupted> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.0.recv_timeout(left) {
                Ok(Line::Interrupt) => return Err(Interrupted),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    thread::sleep(left);
                    return Ok(());
                }
            }
        }
    }

    /// Waits for the answer to a question; `None` if it is declined or the input was closed.
    pub(crate) fn answer(&self, question: &str) -> Result<Option<String>, Interrupted> {
        loop {
            match self.0.recv() {
                Ok(Line::Interrupt) => return Err(Interrupted),
                Ok(Line::Answer { id, text }) if id == question => return Ok(text),
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
        }
    }

    /// Waits until the input is closed, but not for ever.
    pub(crate) fn until_closed(&self, most: Duration) {
        let end = Instant::now() + most;
        while !matches!(
            self.0.recv_timeout(end.saturating_duration_since(Instant::now())),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected)
        ) {}
    }
}
