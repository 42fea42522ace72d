//! Hands the agent's description and the open descriptors over to the supervisor.
//!
//! Descriptors travel in the message itself, so none of them is ever inheritable: two turns that
//! start at the same moment cannot leak their pipes or locks into each other's agents.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::protocol::Spec;

/// The most descriptors one launch carries: three streams and two locks.
const MOST: usize = 8;

/// Sends the length of the description with the descriptors, then the description.
pub(super) fn send(socket: &UnixStream, spec: &Spec, descriptors: &[BorrowedFd<'_>]) -> std::io::Result<()> {
    let body = serde_json::to_vec(spec)?;
    let length = (body.len() as u64).to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(std::io::Error::other("too many descriptors for one launch"));
    }
    sendmsg(socket, &[IoSlice::new(&length)], &mut ancillary, SendFlags::empty())?;
    let mut socket = socket;
    socket.write_all(&body)
}

/// The other side of [`send`]: the description, the agent's three streams, and the locks.
pub(super) fn receive(socket: &UnixStream) -> std::io::Result<(Spec, [OwnedFd; 3], Vec<OwnedFd>)> {
    let mut length = [0u8; 8];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::WAITALL;
    #[cfg(target_os = "linux")]
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut ancillary, flags)?;
    if got.bytes != length.len() {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    #[cfg(not(target_os = "linux"))]
    for descriptor in &descriptors {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
    }
    let mut body = vec![0; u64::from_le_bytes(length) as usize];
    let mut reader = socket;
    reader.read_exact(&mut body)?;
    let spec = serde_json::from_slice(&body)?;
    let locks = descriptors.split_off(descriptors.len().min(3));
    let stdio = <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| std::io::ErrorKind::InvalidData)?;
    Ok((spec, stdio, locks))
}
