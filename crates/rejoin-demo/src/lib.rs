//! The program of the embedded demo agent: real sessions, no model, no network.
//!
//! It lets anybody try rejoin without an account, and gives tests an agent that does what it is told,
//! also badly. This is its help, the one description of its arguments, protocol and words:
//!
//! ```text
#![doc = include_str!("help.txt")]
//! ```

mod answer;
mod args;
mod children;
mod directives;
mod flood;
mod input;
mod output;
mod perform;
mod session;
mod turn;
mod words;

use std::ffi::OsString;
use std::io::{self, Write as _};

use args::Asked;

/// Runs the demo agent over this process's standard input and output. `args` are its arguments without
/// the program's name; the result is the exit code.
pub fn main(args: impl Iterator<Item = OsString>) -> i32 {
    match args::parse(args) {
        Ok(Asked::Help) => print(include_str!("help.txt")),
        Ok(Asked::Version) => print(concat!("rejoin demo agent ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Asked::Turn(options)) => turn::take(&options),
        Err(wrong) => {
            say(&wrong);
            2
        }
    }
}

fn print(text: &str) -> i32 {
    i32::from(io::stdout().write_all(text.as_bytes()).is_err())
}

/// Talks on standard error; `eprintln!` would panic when nobody listens.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "demo: {text}");
}
