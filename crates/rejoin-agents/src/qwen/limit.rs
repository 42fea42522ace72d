//! What Qwen must show at its start, so that a level of permissions is not merely asked for.

use super::wire::Wire;
use crate::loose::Text;

/// Modes in which Qwen, or a model of its own, decides that anything may run.
const UNLIMITED: &[&str] = &["yolo", "auto"];

/// The limit of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Nothing was asked for.
    None,
    /// Not these tools, and not the modes that ask for nothing.
    Without(&'static [&'static str]),
}

impl Limit {
    /// What Qwen may do beyond it, by its own `init` line.
    pub(super) fn exceeded_by(self, init: &Wire<'_>) -> Option<String> {
        let Limit::Without(refused) = self else {
            return None;
        };
        let mode = init.permission_mode.as_str();
        if UNLIMITED.contains(&mode) {
            return Some(format!("Qwen runs in the mode {mode}"));
        }
        let tools = init.tools.0.iter().map(Text::as_str);
        let extra: Vec<&str> = tools.filter(|tool| refused.contains(tool)).collect();
        (!extra.is_empty()).then(|| format!("Qwen has the tools {}", extra.join(", ")))
    }
}
