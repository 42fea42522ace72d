//! A network namespace of our own, with `lo` up. No unsafe code: the interface is set up by netlink, not by ioctl.

use std::fs;

use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketType, recv, send, socket};
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

// From linux/netlink.h, linux/rtnetlink.h and linux/if.h.
/// Number 0, which is what "no protocol" means too.
const NETLINK_ROUTE: Option<Protocol> = None;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST_AND_ACK: u16 = 1 | 4;
const RTM_NEWLINK: u16 = 16;
const IFF_UP: u32 = 1;
/// The first interface of a new namespace is always `lo`.
const LOOPBACK_INDEX: i32 = 1;

/// Moves this process into a new network namespace (and, without the right to do so, first into a new user
/// namespace where it keeps its own user and group) and brings `lo` up.
pub(crate) fn enter() -> Result<(), String> {
    match unshare(UnshareFlags::NEWNET) {
        Ok(()) => {}
        Err(Errno::PERM) => enter_as_user()?,
        Err(error) => return Err(format!("cannot make a network namespace: {error}")),
    }
    bring_loopback_up().map_err(|error| format!("cannot bring the loopback interface up: {error}"))
}

fn enter_as_user() -> Result<(), String> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)
        .map_err(|error| format!("cannot make a user and a network namespace: {error}"))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (file, line) in maps {
        fs::write(file, line).map_err(|error| format!("cannot write {file}: {error}"))?;
    }
    Ok(())
}

#[expect(
    deprecated,
    reason = "the unsafe twin is about sharing descriptors (FILES), which is not asked for here"
)]
fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    rustix::thread::unshare(flags)
}

/// What `ip link set lo up` does.
fn bring_loopback_up() -> Result<(), Errno> {
    let route = socket(AddressFamily::NETLINK, SocketType::RAW, NETLINK_ROUTE)?;
    send(&route, &link_up_message(), SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (_, length) = recv(&route, &mut answer, RecvFlags::empty())?;
    acknowledged(&answer[..length.min(answer.len())])
}

/// `nlmsghdr` and `ifinfomsg`, in this machine's byte order.
fn link_up_message() -> Vec<u8> {
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes()); // length
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_AND_ACK.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes()); // sequence
    message.extend(0_u32.to_ne_bytes()); // to the kernel
    message.extend([0; 4]); // family, padding, type
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes()); // flags
    message.extend(IFF_UP.to_ne_bytes()); // which flags to change
    message
}

/// An acknowledgement is an error message with the number 0.
fn acknowledged(answer: &[u8]) -> Result<(), Errno> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, code) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(code)) => Err(Errno::from_raw_os_error(-code)),
        _ => Err(Errno::PROTO),
    }
}
