//! Who is at the other end of a connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The other end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// Over the network, the loopback included.
    Tcp {
        /// Its address.
        theirs: SocketAddr,
        /// Ours, as it sees it.
        ours: SocketAddr,
    },
    /// Over a socket in the file system.
    Unix {
        /// The process that connected, where the system tells.
        pid: Option<u32>,
    },
}

/// Those of one origin: what they do wrong is counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum PeerGroup {
    Address(IpAddr),
    Unix,
}

impl Peer {
    /// Who connected over TCP.
    pub(crate) fn of_tcp(stream: &tokio::net::TcpStream, theirs: SocketAddr) -> std::io::Result<Self> {
        Ok(Self::Tcp { theirs, ours: stream.local_addr()? })
    }

    /// Who connected over a socket in the file system.
    pub(crate) fn of_unix(stream: &tokio::net::UnixStream) -> Self {
        let pid = stream.peer_cred().ok().and_then(|who| who.pid());
        Self::Unix { pid: pid.and_then(|pid| u32::try_from(pid).ok()) }
    }

    /// An IPv6 network is one: whoever has an address in it has all of them.
    pub(super) fn group(self) -> PeerGroup {
        match self {
            Peer::Unix { .. } => PeerGroup::Unix,
            Peer::Tcp { theirs, .. } => PeerGroup::Address(match theirs.ip().to_canonical() {
                IpAddr::V6(address) => {
                    let [a, b, c, d, ..] = address.segments();
                    IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
                }
                address @ IpAddr::V4(_) => address,
            }),
        }
    }
}
