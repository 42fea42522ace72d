//! Standard output: events, one JSON object a line.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd as _;

use serde::Serialize;
use serde_json::Value;

#[derive(Serialize, Debug)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    Session {
        id: &'a str,
        model: &'a str,
        permissions: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reissued_from: Option<&'a str>,
    },
    Stored,
    Thinking {
        message: &'a str,
        text: &'a str,
    },
    Delta {
        message: &'a str,
        text: &'a str,
    },
    Message {
        message: &'a str,
        text: &'a str,
    },
    Tool {
        message: &'a str,
        id: &'a str,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        id: &'a str,
        output: &'a str,
        error: bool,
    },
    Question {
        id: &'a str,
        text: &'a str,
        choices: &'a [String],
    },
    Compaction {
        text: &'a str,
    },
    Usage {
        input: u64,
        cached: u64,
        output: u64,
    },
}

/// The last line. Not an [`Event`], so that it cannot be followed by one.
#[derive(Serialize, Debug)]
#[serde(untagged)]
pub(crate) enum End {
    Ok { ok: bool },
    Failed { ok: bool, class: &'static str, message: String },
    Interrupted { interrupted: bool },
}

impl End {
    pub(crate) fn ok() -> Self {
        Self::Ok { ok: true }
    }

    pub(crate) fn failed(class: &'static str, message: String) -> Self {
        Self::Failed { ok: false, class, message }
    }

    pub(crate) fn interrupted() -> Self {
        Self::Interrupted { interrupted: true }
    }

    pub(crate) fn exit_code(&self) -> i32 {
        i32::from(matches!(self, Self::Failed { .. }))
    }

    /// The line, without a newline.
    pub(crate) fn line(&self) -> io::Result<String> {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            end: &'a End,
        }
        Ok(serde_json::to_string(&Line { r#type: "end", end: self })?)
    }
}

/// Buffered: what must be seen at once is followed by [`Out::flush`].
pub(crate) struct Out(BufWriter<File>);

impl Out {
    pub(crate) fn open() -> io::Result<Self> {
        // A file of our own, since the standard handle writes line by line.
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self(BufWriter::with_capacity(16 * 1024, file)))
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, event)?;
        self.0.write_all(b"\n")
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
