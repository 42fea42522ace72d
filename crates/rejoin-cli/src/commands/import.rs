use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use rejoin::Taken;

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
    let mut piped = None;
    if args.file.as_os_str() == "-" {
        let mut file = tempfile::NamedTempFile::new()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        piped = Some(file);
    }
    let file = piped.as_ref().map_or(args.file.as_path(), |file| file.path());
    let imported = super::open()?.import(file, args.project.as_deref())?;
    let id = imported.id.short();
    let place = style::home_path(&imported.project);
    style::talk(&match imported.taken {
        Taken::New => format!("conversation {id} is here now, in {place}"),
        Taken::Longer => format!("conversation {id} was here and goes on with what was added, in {place}"),
        Taken::Known => format!("conversation {id} is here already, in {place}: nothing to add"),
    });
    if !Path::new(&imported.project).is_dir() {
        style::loud(&format!(
            "! {place} is not on this machine: name a directory with `rejoin import --project DIR`"
        ));
    }
    Ok(exit::DONE)
}
