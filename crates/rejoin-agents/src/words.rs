/// Whether a text contains one of the words, whatever their case. `words` are in lower case.
pub(crate) fn says(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase().replace('\u{2019}', "'");
    words.iter().any(|word| text.contains(word))
}
