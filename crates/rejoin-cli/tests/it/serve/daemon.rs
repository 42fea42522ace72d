//! A daemon on a bench, and a small client that shows exactly what goes over the wire.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rejoin_testkit::Lab;
use serde_json::Value;

use crate::support::{Bench, PATIENCE, eventually, kill};

/// A running `rejoin serve`.
pub(crate) struct Daemon<'a> {
    lab: &'a Lab,
    child: Child,
    /// Where it listens: `127.0.0.1:4711`.
    pub(crate) address: String,
    /// The bearer token that scripts use.
    pub(crate) token: String,
}

impl<'a> Daemon<'a> {
    pub(crate) fn start(bench: &'a Bench) -> Self {
        Self::start_with(bench, &[])
    }

    /// Started with more arguments than `serve --port 0`.
    pub(crate) fn start_with(bench: &'a Bench, args: &[&str]) -> Self {
        let mut command = bench.rejoin(&["serve", "--port", "0"]).with(args).command();
        Self::start_by(&bench.lab, &bench.home(), &mut command)
    }

    /// Started by this command, for this home.
    pub(crate) fn start_by(lab: &'a Lab, home: &Path, command: &mut Command) -> Self {
        Self::start_given(lab, home, command.stdin(Stdio::null()))
    }

    /// The same with the standard input that the command has.
    pub(super) fn start_given(lab: &'a Lab, home: &Path, command: &mut Command) -> Self {
        let log = fs::File::create(lab.root().join("daemon.log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let note = home.join("daemon.json");
        let pid = u64::from(child.id());
        let address = eventually("the daemon's address", || {
            let said: Value = serde_json::from_str(&fs::read_to_string(&note).ok()?).ok()?;
            (said["pid"].as_u64() == Some(pid)).then(|| said["address"].as_str().map(str::to_owned))?
        });
        let token = fs::read_to_string(home.join("token")).unwrap_or_default().trim().to_owned();
        Self { lab, child, address, token }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.lab.root().join("daemon.log")).unwrap_or_default()
    }

    /// Waits until it has ended by itself, and gives its exit code.
    pub(super) fn ended(mut self) -> Option<i32> {
        eventually("the end of the daemon", || self.child.try_wait().unwrap()).code()
    }

    /// Kills it at once.
    pub(crate) fn kill(mut self) {
        kill(self.child.id());
        let _ = self.child.wait();
    }

    /// A request that is still being described, with the bearer token.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Ask {
        let bare = self.ask_bare(method, path);
        bare.header("Authorization", &format!("Bearer {}", self.token))
    }

    /// The same without any token.
    pub(crate) fn ask_bare(&self, method: &str, path: &str) -> Ask {
        Ask::new(&self.address, method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path).send()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path).json(body).send()
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        kill(self.child.id());
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the daemon said:\n{}", self.log());
        }
    }
}

/// A request.
pub(crate) struct Ask {
    address: String,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    /// To whoever is at this address, without any token.
    pub(super) fn new(address: &str, method: &str, path: &str) -> Self {
        Self {
            address: address.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("Host".to_owned(), address.to_owned())],
            body: Vec::new(),
        }
    }

    /// Sets a header; another one of that name is replaced.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    fn connect(&self, keep: bool) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        self.write(&mut stream, keep);
        stream
    }

    fn write(&self, stream: &mut impl Write, keep: bool) {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if !self.body.is_empty() || self.method != "GET" {
            head.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        head.push_str(if keep { "\r\n" } else { "Connection: close\r\n\r\n" });
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses what it was told of may not read on.
        let _ = stream.write_all(&self.body);
    }

    /// Sends it and reads the whole answer.
    pub(crate) fn send(self) -> Reply {
        read_reply(self.connect(false))
    }

    /// The same over a connection that was made in another way.
    pub(super) fn send_over(self, mut stream: impl Read + Write) -> Reply {
        self.write(&mut stream, false);
        read_reply(stream)
    }

    /// Sends it and reads events as they come.
    pub(crate) fn events(self) -> EventStream {
        let asked = self.header("Accept", "text/event-stream");
        let mut reader = BufReader::new(asked.connect(true));
        let (status, headers) = read_head(&mut reader);
        assert_eq!(status, 200, "{headers:?}");
        EventStream { reader, pending: VecDeque::new(), text: String::new(), over: false }
    }
}

fn read_reply(stream: impl Read) -> Reply {
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader);
    let mut raw = Vec::new();
    let _ = reader.read_to_end(&mut raw);
    let chunked = header(&headers, "transfer-encoding").is_some_and(|value| value == "chunked");
    let body = if chunked { unchunk(&raw) } else { raw };
    Reply { status, headers, body }
}

fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            return (status, headers);
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn unchunk(mut raw: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&raw[..end]).unwrap().trim(), 16).unwrap();
        let from = end + 2;
        if size == 0 || raw.len() < from + size {
            break;
        }
        body.extend_from_slice(&raw[from..from + size]);
        raw = raw.get(from + size + 2..).unwrap_or_default();
    }
    body
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The body, as JSON, of an answer that must have this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// An event as a browser gets it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<String>,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// Server-sent events as they come.
pub(crate) struct EventStream {
    reader: BufReader<TcpStream>,
    pending: VecDeque<Told>,
    text: String,
    over: bool,
}

impl EventStream {
    /// The next event; `None` at the end of the stream, or if none comes in time.
    pub(crate) fn next_within(&mut self, limit: Duration) -> Option<Told> {
        self.reader.get_ref().set_read_timeout(Some(limit)).unwrap();
        while self.pending.is_empty() && !self.over {
            // A chunk is `size\r\n` bytes `\r\n`.
            let mut size = String::new();
            match self.reader.read_line(&mut size) {
                Ok(count) if count > 0 => {}
                _ => return None,
            }
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            self.reader.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
            self.reader.read_exact(&mut chunk).ok()?;
            self.reader.get_ref().set_read_timeout(Some(limit)).unwrap();
            self.over = size == 0;
            self.text.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                self.pending.extend(parse(&block));
            }
        }
        self.pending.pop_front()
    }

    /// Waits for an event of this type, and gives it.
    #[track_caller]
    pub(crate) fn hears(&mut self, kind: &str) -> Told {
        // Whoever only hears that somebody is there waits for nothing.
        let (mut heard, deadline) = (Vec::new(), Instant::now() + PATIENCE * 2);
        loop {
            match self.next_within(PATIENCE) {
                Some(told) if told.kind == kind => return told,
                Some(told) if Instant::now() < deadline => heard.push(told),
                _ => panic!("no {kind:?} came: {heard:#?}"),
            }
        }
    }
}

fn parse(block: &str) -> Option<Told> {
    let mut told = Told { id: None, kind: "message".to_owned(), data: Value::Null };
    let mut data = String::new();
    for line in block.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => told.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut told.kind),
            "data" => data.push_str(value),
            _ => {}
        }
    }
    told.data = serde_json::from_str(&data).ok()?;
    Some(told)
}
