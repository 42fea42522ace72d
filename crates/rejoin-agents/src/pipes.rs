//! For tests: what a repository may put where a file belongs.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Puts a pipe there that nobody ever writes to.
pub(crate) fn put(at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

/// What `work` gives; it must not wait for such a pipe.
pub(crate) fn not_waited_for<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = channel();
    std::thread::spawn(move || done.send(work()));
    waiting.recv_timeout(Duration::from_mins(1)).expect("a pipe is waited for")
}
