//! What an agent must show at its start, so that a level of permissions is not merely asked for.

use super::Wire;
use crate::loose::Text;
use crate::words::{Names, lists};

/// The limit of a run; by default there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Limit {
    /// Not these modes, in which it asks for nothing.
    pub(crate) modes: Names,
    /// Only these tools.
    pub(crate) only: Option<Names>,
    /// Not these tools.
    pub(crate) without: Names,
}

impl Limit {
    /// Nothing was asked for.
    pub(crate) const NONE: Self = Self { modes: "", only: None, without: "" };

    /// What the agent may do beyond it, by its own `init` line.
    pub(super) fn exceeded_by(self, title: &str, init: &Wire<'_>) -> Option<String> {
        let mode = init.mode.filled().unwrap_or(init.permission_mode.as_str());
        if lists(self.modes, mode) {
            return Some(format!("{title} runs in the mode {mode}"));
        }
        let beyond =
            |tool: &&str| self.only.is_some_and(|only| !lists(only, tool)) || lists(self.without, tool);
        let extra: Vec<&str> = init.tools.0.iter().map(Text::as_str).filter(beyond).collect();
        (!extra.is_empty()).then(|| format!("{title} has the tools {}", extra.join(", ")))
    }
}
