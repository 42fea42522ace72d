//! What the user typed, of all that Qwen Code keeps as messages of the user.

use crate::loose::Text;

/// Whether a record of the kind `user` was written by the user.
pub(super) fn is_of_the_user(subtype: &str, provenance: &Text<'_>) -> bool {
    // From 0.24 on it says who wrote it.
    subtype != "notification" && provenance.filled().is_none_or(|who| who == "real_user")
}

/// What the user typed, among the texts of a message.
pub(super) fn typed<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    texts.find(|text| !text.trim().is_empty() && !text.trim_start().starts_with("<system-reminder>"))
}
