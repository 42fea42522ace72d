//! Who asks, and how far he may go: found out once per request, by [`crate::auth`].

use std::path::{Path, PathBuf};

use rejoin::Permissions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::{Code, Problem};

/// What a token is good for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TokenScope {
    /// To look at everything.
    Read,
    /// To begin, cancel and queue turns and flows, and to change conversations.
    Prompt,
    /// To answer what agents ask.
    Answer,
    /// To give and take tokens.
    Admin,
}

/// Whoever sent a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The id of the token, which is not its secret.
    pub(crate) token: String,
    pub(crate) scopes: Vec<TokenScope>,
    /// The widest level a turn of his may run at; `None` if there is no limit of its own.
    pub(crate) ceiling: Option<Permissions>,
    /// The only projects he sees (real paths); `None` for all.
    pub(crate) projects: Option<Vec<PathBuf>>,
}

impl<S: Send + Sync> axum::extract::FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, Problem> {
        use TokenScope::{Admin, Answer, Prompt, Read};
        let all = Caller {
            token: "main".into(),
            scopes: vec![Read, Prompt, Answer, Admin],
            ceiling: None,
            projects: None,
        };
        Ok(parts.extensions.get().cloned().unwrap_or(all))
    }
}

impl Caller {
    /// Refuses what the scopes do not allow.
    pub(crate) fn require(&self, scope: TokenScope) -> Result<(), Problem> {
        if self.scopes.contains(&scope) {
            return Ok(());
        }
        let name = serde_json::to_value(scope).unwrap_or_default();
        let name = name.as_str().unwrap_or_default();
        Err(Problem::new(Code::ScopeMissing, format!("this needs the scope `{name}`, which the token lacks"))
            .hint(format!("use a token that has it (`rejoin token new NAME --scope {name},…`)")))
    }

    /// Whether he may see what belongs to a project, by its root.
    pub(crate) fn sees(&self, project: &Path) -> bool {
        self.projects.as_ref().is_none_or(|all| all.iter().any(|root| project.starts_with(root)))
    }
}
