use crate::Error;

/// Accepts a text as the name of a conversation. Names cannot look like ids: `-r` takes both.
pub fn check_name(name: &str) -> Result<(), Error> {
    check(name, "the name of a conversation")
}

/// Accepts a text as the name of a branch, which a turn's number or a message's id could be, too.
pub(crate) fn check_branch(name: &str) -> Result<(), Error> {
    if name.parse::<usize>().is_ok() {
        return Err(Error::usage(format!("{name:?} cannot be the name of a branch: numbers name turns")));
    }
    check(name, "the name of a branch")
}

/// Accepts a text as a label.
pub(crate) fn check_label(label: &str) -> Result<(), Error> {
    check(label, "a label")
}

fn check(name: &str, what: &str) -> Result<(), Error> {
    let fault = if name.is_empty() {
        Some("it is empty")
    } else if name.chars().count() > 64 {
        Some("it is longer than 64 characters")
    } else if name.chars().any(|c| c.is_control() || c == '/') {
        Some("it contains a control character or a slash")
    } else if name.starts_with(['-', '@']) || name.trim() != name {
        Some("it begins with '-' or '@', or begins or ends with a space")
    } else if looks_like_an_id(name) {
        Some("it looks like an id (only 0-9, a-f and '-')")
    } else {
        None
    };
    match fault {
        None => Ok(()),
        Some(fault) => Err(Error::usage(format!("{name:?} cannot be {what}: {fault}"))),
    }
}

/// Whether a text could be (the beginning of) an id.
pub(crate) fn looks_like_an_id(text: &str) -> bool {
    text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// How many steps back `@` (none) and `@~3` mean; `None` for a text that begins otherwise.
pub(crate) fn steps_back(text: &str) -> Result<Option<usize>, Error> {
    match text.strip_prefix('@') {
        None => Ok(None),
        Some("") => Ok(Some(0)),
        Some("~") => Ok(Some(1)),
        Some(rest) => match rest.strip_prefix('~').map(str::parse) {
            Some(Ok(steps)) => Ok(Some(steps)),
            _ => Err(Error::usage(format!(
                "{text:?} names nothing: `@` is the newest conversation or the head, `@~1` the one before it"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_be_taken_for_an_id_or_a_flag() {
        for bad in ["", "4f1c2a9e", "dead-beef", "-c", "@", " x", "a/b", "a\nb"] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        for good in ["release", "fix-2", "añadir", "bug 7", "bad"] {
            assert!(check_name(good).is_ok(), "{good:?}");
        }
    }
}
