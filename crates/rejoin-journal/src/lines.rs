use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Large enough that most lines are handed out without a copy.
const BUFFER: usize = 256 << 10;

/// Reads lines of any length with bounded memory: a line over the cap is measured, not loaded.
pub(crate) struct Lines<R> {
    inner: BufReader<R>,
    cap: usize,
    /// Bytes of `inner`'s buffer that were handed out with the last line.
    lent: usize,
    /// Where the next line begins.
    place: u64,
    /// A line that did not fit into the buffer.
    long: Vec<u8>,
}

/// One line, without its newline.
pub(crate) struct Line<'a> {
    pub(crate) place: u64,
    /// Its length with the newline.
    pub(crate) length: u64,
    /// Whether there was a newline.
    pub(crate) ended: bool,
    /// `None` if it is longer than the cap.
    pub(crate) bytes: Option<&'a [u8]>,
}

impl<R: Read + Seek> Lines<R> {
    pub(crate) fn new(inner: R, cap: usize) -> Self {
        Self::with_buffer(inner, cap, BUFFER)
    }

    pub(crate) fn with_buffer(inner: R, cap: usize, buffer: usize) -> Self {
        Self { inner: BufReader::with_capacity(buffer, inner), cap, lent: 0, place: 0, long: Vec::new() }
    }

    /// Goes to a place; what is in the buffer already is not read again.
    pub(crate) fn seek(&mut self, place: u64) -> io::Result<()> {
        self.inner.consume(std::mem::take(&mut self.lent));
        match i64::try_from(i128::from(place) - i128::from(self.place)) {
            Ok(distance) => self.inner.seek_relative(distance)?,
            Err(_) => {
                self.inner.seek(SeekFrom::Start(place))?;
            }
        }
        self.place = place;
        Ok(())
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.inner.consume(std::mem::take(&mut self.lent));
        self.long.clear();
        let place = self.place;
        let mut length = 0;
        let mut fits = true;
        let ended = loop {
            let buffer = match self.inner.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break false;
            }
            let newline = memchr::memchr(b'\n', buffer);
            let taken = newline.map_or(buffer.len(), |at| at + 1);
            let text = newline.unwrap_or(taken);
            fits = fits && self.long.len() + text <= self.cap;
            if fits && newline.is_some() && length == 0 {
                self.lent = taken;
                self.place += taken as u64;
                let bytes = Some(&self.inner.buffer()[..text]);
                return Ok(Some(Line { place, length: taken as u64, ended: true, bytes }));
            }
            if fits {
                self.long.extend_from_slice(&buffer[..text]);
            } else {
                self.long = Vec::new();
            }
            self.inner.consume(taken);
            length += taken as u64;
            if newline.is_some() {
                break true;
            }
        };
        if length == 0 {
            return Ok(None);
        }
        self.place += length;
        let bytes = fits.then_some(self.long.as_slice());
        Ok(Some(Line { place, length, ended, bytes }))
    }
}
