//! Pages of lists: how many, and behind what.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::Problem;

/// The parameters every list takes.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageParams {
    /// At most so many (1 to 500; 50 if nothing is said).
    pub(crate) limit: Option<usize>,
    /// Behind the page that gave this.
    pub(crate) cursor: Option<String>,
}

/// How many are given if nothing is said, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

/// How many a page shall have.
pub(crate) fn page_size(limit: Option<usize>) -> Result<usize, Problem> {
    match limit {
        None => Ok(USUAL),
        Some(limit @ 1..=MOST) => Ok(limit),
        Some(limit) => Err(Problem::bad_request(format!("a page of {limit} is not given"))
            .hint(format!("limit is 1 to {MOST}"))),
    }
}

/// A cursor that was not given out.
pub(crate) fn no_cursor(cursor: &str) -> Problem {
    Problem::bad_request(format!(
        "{:?} is no cursor of this list",
        cursor.chars().take(80).collect::<String>()
    ))
    .hint("give `next` of an earlier page as it was, or none for the first page")
}
