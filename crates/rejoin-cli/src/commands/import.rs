use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use rejoin::ImportOutcome;

use crate::{exit, style};

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// A bundle, or a journal; `-` is standard input
    pub(crate) file: PathBuf,
    /// The project it belongs to from now on [default: the one it belonged to]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

/// `rejoin import`
pub(crate) fn import(args: &ImportArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let imported = if args.file.as_os_str() == "-" {
        rejoin.import_from(&mut io::stdin().lock(), "standard input", args.project.as_deref())?
    } else {
        rejoin.import(&args.file, args.project.as_deref())?
    };
    let id = imported.id.short();
    let place = style::home_path(&imported.project);
    style::talk(&match imported.outcome {
        ImportOutcome::New => format!("conversation {id} is here now, in {place}"),
        ImportOutcome::Longer => {
            format!("conversation {id} was here and goes on with what was added, in {place}")
        }
        ImportOutcome::Known => format!("conversation {id} is here already, in {place}: nothing to add"),
    });
    if !Path::new(&imported.project).is_dir() {
        style::loud(&format!(
            "! {place} is not on this machine: name a directory with `rejoin import --project DIR`"
        ));
    }
    Ok(exit::DONE)
}
