//! The real agents talk to the scripted model, remember their first turn and run its tools.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod pi;
mod qwen;

use std::fs;

use rejoin_testkit::Lab;

/// What an agent answers that remembers its first turn as a message of its own.
const TWO_TURNS: &str = "SEEN n=2 marks=MARK-one,MARK-two";

/// Ends the laboratory and makes sure that nothing of it is left: no file, no process that works in it.
fn close(lab: Lab) {
    let root = lab.root();
    let at_work = |process: &fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|directory| directory.starts_with(&root))
    };
    let left: Vec<_> = fs::read_dir("/proc").into_iter().flatten().flatten().filter(at_work).collect();
    assert!(left.is_empty(), "still running: {left:?}");
    drop(lab);
    assert!(!root.exists());
}
