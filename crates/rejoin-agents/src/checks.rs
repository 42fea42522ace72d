//! What is refused for every agent before anything is spawned.

use crate::Refusal;

/// A single argument may hold 128 KiB on Linux; this leaves room for its flag.
const LONGEST_INSTRUCTIONS: usize = 100 * 1024;

/// A prompt that is empty for every agent: none of them answers it, and some wait for ever.
pub(crate) fn prompt(prompt: &str) -> Result<(), Refusal> {
    if prompt.chars().all(|c| c.is_whitespace() || c == '\u{feff}' || c == '\u{200b}') {
        return Err(Refusal::Unsupported("the prompt is empty: say what the agent should do".into()));
    }
    Ok(())
}

/// A model's name that could be taken for something else.
pub(crate) fn model(model: &str) -> Result<&str, Refusal> {
    let odd = model.is_empty() || model.starts_with('-') || model.chars().any(char::is_control);
    if odd {
        return Err(Refusal::Unsupported(format!("{model:?} cannot be the name of a model")));
    }
    Ok(model)
}

/// Instructions that go by argument.
pub(crate) fn instructions(text: &str) -> Result<&str, Refusal> {
    if text.len() > LONGEST_INSTRUCTIONS {
        return Err(Refusal::Unsupported(format!(
            "instructions of {} KiB do not fit into an argument (at most {} KiB): put them into a file of the \
             project and name it instead",
            text.len().div_ceil(1024),
            LONGEST_INSTRUCTIONS / 1024
        )));
    }
    if text.contains('\0') {
        return Err(Refusal::Unsupported("the instructions contain a NUL character".into()));
    }
    Ok(text)
}
