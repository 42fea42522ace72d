//! Splits a stream of bytes into lines without trusting it: any length, any bytes, any end.

use memchr::memchr;
use rejoin_agents::Line;

/// Collects bytes and hands out lines. Never holds more than its cap, whatever arrives.
pub(crate) struct Lines {
    cap: usize,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// That line is already longer than the cap: its rest is dropped.
    overflowing: bool,
}

impl Lines {
    pub(crate) fn new(cap: usize) -> Self {
        Self { cap, partial: Vec::new(), overflowing: false }
    }

    /// Takes in what was read and calls `each` for every line that is now complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.partial.is_empty() && head.len() <= self.cap {
                give(head, false, &mut each);
                continue;
            }
            self.keep(head);
            give(&self.partial, self.overflowing, &mut each);
            self.reset();
        }
        self.keep(bytes);
    }

    /// The stream ended: what is left is a line, too.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() {
            give(&self.partial, self.overflowing, &mut each);
            self.reset();
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.cap.saturating_sub(self.partial.len());
        self.overflowing |= bytes.len() > room;
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn reset(&mut self) {
        self.overflowing = false;
        self.partial.clear();
        // One giant line must not keep its memory for the rest of the turn.
        self.partial.shrink_to(1 << 20);
    }
}

fn give(bytes: &[u8], truncated: bool, each: &mut impl FnMut(Line<'_>)) {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if !bytes.is_empty() {
        each(Line { bytes, truncated });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(cap: usize, chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut lines = Lines::new(cap);
        let mut out = Vec::new();
        for chunk in chunks {
            lines.feed(chunk, |line| out.push((line.bytes.to_vec(), line.truncated)));
        }
        lines.finish(|line| out.push((line.bytes.to_vec(), line.truncated)));
        out
    }

    #[test]
    fn lines_may_arrive_in_any_pieces() {
        let expected = vec![(b"one".to_vec(), false), (b"two".to_vec(), false), (b"three".to_vec(), false)];
        let text = b"one\r\ntwo\n\nthree";
        for size in 1..text.len() {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(collect(100, &chunks), expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_line_over_the_cap_is_cut_and_the_next_one_is_whole() {
        let expected = vec![(b"abcd".to_vec(), true), (b"next".to_vec(), false)];
        for size in 1..12 {
            let chunks: Vec<&[u8]> = b"abcdefgh\nnext\n".chunks(size).collect();
            assert_eq!(collect(4, &chunks), expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_whole() {
        assert_eq!(collect(4, &[b"abcd\n"]), vec![(b"abcd".to_vec(), false)]);
    }
}
