//! The full text: which words stand where, how it is kept, and how it is searched.
//!
//! On the way in: the texts of a turn ([`turn_texts`]) are cut into words ([`tokenize`]), of which every
//! document keeps each once ([`word_set`]); many documents are turned around in memory, from "what stands
//! in it" to "where it stands" ([`inverted_batch`]), and written as a segment of sorted blocks
//! ([`word_block`], [`segments`]). Which segments there are says one row ([`catalog`]).
//!
//! On the way out: a [`query`] names words, the segments name documents that may hold them all, and the
//! turns of those are read from their journals ([`search`]) and looked through ([`match_turn`]).

pub(crate) mod catalog;
mod escape_sequence;
pub(crate) mod inverted_batch;
pub(crate) mod match_turn;
pub(crate) mod query;
pub(crate) mod search;
pub(crate) mod segments;
pub(crate) mod tokenize;
pub(crate) mod turn_texts;
mod word_block;
pub(crate) mod word_set;
