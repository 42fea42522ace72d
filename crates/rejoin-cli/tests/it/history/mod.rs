//! What people do to a conversation between turns.

mod damage;
mod documented;
mod edits;
mod exports;
mod heads;
mod kept;
mod labels;
mod moved;
mod origins;
mod retries;
mod why;
