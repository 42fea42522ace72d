//! A cache that makes lists, searches and statistics of tens of thousands of conversations instant.
//!
//! One SQLite file, `index.sqlite`. It is a cache in the strict sense: deleted, out of date, locked,
//! ruined or impossible to make, every question has the same answer, read from the journals.
//!
//! [`Index::list`] and [`Index::stats`] need the facts of conversations ([`Summary`], [`TurnFacts`]),
//! which are folded again when a journal changed. [`Index::search`] needs its words, too: turns are
//! gathered to documents, and for every word it is kept in which documents it stands. Their texts
//! are not stored: a candidate is read from its journal, so nothing is found that is not there.

mod bring_up_to_date;
mod database;
mod facts;
mod failure;
mod fulltext;
mod index;
mod journal_project;
mod last_use;
mod list;
mod message_parts;
mod rows;
mod stats;
mod varint;

pub use facts::{ConversationState, Planned, Summary, TurnEnd, TurnFacts};
pub use fulltext::query::Query;
pub use fulltext::search::{Hit, Hits, Search};
pub use fulltext::turn_texts::TextSource;
pub use index::{Index, Progress};
pub use last_use::ListPlace;
pub use list::{Accept, ConversationEntry, ConversationFilter, ConversationList};
pub use rows::ConversationRow;
pub use stats::{Bar, Group, Grouping, Stats, StatsFilter};
