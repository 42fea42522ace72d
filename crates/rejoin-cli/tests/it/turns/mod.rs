//! The rule of resuming, end to end: each test looks at both halves of the decision, the session that went on and
//! the words that were sent.

mod attached;
mod branches;
mod guards;
mod hand_over;
mod interrupted;
mod limits;
mod outside;
mod plain;
mod refused;
mod reissued;
mod replay;
mod retired;
mod session_dir;
mod settings;
mod unnamed;
