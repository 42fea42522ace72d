use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rejoin::{Format, Redactor};

use crate::screen::{self, Stdout};
use crate::{exit, style};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin export @ > talk.md
  rejoin export release --format html --redact --to release.html
  rejoin export @ --format bundle --to talk.rejoin && scp talk.rejoin there: && ssh there rejoin import talk.rejoin")]
pub(crate) struct ExportArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    pub(crate) conversation: String,
    /// What it looks like
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    pub(crate) format: ExportFormat,
    /// Take out keys, tokens, passwords and the home directory; what was taken out is counted
    #[arg(long)]
    pub(crate) redact: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Markdown: the path, to be read
    Md,
    /// One HTML page: the path, to be read
    Html,
    /// As `rejoin show --json`, nothing cut
    Json,
    /// The journal, a record per line
    Jsonl,
    /// The journal with a hash, for `rejoin import`
    Bundle,
}

impl From<ExportFormat> for Format {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Md => Self::Markdown,
            ExportFormat::Html => Self::Html,
            ExportFormat::Json => Self::Json,
            ExportFormat::Jsonl => Self::Jsonl,
            ExportFormat::Bundle => Self::Bundle,
        }
    }
}

/// `rejoin export`
pub(crate) fn export(args: &ExportArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let view = super::view(&rejoin, &args.conversation)?;
    let (view, left_out) = if args.redact { view.settled()? } else { (view, false) };
    let mut redactor = args.redact.then(|| Redactor::new(std::env::var("HOME").ok()));
    let target: Box<dyn Write> = match &args.to {
        Some(file) => Box::new(create(file)?),
        None => Box::new(Stdout::new()),
    };
    let mut out = io::BufWriter::new(target);
    let written = view.export(args.format.into(), redactor.as_mut(), &mut out);
    if !screen::read_on(written.map_err(anyhow::Error::from).and_then(|()| Ok(out.flush()?)))? {
        return Ok(exit::DONE);
    }
    if let Some(file) = &args.to {
        style::talk(&format!("conversation {} is in {}", view.id().short(), file.display()));
    }
    if left_out {
        style::loud("! the turn that is running now is left out: what it says is not whole yet");
    }
    if let Some(redactor) = redactor {
        let counts: Vec<String> =
            redactor.counts().iter().map(|(what, count)| style::plural(*count, what)).collect();
        style::talk(&match counts.as_slice() {
            [] => "nothing was found to be redacted; look through it before you give it away".into(),
            counts => format!("redacted: {}; look through it before you give it away", counts.join(", ")),
        });
    }
    Ok(exit::DONE)
}

/// A file only its owner may read, like the journal it comes from.
fn create(file: &Path) -> anyhow::Result<std::fs::File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)
        .map_err(|error| rejoin::Error::Config(format!("cannot write {}: {error}", file.display())).into())
}
