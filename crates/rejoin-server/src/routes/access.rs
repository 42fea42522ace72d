//! What a caller may see: his token's projects, within the daemon's own roots.

use std::path::Path;

use rejoin::{ConversationId, ConversationView, Rejoin};

use crate::app::App;
use crate::caller::Caller;
use crate::problem::Problem;

/// Whether a caller may see what belongs to a project, by its root.
pub(crate) fn sees(app: &App, caller: &Caller, project: &Path) -> bool {
    let within_roots = app.roots.is_empty() || app.roots.iter().any(|root| project.starts_with(root));
    within_roots && caller.sees(project)
}

/// The id in an address. What is none names no conversation.
pub(crate) fn conversation_id(text: &str) -> Result<ConversationId, Problem> {
    text.parse().map_err(|_| no_conversation(text))
}

/// Opens a conversation for a caller. One that he may not see does not exist for him.
pub(crate) fn open<'a>(
    app: &App,
    rejoin: &'a Rejoin,
    caller: &Caller,
    id: ConversationId,
) -> Result<ConversationView<'a>, Problem> {
    let view = rejoin.open_conversation(id).map_err(|error| match Problem::from(error) {
        problem if problem.code() == crate::problem::Code::NotFound => no_conversation(&id.to_string()),
        problem => problem,
    })?;
    let project = view.info().map(|info| Path::new(&info.project).to_owned());
    // One that lost its project is shown to those who see everything.
    if sees(app, caller, project.as_deref().unwrap_or(Path::new("/"))) {
        Ok(view)
    } else {
        Err(no_conversation(&id.to_string()))
    }
}

fn no_conversation(id: &str) -> Problem {
    Problem::not_found(format!("there is no conversation {id}"))
        .hint("GET /api/v1/conversations lists them; ids are given in full")
}
