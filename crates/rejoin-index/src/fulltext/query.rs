//! What a person looks for.

use crate::fulltext::tokenize::words;

/// Words and phrases that must all occur in one turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    pub(crate) phrases: Vec<Phrase>,
}

/// Words that must stand side by side, in this order; often a single one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Phrase {
    pub(crate) words: Vec<Vec<u8>>,
    /// The last one is only the beginning of a word.
    pub(crate) open: bool,
}

impl Query {
    /// The most words it may have.
    pub const LONGEST: usize = 32;

    /// Reads what was typed. An argument is a word or, if there are several in it, a phrase; inside
    /// of an argument, quotes make phrases, too. `*` after a word stands for any ending. `None` if
    /// there is no word in it; words beyond [`Query::LONGEST`] do not count.
    pub fn parse<S: AsRef<str>>(arguments: &[S]) -> Option<Query> {
        let mut phrases = Vec::new();
        for argument in arguments {
            let argument = argument.as_ref();
            if argument.contains('"') {
                for (at, piece) in argument.split('"').enumerate() {
                    if at % 2 == 1 {
                        phrases.extend(Phrase::parse(piece));
                    } else {
                        phrases.extend(piece.split_whitespace().filter_map(Phrase::parse));
                    }
                }
            } else {
                phrases.extend(Phrase::parse(argument));
            }
        }
        let mut room = Self::LONGEST;
        phrases.retain_mut(|phrase| {
            phrase.open = phrase.open && phrase.words.len() <= room;
            phrase.words.truncate(room);
            room -= phrase.words.len();
            !phrase.words.is_empty()
        });
        (!phrases.is_empty()).then_some(Query { phrases })
    }

    /// All its words as one phrase, if that says more than the query itself.
    pub(crate) fn side_by_side(&self) -> Option<Phrase> {
        let (last, others) = self.phrases.split_last().filter(|(_, others)| !others.is_empty())?;
        let words = self.phrases.iter().flat_map(|phrase| phrase.words.clone()).collect();
        (!others.iter().any(|phrase| phrase.open)).then_some(Phrase { words, open: last.open })
    }

    /// Its words one by one, each with whether it is only the beginning of a word.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.phrases.iter().flat_map(|phrase| {
            let last = phrase.words.len() - 1;
            let words = phrase.words.iter().enumerate();
            words.map(move |(at, word)| (word.as_slice(), phrase.open && at == last))
        })
    }
}

impl Phrase {
    fn parse(text: &str) -> Option<Phrase> {
        let mut found = Vec::new();
        let mut end = 0;
        words(text, |word, place| {
            found.push(word.to_bytes());
            end = place.end;
        });
        let open = text[end..].starts_with('*');
        (!found.is_empty()).then_some(Phrase { words: found, open })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Vec<(String, bool)> {
        let query = Query::parse(arguments);
        let phrases = query.map(|query| query.phrases).unwrap_or_default();
        let join = |phrase: &Phrase| String::from_utf8(phrase.words.join(&b' ')).unwrap();
        phrases.iter().map(|phrase| (join(phrase), phrase.open)).collect()
    }

    #[test]
    fn arguments_are_words_and_phrases() {
        let word = |text: &str| (text.to_owned(), false);
        assert_eq!(parsed(&["Fix", "bug"]), [word("fix"), word("bug")]);
        assert_eq!(parsed(&["connection refused"]), [word("connection refused")]);
        assert_eq!(parsed(&["a \"b c\" d"]), [word("a"), word("b c"), word("d")]);
        assert_eq!(parsed(&["foo_bar.rs"]), [word("foo bar rs")]);
        assert_eq!(parsed(&["conn*", "x"]), [("conn".to_owned(), true), word("x")]);
        assert_eq!(parsed(&["修复"]), [word("修 复")]);
        assert_eq!(parsed(&["-", "*", "\"\""]), []);
    }

    #[test]
    fn a_query_has_an_end() {
        let many: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        let query = Query::parse(&[many.join(" ")]).unwrap();
        assert_eq!(query.phrases[0].words.len(), Query::LONGEST);
    }

    #[test]
    fn only_the_last_word_of_a_phrase_can_be_a_beginning() {
        let query = Query::parse(&["one", "two thr*"]).unwrap();
        let words: Vec<(&[u8], bool)> = query.words().collect();
        assert_eq!(words, [(&b"one"[..], false), (b"two", false), (b"thr", true)]);
    }
}
