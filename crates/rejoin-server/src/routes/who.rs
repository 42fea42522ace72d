//! Who asks, as a route gets it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::app::Shared;
use crate::caller::{Caller, TokenScope};

/// Whoever sent the request: found out before any route is reached.
pub(crate) struct Who(pub(crate) Caller);

impl FromRequestParts<Shared> for Who {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &Shared) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get().cloned().unwrap_or_else(local)))
    }
}

fn local() -> Caller {
    use TokenScope::{Admin, Answer, Prompt, Read};
    Caller {
        token: "local".to_owned(),
        scopes: vec![Read, Prompt, Answer, Admin],
        ceiling: None,
        projects: None,
    }
}
