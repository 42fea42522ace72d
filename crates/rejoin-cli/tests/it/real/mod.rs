//! rejoin on the real Claude Code and the real Codex, against the scripted model.
//!
//! Every scenario is one function that tells a story about an agent; [`on_both!`] makes one test of it
//! for each of them, so that a mistake in one agent's file turns exactly its own tests red.

/// One test for each agent: `real::<theme>::<scenario>::claude` and `…::codex`.
macro_rules! on_both {
    ($($scenario:ident),+ $(,)?) => {$(
        mod $scenario {
            played_by!(claude, Claude, $scenario);
            played_by!(codex, Codex, $scenario);
        }
    )+};
}

/// What only Claude can do.
macro_rules! on_claude {
    ($($scenario:ident),+ $(,)?) => {$(mod $scenario { played_by!(claude, Claude, $scenario); })+};
}

/// What only Codex can do.
macro_rules! on_codex {
    ($($scenario:ident),+ $(,)?) => {$(mod $scenario { played_by!(codex, Codex, $scenario); })+};
}

macro_rules! played_by {
    ($test:ident, $who:ident, $scenario:ident) => {
        #[test]
        fn $test() {
            crate::real::stage::play(crate::real::stage::Who::$who, super::$scenario);
        }
    };
}

mod agents;
mod attach;
mod bare;
mod directories;
mod ephemeral;
mod failures;
mod files;
mod handover;
mod kills;
mod lost;
mod nested;
mod options;
mod others;
mod output;
mod permissions;
mod processes;
mod prompts;
mod questions;
mod resume;
mod run;
mod running;
mod stage;
mod together;
mod tools;
mod turn;
mod usage;
