//! What the system tells of sockets and who holds them (Linux; elsewhere nothing is known).

use std::fs;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// How long it may be looked for who holds a socket.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than any table of sockets, environment or command line that is worth reading.
const LARGEST: u64 = 16 << 20;

/// The number of the socket at the other end of a connection, if it is one of this machine.
pub(crate) fn connected_socket(theirs: SocketAddr, ours: SocketAddr) -> Option<u64> {
    let (local, remote) = (canonical(theirs), canonical(ours));
    in_tables(|socket| socket.local == local && socket.remote == remote)
}

/// The number of the socket that keeps others from listening at an address: one that listens on its port, there or
/// everywhere.
pub(crate) fn listening_socket(wanted: SocketAddr) -> Option<u64> {
    let everywhere = |address: SocketAddr| address.ip().is_unspecified();
    let wanted = canonical(wanted);
    in_tables(|socket| {
        let at = socket.local;
        socket.listens
            && at.port() == wanted.port()
            && (at.ip() == wanted.ip() || everywhere(at) || everywhere(wanted))
    })
}

/// A line of the tables of sockets.
struct Socket {
    local: SocketAddr,
    remote: SocketAddr,
    listens: bool,
    inode: u64,
}

fn in_tables(wanted: impl Fn(&Socket) -> bool) -> Option<u64> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let table = read(table)?;
        socket_in(&String::from_utf8_lossy(&table), &wanted)
    })
}

/// A socket of IPv6 may be connected to an address of IPv4.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The state of a socket that listens.
const LISTENS: &str = "0A";

/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`
fn socket_in(table: &str, wanted: impl Fn(&Socket) -> bool) -> Option<u64> {
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let socket = Socket {
            local: address_in(fields.get(1)?)?,
            remote: address_in(fields.get(2)?)?,
            listens: *fields.get(3)? == LISTENS,
            inode: fields.get(9)?.parse().ok()?,
        };
        // A socket that its process closed has no number any more.
        (wanted(&socket) && socket.inode != 0).then_some(socket.inode)
    })
}

/// `0100007F:1E25`: words in the order of the machine, the port in the usual one.
fn address_in(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |from: usize| u32::from_str_radix(ip.get(from..from + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (place, chunk) in bytes.chunks_mut(4).enumerate() {
                chunk.copy_from_slice(&word(place * 8)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?)))
}

/// The processes that have this socket open: the one that connected, and those to which it was handed on. `None` if
/// there are too many processes to look at all.
pub(crate) fn holders_of(inode: u64) -> Option<Vec<u32>> {
    let wanted = format!("socket:[{inode}]");
    let deadline = Instant::now() + PATIENCE;
    let holds = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.take_while(|_| Instant::now() < deadline)
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|target| target.as_os_str() == wanted.as_str()))
    };
    let holders = pids().filter(holds).collect();
    (Instant::now() < deadline).then_some(holders)
}

pub(crate) fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub(crate) fn read(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_of_sockets_is_understood() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1E25 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0\n\
            1: 0100007F:C350 0100007F:1E25 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0\n\
            2: 0100007F:C351 0100007F:1E25 06 00000000:00000000 03:00000F9F 00000000     0        0 0 3 0\n\
            3: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1E25 01 0:0 0:0 0 1000 0 4712 1\n";
        let at = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let find = |port| socket_in(table, |socket| socket.local == at(port) && socket.remote == at(7717));
        if cfg!(target_endian = "little") {
            assert_eq!(find(50000), Some(4711));
            assert_eq!(find(50001), None, "its process closed it");
            assert_eq!(find(50002), Some(4712), "an address of IPv4 in the table of IPv6");
            assert_eq!(find(50003), None);
            assert_eq!(socket_in(table, |socket| socket.listens && socket.local == at(7717)), Some(11));
        }
    }
}
