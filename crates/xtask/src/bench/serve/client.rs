//! A client that costs little, beside what it measures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Asks a daemon.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Client {
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.ask("GET", path, "")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.ask("POST", path, &body.to_string())
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let mut reader = self.send(method, path, body, "Connection: close\r\n")?;
        let status = read_head(&mut reader)?;
        let mut text = Vec::new();
        reader.read_to_end(&mut text)?;
        if !(200..300).contains(&status) {
            bail!("{method} {path}: {status} {}", String::from_utf8_lossy(&text));
        }
        serde_json::from_slice(&text).with_context(|| format!("{method} {path} gave no JSON"))
    }

    fn send(&self, method: &str, path: &str, body: &str, more: &str) -> Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_mins(2)))?;
        let Self { address, token } = self;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n{body}"
        );
        stream.write_all(head.as_bytes())?;
        Ok(BufReader::with_capacity(8 << 10, stream))
    }

    /// Reads events (type and data) until `each` has enough, or the stream ends.
    pub(super) fn events(&self, path: &str, mut each: impl FnMut(&str, &str) -> bool) -> Result<()> {
        let mut reader = self.send("GET", path, "", "")?;
        let status = read_head(&mut reader)?;
        if status != 200 {
            bail!("GET {path}: {status}");
        }
        let (mut line, mut kind) = (String::new(), String::new());
        // Lines that frame the chunks of the body hold no colon.
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(name) = line.strip_prefix("event: ") {
                name.trim_end().clone_into(&mut kind);
            } else if let Some(data) = line.strip_prefix("data: ")
                && !each(&kind, data)
            {
                return Ok(());
            }
        }
    }
}

fn read_head(reader: &mut impl BufRead) -> Result<u16> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no answer came")?;
    while reader.read_line(&mut line)? > 2 {}
    Ok(status)
}
