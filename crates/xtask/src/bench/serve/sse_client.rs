//! Reads many event streams on one thread, as cheaply as it can: it shares the processors with what it measures.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{CreateFlags, EventData, EventFlags, add, create, delete, wait};

use super::client::Client;
use super::now;

/// What one watcher saw: when each piece was written, and how long it took to arrive.
pub(super) type Seen = Vec<(u64, u64)>;

/// One stream.
struct Watched {
    socket: TcpStream,
    /// What came of a line that is not whole yet.
    rest: Vec<u8>,
    /// The answer's head was read.
    begun: bool,
    is_result: bool,
    seen: Seen,
}

/// What `each` is told of, while it is read.
pub(super) enum Progress {
    /// Every stream has seen a piece.
    AllBegun,
    /// A stream has seen the end of its turn.
    OneEnded,
    /// Some time has passed.
    Time,
}

/// Opens streams and reads each to the end of its turn.
pub(super) fn watch_all(
    client: &Client,
    paths: &[String],
    mut each: impl FnMut(Progress),
) -> Result<Vec<Seen>> {
    let epoll = create(CreateFlags::CLOEXEC)?;
    let mut all = Vec::with_capacity(paths.len());
    for (number, path) in paths.iter().enumerate() {
        let watched = Watched::open(client, path)?;
        add(&epoll, &watched.socket, EventData::new_u64(number as u64), EventFlags::IN)?;
        all.push(watched);
    }
    let (mut unbegun, mut open) = (all.len(), all.len());
    let mut ready = Vec::with_capacity(256);
    let mut buffer = vec![0; 256 << 10];
    let (mut looked, mut heard) = (Instant::now(), Instant::now());
    let patience = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while open > 0 {
        ready.clear();
        match wait(&epoll, spare_capacity(&mut ready), Some(&patience)) {
            Ok(0) if heard.elapsed() > Duration::from_mins(2) => bail!("nothing comes any more"),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => heard = Instant::now(),
            Err(error) => return Err(error.into()),
        }
        for event in &ready {
            let watched = &mut all[event.data.u64() as usize];
            let nothing_yet = watched.seen.is_empty();
            let over = watched.read(&mut buffer)?;
            if nothing_yet && !watched.seen.is_empty() {
                unbegun -= 1;
                if unbegun == 0 {
                    each(Progress::AllBegun);
                }
            }
            if over {
                delete(&epoll, &watched.socket)?;
                open -= 1;
                each(Progress::OneEnded);
            }
        }
        if looked.elapsed() > Duration::from_millis(200) {
            looked = Instant::now();
            each(Progress::Time);
        }
    }
    Ok(all.into_iter().map(|watched| watched.seen).collect())
}

impl Watched {
    fn open(client: &Client, path: &str) -> Result<Self> {
        let mut socket = TcpStream::connect(&client.address)?;
        let Client { address, token } = client;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
        socket.write_all(head.as_bytes())?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, rest: Vec::new(), begun: false, is_result: false, seen: Vec::new() })
    }

    /// Takes in what has come; whether the turn is over.
    fn read(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let count = match self.socket.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(false),
            read => read?,
        };
        if count == 0 {
            bail!("a stream ended before its turn");
        }
        let arrived = now();
        let mut rest = std::mem::take(&mut self.rest);
        let mut bytes = &buffer[..count];
        if !rest.is_empty() {
            rest.extend_from_slice(bytes);
            bytes = &rest;
        }
        let mut over = false;
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            over |= self.line(&bytes[..end], arrived)?;
            bytes = &bytes[end + 1..];
        }
        self.rest = bytes.to_vec();
        Ok(over)
    }

    /// Takes in a line; whether it tells the end of the turn. Lines that frame the chunks of the body hold no colon.
    fn line(&mut self, line: &[u8], arrived: u64) -> Result<bool> {
        if !self.begun {
            let status = line.split(|byte| *byte == b' ').nth(1).context("no answer came")?;
            if status != b"200" {
                bail!("a stream was refused: {}", String::from_utf8_lossy(line));
            }
            self.begun = true;
        } else if let Some(kind) = line.strip_prefix(b"event: ") {
            self.is_result = kind == b"result";
        } else if let Some(data) = line.strip_prefix(b"data: ") {
            self.data(data, arrived);
            return Ok(self.is_result);
        }
        Ok(false)
    }

    /// Every piece is `@` and the time it was written; those that the journal tells again are not new.
    fn data(&mut self, data: &[u8], arrived: u64) {
        for part in data.split(|byte| *byte == b'@').skip(1) {
            let digits = part.iter().take_while(|byte| byte.is_ascii_digit());
            let written = digits.fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0'));
            let piece = (written, arrived.saturating_sub(written));
            if self.seen.last().is_none_or(|(last, _)| written > *last) {
                self.seen.push(piece);
            } else if let Err(at) = self.seen.binary_search_by_key(&written, |(known, _)| *known) {
                self.seen.insert(at, piece);
            }
        }
    }
}
