use clap::Args;

use crate::exit;

#[derive(Args)]
pub(crate) struct ExistsArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1, or the agent's own session id
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
}

/// `rejoin exists`: the answer is the exit code, for scripts.
pub(crate) fn exists(args: &ExistsArgs) -> anyhow::Result<i32> {
    match super::open()?.view(&super::here()?, &args.conversation) {
        Ok(_) => Ok(exit::DONE),
        Err(error) if error.exit_code() == exit::NOT_FOUND => Ok(exit::NOT_FOUND),
        Err(error) => Err(error.into()),
    }
}
