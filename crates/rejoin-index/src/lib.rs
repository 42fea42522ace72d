//! A cache that makes lists, searches and statistics of tens of thousands of conversations instant.
mod bag;
mod batch;
mod block;
mod database;
mod facts;
mod failure;
mod index;
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
