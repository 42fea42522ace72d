use std::path::Path;

use super::{Follows, StoredSession};

/// What is kept of a text: nobody reads more of it in a list.
const LONGEST_TEXT: usize = 400;
/// No path that can be opened is longer.
const LONGEST_PATH: usize = 4096;

/// A session in the making: what the records of its file told so far.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) dir: Option<String>,
    pub(crate) branch: Option<String>,
    /// It belongs to another session.
    pub(crate) is_subagent: bool,
    pub(crate) messages: u64,
    pub(crate) follows: Option<Follows>,
    prompt: Option<String>,
    prompt_end: Option<u64>,
    /// A command of the program's own came first.
    command: Option<String>,
    started: Option<i64>,
    used: Option<i64>,
    /// What follows is not the beginning.
    pub(crate) is_past_beginning: bool,
    /// Where the record ends that is taken in.
    pub(crate) at: u64,
}

impl Draft {
    /// Of a session whose id is known beforehand.
    pub(crate) fn of(id: String) -> Self {
        Self { id, ..Self::default() }
    }

    /// The user typed this.
    pub(crate) fn typed(&mut self, text: &str) {
        let text = rejoin_core::compose::message_of(text).trim();
        if text.is_empty() {
            return;
        }
        self.messages += 1;
        let first = if text.starts_with('/') { &mut self.command } else { &mut self.prompt };
        if first.is_none() && !self.is_past_beginning {
            *first = Some(shortened(text));
            self.prompt_end = self.prompt_end.or(Some(self.at));
        }
    }

    /// Whether anything typed was seen that says what it is about.
    pub(crate) fn has_prompt(&self) -> bool {
        self.prompt.is_some()
    }

    /// A record was written at this time.
    pub(crate) fn seen_at(&mut self, timestamp: &str) {
        if let Some(time) = milliseconds(timestamp) {
            self.started = self.started.or(Some(time));
            self.used = Some(time);
        }
    }

    /// It is called so.
    pub(crate) fn titled(&mut self, title: Option<&str>) {
        if let Some(title) = title.map(str::trim).filter(|title| !title.is_empty()) {
            self.title = Some(shortened(title));
        }
    }

    /// It was used in this directory.
    pub(crate) fn used_in(&mut self, dir: Option<&str>) {
        if let Some(dir) = believable_dir(dir) {
            self.dir = Some(dir.to_owned());
        }
    }

    /// It was used on this branch.
    pub(crate) fn used_on(&mut self, branch: Option<&str>) {
        if let Some(branch) = named_branch(branch) {
            self.branch = Some(shortened(branch));
        }
    }

    /// The session, if a person began it and something was said in it. Of one whose records were not all seen
    /// that is believed.
    pub(crate) fn finish(self, file: &Path, size: u64, is_whole: bool) -> Option<StoredSession> {
        let first_prompt = self.prompt.or(self.command);
        if self.is_subagent || self.id.is_empty() || (is_whole && first_prompt.is_none()) {
            return None;
        }
        Some(StoredSession {
            id: self.id,
            title: self.title,
            first_prompt,
            dir: self.dir,
            branch: self.branch,
            started_ms: self.started,
            used_ms: self.used,
            messages: is_whole.then_some(self.messages),
            bytes: Some(size),
            file: file.to_owned(),
            follows: self.follows,
            prompt_end: self.prompt_end,
        })
    }
}

/// A directory, if it can be one.
pub(crate) fn believable_dir(dir: Option<&str>) -> Option<&str> {
    dir.filter(|dir| dir.len() <= LONGEST_PATH && Path::new(dir).is_absolute())
}

/// A branch, if it has a name.
pub(crate) fn named_branch(branch: Option<&str>) -> Option<&str> {
    // Claude writes this outside of git, too, and of a head that is on no branch.
    branch.filter(|branch| !branch.is_empty() && *branch != "HEAD")
}

/// A time as JSON has it, in milliseconds since 1970.
pub(crate) fn milliseconds(timestamp: &str) -> Option<i64> {
    timestamp.parse().ok().map(jiff::Timestamp::as_millisecond)
}

/// The beginning of a text.
fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST_TEXT)].to_owned()
}

/// What stands between two marks, the first of which begins the text.
pub(crate) fn unwrapped<'a>(text: &'a str, begin: &str, end: &str) -> Option<&'a str> {
    let (inner, _) = text.trim_start().strip_prefix(begin)?.split_once(end)?;
    Some(inner.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_first_is_told_and_a_command_only_if_nothing_else_was_typed() {
        let draft = |typed: &[&str]| {
            let mut draft = Draft::of("x".into());
            for text in typed {
                draft.typed(text);
            }
            draft.finish(Path::new("/f"), 7, true)
        };
        let prompt = |typed: &[&str]| draft(typed).and_then(|session| session.first_prompt);
        assert_eq!(prompt(&["/model x", " fix it\n", "more"]).as_deref(), Some("fix it"));
        assert_eq!(prompt(&["/help"]).as_deref(), Some("/help"));
        assert_eq!(prompt(&["", " \n"]), None);
        assert_eq!(draft(&["a", "b", ""]).unwrap().messages, Some(2));
        assert_eq!(prompt(&["é".repeat(300).as_str()]).unwrap().len(), LONGEST_TEXT);
    }

    #[test]
    fn times_and_places_that_are_none_are_not_believed() {
        let mut draft = Draft::default();
        draft.seen_at("yesterday");
        draft.used_in(Some("not/absolute"));
        draft.used_on(Some("HEAD"));
        assert_eq!((draft.used, draft.dir, draft.branch), (None, None, None));
        assert_eq!(milliseconds("2026-11-16T08:42:09.360Z"), Some(1_794_818_529_360));
    }
}
