//! A cache that makes lists, searches and statistics of tens of thousands of conversations instant.
//!
//! One SQLite file, `index.sqlite`. It is a cache in the strict sense: deleted, out of date, locked,
//! ruined or impossible to make, every question has the same answer, read from the journals.
//!
//! [`Index::list`] and [`Index::stats`] need the facts of conversations ([`Summary`], [`TurnFacts`]),
//! which are folded again when a journal changed. [`Index::search`] needs its words, too: turns are
//! gathered to documents, and for every word it is kept in which documents it stands. Their texts
//! are not stored: a candidate is read from its journal, so nothing is found that is not there.

mod bag;
mod batch;
mod block;
mod contents;
mod database;
mod facts;
mod failure;
mod index;
mod last_use;
mod list;
mod matching;
mod numbers;
mod pieces;
mod query;
mod search;
mod segments;
mod stats;
mod texts;
mod update;
mod words;

pub use facts::{Ended, Planned, State, Summary, TurnFacts};
pub use index::{Index, Progress};
pub use list::{Filter, List, Listed};
pub use query::Query;
pub use search::{Hit, Hits, Search};
pub use stats::{Bar, Grouping, Stats, StatsFilter};
pub use texts::Source;
