use rejoin_core::FailureClass;

use crate::failures::{Words, says};

/// Names with blanks between them.
pub(crate) type Names = &'static str;

/// Whether a name is one of them.
pub(crate) fn lists(names: Names, name: &str) -> bool {
    names.split_whitespace().any(|known| known == name)
}

/// What programs say of an argument or a configuration that they do not accept.
const SETUP: Words = "refused its arguments | unknown option | unknown argument | unexpected argument | \
                      argument missing | a value is required | invalid value | not enough arguments | \
                      requires a value | config file at | loading config | use --list-models";

/// What kind of failure it is when an agent ends before it begins, with these last words.
pub(crate) fn before_it_began(words: &str) -> FailureClass {
    if says(words, SETUP) { FailureClass::Setup } else { FailureClass::Launch }
}
