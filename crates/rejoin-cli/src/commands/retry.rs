use clap::Args;

use super::run::carry_out;
use super::turn_args::TurnArgs;

#[derive(Args)]
pub(crate) struct RetryArgs {
    /// Id, unique prefix, name, @ (the newest here), @~1
    #[arg(default_value = "@", hide_default_value = true)]
    pub(crate) conversation: String,
    /// Which turn, by any of its messages [default: the head]
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) at: Option<String>,
    #[command(flatten)]
    pub(crate) how: TurnArgs,
}

/// `rejoin retry`
pub(crate) fn retry(args: &RetryArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let turn = rejoin.project(".").resume(&args.conversation).retry(args.at.as_ref().map(Into::into));
    carry_out(turn.fallback_as_configured(), &args.how)
}
