//! Whose projects a request may reach.

use std::path::Path;

use crate::app::App;
use crate::caller::Caller;

/// Whether the caller may see what belongs to a project, by its real root, and the daemon serves it at all.
pub(crate) fn sees(app: &App, caller: &Caller, project: &Path) -> bool {
    caller.sees(project) && (app.roots.is_empty() || app.roots.iter().any(|root| project.starts_with(root)))
}
