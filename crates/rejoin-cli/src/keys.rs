//! Keys of the terminal, one by one: for lists that a person moves in.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// What was pressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    Char(char),
    Backspace,
    /// Take back all that was typed.
    Clear,
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    /// With the control key.
    Ctrl(char),
    /// Esc, or the end of the terminal.
    Leave,
    Other,
}

/// An escape sequence follows Esc within this time; Esc itself has nothing after it.
const SOON: Duration = Duration::from_millis(50);

/// Waits for a key.
pub(crate) fn key() -> std::io::Result<Key> {
    Ok(match byte()? {
        None => Key::Leave,
        Some(b'\r' | b'\n') => Key::Enter,
        Some(8 | 127) => Key::Backspace,
        Some(21 | 23) => Key::Clear,
        Some(14) => Key::Down,
        Some(16) => Key::Up,
        Some(27) => escape()?,
        Some(control @ 1..=26) => Key::Ctrl(char::from(control + b'a' - 1)),
        Some(first @ 32..) => character(first)?.map_or(Key::Other, Key::Char),
        Some(_) => Key::Other,
    })
}

/// The same, for no longer than this.
pub(crate) fn key_within(limit: Duration) -> std::io::Result<Option<Key>> {
    if is_there_within(limit) { key().map(Some) } else { Ok(None) }
}

fn is_there_within(limit: Duration) -> bool {
    let stdin = std::io::stdin();
    let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
    poll(&mut [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)], Some(&limit))
        .is_ok_and(|ready| ready > 0)
}

/// The key behind an escape sequence.
fn escape() -> std::io::Result<Key> {
    if !is_there_within(SOON) {
        return Ok(Key::Leave);
    }
    if !matches!(byte()?, Some(b'[' | b'O')) {
        return Ok(Key::Other);
    }
    let mut numbers = Vec::new();
    loop {
        match (byte()?, numbers.as_slice()) {
            (Some(b'A'), _) => return Ok(Key::Up),
            (Some(b'B'), _) => return Ok(Key::Down),
            (Some(b'~'), b"5") => return Ok(Key::PageUp),
            (Some(b'~'), b"6") => return Ok(Key::PageDown),
            (Some(digit @ (b'0'..=b'9' | b';')), _) => numbers.push(digit),
            _ => return Ok(Key::Other),
        }
    }
}

/// A character that begins with this byte.
fn character(first: u8) -> std::io::Result<Option<char>> {
    let mut bytes = vec![first];
    while bytes.len() < 4 && std::str::from_utf8(&bytes).is_err() {
        match byte()? {
            Some(next) => bytes.push(next),
            None => break,
        }
    }
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()))
}

/// One byte, unbuffered: what is typed after the choice belongs to whoever comes next.
fn byte() -> std::io::Result<Option<u8>> {
    let mut buffer = [0];
    loop {
        return match rustix::io::read(std::io::stdin(), &mut buffer) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(buffer[0])),
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => Err(error.into()),
        };
    }
}
