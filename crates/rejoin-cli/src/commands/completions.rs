use clap::Args;

use crate::{complete, exit, screen};

#[derive(Args)]
#[command(after_help = "\
Examples:
  source <(rejoin completions bash)                                 in ~/.bashrc
  source <(rejoin completions zsh)                                  in ~/.zshrc
  rejoin completions fish > ~/.config/fish/completions/rejoin.fish")]
pub(crate) struct CompletionsArgs {
    /// bash, zsh, fish, elvish or powershell
    pub(crate) shell: String,
}

/// `rejoin completions`
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<i32> {
    screen::data(&complete::script(&args.shell)?)?;
    Ok(exit::DONE)
}
