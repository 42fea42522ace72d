//! `rejoin serve`: the daemon.

use clap::Args;
use rejoin_server::{Listen, Ready, ServeOptions, USUAL_PORT};

use crate::{exit, style};

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// The port on 127.0.0.1; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = USUAL_PORT)]
    pub(crate) port: u16,
    /// Listen on a socket in the file system instead, for this user alone
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    pub(crate) socket: Option<std::path::PathBuf>,
}

/// `rejoin serve`
pub(crate) fn serve(args: &ServeArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    let listen = match &args.socket {
        Some(path) => Listen::Socket(path.clone()),
        None => Listen::Loopback(args.port),
    };
    rejoin_server::serve(rejoin, &ServeOptions::new(listen), |ready: &Ready| {
        if let Some(address) = ready.address {
            style::talk(&format!("rejoin {} · http://{address}", env!("CARGO_PKG_VERSION")));
        }
    })?;
    Ok(exit::DONE)
}
