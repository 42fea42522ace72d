//! The program behind the agent `openai`: one turn of a chat with any OpenAI-compatible endpoint.
//!
//! It is run as a child of rejoin (a hidden subcommand). One line on standard input says what to
//! send: `{"type":"prompt","base_url","key_env","model","messages"}`; a later line
//! `{"type":"interrupt"}` stops it. It prints the events of rejoin's embedded agents, one JSON object
//! a line: `delta`, `message`, `usage`, `retry`, `warning`, `end`. The key is read from the environment variable
//! that is named, and goes nowhere but into the request's header.

mod events;
mod failure;
mod request;
mod stream;

use std::io::BufRead;

use events::Events;
use request::Prompt;

/// Runs one turn; gives the exit code.
pub fn main() -> i32 {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).is_err() || line.trim().is_empty() {
        eprintln!("openai: nothing was asked: one line of JSON is expected on standard input");
        return 2;
    }
    let prompt: Prompt = match serde_json::from_str(&line) {
        Ok(prompt) => prompt,
        Err(error) => {
            eprintln!("openai: the request is not understood: {error}");
            return 2;
        }
    };
    let events = Events::new(std::io::stdout());
    watch_for_interrupt(events.clone());
    match request::answer(&prompt, &events) {
        Ok(()) => {
            events.end_ok();
            0
        }
        Err(failure) => {
            events.end_failed(&failure);
            1
        }
    }
}

/// rejoin asks to stop: end at once, in order.
fn watch_for_interrupt(events: Events) {
    // Where there is no thread to be had it is ended by a signal.
    let _ = std::thread::Builder::new().spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if line.contains("\"interrupt\"") {
                events.end_interrupted();
                std::process::exit(0);
            }
        }
    });
}
