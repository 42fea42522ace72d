//! rejoin on the real agents, against the scripted model.
//!
//! Every scenario is one function that tells a story about an agent; the macros make one test of it for each, so
//! that a mistake in one agent's file turns exactly its own tests red. Those of [`on_all!`] fill the table that
//! `cargo xtask test` shows.

/// One test for each agent, and what of the table it shows: `real::<theme>::<scenario>::<agent>`.
macro_rules! on_all {
    ($($scenario:ident: $lines:expr),+ $(,)?) => {$(
        mod $scenario {
            in_the_table!(claude, Claude, $scenario, $lines);
            in_the_table!(codex, Codex, $scenario, $lines);
            in_the_table!(gemini, Gemini, $scenario, $lines);
            in_the_table!(opencode, OpenCode, $scenario, $lines);
            in_the_table!(pi, Pi, $scenario, $lines);
            in_the_table!(qwen, Qwen, $scenario, $lines);
        }
    )+};
}

/// One test for Claude and one for Codex.
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
            crate::real::stage::play(crate::real::who::Who::$who, super::$scenario);
        }
    };
}

macro_rules! in_the_table {
    ($test:ident, $who:ident, $scenario:ident, $lines:expr) => {
        #[test]
        fn $test() {
            crate::real::stage::play_in_the_table(crate::real::who::Who::$who, &$lines, super::$scenario);
        }
    };
}

mod adopted;
mod agents;
mod attach;
mod bare;
mod chat;
mod directories;
mod doctor;
mod ephemeral;
mod failures;
mod files;
mod flows;
mod handover;
mod kills;
mod limits;
mod lost;
mod nested;
mod openai;
mod options;
mod output;
mod over_http;
mod permissions;
mod processes;
mod prompts;
mod questions;
mod resume;
mod run;
mod running;
mod sessions;
mod setup;
mod stage;
mod together;
mod tools;
mod turn;
mod usage;
mod who;
