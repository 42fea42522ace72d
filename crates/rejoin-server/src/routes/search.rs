//! `/search`: full text over everything that was ever said or done.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use rejoin::{Agent, Query, Rejoin, SearchFilter, SearchHit};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::sees;
use super::body::Params;
use super::paging::{from_cursor, page_size, to_cursor};
use super::project_dir::{project_dir, sees_all};
use crate::app::Shared;
use crate::caller::{Caller, TokenScope};
use crate::problem::{Problem, ProblemBody};

/// What to look for, and where.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// Words that all must occur in one turn; between double quotes, a phrase; an asterisk stands for any ending.
    q: String,
    /// Only in the project this directory is in.
    #[param(value_type = Option<String>)]
    project: Option<PathBuf>,
    /// Only turns of this agent.
    agent: Option<String>,
    /// Only in conversations with this label.
    tag: Option<String>,
    /// How many at most.
    limit: Option<usize>,
    /// Where the page before it ended.
    cursor: Option<String>,
}

/// Turns in which all words were found, best first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Found {
    /// This page, as `rejoin search --json` prints it.
    hits: Vec<SearchHit>,
    /// There are more.
    more: bool,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// What could not be read.
    warnings: Vec<String>,
}

/// Searches all turns the caller may see. What was said comes before what was done.
#[utoipa::path(get, path = "/search", tag = "search", params(SearchParams), responses(
    (status = 200, body = Found),
    (status = "default", body = ProblemBody, content_type = "application/problem+json"),
))]
pub(crate) async fn search(
    State(app): State<Shared>,
    caller: Caller,
    Params(params): Params<SearchParams>,
) -> Result<Json<Found>, Problem> {
    caller.require(TokenScope::Read)?;
    let page =
        Page { from: from_cursor(params.cursor.as_deref())?.unwrap_or(0), size: page_size(params.limit)? };
    let query = Query::parse(&arguments(&params.q)).ok_or_else(|| {
        Problem::bad_request(format!("there is no word in {:?}", params.q))
            .hint("letters or digits make one; give them as q=…")
    })?;
    let shared = Shared::clone(&app);
    app.blocking(move |rejoin| {
        let project = params.project.as_deref().map(|dir| project_dir(&shared, &caller, dir)).transpose()?;
        let filter = SearchFilter {
            project,
            agent: params.agent.map(Agent::named),
            tags: params.tag.into_iter().collect(),
            limit: None,
            ..SearchFilter::default()
        };
        let sees_all = sees_all(&shared, &caller);
        let visible = |hit: &SearchHit| {
            sees_all
                || hit.project.as_deref().is_some_and(|project| sees(&shared, &caller, Path::new(project)))
        };
        let mut found = page.find(rejoin, &query, filter, visible)?;
        if !sees_all {
            // They name files of any project.
            found.warnings.clear();
        }
        Ok(Json(found))
    })
    .await
}

/// Words by themselves, and what stands between double quotes as one.
fn arguments(q: &str) -> Vec<&str> {
    let parts = q.split('"').enumerate();
    parts
        .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .collect()
}

/// Which of the hits.
struct Page {
    from: usize,
    size: usize,
}

/// So many hits are looked for at first: pages out of the same ones neither repeat nor leave out a hit, whatever
/// more there would be.
const POOL: usize = 200;

impl Page {
    /// Looks for as many hits as it takes until enough of them may be seen.
    fn find(
        &self,
        rejoin: &Rejoin,
        query: &Query,
        filter: SearchFilter,
        visible: impl Fn(&SearchHit) -> bool,
    ) -> Result<Found, Problem> {
        let end = self.from.saturating_add(self.size);
        let mut filter = SearchFilter { limit: Some(POOL), ..filter };
        loop {
            let mut found = rejoin.search(query, &filter)?;
            found.hits.retain(&visible);
            if found.hits.len() > end || !found.more {
                let more = found.hits.len() > end;
                let hits = found.hits.into_iter().skip(self.from).take(self.size).collect();
                let cursor = if more { to_cursor(&end) } else { None };
                return Ok(Found { hits, more, cursor, warnings: found.warnings });
            }
            filter.limit = filter.limit.map(|limit| limit.saturating_mul(4));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_make_a_phrase() {
        assert_eq!(arguments("one \"two  three\" fo*"), ["one", "two  three", "fo*"]);
        assert_eq!(arguments("\"open phrase"), ["open phrase"]);
    }
}
