//! Failures by the words for them: each agent has a table, and this reads it.

use rejoin_core::{FailureClass, Outcome};

/// A kind of failure; when it may be that: for one of these statuses of the model's service or names of an error
/// (`told` is any status, `none` is none, `5xx` is 500 and more, nothing is always); and for which words.
pub(crate) type Row = (FailureClass, &'static str, Words);

/// Words in lower case, with ` | ` between them; none of them is any.
pub(crate) type Words = &'static str;

/// An agent's words for failures, as its [tested version](crate::Definition::tested_version) has them; what was
/// seen in another says so.
#[derive(Clone, Copy)]
pub(crate) struct Failures {
    /// It refuses to resume.
    pub(crate) rejections: Words,
    /// In this order: the first that matches is the class.
    pub(crate) classes: &'static [Row],
    /// The status of the model's service that the words tell.
    pub(crate) status: fn(&str) -> Option<u16>,
    /// The words for people.
    pub(crate) readable: fn(&str) -> String,
    /// What tells most of its standard error.
    pub(crate) last_words: fn(&str) -> Option<&str>,
}

impl Failures {
    /// What agents have that do not say otherwise.
    pub(crate) const PLAIN: Self = Self {
        rejections: "no such session",
        classes: &[],
        status: |_| None,
        readable: str::to_owned,
        last_words: last_line,
    };

    /// What kind of failure these words tell of; `otherwise` if none is known.
    pub(crate) fn classify(&self, words: &str, otherwise: FailureClass) -> FailureClass {
        self.class("", (self.status)(words), words).unwrap_or(otherwise)
    }

    /// What kind of failure it is, by the name of the error, the service's status and the words.
    pub(crate) fn class(&self, name: &str, status: Option<u16>, words: &str) -> Option<FailureClass> {
        let words = plain(words);
        let fits = |(_, when, known): &&Row| may_be(when, name, status) && says_one(&words, known);
        self.classes.iter().find(fits).map(|(class, ..)| *class)
    }

    /// How a turn ended that ended with these words.
    pub(crate) fn outcome(&self, words: &str, otherwise: FailureClass) -> Outcome {
        Outcome::failed(self.classify(words, otherwise), (self.readable)(words))
    }

    /// What tells most of its standard error.
    pub(crate) fn last_words<'a>(&self, stderr: &'a str) -> Option<&'a str> {
        (self.last_words)(stderr)
    }

    /// Its refusal to resume, if there is one on its standard error.
    pub(crate) fn rejection<'a>(&self, stderr: &'a str) -> Option<&'a str> {
        says(stderr, self.rejections).then(|| self.last_words(stderr).unwrap_or(stderr.trim()))
    }
}

/// Whether a text contains one of the words, whatever their case.
pub(crate) fn says(text: &str, words: Words) -> bool {
    says_one(&plain(text), words)
}

fn plain(text: &str) -> String {
    text.to_ascii_lowercase().replace('\u{2019}', "'")
}

fn says_one(text: &str, words: Words) -> bool {
    words.split(" | ").any(|word| text.contains(word))
}

fn may_be(when: &str, name: &str, status: Option<u16>) -> bool {
    let fits = |one: &str| match (one, status) {
        ("told", Some(_)) | ("none", None) | ("5xx", Some(500..)) => true,
        ("4xx", Some(status)) => (400..500).contains(&status),
        (one, _) if one == name => true,
        (one, Some(status)) => one.parse() == Ok(status),
        _ => false,
    };
    when.is_empty() || when.split(' ').any(fits)
}

/// The lines of a standard error that say something, the last first.
pub(crate) fn backwards(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().rev().map(str::trim).filter(|line| !line.is_empty())
}

/// The last line that says something.
pub(crate) fn last_line(stderr: &str) -> Option<&str> {
    backwards(stderr).next()
}

/// The words that some line names an error, the last first.
pub(crate) fn after_error(stderr: &str) -> Option<&str> {
    backwards(stderr).find_map(|line| line.strip_prefix("Error: ").map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureClass as F;

    const TABLE: Failures = Failures {
        classes: &[
            (F::StepLimit, "too_many_steps", ""),
            (F::Quota, "400 429", "quota | billing"),
            (F::RateLimit, "429", ""),
            (F::Server, "5xx", ""),
            (F::InvalidRequest, "told", ""),
            (F::Network, "none", "it's gone"),
        ],
        ..Failures::PLAIN
    };

    #[test]
    fn the_first_row_that_fits_tells_the_class() {
        for (name, status, words, class) in [
            ("too_many_steps", Some(429), "x", Some(F::StepLimit)),
            ("", Some(429), "Billing", Some(F::Quota)),
            ("", Some(429), "slow down", Some(F::RateLimit)),
            ("", Some(599), "quota", Some(F::Server)),
            ("", Some(404), "", Some(F::InvalidRequest)),
            ("", None, "It\u{2019}s gone", Some(F::Network)),
            ("", None, "quota", None),
        ] {
            assert_eq!(TABLE.class(name, status, words), class, "{name} {status:?} {words}");
        }
    }

    #[test]
    fn a_refusal_to_resume_is_told_in_the_last_words() {
        assert_eq!(TABLE.rejection("x\nNo such session: y\n\n"), Some("No such session: y"));
        assert_eq!(TABLE.rejection("no such file"), None);
    }
}
