use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rejoin::{Format, Redactor};

use crate::draft_file::Draft;
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
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// What it looks like
    #[arg(long, value_enum, default_value_t = ExportFormat::Md)]
    pub(crate) format: ExportFormat,
    /// Take out keys, tokens, passwords and the home directory; what was taken out is counted
    #[arg(long)]
    pub(crate) redact: bool,
    /// Write to this file, which is replaced if it is there, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Markdown: the path, to be read
    Md,
    /// One HTML page that needs nothing else: all branches, to be read
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
    let mut target = match &args.to {
        Some(file) => Target::open(file).map_err(cannot_write(file))?,
        None => Target::Stdout(Stdout::new()),
    };
    let mut out = io::BufWriter::new(target.writer());
    let written = view.export(args.format.into(), redactor.as_mut(), &mut out);
    if !screen::read_on(written.map_err(anyhow::Error::from).and_then(|()| Ok(out.flush()?)))? {
        return Ok(exit::DONE);
    }
    drop(out);
    if let Some(file) = &args.to {
        target.keep().map_err(cannot_write(file))?;
        style::talk(&format!("conversation {} is in {}", view.id().short(), file.display()));
    }
    tell(left_out, redactor.as_ref());
    Ok(exit::DONE)
}

/// What is not in it, and that somebody should look.
fn tell(left_out: bool, redactor: Option<&Redactor>) {
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
}

/// Where an export goes. A file that is there is replaced when the new one is whole, and stays as it was if it never
/// is; like the journal it comes from, only its owner may read it. A pipe or a device is written to.
enum Target {
    File(Draft),
    Other(File),
    Stdout(Stdout),
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        match path.metadata() {
            Ok(there) if there.is_dir() => {
                return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory, not a file"));
            }
            // One that may not be written to is not replaced either.
            Ok(there) => {
                let other = OpenOptions::new().write(true).open(path)?;
                if !there.is_file() {
                    return Ok(Self::Other(other));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // What a link names is replaced, not the link; one that names nothing yet is.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self::File(Draft::of(path)?))
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::File(draft) => draft,
            Self::Other(file) => file,
            Self::Stdout(stdout) => stdout,
        }
    }

    /// All is written.
    fn keep(self) -> io::Result<()> {
        if let Self::File(draft) = self { draft.keep() } else { Ok(()) }
    }
}

fn cannot_write(file: &Path) -> impl Fn(io::Error) -> rejoin::Error {
    let file = file.display().to_string();
    move |error| rejoin::Error::Config(format!("cannot write {file}: {error}"))
}
