//! What Claude must show at its start, so that a level of permissions is not merely asked for.

use super::wire::Wire;
use crate::loose::Text;

/// The mode in which Claude asks for nothing.
const UNLIMITED: &str = "bypassPermissions";

/// The limit of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Nothing was asked for.
    None,
    /// Not the mode that asks for nothing.
    Mode,
    /// Only these tools, and not that mode.
    Tools(&'static [&'static str]),
}

impl Limit {
    /// What Claude may do beyond it, by its own `init` line.
    pub(super) fn exceeded_by(self, init: &Wire<'_>) -> Option<String> {
        if self != Limit::None && init.permission_mode.as_str() == UNLIMITED {
            return Some(format!("Claude runs in the mode {UNLIMITED}"));
        }
        let Limit::Tools(allowed) = self else {
            return None;
        };
        let tools = init.tools.0.iter().map(Text::as_str);
        let extra: Vec<&str> = tools.filter(|tool| !allowed.contains(tool)).collect();
        (!extra.is_empty()).then(|| format!("Claude has the tools {}", extra.join(", ")))
    }
}
