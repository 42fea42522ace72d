//! The demo agent as a program of its own, for tests and for trying it by hand.

use std::process::exit;

fn main() {
    exit(rejoin_demo::main(std::env::args_os().skip(1)));
}
