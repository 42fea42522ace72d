//! Where the daemon listens: loopback by default, elsewhere only with TLS or behind a proxy that has it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::port_holder::PortHolder;

/// The port that is taken if none is named.
pub const USUAL_PORT: u16 = 7717;

/// Where to listen.
#[derive(Clone, Debug)]
pub enum Listen {
    /// On this port of 127.0.0.1; 0 for any that is free.
    Loopback(u16),
    /// On an address of the network.
    Address {
        /// Which.
        address: SocketAddr,
        /// Who encrypts.
        protection: Protection,
    },
    /// On a socket in the file system, for this user alone.
    Socket(PathBuf),
    /// On a socket that systemd opened for us.
    Activated,
}

/// Who encrypts what goes over a network.
#[derive(Clone, Debug)]
pub enum Protection {
    /// We do.
    Tls(TlsFiles),
    /// A proxy in front of us.
    Proxy,
}

/// Certificate and key, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The certificate and those between it and a known one.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why it cannot be listened there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Somebody has the port.
    #[error("port {port} is in use{}; choose another one with --port or --listen, or end that one", by(holder.as_ref()))]
    InUse {
        /// Which.
        port: u16,
        /// By whom, where it can be told.
        holder: Option<PortHolder>,
    },
    /// Something is in the way of the socket.
    #[error("{} is in the way: {why}; choose another path with --socket", path.display())]
    InTheWay {
        /// Where.
        path: PathBuf,
        /// What.
        why: &'static str,
    },
    /// The system refused.
    #[error("cannot listen on {at}: {cause}")]
    System {
        /// Where.
        at: String,
        /// What it said.
        cause: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("{0}")]
    Tls(String),
    /// systemd gave nothing.
    #[error(
        "no socket was handed over (LISTEN_FDS is not set for this process); start it by its socket unit"
    )]
    NotActivated,
}

fn by(holder: Option<&PortHolder>) -> String {
    holder.map_or_else(
        || " by a process that cannot be told from here (another user's?)".to_owned(),
        |holder| format!(" by {holder}"),
    )
}

/// An open socket.
pub(crate) enum Listener {
    Tcp(tokio::net::TcpListener),
    Unix(tokio::net::UnixListener, Option<PathBuf>),
}

impl Listener {
    /// Opens it, inside of a runtime.
    pub(crate) fn open(listen: &Listen) -> Result<Self, ListenError> {
        match listen {
            Listen::Loopback(port) => tcp(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), *port)),
            Listen::Address { address, .. } => tcp(*address),
            Listen::Socket(path) => unix(path),
            Listen::Activated => activated(),
        }
    }

    /// The address of the network it stands at.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        }
    }
}

/// What encrypts, where we do.
pub(crate) fn tls(listen: &Listen) -> Result<Option<TlsAcceptor>, ListenError> {
    let Listen::Address { protection: Protection::Tls(files), .. } = listen else { return Ok(None) };
    let unusable = |file: &Path, error: &dyn std::fmt::Display| {
        ListenError::Tls(format!("cannot use {}: {error}; it must be PEM", file.display()))
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&files.certificate)
        .map_err(|error| unusable(&files.certificate, &error))?
        .collect();
    let chain = chain.map_err(|error| unusable(&files.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unusable(&files.key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ListenError::Tls(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable(&files.certificate, &error))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, Some(path)) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn tcp(address: SocketAddr) -> Result<Listener, ListenError> {
    let open = || {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    };
    open().map(Listener::Tcp).map_err(|cause| match cause.kind() {
        io::ErrorKind::AddrInUse => {
            ListenError::InUse { port: address.port(), holder: PortHolder::find(address) }
        }
        _ => ListenError::System { at: address.to_string(), cause },
    })
}

/// The first socket that was handed over, of whichever kind it is.
fn activated() -> Result<Listener, ListenError> {
    let refused = |cause| ListenError::System { at: "the socket that was handed over".into(), cause };
    let mut handed = listenfd::ListenFd::from_env();
    if let Ok(Some(listener)) = handed.take_tcp_listener(0) {
        let open = || {
            listener.set_nonblocking(true)?;
            tokio::net::TcpListener::from_std(listener)
        };
        return open().map(Listener::Tcp).map_err(refused);
    }
    match handed.take_unix_listener(0).map_err(refused)? {
        Some(listener) => {
            let open = || {
                listener.set_nonblocking(true)?;
                tokio::net::UnixListener::from_std(listener)
            };
            open().map(|listener| Listener::Unix(listener, None)).map_err(refused)
        }
        None => Err(ListenError::NotActivated),
    }
}

fn unix(path: &Path) -> Result<Listener, ListenError> {
    let refused = |cause| ListenError::System { at: path.display().to_string(), cause };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(refused(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ListenError::InTheWay { path: path.to_owned(), why: "it is no socket" });
        }
        Ok(_) if std::os::unix::net::UnixStream::connect(path).is_ok() => {
            return Err(ListenError::InTheWay { path: path.to_owned(), why: "somebody listens there" });
        }
        // Left by one that was killed.
        Ok(_) => std::fs::remove_file(path).map_err(refused)?,
    }
    let listener = tokio::net::UnixListener::bind(path).map_err(refused)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(refused)?;
    Ok(Listener::Unix(listener, Some(path.to_owned())))
}
