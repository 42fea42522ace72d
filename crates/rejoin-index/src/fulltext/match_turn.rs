//! Whether a turn says what is looked for, and where best.

use std::ops::Range;

use rejoin_core::MessageId;

use crate::fulltext::query::{Phrase, Query};
use crate::fulltext::tokenize::{Word, words};
use crate::fulltext::turn_texts::{TextSource, TurnText};

/// How much of a text is shown before and after a match.
const BEFORE: usize = 60;
const SNIPPET: usize = 240;

/// The place in a turn that answers a query best.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TurnMatch {
    pub(crate) message: Option<MessageId>,
    pub(crate) source: TextSource,
    /// All words were said.
    pub(crate) said: bool,
    /// They stand side by side.
    pub(crate) adjacent: bool,
    pub(crate) snippet: String,
    pub(crate) marks: Vec<Range<usize>>,
}

/// Looks through the texts of one turn.
pub(crate) struct Matcher<'a> {
    query: &'a Query,
    /// The phrases of the query, then all words side by side.
    phrases: Vec<Phrase>,
    /// Which phrases were found so far, and which of them as said.
    found: u64,
    said: u64,
    best: Option<BestText>,
}

/// A text in which something was found.
struct BestText {
    score: (bool, bool, u32),
    message: Option<MessageId>,
    source: TextSource,
    snippet: String,
    marks: Vec<Range<usize>>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(query: &'a Query) -> Self {
        let phrases = query.phrases.iter().cloned().chain(query.side_by_side()).collect();
        Self { query, phrases, found: 0, said: 0, best: None }
    }

    /// Looks through one text.
    pub(crate) fn look(&mut self, text: &TurnText<'_>) {
        self.look_at(Some(text.message), text.source, text.content);
    }

    pub(crate) fn look_at(&mut self, message: Option<MessageId>, source: TextSource, text: &str) {
        let matches = scan(&self.phrases, text);
        let here = matches.iter().fold(0, |found, (phrase, _)| found | 1 << phrase);
        if here == 0 {
            return;
        }
        self.found |= here;
        let said = source.is_said();
        if said {
            self.said |= here;
        }
        let adjacent = here >> self.query.phrases.len() != 0;
        let score = (said, adjacent, here.count_ones());
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            // All of them side by side, else the one that comes late: it is the rarest, and says most.
            let wanted = |phrase: usize| !adjacent || phrase == self.query.phrases.len();
            let at = matches.iter().rfind(|(phrase, _)| wanted(*phrase)).map_or(0, |(_, place)| place.start);
            let (snippet, marks) = cut_out(text, at, &self.query.phrases);
            self.best = Some(BestText { score, message, source, snippet, marks });
        }
    }

    /// What was found, if all of it was; ready for the next turn.
    pub(crate) fn take(&mut self) -> Option<TurnMatch> {
        let all = (1 << self.query.phrases.len()) - 1;
        let (found, said) = (std::mem::take(&mut self.found), std::mem::take(&mut self.said));
        let best = self.best.take().filter(|_| found & all == all)?;
        let adjacent = found > all;
        Some(TurnMatch {
            message: best.message,
            source: best.source,
            said: said & all == all,
            adjacent,
            snippet: best.snippet,
            marks: best.marks,
        })
    }
}

/// Where each phrase stands first in a text, in the order they end.
fn scan(phrases: &[Phrase], text: &str) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>)> = Vec::new();
    // Per phrase, bit n says that its words up to n end here.
    let mut states = vec![0_u64; phrases.len()];
    let mut begins = [0; 64];
    let mut number = 0_usize;
    words(text, |word, place| {
        begins[number % 64] = place.start;
        for (at, phrase) in phrases.iter().enumerate() {
            let state = &mut states[at];
            *state = (*state << 1 | 1) & fits(phrase, word);
            let last = phrase.words.len() - 1;
            if *state >> last & 1 == 1 && !found.iter().any(|(known, _)| *known == at) {
                found.push((at, begins[(number - last) % 64]..place.end));
            }
        }
        number += 1;
    });
    found
}

/// Bit n says that a word can be the n-th of a phrase.
fn fits(phrase: &Phrase, word: &Word) -> u64 {
    let last = phrase.words.len() - 1;
    let fit = |(at, wanted): (usize, &Vec<u8>)| {
        let whole = wanted.len() == word.len() || (phrase.open && at == last);
        u64::from(whole && word.begins_with(wanted)) << at
    };
    phrase.words.iter().enumerate().map(fit).sum()
}

/// A piece of a text around a place, on one line, and the words in it that are looked for.
fn cut_out(text: &str, at: usize, phrases: &[Phrase]) -> (String, Vec<Range<usize>>) {
    let mut begin = text.ceil_char_boundary(at.saturating_sub(BEFORE));
    if begin > 0 {
        // Not in the middle of a word, if there is a better place.
        begin = text[begin..at].find(char::is_whitespace).map_or(begin, |space| begin + space + 1);
    }
    let end = text.floor_char_boundary(begin + SNIPPET);
    let mut line = String::new();
    if begin > 0 {
        line.push('…');
    }
    for word in text[begin..end].split_whitespace() {
        if !line.is_empty() && line != "…" {
            line.push(' ');
        }
        line.push_str(word);
    }
    if end < text.len() {
        line.push('…');
    }
    let mut marks = Vec::new();
    words(&line, |word, place| {
        if phrases.iter().any(|phrase| fits(phrase, word) != 0) {
            marks.push(place);
        }
    });
    (line, marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &[&str], texts: &[(TextSource, &str)]) -> Option<TurnMatch> {
        let query = Query::parse(query).unwrap();
        let mut matcher = Matcher::new(&query);
        for (source, text) in texts {
            matcher.look_at(None, *source, text);
        }
        matcher.take()
    }

    #[test]
    fn all_words_must_be_there_in_any_order_and_text() {
        let texts = [(TextSource::User, "fix the bug"), (TextSource::Result, "error: Connection refused")];
        assert!(found(&["bug", "fix"], &texts).unwrap().said);
        assert!(!found(&["refused", "fix"], &texts).unwrap().said);
        assert!(found(&["fix", "nothing"], &texts).is_none());
        assert!(found(&["fi"], &texts).is_none());
    }

    #[test]
    fn phrases_stand_side_by_side_and_prefixes_begin_words() {
        let texts = [(TextSource::Result, "a a b: Connection refused")];
        assert!(found(&["connection refused"], &texts).is_some());
        assert!(found(&["refused connection"], &texts).is_none());
        assert!(found(&["a b conn*"], &texts).is_some());
        assert!(found(&["conn* refused"], &texts).is_none());
        assert!(found(&["onn*"], &texts).is_none());
    }

    #[test]
    fn words_side_by_side_are_noticed() {
        let texts = [(TextSource::Agent, "one two")];
        assert!(found(&["one", "two"], &texts).unwrap().adjacent);
        assert!(!found(&["two", "one"], &texts).unwrap().adjacent);
        assert!(!found(&["one"], &texts).unwrap().adjacent);
    }

    #[test]
    fn the_snippet_shows_the_best_place_on_one_line() {
        let long = format!("{}\n\tthe bug\nis here {}", "word ".repeat(50), "more ".repeat(100));
        let found =
            found(&["bug"], &[(TextSource::Result, "a bug too"), (TextSource::Agent, &long)]).unwrap();
        assert_eq!(found.source, TextSource::Agent);
        assert!(found.snippet.starts_with('…') && found.snippet.ends_with('…'));
        assert!(found.snippet.contains("word the bug is here more"), "{}", found.snippet);
        assert_eq!(found.marks.iter().map(|mark| &found.snippet[mark.clone()]).collect::<Vec<_>>(), ["bug"]);
    }
}
