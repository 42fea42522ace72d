//! Asking the scripted model over the wire.

use std::io::{Read, Write};
use std::net::TcpStream;

use rejoin_testkit::ScriptedModel;
use serde_json::{Value, json};

/// One request on a connection of its own: status, headers, body.
pub(super) fn ask(model: &ScriptedModel, method: &str, path: &str, body: &Value) -> (u16, String, String) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let text = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: secret\r\nuser-agent: test/1\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    // A connection that is cut on purpose may end in an error; what was read before it counts.
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_default();
    (status, head.to_owned(), body.to_owned())
}

pub(super) fn post(model: &ScriptedModel, path: &str, body: &Value) -> (u16, Value) {
    let (status, _, answer) = ask(model, "POST", path, body);
    (status, serde_json::from_str(&answer).unwrap())
}

/// The documents of an event stream.
pub(super) fn events(model: &ScriptedModel, path: &str, body: &Value) -> Vec<Value> {
    let (status, _, answer) = ask(model, "POST", path, body);
    assert_eq!(status, 200);
    answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|d| serde_json::from_str(d).unwrap())
        .collect()
}

pub(super) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

pub(super) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
