//! What rejoin tells its supervisor, as frames: a length, the message as JSON, and the descriptors that go along.
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

use super::protocol::Message;

/// The most descriptors one frame carries: three streams, or the leases of a turn.
const MOST: usize = 8;

/// Sends a message with its descriptors.
pub(super) fn send(
    mut socket: &UnixStream,
    message: &Message,
    descriptors: &[BorrowedFd<'_>],
) -> std::io::Result<()> {
    let mut frame = vec![0; LENGTH];
    serde_json::to_writer(&mut frame, message)?;
    let length = (frame.len() - LENGTH) as u64;
    frame[..LENGTH].copy_from_slice(&length.to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(std::io::Error::other("too many descriptors for one message"));
    }
    // They come with the first byte; of a long frame the rest may have to follow.
    let sent = sendmsg(socket, &[IoSlice::new(&frame)], &mut ancillary, SendFlags::empty())?;
    socket.write_all(&frame[sent..])
}

/// The bytes that tell how long a message is.
const LENGTH: usize = size_of::<u64>();

/// The other side of [`send`]; nothing more comes if rejoin's end is closed.
pub(super) fn receive(mut socket: &UnixStream) -> std::io::Result<(Message, Vec<OwnedFd>)> {
    let mut length = [0u8; LENGTH];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::WAITALL;
    #[cfg(target_os = "linux")]
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let got = loop {
        match recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut ancillary, flags) {
            Err(rustix::io::Errno::INTR) => {}
            got => break got?,
        }
    };
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
    socket.read_exact(&mut body)?;
    Ok((serde_json::from_slice(&body)?, descriptors))
}
