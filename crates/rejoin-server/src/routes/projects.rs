//! `/projects`: where conversations are.

use std::cmp::Reverse;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use rejoin::ListedProject;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::sees;
use super::body::Params;
use super::paging::{from_cursor, page_size, to_cursor};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};

/// A project with conversations.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
pub(crate) struct Project {
    /// Its root.
    path: String,
    /// The last component of that.
    name: String,
    /// How many conversations it has.
    conversations: usize,
    /// In how many of them a turn runs.
    running: usize,
    /// When one of them was last used, in milliseconds since 1970.
    last_used_ms: u64,
}

/// Projects, the one used last first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Projects {
    /// This page.
    projects: Vec<Project>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Which page.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// How many at most.
    limit: Option<usize>,
    /// Where the page before it ended.
    cursor: Option<String>,
}

/// The projects that have conversations, the one used last first.
#[utoipa::path(get, path = "/projects", tag = "projects", params(PageParams), responses(
    (status = 200, body = Projects),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn projects(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<PageParams>,
) -> Result<Json<Projects>, Problem> {
    caller.require(TokenScope::Read)?;
    let size = page_size(params.limit)?;
    let after: Option<(u64, String)> = from_cursor(params.cursor.as_deref())?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let mut projects: Vec<Project> = rejoin.projects()?.into_iter().map(Project::from).collect();
        projects.retain(|project| sees(&shared, &caller, Path::new(&project.path)));
        if let Some((used, path)) = after {
            projects.retain(|project| project.order() > (Reverse(used), path.as_str()));
        }
        let more = projects.len() > size;
        projects.truncate(size);
        let last = projects.last().filter(|_| more);
        let cursor = last.and_then(|last| to_cursor(&(last.last_used_ms, &last.path)));
        Ok(Json(Projects { projects, cursor }))
    })
    .await
}

impl Project {
    fn order(&self) -> (Reverse<u64>, &str) {
        (Reverse(self.last_used_ms), &self.path)
    }
}

impl From<ListedProject> for Project {
    fn from(listed: ListedProject) -> Self {
        Self {
            name: Path::new(&listed.path).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            path: listed.path,
            conversations: listed.conversations,
            running: listed.running,
            last_used_ms: listed.used_ms,
        }
    }
}
