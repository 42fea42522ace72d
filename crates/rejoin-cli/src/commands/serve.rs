//! `rejoin serve`: the daemon.

mod service;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use rejoin_server::{Listen, Protection, Ready, ServeOptions, TlsFiles, USUAL_PORT};

use crate::screen::{self, label};
use crate::{exit, style};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rejoin serve                                   on 127.0.0.1:7717; prints what a browser opens
  rejoin serve --project ~/src --max-runs 4      only projects below ~/src, four turns at once
  rejoin serve --socket ~/.rejoin.sock           for programs of this user alone
  rejoin serve --url                             a new address for the browser, from the running daemon
  curl -H \"Authorization: Bearer $(rejoin token)\" http://127.0.0.1:7717/api/v1/agents

SIGTERM and Ctrl-C stop running turns and end; a second one ends at once. SIGHUP reads the configuration anew.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ServeArgs {
    /// The port on 127.0.0.1; 0 for any that is free [default: 7717]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Listen on an address of the network; needs --tls-cert and --tls-key, or --behind-proxy
    #[arg(long, value_name = "ADDR:PORT", conflicts_with = "port")]
    pub(crate) listen: Option<SocketAddr>,
    /// The certificate, with those between it and a known one (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key", requires = "listen")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A proxy before it encrypts
    #[arg(long, requires = "listen", conflicts_with = "tls_cert")]
    pub(crate) behind_proxy: bool,
    /// A name of this host in the address of requests (repeatable)
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub(crate) host: Vec<String>,
    /// Listen on a socket in the file system instead, for this user alone
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "listen"])]
    pub(crate) socket: Option<PathBuf>,
    /// Listen on the socket that systemd hands over
    #[arg(long, conflicts_with_all = ["port", "listen", "socket"])]
    pub(crate) activated: bool,
    /// Only projects below this directory (repeatable)
    #[arg(long = "project", value_name = "DIR")]
    pub(crate) projects: Vec<PathBuf>,
    /// So many turns at once [default: two per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_runs: Option<u16>,
    /// How long running turns may go on when it is told to end [default: they are stopped]
    #[arg(long, value_name = "TIME", value_parser = rejoin::parse_duration)]
    pub(crate) drain: Option<Duration>,
    /// Open the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print an address for the browser, good once, from the daemon that runs, and exit
    #[arg(long, conflicts_with_all = ["open", "install_service"])]
    pub(crate) url: bool,
    /// Write a service of this user (systemd, launchd) that starts it with these arguments, and say what to do next
    #[arg(long)]
    pub(crate) install_service: bool,
}

/// `rejoin serve`
pub(crate) fn serve(args: &ServeArgs) -> anyhow::Result<i32> {
    let rejoin = super::open()?;
    if args.url {
        screen::data(&format!("{}\n", rejoin_server::new_login_url(rejoin.home())?))?;
        return Ok(exit::DONE);
    }
    let options = options(args)?;
    if args.install_service {
        return service::install(args);
    }
    rejoin_server::log_to_stderr();
    let served = rejoin_server::serve(rejoin, &options, |ready| greet(args, ready));
    match served {
        Ok(()) => Ok(exit::DONE),
        Err(error) => {
            let code = error.exit_code();
            style::error(&error.into());
            Ok(code)
        }
    }
}

fn options(args: &ServeArgs) -> anyhow::Result<ServeOptions> {
    let mut options = ServeOptions::new(listen(args)?);
    options.host_names.clone_from(&args.host);
    for dir in &args.projects {
        let real =
            dir.canonicalize().with_context(|| format!("cannot use {} for --project", dir.display()))?;
        options.roots.push(real);
    }
    if let Some(most) = args.max_runs {
        options.max_runs = most.into();
    }
    options.drain = args.drain;
    Ok(options)
}

fn listen(args: &ServeArgs) -> anyhow::Result<Listen> {
    let address = match (&args.socket, args.listen) {
        (Some(path), _) => return Ok(Listen::Socket(path.clone())),
        (None, None) if args.activated => return Ok(Listen::Activated),
        (None, None) => return Ok(Listen::Loopback(args.port.unwrap_or(USUAL_PORT))),
        (None, Some(address)) => address,
    };
    let protection = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => {
            Protection::Tls(TlsFiles { certificate: certificate.clone(), key: key.clone() })
        }
        _ if args.behind_proxy => Protection::Proxy,
        _ => {
            let text = "--listen opens it to a network: give --tls-cert and --tls-key, say --behind-proxy if one encrypts before it, or stay on this machine with --port";
            return Err(rejoin::Error::Config(text.to_owned()).into());
        }
    };
    Ok(Listen::Address { address, protection })
}

fn greet(args: &ServeArgs, ready: &Ready) {
    let at = match (&args.socket, &ready.url) {
        (Some(path), _) => format!("unix:{}", path.display()),
        (None, Some(url)) => url.clone(),
        (None, None) => "the socket that was handed over".to_owned(),
    };
    let count = format!(
        "{}, {}",
        style::plural(ready.projects, "project"),
        style::plural(ready.conversations, "conversation")
    );
    style::talk(&format!("rejoin {} · {} · {count}", env!("CARGO_PKG_VERSION"), label(&at)));
    if ready.url.is_some() {
        let url = format!("{at}/#k={}", ready.login_code);
        style::talk(&format!("open   {url} (good once, 5 minutes; `rejoin serve --url` prints a new one)"));
        if args.open {
            open_browser(&url);
        }
    }
    let curl = match &args.socket {
        Some(path) => format!(
            "--unix-socket {} -H \"Authorization: Bearer $(rejoin token)\" http://localhost",
            path.display()
        ),
        None => format!("-H \"Authorization: Bearer $(rejoin token)\" {at}"),
    };
    style::talk(&format!("script curl {}/api/v1/agents", label(&curl)));
}

/// By whatever the system opens addresses with; that there is nothing is said, the address stands above.
fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(program);
    command.arg(url).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    match command.stderr(std::process::Stdio::null()).spawn() {
        Ok(mut child) => {
            // It is waited for beside us, so that it leaves nothing behind.
            let _ = std::thread::Builder::new().name("browser".into()).spawn(move || child.wait());
        }
        Err(error) => {
            style::loud(&format!("! cannot open a browser ({program}: {error}); open the address above"));
        }
    }
}
