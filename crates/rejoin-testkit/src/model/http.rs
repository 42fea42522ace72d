//! Just enough HTTP/1.1 for the agents' clients: fixed and chunked bodies in, JSON and server-sent events out.

use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

use super::server::StopFlag;

/// A test that sends more than this has gone wrong.
const LARGEST_BODY: u64 = 256 * 1024 * 1024;
const LARGEST_LINE: u64 = 64 * 1024;

/// One request as read from the wire.
pub(super) struct Incoming {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Incoming {
    /// The next request of a connection, or `None` when the client is done.
    pub(super) fn read(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<Self>> {
        let Some(first) = read_line(input)? else { return Ok(None) };
        let mut words = first.split_ascii_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(invalid(format!("not a request line: {first:?}")));
        };
        let mut headers = Vec::new();
        loop {
            let line = read_line(input)?.ok_or_else(|| invalid("the headers were cut"))?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        let mut request = Self {
            method: method.to_owned(),
            path: target.split('?').next().unwrap_or_default().to_owned(),
            headers,
            body: Vec::new(),
        };
        if request.header("expect").is_some_and(|v| v.eq_ignore_ascii_case("100-continue")) {
            output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = request.read_body(input)?;
        Ok(Some(request))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The body as JSON; what is not JSON is kept as a string, so that a test can see it.
    pub(super) fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.body).into_owned()))
    }

    fn read_body(&self, input: &mut impl BufRead) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding").is_some_and(|v| v.to_ascii_lowercase().contains("chunked")) {
            loop {
                let line = read_line(input)?.ok_or_else(|| invalid("a chunked body was cut"))?;
                let digits = line.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(digits, 16)
                    .map_err(|_| invalid(format!("not a chunk size: {digits:?}")))?;
                if size == 0 {
                    while read_line(input)?.is_some_and(|trailer| !trailer.is_empty()) {}
                    return Ok(body);
                }
                read_exactly(input, size, &mut body)?;
                read_line(input)?;
            }
        }
        let size = match self.header("content-length") {
            Some(text) => text.parse().map_err(|_| invalid(format!("not a content length: {text:?}")))?,
            None => 0,
        };
        read_exactly(input, size, &mut body)?;
        Ok(body)
    }
}

fn read_exactly(input: &mut impl BufRead, size: u64, into: &mut Vec<u8>) -> io::Result<()> {
    if into.len() as u64 + size > LARGEST_BODY {
        return Err(invalid("the request body is larger than a test should send"));
    }
    let read = input.take(size).read_to_end(into)?;
    if read as u64 == size { Ok(()) } else { Err(invalid("the request body was cut")) }
}

fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if input.take(LARGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    let line = String::from_utf8_lossy(&bytes);
    Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
}

fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// The answering half of a connection.
pub(super) struct Reply<'a> {
    pub(super) stream: &'a mut TcpStream,
    pub(super) stop: &'a StopFlag,
    /// A HEAD request wants the headers only.
    pub(super) head_only: bool,
}

impl<'a> Reply<'a> {
    /// Answers with one JSON document; the connection stays usable.
    pub(super) fn json(self, status: u16, body: &Value, retry_after: Option<u32>) -> io::Result<()> {
        let retry_after = retry_after.map(|seconds| ("retry-after", seconds.to_string()));
        self.failure(status, body, retry_after.as_slice())
    }

    /// The same with headers of its own.
    pub(super) fn failure(self, status: u16, body: &Value, headers: &[(&str, String)]) -> io::Result<()> {
        let body = body.to_string();
        let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let headers = lines.concat();
        let mut out = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             request-id: req_scripted\r\n{headers}\r\n",
            reason(status),
            body.len()
        );
        if !self.head_only {
            out.push_str(&body);
        }
        self.stream.write_all(out.as_bytes())
    }

    /// Begins a stream of events; the connection ends with it.
    pub(super) fn events(self, chunked: bool) -> io::Result<Events<'a>> {
        let framing = if chunked { "transfer-encoding: chunked\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
             request-id: req_scripted\r\nconnection: close\r\n{framing}\r\n"
        );
        self.stream.write_all(head.as_bytes())?;
        Ok(Events { stream: self.stream, stop: self.stop, chunked, cut: false })
    }
}

/// A stream of server-sent events.
pub(super) struct Events<'a> {
    stream: &'a mut TcpStream,
    stop: &'a StopFlag,
    chunked: bool,
    cut: bool,
}

impl Events<'_> {
    /// One event with a name and a JSON document.
    pub(super) fn send(&mut self, name: &str, data: &Value) -> io::Result<()> {
        self.raw(&format!("event: {name}\ndata: {data}\n\n"))
    }

    /// One event without a name.
    pub(super) fn data(&mut self, data: &Value) -> io::Result<()> {
        self.raw(&format!("data: {data}\n\n"))
    }

    /// Bytes as they are, for protocols with another habit.
    pub(super) fn raw(&mut self, text: &str) -> io::Result<()> {
        if self.chunked {
            return self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
        }
        self.stream.write_all(text.as_bytes())
    }

    /// Says that nothing more comes, unless the connection was cut.
    pub(super) fn end(self) -> io::Result<()> {
        if self.chunked && !self.cut { self.stream.write_all(b"0\r\n\r\n") } else { Ok(()) }
    }

    /// Waits; fails at once when the server is being stopped.
    pub(super) fn pause(&self, time: Duration) -> io::Result<()> {
        if self.stop.wait(time) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// Closes the connection in the middle of the answer.
    pub(super) fn cut(&mut self) -> io::Result<()> {
        self.cut = true;
        self.stream.shutdown(Shutdown::Both)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> io::Result<Option<Incoming>> {
        Incoming::read(&mut text.as_bytes(), &mut io::sink())
    }

    #[test]
    fn a_body_by_length_and_by_chunks_is_the_same() {
        let fixed =
            read("POST /v1/x?beta=true HTTP/1.1\r\nContent-Length: 9\r\n\r\n{\"a\": 12}").unwrap().unwrap();
        let chunked = read(
            "POST /v1/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n5;ext=1\r\n: 12}\r\n0\r\n\r\n",
        )
        .unwrap()
        .unwrap();
        assert_eq!(fixed.path, "/v1/x");
        assert_eq!(fixed.body, chunked.body);
        assert_eq!(fixed.json()["a"], 12);
    }

    #[test]
    fn a_cut_body_is_an_error_and_a_closed_connection_is_not() {
        assert!(read("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}").is_err());
        assert!(read("POST / HTTP/1.1\r\nContent-Le").is_err());
        assert!(read("").unwrap().is_none());
    }

    #[test]
    fn a_client_that_asks_first_is_told_to_go_on() {
        let mut told = Vec::new();
        let text = "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}";
        Incoming::read(&mut text.as_bytes(), &mut told).unwrap().unwrap();
        assert!(told.starts_with(b"HTTP/1.1 100"));
    }
}
