//! Asks the endpoint, and asks again where that may help.

use std::io::Read;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

use crate::events::Events;
use crate::failure::{Again, Failure, without};
use crate::stream;

/// What rejoin asks for.
#[derive(Deserialize)]
pub(crate) struct Prompt {
    base_url: String,
    #[serde(default)]
    key_env: Option<String>,
    model: String,
    messages: Vec<Value>,
}

/// Tries, the first one included.
const TRIES: u32 = 5;
/// The longest an endpoint may make us wait before the next one.
const LONGEST_WAIT: u64 = 60;
/// No error message is longer.
const ERROR_BYTES: u64 = 64 << 10;

/// Gets one answer and tells it as it comes.
pub(crate) fn answer(prompt: &Prompt, events: &Events) -> Result<(), Failure> {
    let key = key(prompt)?;
    let mut with_usage = true;
    let mut attempt = 1;
    loop {
        let failure = match once(prompt, key.as_deref(), with_usage, events) {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        if events.answered() {
            return Err(failure);
        }
        // Some endpoints do not know this option; without it they only tell no usage.
        if with_usage && failure.class == "invalid_request" && failure.message.contains("stream_options") {
            with_usage = false;
            continue;
        }
        let wait = match failure.again {
            Again::Soon if attempt < TRIES => 1 << (attempt - 1),
            Again::After(seconds) if attempt < TRIES => seconds.min(LONGEST_WAIT),
            _ => return Err(failure),
        };
        events.retry(&format!("{}; asking again in {wait} s ({attempt} of {})", failure.message, TRIES - 1));
        std::thread::sleep(Duration::from_secs(wait));
        attempt += 1;
    }
}

fn key(prompt: &Prompt) -> Result<Option<String>, Failure> {
    let Some(name) = &prompt.key_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(key) if !key.trim().is_empty() => Ok(Some(key.trim().to_owned())),
        _ => Err(Failure::other("login", format!("the environment variable {name} holds no key"))),
    }
}

fn once(prompt: &Prompt, key: Option<&str>, with_usage: bool, events: &Events) -> Result<(), Failure> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(Duration::from_secs(30)))
        .build()
        .into();
    let url = format!("{}/chat/completions", prompt.base_url.trim_end_matches('/'));
    let mut body = json!({ "model": prompt.model, "messages": prompt.messages, "stream": true });
    if with_usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    let mut request =
        agent.post(&url).header("content-type", "application/json").header("accept", "text/event-stream");
    if let Some(key) = key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let response = request.send(body.to_string()).map_err(|error| match error {
        ureq::Error::BadUri(_) | ureq::Error::InvalidProxyUrl => {
            Failure::other("invalid_request", format!("base_url cannot be used: {error}"))
        }
        error => Failure::network(&error),
    })?;
    if response.status().is_success() {
        stream::read(response.into_body().into_reader(), &prompt.model, key, events)
    } else {
        Err(refused(response, key))
    }
}

fn refused(response: Response<ureq::Body>, key: Option<&str>) -> Failure {
    let status = response.status().as_u16();
    let retry_after =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let mut bytes = Vec::new();
    let _ = response.into_body().into_reader().take(ERROR_BYTES).read_to_end(&mut bytes);
    Failure::status(status, &without(key, &String::from_utf8_lossy(&bytes)), retry_after)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// How often an endpoint is asked that answers every time like this, and then closes.
    fn asked(body: &'static str) -> usize {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                seen.fetch_add(1, Ordering::SeqCst);
                let mut reader = BufReader::new(connection.try_clone().unwrap());
                let mut length = 0;
                let mut line = String::new();
                while reader.read_line(&mut line).unwrap() > 2 {
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    line.clear();
                }
                reader.read_exact(&mut vec![0; length]).unwrap();
                write!(connection, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}").unwrap();
            }
        });
        let prompt = Prompt { base_url, key_env: None, model: "m".into(), messages: Vec::new() };
        answer(&prompt, &Events::new(std::io::sink())).unwrap_err();
        count.load(Ordering::SeqCst)
    }

    /// Thoughts, numbers of tokens and warnings are told as they come, too.
    #[test]
    fn once_something_was_told_it_is_not_asked_again() {
        for told in [
            r#"{"choices":[{"delta":{"content":"half"}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
            r#"{"usage":{"prompt_tokens":3}}"#,
        ] {
            let broken: &str = format!("data: {told}\n\n").leak();
            assert_eq!(asked(broken), 1, "{told}");
            let failed: &str = format!("data: {told}\n\ndata: {{\"error\":\"busy\"}}\n\n").leak();
            assert_eq!(asked(failed), 1, "{told}");
        }
    }
}
