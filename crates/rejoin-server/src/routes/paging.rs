//! Pages of lists.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// How much a page holds if nobody says how much, and at most.
const USUAL: usize = 50;
const MOST: usize = 500;

/// How many are wanted.
pub(crate) fn page_size(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(USUAL) {
        size @ 1..=MOST => Ok(size),
        size => Err(Problem::bad_request(format!("limit cannot be {size}"))
            .hint(format!("ask for 1 to {MOST} at a time"))),
    }
}

/// A place in a list, as callers hand it back without understanding it.
pub(crate) fn to_cursor(place: &impl Serialize) -> Option<String> {
    serde_json::to_vec(place).ok().map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
}

/// The place a cursor stands for.
pub(crate) fn from_cursor<T: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<T>, Problem> {
    let Some(cursor) = cursor else { return Ok(None) };
    let place = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let foreign = || {
        Problem::bad_request("the cursor is none of this list")
            .hint("leave it out to begin with the first page")
    };
    place.map(Some).ok_or_else(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_the_place_it_stands_for_and_another_one_is_refused() {
        let place = (17_u64, "a".to_owned());
        let cursor = to_cursor(&place).unwrap();
        assert_eq!(from_cursor(Some(&cursor)).unwrap(), Some(place));
        assert_eq!(from_cursor::<u64>(None).unwrap(), None);
        from_cursor::<u64>(Some(&cursor)).unwrap_err();
        from_cursor::<u64>(Some("!")).unwrap_err();
    }

    #[test]
    fn a_page_of_nothing_or_of_everything_is_refused() {
        assert_eq!(page_size(None).unwrap(), USUAL);
        page_size(Some(0)).unwrap_err();
        page_size(Some(MOST + 1)).unwrap_err();
    }
}
