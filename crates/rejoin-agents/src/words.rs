use rejoin_core::FailureClass;

/// Whether a text contains one of the words, whatever their case. `words` are in lower case.
pub(crate) fn says(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase().replace('\u{2019}', "'");
    words.iter().any(|word| text.contains(word))
}

/// What programs say of an argument or a configuration that they do not accept.
const SETUP: &[&str] = &[
    "refused its arguments",
    "unknown option",
    "unknown argument",
    "unexpected argument",
    "argument missing",
    "a value is required",
    "invalid value",
    "not enough arguments",
    "requires a value",
    "config file at",
    "loading config",
    "use --list-models",
];

/// What kind of failure it is when an agent ends before it begins, with these last words.
pub(crate) fn before_it_began(words: &str) -> FailureClass {
    if says(words, SETUP) { FailureClass::Setup } else { FailureClass::Launch }
}
